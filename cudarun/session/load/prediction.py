"""The prediction whether GPUs of other kinds load and launch the kernels of a file.

It is what their drivers decide by headers and limits: the architectures of the code, shared memory,
threads, registers and clusters; and whether a compiler accepts PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, DeviceFailed, ImageRefused
from cudarun.base.profiles import Profile
from cudarun.base.records import dataclass
from cudarun.diagnostics.explanations import explain
from cudarun.diagnostics.refusals import LoadTarget, RefusalFacts
from cudarun.images.facts import ImageFacts, KernelFacts
from cudarun.images.fatbin import Entry, best_entry
from cudarun.images.kinds import CONTAINERS, ImageKind, identify
from cudarun.images.ptx_shared import static_use
from cudarun.images.reader import file_parts, read_image
from cudarun.images.summary import FileSummary, summarize
from cudarun.images.versions import Architecture, parse_target
from cudarun.model.occupancy import Forecast, Occupancy, Prediction
from cudarun.session.image.kernels import require_kernels
from cudarun.session.load.fatbins import is_relocatable
from cudarun.session.load.part_reader import FileParts

if TYPE_CHECKING:
    from cudarun.session.image.image import Image
    from cudarun.session.load.request import LaunchShape, OfflineScope

_MOST_THREADS = 1024
_MOST_DEEP = 64  # the largest block.z
_NO_CODE = "CUDA_ERROR_NO_BINARY_FOR_GPU"
_NOT_LINKED = "CUDA_ERROR_NOT_FOUND"
_NEWER = "SM version specified by .target is higher than default SM version assumed"


# The last four fields of `_Code`.
_Used = tuple[tuple[KernelFacts, ...], tuple[str, ...], bool, bytes]
PtxCheck = Callable[[Sequence["Image"], Profile, "float | None"], Iterable[ImageRefused | None]]
"""Returns why a GPU's compiler refuses each PTX text, ``None`` if it accepts it."""


@dataclass(frozen=True, slots=True)
class _Code:
    """The code of one target that a driver takes as a whole."""

    summary: FileSummary  # what the file, or the fatbin, has; for explanations
    target: str | None  # the target; ``None`` if there is none for the GPU
    kernels: tuple[KernelFacts, ...]  # the kernels, with their static shared memory
    externs: tuple[str, ...]  # the undefined symbols that they use
    is_relocatable: bool  # whether it is machine code that has yet to be linked
    text: bytes  # the PTX; empty for machine code


def predict(
    image: Image,
    scope: OfflineScope,
    compiles: Callable[..., Image],
    check: PtxCheck | None = None,
) -> tuple[Prediction, ...]:
    """Return a prediction for each GPU and kernel; `ImageRefused` if the image is damaged.

    Args:
        compiles: Compiles CUDA source: `compile_for_facts`, or in a worker `compile_here`.
        check: Checks the instructions of PTX.
    """
    kind = identify(image.data)
    of_codes = _Predictor(image, scope, check).of_codes
    if kind is ImageKind.CUDA_SOURCE:
        found: list[Prediction] = []
        for gpu in scope.gpus:
            target = Architecture(True, gpu.architecture)
            try:
                compiled = _Single(compiles(image, scope.timeout, target))
            except ImageRefused as error:
                error.at(device=gpu.name)
                names = gpu.name, gpu.architecture, None, None, None
                found.append(Prediction(*names, "refused", error=error))
            else:
                found += of_codes(compiled.of(gpu), gpu)
        return tuple(found)
    codes = _Container(image) if kind in CONTAINERS else _Single(image)
    return tuple(each for gpu in scope.gpus for each in of_codes(codes.of(gpu), gpu))


class _Single:
    """The code of a PTX text or a cubin."""

    def __init__(self, image: Image) -> None:
        self._summary = summarize(image.data, image.origin)
        facts = read_image(image.data, image.origin, image.limit)
        self._used = _used(facts, lambda: bytes(image.data))

    def of(self, gpu: Profile) -> Iterator[_Code]:
        """Yield the code, whose target is ``None`` if the GPU does not run it."""
        fitting = [each for each in self._summary.targets if each.runs_on(gpu.architecture)]
        yield _Code(self._summary, str(fitting[0]) if fitting else None, *self._used)


class _Container:
    """The code in a file with fatbins; that of a target is read once."""

    def __init__(self, image: Image) -> None:
        parts = FileParts(image.data, image.origin, file_parts(image.data, image.origin))
        self._fatbins: dict[int, list[Entry]] = {}
        for part in parts.parts:
            self._fatbins.setdefault(part.fatbin, []).append(part)
        self._parts = parts
        self._read: dict[int, _Used] = {}
        self._is_host_object = identify(image.data) is ImageKind.HOST_OBJECT

    def of(self, gpu: Profile) -> Iterable[_Code]:
        """Return the code of each fatbin with kernels, but not the inputs of its linker."""
        # Of a fatbin without code for the GPU, that of the newest target names the kernels.
        chosen = [
            (entries, best_entry(gpu.architecture, entries)) for entries in self._fatbins.values()
        ]
        self._fetch(best or entries[-1] for entries, best in chosen)
        inputs: list[_Code] = []
        linked: list[_Code] = []
        for entries, best in chosen:
            used = self._read[(best or entries[-1]).number]
            if used[0]:
                targets = filter(None, (parse_target(each.target) for each in entries))
                summary = FileSummary(ImageKind.FATBIN, tuple(targets))
                code = _Code(summary, best.target if best else None, *used)
                (inputs if is_relocatable(entries, self._parts.origin) else linked).append(code)
        return linked if self._is_host_object and linked else [*inputs, *linked]

    def _fetch(self, entries: Iterable[Entry]) -> None:
        missing = [each.number - 1 for each in entries if each.number not in self._read]
        for index, part in self._parts.contents(missing).items():
            if isinstance(part, CudarunError):
                raise part
            entry = self._parts.parts[index]
            content = partial(entry.content, self._parts.origin)
            used = _used(part.facts, content) if part.facts else ((), (), False, b"")
            self._read[entry.number] = used


def _used(facts: ImageFacts, content: Callable[[], bytes]) -> _Used:
    """Return the kernels with their static shared memory, what is known of linking, and the PTX."""
    if facts.kind is not ImageKind.PTX or not facts.kernels:
        return facts.kernels, facts.externs, bool(facts.is_relocatable), b""
    text = content()
    uses = static_use(text)
    names = {name for _, used in uses.values() for name in used}
    kernels = (replace(each, shared_bytes=uses[each.name][0]) for each in facts.kernels)
    return tuple(kernels), tuple(each for each in facts.externs if each in names), False, text


class _Predictor:
    """The predictions for an image. Each PTX text is checked once: its ``.target`` decides."""

    def __init__(self, image: Image, scope: OfflineScope, check: PtxCheck | None) -> None:
        self._image, self._scope, self._check = image, scope, check
        self._checked: dict[bytes, ImageRefused | None] = {b"": None}

    def of_codes(self, codes: Iterable[_Code], gpu: Profile) -> Iterator[Prediction]:
        """Yield the predictions for the kernels of the codes that a GPU takes."""
        found = [(code, _refusal(code, gpu)) for code in codes]
        chosen: set[str] | None = None
        if self._scope.kernel is not None:
            names = sorted({kernel.name for code, _ in found for kernel in code.kernels})
            chosen = {*require_kernels(names, self._scope.kernel, self._image.origin)}
        if self._check is not None:
            loaded = {code.text for code, refusal in found if refusal is None}
            texts = sorted(loaded - self._checked.keys())
            images = [replace(self._image, data=text, facts=None) for text in texts]
            answers = self._check(images, gpu, self._scope.timeout) if images else ()
            self._checked |= zip(texts, answers, strict=True)
        shape = self._scope.shape
        for code, refusal in found:
            refused = refusal or self._checked.get(code.text)
            for kernel in code.kernels:
                if chosen is not None and kernel.name not in chosen:
                    continue
                error: CudarunError | None = deepcopy(refused)
                verdict: Forecast = "launches" if refused is None else "refused"
                if error is None and (problems := [*_exceeded(kernel, gpu, shape)]):
                    error, verdict = DeviceFailed("; ".join(problems)), "exceeds-limits"
                block, occupancy = shape.block or kernel.required_block, None
                if error is not None:
                    error.at(file=self._image.origin, kernel=kernel.demangled, device=gpu.name)
                elif block is not None:
                    shared = (kernel.shared_bytes or 0) + shape.shared_bytes
                    blocks = gpu.resident_blocks(prod(block), kernel.registers or 0, shared)
                    threads = blocks * prod(block)
                    occupancy = Occupancy(block, blocks, threads, threads / gpu.threads)
                about = gpu.name, gpu.architecture, kernel.name, kernel.demangled
                yield Prediction(*about, code.target, verdict, occupancy, error)


def _refusal(code: _Code, gpu: Profile) -> ImageRefused | None:
    """Return the refusal of a GPU's driver to load code; ``None`` if it loads it."""
    log, result, summary = "", _NO_CODE, code.summary
    if code.target is None:
        is_newer = all(each.number > gpu.architecture for each in code.summary.targets)
        log = _NEWER if code.summary.kind is ImageKind.PTX and is_newer else ""
    elif code.externs:
        result, summary = _NOT_LINKED, replace(summary, externs=code.externs)
    elif code.is_relocatable:
        return ImageRefused("the code is relocatable", hint="link it first: cudarun link")
    elif code.target.startswith("compute"):
        for kernel in code.kernels:
            used, most = kernel.shared_bytes or 0, gpu.static_shared
            if used > most:
                sizes = f"{used:#x} bytes, {most:#x} max"
                log = f"Entry function '{kernel.name}' uses too much shared data ({sizes})"
    if code.target is not None and not log and result == _NO_CODE:
        return None
    target = LoadTarget(gpu.product, gpu.architecture)
    found = explain(RefusalFacts(target, summary, cuda_error=result, log=log))
    if found is None:
        return ImageRefused("the file has no code that it runs")
    return ImageRefused(found.reason.rstrip("."), hint=found.remedy)


def _exceeded(kernel: KernelFacts, gpu: Profile, shape: LaunchShape) -> Iterator[str]:
    """Yield the limits of a kernel and of a GPU that a launch exceeds."""
    block = shape.block or kernel.required_block
    cluster = shape.cluster or kernel.required_cluster
    static, dynamic = kernel.shared_bytes or 0, shape.shared_bytes
    if static + dynamic > gpu.shared_optin:
        used = f"{static} static + {dynamic} dynamic bytes of shared memory"
        yield f"{used}, the limit is {gpu.shared_optin}"
    if block is not None:
        threads = prod(block)
        if kernel.required_block not in (None, block):
            yield f"block {block}, the kernel requires {kernel.required_block}"
        most = min(kernel.max_threads or _MOST_THREADS, _MOST_THREADS)
        if threads > most:
            yield f"{threads} threads per block, the limit is {most}"
        elif (kernel.registers or 0) > (registers := gpu.most_registers(threads)):
            limit = f"the limit is {registers} for such blocks"
            yield f"{kernel.registers} registers per thread, {limit}"
        if block[2] > _MOST_DEEP:
            yield f"{block[2]} threads of a block in z, the limit is {_MOST_DEEP}"
        blocks = gpu.resident_blocks(threads, kernel.registers or 0, static + dynamic)
        resident = blocks * gpu.multiprocessors
        if shape.resident > resident > 0:
            where = f"{blocks} on each of {gpu.multiprocessors} multiprocessors"
            yield f"{shape.resident} resident blocks, the limit is {resident} ({where})"
    blocks = prod(cluster or (1,))
    if cluster is not None and blocks > gpu.cluster:
        limit = f"the limit is {gpu.cluster}"
        limit = limit if gpu.cluster else "which require compute capability 9.0"
        yield f"clusters of {blocks} blocks, {limit}"
