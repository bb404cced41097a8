"""The check of one file in a worker: loaded by each interface, every kernel forced and read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import prod

from cudarun.base.errors import CudarunError, ImageRefused
from cudarun.base.records import derived
from cudarun.diagnostics.entries import Diagnosed, Diagnostic, notes
from cudarun.images.demangler import demangle
from cudarun.images.kinds import ImageKind, identify
from cudarun.model.devices import DeviceInfo
from cudarun.model.images import Handle, KernelReport, LoaderReport, LoadResult, RefusedKernel
from cudarun.model.occupancy import Occupancy
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device, attribute_of, describe
from cudarun.session.image.debug_parameters import DebugReader
from cudarun.session.image.diagnosis import diagnostics_of
from cudarun.session.image.image import Image
from cudarun.session.image.kernels import require_kernels
from cudarun.session.image.suggestion import GivenWords, Suggestions, device_words, image_words
from cudarun.session.load.fatbins import facts_for
from cudarun.session.load.library import PARAM_INFO_SINCE
from cudarun.session.load.loaders import KernelRefusal, LoadedKernel, Loader
from cudarun.session.load.preparation import prepare, prepare_fatbin
from cudarun.session.load.request import FatbinSelection, LoadRequest
from cudarun.session.workers.session import Session


def load_file(
    request: LoadRequest, image: Image, session: Session, selection: FatbinSelection | None = None
) -> LoadedFile:
    """Load a file, before any context if there are several devices.

    Args:
        selection: The fatbin to load; ``None`` for a file with one image.
    """
    driver = session.driver
    if selection is None:
        session.progress.report(f"loading {image.origin}")
        one = prepare(driver, image, session.devices)
    else:
        number, count = selection.fatbin.number, selection.count
        what = f"loading {image.origin}: fatbin {number}"
        session.progress.report(what, selection.index / count)
        one = prepare_fatbin(driver, image, number, is_alone=count == 1)
    return LoadedFile(driver, one, request, image.origin)


class LoadedFile:
    """The image of a file, to be loaded by each interface."""

    def __init__(self, driver: Driver, image: Image, request: LoadRequest, file: str) -> None:
        self.driver = driver
        self.image = image
        self.request = request
        self.facts = image.facts
        if self.facts is None:
            with suppress(ImageRefused):  # the driver decides about a file that is unreadable
                self.facts = facts_for(driver, image)
        self._known = {each.name: each for each in self.facts.kernels} if self.facts else {}
        self._suggestions = Suggestions(replace(image, facts=self.facts), file)
        self._suggestions.collect()
        self._is_alone = image.origin == file
        if image.is_compiled:
            from cudarun.session.compile.source import with_debug_information  # few compile

            parameters = [p for each in self._known.values() for p in each.parameters]
            image = with_debug_information(image, parameters)
        self._debug = DebugReader(image)
        self._notes: list[str] = []
        self._loaders = [
            Loader(driver, via, image, self.facts, request.options) for via in request.loaders
        ]
        for loader in self._loaders:
            if loader.loads_once:
                loader.load()

    def on(self, device: Device) -> tuple[DeviceInfo, LoadResult]:
        """Load the image unless it is loaded already, force the kernels, and read everything."""
        about = describe(self.driver, device)
        self._notes.clear()
        reports = [self._in_context(loader) for loader in self._loaders]
        usable = [each for each in self._loaders if each.found or each.error is None]
        read = [[self._kernel(each, found, device) for found in each.found] for each in usable]
        variables = self.facts.variables if usable and self.facts else None
        logs = dict.fromkeys(report.info_log for report in reports if report.info_log)
        complaints = (d for log in logs for d in diagnostics_of(log, [self.image]))
        result = LoadResult(
            image=self.image.origin,
            loaders=tuple(reports),
            kernels=tuple(read[0]) if read else (),
            variables=None if variables is None else tuple(map(usable[0].report, variables)),
            refusals=tuple(map(_refused_kernel, self._loaders[0].refusals)),
            differences=tuple(_differences(*read)) if len(read) > 1 else (),
            diagnostics=(
                *self.image.warnings,
                *(each for each in complaints if each.severity == "warning"),
                *notes(dict.fromkeys(self._notes)),
            ),
        )
        self.unload(loaded_once=False)
        return about, result

    def unload(self, *, loaded_once: bool) -> None:
        """Unload what was loaded for all contexts, or in the current one."""
        for loader in self._loaders:
            if loader.loads_once is loaded_once and loader.is_loaded:
                loader.unload()

    def _in_context(self, loader: Loader) -> LoaderReport:
        free = self.driver.cuMemGetInfo()[0]
        if not loader.loads_once:
            loader.load()
        calls, started = self.driver.count, time.perf_counter()
        loader.found = []
        loader.refusals.clear()
        if loader.is_loaded:
            try:
                found = self._chosen(loader)
                # Drivers before CUDA 12.4 lack ``cuFuncLoad``; there the following query of
                # attributes makes the compiler run.
                if not self.request.lazy and self.driver.version >= PARAM_INFO_SINCE:
                    found = loader.forced(found)
                loader.found = found
                loader.error = _partial_refusal(loader)
            except CudarunError as error:
                loader.error = error
        milliseconds = (time.perf_counter() - started) * 1e3
        log = loader.logs.info if loader.error is None else ""
        return derived(
            LoaderReport,
            loader,
            context_calls=self.driver.count - calls,
            context_milliseconds=milliseconds,
            memory_bytes=max(0, free - self.driver.cuMemGetInfo()[0]),
            handles=tuple(
                Handle(
                    each.name, None if each.kernel is None else int(each.kernel), int(each.function)
                )
                for each in loader.found
            ),
            info_log=log,
            silence=None if log or loader.error else self._missing_log_reason(),
        )

    def _chosen(self, loader: Loader) -> list[LoadedKernel]:
        """Return the kernels to load: all, or those with the requested name."""
        found = loader.kernels()
        wanted = self.request.kernel
        if wanted is None:
            return found
        names = [*(kernel.name for kernel in found), *(refusal.name for refusal in loader.refusals)]
        chosen = require_kernels(names, wanted, self.image.origin)
        loader.refusals[:] = [r for r in loader.refusals if r.name in chosen]
        return [kernel for kernel in found if kernel.name in chosen]

    def _missing_log_reason(self) -> str | None:
        """Return the reason that a compiler with a verbose log has written nothing."""
        if not self.request.options.verbose:
            return None
        kind = identify(self.image.data)
        if kind is ImageKind.CUBIN:
            return "SASS: nothing to compile"
        cached = "loaded from the driver's compute cache without compiling"
        if kind is not ImageKind.PTX:
            cached = f"SASS, or {cached}"
        return f"{cached} (set CUDA_CACHE_DISABLE=1 to compile)"

    def _kernel(self, loader: Loader, found: LoadedKernel, device: Device) -> KernelReport:
        is_loaded = None
        if self.driver.version >= PARAM_INFO_SINCE:
            is_loaded = int(self.driver.cuFuncIsLoaded(found.function)) == 1
        if is_loaded is False and found.kernel is None:
            self.driver.cuFuncLoad(found.function)  # else it has no attributes (913)

        def attribute(name: str) -> int:
            return loader.attribute(name, found, device)

        facts = self._known.get(found.name)
        parameters, own_notes = self._debug.read(found.name, loader.parameters(found))
        self._notes += own_notes
        words = (*image_words(self.image), *device_words(device.label))
        given = GivenWords(None if self._is_alone else found.name, options=words)
        names = [kernel.name for kernel in loader.found]
        return KernelReport(
            name=found.name,
            demangled=demangle(found.name),
            parameters=parameters,
            registers=attribute("NUM_REGS"),
            shared_bytes=attribute("SHARED_SIZE_BYTES"),
            const_bytes=attribute("CONST_SIZE_BYTES"),
            local_bytes=attribute("LOCAL_SIZE_BYTES"),
            max_threads=attribute("MAX_THREADS_PER_BLOCK"),
            max_dynamic_shared=attribute("MAX_DYNAMIC_SHARED_SIZE_BYTES"),
            required_block=facts.required_block if facts else None,
            required_cluster=facts.required_cluster if facts else None,
            binary_version=attribute("BINARY_VERSION"),
            ptx_version=attribute("PTX_VERSION"),
            is_loaded=is_loaded,
            occupancy=self._occupancy(found, device),
            is_estimated=self.driver.traits.estimates_resources,
            launch=self._suggestions.command(found.name, parameters, names, given),
        )

    def _occupancy(self, found: LoadedKernel, device: Device) -> Occupancy | None:
        block = self.request.block
        if block is None:
            return None
        most = attribute_of(self.driver, device.handle, "MAX_THREADS_PER_MULTIPROCESSOR")
        threads = prod(block)
        resident = self.driver.optional(
            self.driver.CUresult.CUDA_ERROR_INVALID_VALUE,
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            found.function, threads, self.request.shared_bytes,
        )  # fmt: skip
        blocks = int(resident[0]) if resident else 0  # no block can have that size
        return Occupancy(block, blocks, blocks * threads, blocks * threads / most)


def _partial_refusal(loader: Loader) -> CudarunError | None:
    """Return the error of an image whose kernels the driver refuses in part or altogether."""
    refusals = loader.refusals
    if not refusals:
        return None
    first = refusals[0].error
    if not loader.found:
        return first
    count = len(refusals) + len(loader.found)
    names = ", ".join(demangle(refusal.name) for refusal in refusals)
    return Diagnosed(
        f"{len(refusals)} of {count} kernels cannot run on this device: {names}",
        diagnostics=[*dict.fromkeys(d for r in refusals for d in _diagnostics(r.error))],
        hint="cudarun launch runs the others",
        cuda=first.cuda,
        log="\n".join(refusal.error.log or "" for refusal in refusals),
    ).of(origin=loader.image.origin)


def _diagnostics(error: CudarunError) -> tuple[Diagnostic, ...]:
    return error.diagnostics if isinstance(error, Diagnosed) else ()


def _refused_kernel(refusal: KernelRefusal) -> RefusedKernel:
    serious = [d for d in _diagnostics(refusal.error) if d.is_serious and d.line is not None]
    reasons = [f"line {diagnostic.line}: {diagnostic.message}" for diagnostic in serious]
    return RefusedKernel(
        name=refusal.name,
        demangled=demangle(refusal.name),
        reasons=tuple(reasons) or (str(refusal.error),),
    )


def _differences(one: list[KernelReport], other: list[KernelReport]) -> Iterator[str]:
    """Yield the differences between the two interfaces' reports of a kernel."""
    others: dict[str, KernelReport] = {kernel.name: kernel for kernel in other}
    for kernel in one:
        twin = others.pop(kernel.name, None)
        if twin is None:
            yield f"{kernel.name}: only in the library"
            continue
        for name in KernelReport.__slots__:
            left, right = getattr(kernel, name), getattr(twin, name)
            if left != right:
                yield f"{kernel.name}: {name} is {left} in the library and {right} in the module"
    yield from (f"{name}: only in the module" for name in others)
