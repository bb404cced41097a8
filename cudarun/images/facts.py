"""What an image holds, as far as its bytes tell.

``None`` stands for what this kind of image does not tell: PTX knows no registers, a cubin no names
of parameters.
"""

from __future__ import annotations

from cudarun.images.demangle import demangle
from cudarun.images.identify import ImageKind
from cudarun.parameters import Parameter
from cudarun.records import dataclass

Extent = tuple[int, int, int]

OF_THE_DRIVER = frozenset({"vprintf", "malloc", "free", "__assertfail"})
"""The functions that a driver defines itself, when it loads code that calls them."""


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """A kernel.

    Attributes:
        name: The symbol's name, as ``cuLibraryGetKernel`` wants it.
        parameters: In order, with the layout of the parameter buffer.
        registers: Per thread.
        shared_bytes: Static shared memory of a block, without what the driver reserves.
        local_bytes: Local memory of a thread, with that of all it calls; ``None`` where that is not
            known: of recursion, and of calls that are yet to be linked.
        const_bytes: User constant memory; it belongs to the module, all its kernels have the same.
        max_threads: Per block, from ``__launch_bounds__`` (``.maxntid``).
        required_block: The block size that the launch must have (``.reqntid``).
        required_cluster: The cluster size that the launch must have (``.reqnctapercluster``).
    """

    name: str
    parameters: tuple[Parameter, ...]
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    const_bytes: int | None = None
    max_threads: int | None = None
    required_block: Extent | None = None
    required_cluster: Extent | None = None

    @property
    def demangled(self) -> str:
        """The C++ signature, or the name itself."""
        return demangle(self.name)


@dataclass(frozen=True, slots=True)
class VariableFacts:
    """A variable that the host can address: ``__device__``, ``__constant__``, ``__managed__``.

    Attributes:
        name: The symbol's name, as ``cuLibraryGetGlobal`` wants it.
        space: ``"global"`` or ``"const"``.
        size: Bytes.
        alignment: Bytes.
        managed: Whether it is ``__managed__``: in space ``global``, at one address everywhere.
        type: The PTX type (``"u32"``, ``"f32[4]"``) where it tells more than a count of bytes; nvcc
            makes byte arrays of C arrays and structs.
    """

    name: str
    space: str
    size: int
    alignment: int | None = None
    managed: bool = False
    type: str | None = None

    @property
    def demangled(self) -> str:
        """The C++ name, or the name itself."""
        return demangle(self.name)


@dataclass(frozen=True, slots=True)
class Part:
    """One image inside another: an entry of a fatbin, a member of an archive.

    Attributes:
        kind: What it is.
        target: What it was compiled for: ``"sm_90"``; of PTX and LTO-IR ``"compute_90"``.
        size: Bytes, decompressed.
        facts: What it holds, or ``None`` where it cannot be read here.
        unread: Why it cannot be read.
    """

    kind: ImageKind
    target: str
    size: int
    facts: ImageFacts | None = None
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What one file holds.

    Attributes:
        kind: What the file is.
        kernels: In the order of the file. Of an image with parts: each kernel once, as the first
            part that has it tells it.
        variables: Likewise.
        targets: What it has code for: ``"sm_90"``, ``"compute_90"``.
        ptx_version: The ``.version`` of PTX.
        parts: The images inside it, of a fatbin, host object or archive.
        externs: What it uses and another file has to define; not what the driver itself defines.
        toolkit: What built it: ``"ptxas 13.0, V13.0.88"``.
        is_relocatable: Whether a cubin is yet to be linked.
        relocations: Places in the code and data of a cubin that loading or linking fills in.
    """

    kind: ImageKind
    kernels: tuple[KernelFacts, ...] = ()
    variables: tuple[VariableFacts, ...] = ()
    targets: tuple[str, ...] = ()
    ptx_version: tuple[int, int] | None = None
    parts: tuple[Part, ...] = ()
    externs: tuple[str, ...] = ()
    toolkit: str | None = None
    is_relocatable: bool | None = None
    relocations: int | None = None
