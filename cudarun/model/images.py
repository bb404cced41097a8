"""The reports of ``load`` and ``link``; sizes are in bytes, times in milliseconds."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar, Literal

from cudarun.base.errors import CudarunError, ExitCode, worst
from cudarun.base.records import LEFT_OUT, dataclass, named
from cudarun.diagnostics.entries import Diagnostic
from cudarun.images.parameters import Parameter
from cudarun.model.devices import DeviceInfo
from cudarun.model.occupancy import Extent, Occupancy, Prediction

Verdict = Literal["loaded", "refused", "failed", "killed", "crashed"]


@dataclass(frozen=True, slots=True)
class KernelReport:
    """A kernel; null is what neither the driver nor the file tells.

    Attributes:
        name: Its mangled name.
        demangled: Its name in C++ spelling.
        parameters: Its parameters.
        registers: Registers per thread.
        shared_bytes: Static shared memory per block.
        const_bytes: User constant memory of the module.
        local_bytes: Local memory per thread.
        max_threads: The largest number of threads per block.
        max_dynamic_shared: The dynamic shared memory of a launch that sets no attribute.
        required_block: The block that a launch must have.
        required_cluster: The cluster that a launch must have.
        binary_version: The architecture of its machine code, 90 for sm_90.
        ptx_version: The virtual architecture that it was compiled for.
        is_loaded: Whether it is loaded on the device.
        occupancy: The occupancy with ``--block``.
        is_estimated: Whether registers and occupancy are estimates, as on ``cpu``.
        launch: A command that launches it; ``None`` where ``launch`` does not take the file.
    """

    name: str
    demangled: str
    parameters: tuple[Parameter, ...]
    registers: int | None = None
    shared_bytes: int | None = None
    const_bytes: int | None = None
    local_bytes: int | None = None
    max_threads: int | None = None
    max_dynamic_shared: int | None = None
    required_block: Extent | None = None
    required_cluster: Extent | None = None
    binary_version: int | None = None
    ptx_version: int | None = None
    is_loaded: bool | None = None
    occupancy: Occupancy | None = None
    is_estimated: bool = False
    launch: str | None = None


@dataclass(frozen=True, slots=True)
class RefusedKernel:
    """A kernel that the driver refuses, of an image that it loads.

    Attributes:
        name: Its mangled name.
        demangled: Its name in C++ spelling.
        reasons: Why, each with its line in PTX where there is one.
    """

    name: str
    demangled: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VariableReport:
    """A variable of an image.

    Attributes:
        name: Its symbol.
        demangled: Its name in C++ spelling.
        space: global or const.
        size: Its size.
        managed: Whether it is a __managed__ variable.
        type: Its type, where the image has it.
        address: Its address in the context; ``None`` without one.
        is_of_headers: Whether CUDA's headers define it.
    """

    name: str
    demangled: str
    space: str
    size: int
    managed: bool
    type: str | None = None
    address: int | None = None
    is_of_headers: bool = field(default=False, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Handle:
    """The handles of a kernel.

    Attributes:
        name: The kernel.
        kernel: Its CUkernel, the same in every context.
        function: Its CUfunction.
    """

    name: str
    kernel: int | None
    function: int


@dataclass(frozen=True, slots=True)
class LoaderReport:
    """The loading of an image by cuLibrary or by cuModule.

    Attributes:
        via: library or module.
        before_contexts: Whether it was loaded before any context existed.
        load_calls: The number of driver calls that load the image; with a library, once for all
            contexts.
        load_milliseconds: Their time.
        context_calls: The number of driver calls in the context that make its kernels available.
        context_milliseconds: Their time.
        memory_bytes: The device memory that it took in the context.
        handles: The handles of its kernels.
        info_log: The log of the driver's compiler.
        silence: Why the log is empty although one was asked for.
        error: Why it failed.
    """

    via: str
    before_contexts: bool
    load_calls: int
    load_milliseconds: float
    context_calls: int = 0
    context_milliseconds: float = 0.0
    memory_bytes: int | None = None
    handles: tuple[Handle, ...] = ()
    info_log: str = ""
    silence: str | None = None
    error: CudarunError | None = None


@dataclass(frozen=True, slots=True)
class LoadResult:
    """An image on a device.

    Attributes:
        image: The file; with a number where it holds several images.
        loaders: The loading by each of the loaders.
        kernels: Its kernels.
        refusals: The kernels that the driver refuses.
        variables: Its variables; ``None`` where they are not known.
        differences: What the loaders report differently.
        diagnostics: Of the compiler, where the image loaded.
        fatbin: The number of the fatbin in the file, from 1; ``None`` where it holds only one.
        target: The target of the code in the fatbin that the device takes.
        verdict: That of the fatbin, as of the file.
        failure: Why the fatbin was not loaded.
    """

    image: str
    loaders: tuple[LoaderReport, ...] = field(metadata=named("ways"))
    kernels: tuple[KernelReport, ...] = ()
    refusals: tuple[RefusedKernel, ...] = ()
    variables: tuple[VariableReport, ...] | None = ()
    differences: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    fatbin: int | None = None
    target: str | None = None
    verdict: Verdict | None = None
    failure: CudarunError | None = field(default=None, metadata=named("error"))

    @property
    def error(self) -> CudarunError | None:
        """The first error; ``None`` if every loader loaded it."""
        if self.failure is not None:
            return self.failure
        return next((loader.error for loader in self.loaders if loader.error is not None), None)


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """A file on a device.

    Attributes:
        image: The file.
        label: The device, as for ``--device``.
        verdict: loaded; refused; failed, where the fault is not the image's; killed at
            ``--timeout``; or crashed with the driver.
        device: The device; ``None`` where it is not known.
        results: The images of the file.
        error: Why it did not load.
        output: What the driver printed.
    """

    image: str
    label: str
    verdict: Verdict
    device: DeviceInfo | None
    results: tuple[LoadResult, ...]
    error: CudarunError | None
    output: str = ""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Files loaded on devices.

    Attributes:
        outcomes: One for each file and device, in order.
        kernel: The only kernel that was loaded, as requested.
    """

    tag: ClassVar[Literal["load"]] = "load"

    outcomes: tuple[LoadOutcome, ...]
    kernel: str | None = field(default=None, metadata=LEFT_OUT)

    @property
    def error(self) -> CudarunError | None:
        """The worst error of all."""
        return worst(outcome.error for outcome in self.outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK


@dataclass(frozen=True, slots=True)
class TargetReport:
    """The images for one target in a file.

    Attributes:
        target: The architecture.
        kind: Their format.
        parts: The number of images.
        kernels: The number of their kernels.
        size: Their size, decompressed.
        stored: Their size in the file.
        unread: The number of images that cannot be read.
    """

    target: str
    kind: str
    parts: int
    kernels: int
    size: int
    stored: int
    unread: int = 0


@dataclass(frozen=True, slots=True)
class PartReport:
    """An image inside a file.

    Attributes:
        number: Its number in the file, from 1.
        fatbin: The number of its fatbin in the file, from 1.
        kind: Its format.
        target: Its architecture.
        size: Its size, decompressed.
        stored: Its size in the file.
        unread: Why it cannot be read.
        kernels: Its kernels.
    """

    number: int
    fatbin: int
    kind: str
    target: str
    size: int
    stored: int
    unread: str | None = None
    kernels: tuple[KernelReport, ...] = ()


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file, read without a driver.

    Attributes:
        image: The file.
        kind: Its format.
        size: Its size.
        targets: The architectures that it has code for.
        ptx_version: The version of PTX.
        toolkit: The toolkit that built it, where the file names it.
        is_relocatable: Whether it must be linked before it can be loaded.
        kernels: Its kernels.
        variables: The variables that the host can address.
        externs: Its undefined symbols.
        relocations: The number of relocations of machine code.
        fatbins: The number of fatbins inside it.
        summary: The images inside it, for each target.
        parts: The images inside it.
        is_summary: Whether kernels and variables were left out.
        diagnostics: Notes on its debug information.
        predictions: Its kernels on the GPUs of ``--for``.
        error: Why it cannot be read.
    """

    image: str
    kind: str
    size: int
    targets: tuple[str, ...] = ()
    ptx_version: tuple[int, int] | None = None
    toolkit: str | None = None
    is_relocatable: bool | None = None
    kernels: tuple[KernelReport, ...] = ()
    variables: tuple[VariableReport, ...] = ()
    externs: tuple[str, ...] = ()
    relocations: int | None = None
    fatbins: int = 0
    summary: tuple[TargetReport, ...] = ()
    parts: tuple[PartReport, ...] = ()
    is_summary: bool = field(default=False, metadata=LEFT_OUT)
    diagnostics: tuple[Diagnostic, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    error: CudarunError | None = None

    @property
    def worst(self) -> CudarunError | None:
        """The worst error: why it cannot be read, or does not load or launch on a GPU."""
        return worst((self.error, *(each.error for each in self.predictions)))


@dataclass(frozen=True, slots=True)
class OfflineReport:
    """Files read without a driver.

    Attributes:
        files: The files, in order.
    """

    tag: ClassVar[Literal["load-offline"]] = "load-offline"

    files: tuple[FileReport, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst error of all."""
        return worst(file.worst for file in self.files)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK


@dataclass(frozen=True, slots=True)
class InputReport:
    """An input of a link.

    Attributes:
        name: The file.
        kind: Its format.
        size: Its size.
    """

    name: str
    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class LinkReport:
    """A link.

    Attributes:
        output: The file that was written.
        linker: The linker and its version.
        target: The architecture.
        inputs: The inputs, in order.
        milliseconds: The time of the linker.
        size: The size of the output.
        kind: The format of the output.
        kernels: Its kernels.
        variables: Its variables.
        info_log: The log of the linker.
        diagnostics: Its warnings.
        loads: The output on each device, with ``--load``.
    """

    tag: ClassVar[Literal["link"]] = "link"

    output: str
    linker: str
    target: str
    inputs: tuple[InputReport, ...]
    milliseconds: float
    size: int
    kind: str
    kernels: tuple[KernelReport, ...]
    variables: tuple[VariableReport, ...]
    info_log: str
    diagnostics: tuple[Diagnostic, ...] = ()
    loads: tuple[LoadOutcome, ...] = ()

    @property
    def error(self) -> CudarunError | None:
        """The worst error of all."""
        return worst(outcome.error for outcome in self.loads)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK
