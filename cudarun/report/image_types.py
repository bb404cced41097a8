"""The reports of ``load`` and ``link``. Plain data; sizes are in bytes, times in milliseconds."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.diagnostics.entries import Diagnostic
from cudarun.errors import CudarunError, ExitCode, worst
from cudarun.parameters import Parameter
from cudarun.records import dataclass
from cudarun.report.types import DeviceInfo

Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full a multiprocessor gets with blocks of a size.

    Attributes:
        block: The block.
        blocks: Of those, how many are resident at once on a multiprocessor.
        threads: Theirs, in all.
        share: Of the threads that a multiprocessor can hold, from 0 to 1.
    """

    block: Extent
    blocks: int
    threads: int
    share: float


@dataclass(frozen=True, slots=True)
class KernelReport:
    """A kernel as the driver or the file tells of it; ``None`` is what it does not tell.

    Attributes:
        name: Mangled.
        demangled: The C++ signature, or the name.
        parameters: The layout of the parameter buffer.
        registers: Per thread.
        shared_bytes: Static shared memory of a block.
        const_bytes: User constant memory of the module.
        local_bytes: Local memory of a thread.
        max_threads: Per block.
        max_dynamic_shared: What a launch may ask for without more ado.
        required_block: The block that a launch must have.
        required_cluster: The cluster that a launch must have.
        binary_version: Of the machine code: 90 for sm_90.
        ptx_version: The virtual architecture that it was compiled for.
        is_loaded: Whether its code is on the device.
        occupancy: With the block asked about.
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


@dataclass(frozen=True, slots=True)
class VariableReport:
    """A variable of an image.

    Attributes:
        name: As the driver wants it.
        demangled: The C++ name, or the name itself.
        space: ``global`` or ``const``.
        size: As the driver says, or else the file.
        managed: Whether it is ``__managed__``.
        type: Where the image tells it.
        address: In this context; ``None`` offline, and where the driver does not show it.
    """

    name: str
    demangled: str
    space: str
    size: int
    managed: bool
    type: str | None = None
    address: int | None = None


@dataclass(frozen=True, slots=True)
class Handle:
    """A kernel's handles: ``kernel`` is the ``CUkernel``, the same in every context."""

    name: str
    kernel: int | None
    function: int


@dataclass(frozen=True, slots=True)
class WayReport:
    """What it took to get from an image to kernels that can be launched, one way.

    Attributes:
        via: ``library`` or ``module``.
        before_contexts: Whether it was loaded before any context existed.
        load_calls: Driver calls to load the image, once for all contexts with a library.
        load_milliseconds: Their time.
        context_calls: Driver calls in this context, up to kernels that are there.
        context_milliseconds: Their time.
        memory_bytes: Device memory that it took in this context.
        handles: What it gave.
        info_log: What the driver's compiler said.
        silence: Why it said nothing although it was asked to, in words.
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
    """One image on one device, loaded or refused.

    Attributes:
        image: What it is called: the file, or the file and a number where it holds several.
        ways: Each way that it was loaded.
        kernels: As the first of them tells.
        variables: Likewise; ``None`` where the image does not tell what variables it has.
        differences: Where two ways told different things.
        diagnostics: Of the compiler, where all went well.
    """

    image: str
    ways: tuple[WayReport, ...]
    kernels: tuple[KernelReport, ...] = ()
    variables: tuple[VariableReport, ...] | None = ()
    differences: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def error(self) -> CudarunError | None:
        """Why it was refused; ``None`` where it loaded every way."""
        return next((way.error for way in self.ways if way.error is not None), None)


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """One file on one device: what was in it, or why there is no answer.

    ``verdict`` is ``loaded`` or ``refused``; ``failed`` where it was not the image that was at
    fault, ``killed`` where the time was over and ``crashed`` where the driver died of it.
    """

    image: str
    label: str
    verdict: str
    device: DeviceInfo | None
    results: tuple[LoadResult, ...]
    error: CudarunError | None
    output: str = ""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The answer of ``cudarun load``: an outcome per file and device, in the order asked for."""

    tag: ClassVar[Literal["load"]] = "load"

    outcomes: tuple[LoadOutcome, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst of all."""
        return worst(outcome.error for outcome in self.outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """That of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK


@dataclass(frozen=True, slots=True)
class PartReport:
    """An image inside another: its kind, target, size and kernels, or why it cannot be read."""

    kind: str
    target: str
    size: int
    unread: str | None = None
    kernels: tuple[KernelReport, ...] = ()


@dataclass(frozen=True, slots=True)
class FileReport:
    """What a file holds, with no driver asked.

    Attributes:
        image: Its name.
        kind: ``PTX``, ``cubin``, ``fatbin``, …
        size: Its own.
        targets: What it has code for.
        ptx_version: Of PTX.
        toolkit: What built it, where that is written down.
        is_relocatable: Whether it must be linked before it can be loaded.
        kernels: In order.
        variables: That the host can address.
        externs: Symbols that another file has to define.
        relocations: How many places are filled in when it is loaded or linked; of machine code.
        parts: The images inside it.
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
    parts: tuple[PartReport, ...] = ()
    error: CudarunError | None = None


@dataclass(frozen=True, slots=True)
class OfflineReport:
    """The answer of ``cudarun load --offline``."""

    tag: ClassVar[Literal["load-offline"]] = "load-offline"

    files: tuple[FileReport, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst of all."""
        return worst(file.error for file in self.files)

    @property
    def exit_code(self) -> ExitCode:
        """That of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK


@dataclass(frozen=True, slots=True)
class InputReport:
    """One input of a link."""

    name: str
    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class LinkReport:
    """The answer of ``cudarun link``.

    Attributes:
        output: The file written.
        linker: Which linker, with its version.
        target: What it linked for.
        inputs: In order.
        milliseconds: From the first call of the linker to the last.
        size: Of the output.
        kind: What the output is.
        kernels: In it.
        variables: In it.
        info_log: What the linker said.
        diagnostics: Its warnings.
        loads: What came of loading it, where that was asked for.
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
        """The worst of all."""
        return worst(outcome.error for outcome in self.loads)

    @property
    def exit_code(self) -> ExitCode:
        """That of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK
