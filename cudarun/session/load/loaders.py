"""The loader of kernels, as a library for all contexts, or as a module in each.

Both are measured and inspected in the same steps: `load`, then in each context `kernels`, and the
queries of these.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, ImageRefused
from cudarun.base.records import dataclass, derived
from cudarun.images.demangler import demangle
from cudarun.images.facts import ImageFacts, VariableFacts
from cudarun.images.parameters import Parameter
from cudarun.model.images import VariableReport
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device
from cudarun.session.image.image import Image
from cudarun.session.load import jit
from cudarun.session.load.library import PARAM_INFO_SINCE, Library, read_parameters
from cudarun.session.load.request import JitOptions, Via

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

    from cudarun.session.driver.protocol import Handle


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A kernel in the current context: ``kernel`` is the ``CUkernel``, if there is one."""

    name: str
    kernel: cuda.CUkernel | None
    function: cuda.CUfunction


@dataclass(frozen=True, slots=True)
class KernelRefusal:
    """A kernel that the driver refuses, and its error."""

    name: str
    error: CudarunError


class Loader(jit.DriverImage):
    """One of the driver's interfaces for loading, and its cost."""

    handle: Handle  # the library or the module, once it is loaded

    def __init__(
        self,
        driver: Driver,
        via: Via,
        image: Image,
        facts: ImageFacts | None,
        options: JitOptions,
    ) -> None:
        self.driver = driver
        self.via = via
        self.loads_once = via == "library"  # before or after the creation of contexts
        self.image = image  # the image in a form that the driver accepts
        self.facts = facts  # the facts read from the file; ``None`` if it cannot be read
        self.options = options  # the JIT compiler's options
        self.logs = jit.Logs()
        self.refusals: list[KernelRefusal] = []  # the kernels that the driver refuses
        self.found: list[LoadedKernel] = []  # the others, in the current context
        self.before_contexts = False  # whether there was no context when it was loaded
        self.load_calls = 0
        self.load_milliseconds = 0.0
        self.error: CudarunError | None = None
        self.is_loaded = False

    def load(self) -> None:
        """Load the image, or note the error."""
        result, *current = self.driver.attempt("cuCtxGetCurrent")
        self.before_contexts = result == 0 and int(current[0]) == 0
        calls, started = self.driver.count, time.perf_counter()
        self.error = None
        try:
            jit.with_whole_logs(self._load)
        except CudarunError as error:
            self.error = error
        self.is_loaded = self.error is None
        self.load_milliseconds = (time.perf_counter() - started) * 1e3
        self.load_calls = self.driver.count - calls

    def _load(self, logs: jit.Logs) -> None:
        """Load the image with these logs, and force the error of a broken library."""
        self.logs = logs
        if self.loads_once:
            self._library = Library(self.driver, self.image, self.options, logs)
            self.handle, self._names = self._library.handle, self._library.names()
            return
        given = jit.driver_options(self.driver, self.options)
        every = given | logs.options(self.driver)
        with jit.option_refusals(given, logs):
            self.handle = self.ask(
                self.driver.cuModuleLoadDataEx, self.image.code + b"\0", len(every), [*every],
                [*every.values()],
            )  # fmt: skip

    def kernels(self) -> list[LoadedKernel]:
        """Return the kernels in the current context, without those that join ``refusals``.

        Raises:
            ImageRefused: The driver refuses the image when its kernels are queried.
        """
        if not self.loads_once:
            try:
                return self._functions()
            except ImageRefused as error:
                raise self.refused(error) from None
        handles = [(name, self._library.handle_of(name)) for name in self._names]
        kernels = []
        for name, handle in handles:
            try:
                kernels.append(LoadedKernel(name, handle, self._library.function_of(handle)))
            except ImageRefused as error:
                self._refuse(name, error)
        return kernels

    def _functions(self) -> list[LoadedKernel]:
        """Return the kernels of a module; before CUDA 12.4 their names come from the file."""
        driver, module = self.driver, self.handle
        if driver.version < PARAM_INFO_SINCE:
            names = [kernel.name for kernel in self.facts.kernels] if self.facts else []
            get = driver.cuModuleGetFunction
            return [LoadedKernel(name, None, get(module, name.encode())) for name in names]
        count = driver.cuModuleGetFunctionCount(module)
        functions = driver.cuModuleEnumerateFunctions(count, module) if count else []
        name_of = driver.cuFuncGetName
        return [LoadedKernel(name_of(each).decode(), None, each) for each in functions]

    def unload(self) -> None:
        """Unload the image."""
        driver = self.driver
        (driver.cuLibraryUnload if self.loads_once else driver.cuModuleUnload)(self.handle)

    def forced(self, kernels: Sequence[LoadedKernel]) -> list[LoadedKernel]:
        """Load the code of kernels on the device now; return those without a refusal."""
        loaded = []
        for kernel in kernels:
            since = len(self.logs.error)
            try:
                self.driver.cuFuncLoad(kernel.function)
            except ImageRefused as error:
                self._refuse(kernel.name, self.refused(error, since=since))
            else:
                loaded.append(kernel)
        return loaded

    def _refuse(self, name: str, error: CudarunError) -> None:
        self.refusals.append(KernelRefusal(name, error.at(kernel=demangle(name))))

    def attribute(self, name: str, kernel: LoadedKernel, device: Device) -> int:
        """Return a ``CUfunction_attribute`` of a kernel."""
        attribute = getattr(self.driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        if kernel.kernel is None:
            return int(self.driver.cuFuncGetAttribute(attribute, kernel.function))
        return int(self.driver.cuKernelGetAttribute(attribute, kernel.kernel, device.handle))

    def parameters(self, kernel: LoadedKernel) -> tuple[Parameter, ...]:
        """Return the layout of a kernel's parameters."""
        handle = kernel.function if kernel.kernel is None else kernel.kernel
        call = "cuFuncGetParamInfo" if kernel.kernel is None else "cuKernelGetParamInfo"
        return read_parameters(self.driver, call, handle, kernel.name, self.facts)

    def report(self, variable: VariableFacts) -> VariableReport:
        """Return the report of a variable, with its address unless the driver hides it."""
        call = "cuModuleGetGlobal"
        if self.loads_once:
            call = "cuLibraryGetManaged" if variable.managed else "cuLibraryGetGlobal"
        hidden = self.driver.CUresult.CUDA_ERROR_NOT_FOUND
        found = self.driver.optional(hidden, call, self.handle, variable.name.encode())
        address, size = (None, variable.size) if found is None else map(int, found)
        return derived(VariableReport, variable, size=size, address=address)
