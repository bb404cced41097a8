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
    """A kernel; null is what neither the driver nor the file tells."""

    name: str  # its mangled name
    demangled: str  # its name in C++ spelling
    parameters: tuple[Parameter, ...]  # its parameters
    registers: int | None = None  # registers per thread
    shared_bytes: int | None = None  # static shared memory per block
    const_bytes: int | None = None  # user constant memory of the module
    local_bytes: int | None = None  # local memory per thread
    max_threads: int | None = None  # the largest number of threads per block
    # The dynamic shared memory of a launch that sets no attribute.
    max_dynamic_shared: int | None = None
    required_block: Extent | None = None  # the block that a launch must have
    required_cluster: Extent | None = None  # the cluster that a launch must have
    binary_version: int | None = None  # the architecture of its machine code, 90 for sm_90
    ptx_version: int | None = None  # the virtual architecture that it was compiled for
    is_loaded: bool | None = None  # whether it is loaded on the device
    occupancy: Occupancy | None = None  # the occupancy with ``--block``
    is_estimated: bool = False  # whether registers and occupancy are estimates, as on ``cpu``
    # A command that launches it; ``None`` where ``launch`` does not take the file.
    launch: str | None = None


@dataclass(frozen=True, slots=True)
class RefusedKernel:
    """A kernel that the driver refuses, of an image that it loads."""

    name: str  # its mangled name
    demangled: str  # its name in C++ spelling
    reasons: tuple[str, ...]  # why, each with its line in PTX where there is one


@dataclass(frozen=True, slots=True)
class VariableReport:
    """A variable of an image."""

    name: str  # its symbol
    demangled: str  # its name in C++ spelling
    space: str  # ``global`` or ``const``
    size: int  # its size
    managed: bool  # whether it is a __managed__ variable
    type: str | None = None  # its type, where the image has it
    address: int | None = None  # its address in the context; ``None`` without one
    # Whether CUDA's headers define it.
    is_of_headers: bool = field(default=False, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Handle:
    """The handles of a kernel."""

    name: str  # the kernel
    kernel: int | None  # its CUkernel, the same in every context
    function: int  # its CUfunction


@dataclass(frozen=True, slots=True)
class LoaderReport:
    """The loading of an image by cuLibrary or by cuModule."""

    via: str  # ``library`` or ``module``
    before_contexts: bool  # whether it was loaded before any context existed
    # The number of driver calls that load the image; with a library, once for all contexts.
    load_calls: int
    load_milliseconds: float  # their time
    # The number of driver calls in the context that make its kernels available.
    context_calls: int = 0
    context_milliseconds: float = 0.0  # their time
    memory_bytes: int | None = None  # the device memory that it took in the context
    handles: tuple[Handle, ...] = ()  # the handles of its kernels
    info_log: str = ""  # the log of the driver's compiler
    silence: str | None = None  # why the log is empty although one was asked for
    error: CudarunError | None = None  # why it failed


@dataclass(frozen=True, slots=True)
class LoadResult:
    """An image on a device."""

    image: str  # the file; with a number where it holds several images
    # The loading by each of the loaders.
    loaders: tuple[LoaderReport, ...] = field(metadata=named("ways"))
    kernels: tuple[KernelReport, ...] = ()  # its kernels
    refusals: tuple[RefusedKernel, ...] = ()  # the kernels that the driver refuses
    # Its variables; ``None`` where they are not known.
    variables: tuple[VariableReport, ...] | None = ()
    differences: tuple[str, ...] = ()  # what the loaders report differently
    diagnostics: tuple[Diagnostic, ...] = ()  # of the compiler, where the image loaded
    # The number of the fatbin in the file, from 1; ``None`` where it holds only one.
    fatbin: int | None = None
    target: str | None = None  # the target of the code in the fatbin that the device takes
    verdict: Verdict | None = None  # that of the fatbin, as of the file
    # Why the fatbin was not loaded.
    failure: CudarunError | None = field(default=None, metadata=named("error"))

    @property
    def error(self) -> CudarunError | None:
        """The first error; ``None`` if every loader loaded it."""
        if self.failure is not None:
            return self.failure
        return next((loader.error for loader in self.loaders if loader.error is not None), None)


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """A file on a device."""

    image: str  # the file
    label: str  # the device, as for ``--device``
    # ``loaded``; refused; failed, where the fault is not the image's; killed at ``--timeout``; or
    # crashed with the driver.
    verdict: Verdict
    device: DeviceInfo | None  # the device; ``None`` where it is not known
    results: tuple[LoadResult, ...]  # the images of the file
    error: CudarunError | None  # why it did not load
    output: str = ""  # what the driver printed


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Files loaded on devices."""

    tag: ClassVar[Literal["load"]] = "load"

    outcomes: tuple[LoadOutcome, ...]  # one for each file and device, in order
    # The only kernel that was loaded, as requested.
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
    """The images for one target in a file."""

    target: str  # the architecture
    kind: str  # their format
    parts: int  # the number of images
    kernels: int  # the number of their kernels
    size: int  # their size, decompressed
    stored: int  # their size in the file
    unread: int = 0  # the number of images that cannot be read


@dataclass(frozen=True, slots=True)
class PartReport:
    """An image inside a file."""

    number: int  # its number in the file, from 1
    fatbin: int  # the number of its fatbin in the file, from 1
    kind: str  # its format
    target: str  # its architecture
    size: int  # its size, decompressed
    stored: int  # its size in the file
    unread: str | None = None  # why it cannot be read
    kernels: tuple[KernelReport, ...] = ()  # its kernels


@dataclass(frozen=True, slots=True)
class FileReport:
    """A file, read without a driver."""

    image: str  # the file
    kind: str  # its format
    size: int  # its size
    targets: tuple[str, ...] = ()  # the architectures that it has code for
    ptx_version: tuple[int, int] | None = None  # the version of PTX
    toolkit: str | None = None  # the toolkit that built it, where the file names it
    is_relocatable: bool | None = None  # whether it must be linked before it can be loaded
    kernels: tuple[KernelReport, ...] = ()  # its kernels
    variables: tuple[VariableReport, ...] = ()  # the variables that the host can address
    externs: tuple[str, ...] = ()  # its undefined symbols
    relocations: int | None = None  # the number of relocations of machine code
    fatbins: int = 0  # the number of fatbins inside it
    summary: tuple[TargetReport, ...] = ()  # the images inside it, for each target
    parts: tuple[PartReport, ...] = ()  # the images inside it
    # Whether kernels and variables were left out.
    is_summary: bool = field(default=False, metadata=LEFT_OUT)
    diagnostics: tuple[Diagnostic, ...] = ()  # notes on its debug information
    predictions: tuple[Prediction, ...] = ()  # its kernels on the GPUs of ``--for``
    error: CudarunError | None = None  # why it cannot be read

    @property
    def worst(self) -> CudarunError | None:
        """The worst error: why it cannot be read, or does not load or launch on a GPU."""
        return worst((self.error, *(each.error for each in self.predictions)))


@dataclass(frozen=True, slots=True)
class OfflineReport:
    """Files read without a driver."""

    tag: ClassVar[Literal["load-offline"]] = "load-offline"

    files: tuple[FileReport, ...]  # the files, in order

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
    """An input of a link."""

    name: str  # the file
    kind: str  # its format
    size: int  # its size


@dataclass(frozen=True, slots=True)
class LinkReport:
    """A link."""

    tag: ClassVar[Literal["link"]] = "link"

    output: str  # the file that was written
    linker: str  # the linker and its version
    target: str  # the architecture
    inputs: tuple[InputReport, ...]  # the inputs, in order
    milliseconds: float  # the time of the linker
    size: int  # the size of the output
    kind: str  # the format of the output
    kernels: tuple[KernelReport, ...]  # its kernels
    variables: tuple[VariableReport, ...]  # its variables
    info_log: str  # the log of the linker
    diagnostics: tuple[Diagnostic, ...] = ()  # its warnings
    loads: tuple[LoadOutcome, ...] = ()  # the output on each device, with ``--load``

    @property
    def error(self) -> CudarunError | None:
        """The worst error of all."""
        return worst(outcome.error for outcome in self.loads)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK
