"""A compiled module: its kernels and variables, ready to be loaded and launched."""

from __future__ import annotations

from dataclasses import field

from cudarun.base.records import dataclass
from cudarun.emulator.code import FunctionCode
from cudarun.ptx.errors import PtxDiagnostic


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One ``.entry``, decoded."""

    name: str  # the name in the PTX text
    parameters: tuple[tuple[int, int], ...]  # offset and size in bytes of each parameter, in order
    parameter_bytes: int  # the size of the whole parameter buffer
    static_shared: int  # bytes of ``.shared`` variables it can access, without dynamic ones
    local_bytes: int  # bytes of local memory of its own frame, per thread
    registers: int  # an estimate of ``CU_FUNC_ATTRIBUTE_NUM_REGS``
    const_bytes: int  # bytes of ``.const`` variables in its module
    max_threads: int  # the maximum number of threads per block
    required_block: tuple[int, int, int] | None  # the block of ``.reqntid``
    ptx_version: int  # ``.version`` as in ``CU_FUNC_ATTRIBUTE_PTX_VERSION``: 80 for 8.0
    # The end of the last local variable in all frames; ``None`` if the stack grows at run time.
    local_extent: int | None = None
    # The addresses of its ``.shared`` variables in the shared memory of a block.
    shared: dict[str, int] = field(default_factory=dict)
    # Whether it asks where the shared memory that the system reserves is, as cooperative groups do.
    # Others have no access to it.
    reads_reserved: bool = False
    # Whether addresses of shared memory have the rank of the block, in launches with clusters.
    has_ranks: bool = False
    recursive: bool = False  # True if functions that it calls can call themselves
    required_cluster: tuple[int, int, int] | None = None  # the cluster of ``.reqnctapercluster``
    # The places in it, and in functions that it calls, that the emulated device does not implement.
    # It cannot be launched if there are any.
    unimplemented: tuple[PtxDiagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Relocation:
    """An address of a symbol in a variable's initial bytes.

    ``width`` bytes at ``offset`` take ``address(symbol) + addend``; with a ``mask`` one byte of it,
    the one that the mask (``0xFF``, ``0xFF00``, …) selects.
    """

    offset: int
    symbol: str
    addend: int
    width: int
    mask: int | None


@dataclass(frozen=True, slots=True)
class VariableCode:
    """One module-scope ``.global`` or ``.const`` variable."""

    name: str  # its name in the PTX text
    space: str  # ``"global"`` or ``"const"``
    size: int  # bytes; 0 for an unsized ``.extern`` array
    alignment: int  # bytes
    managed: bool  # True if it has ``.attribute(.managed)``
    initial: bytes  # the initial contents up to the last given value; zeros follow
    relocations: tuple[Relocation, ...]  # addresses in ``initial``
    linkage: str | None  # ``"extern"``, ``"visible"``, ``"weak"``, ``"common"`` or none


@dataclass(frozen=True, slots=True)
class ModuleCode:
    """All code and variables of one module."""

    kernels: dict[str, KernelCode]  # its entries by name
    variables: dict[str, VariableCode]  # its ``.global`` and ``.const`` variables by name
    # The code address of each function, for pointers to functions in initial values.
    functions: dict[str, int] = field(default_factory=dict)
    # The decoded code of each kernel and function.
    code: dict[str, FunctionCode] = field(default_factory=dict)
