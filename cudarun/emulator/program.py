"""A compiled module: its kernels and variables, ready to be loaded and launched."""

from __future__ import annotations

from dataclasses import field

from cudarun.base.records import dataclass
from cudarun.emulator.code import FunctionCode
from cudarun.ptx.errors import PtxDiagnostic


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One ``.entry``, decoded.

    Attributes:
        name: The name in the PTX text.
        parameters: Offset and size in bytes of each parameter, in order.
        parameter_bytes: The size of the whole parameter buffer.
        static_shared: Bytes of ``.shared`` variables it can access, without dynamic ones.
        local_bytes: Bytes of local memory of its own frame, per thread.
        local_extent: The end of the last local variable in all frames; ``None`` if the stack grows
            at run time.
        registers: An estimate of ``CU_FUNC_ATTRIBUTE_NUM_REGS``.
        const_bytes: Bytes of ``.const`` variables in its module.
        max_threads: The maximum number of threads per block.
        required_block: The block of ``.reqntid``.
        ptx_version: ``.version`` as in ``CU_FUNC_ATTRIBUTE_PTX_VERSION``: 80 for 8.0.
        shared: The addresses of its ``.shared`` variables in the shared memory of a block.
        reads_reserved: Whether it asks where the shared memory that the system reserves is, as
            cooperative groups do. Others have no access to it.
        required_cluster: The cluster of ``.reqnctapercluster``.
        recursive: True if functions that it calls can call themselves.
        unimplemented: The places in it, and in functions that it calls, that the emulated device
            does not implement. It cannot be launched if there are any.
    """

    name: str
    parameters: tuple[tuple[int, int], ...]
    parameter_bytes: int
    static_shared: int
    local_bytes: int
    registers: int
    const_bytes: int
    max_threads: int
    required_block: tuple[int, int, int] | None
    ptx_version: int
    local_extent: int | None = None
    shared: dict[str, int] = field(default_factory=dict)
    reads_reserved: bool = False
    recursive: bool = False
    required_cluster: tuple[int, int, int] | None = None
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
    """One module-scope ``.global`` or ``.const`` variable.

    Attributes:
        name: Its name in the PTX text.
        space: ``"global"`` or ``"const"``.
        size: Bytes; 0 for an unsized ``.extern`` array.
        alignment: Bytes.
        managed: True if it has ``.attribute(.managed)``.
        initial: The initial contents up to the last given value; zeros follow.
        relocations: Addresses in ``initial``.
        linkage: ``"extern"``, ``"visible"``, ``"weak"``, ``"common"`` or none.
    """

    name: str
    space: str
    size: int
    alignment: int
    managed: bool
    initial: bytes
    relocations: tuple[Relocation, ...]
    linkage: str | None


@dataclass(frozen=True, slots=True)
class ModuleCode:
    """All code and variables of one module.

    Attributes:
        kernels: Its entries by name.
        variables: Its ``.global`` and ``.const`` variables by name.
        functions: The code address of each function, for pointers to functions in initial values.
        code: The decoded code of each kernel and function.
    """

    kernels: dict[str, KernelCode]
    variables: dict[str, VariableCode]
    functions: dict[str, int] = field(default_factory=dict)
    code: dict[str, FunctionCode] = field(default_factory=dict)
