"""Decoded code: names resolved to slots, labels to basic blocks, types to numpy's.

A function is a list of basic blocks over numbered **slots**, one per register. An operand is a
**use** of a slot, a constant, or an address that is known at launch. An operation is **lanewise**
(a pure function over the lanes) or an **action** (it must know the lanes it runs for).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import field
from enum import Enum, auto
from typing import Any, ClassVar

from cudarun.base.records import dataclass
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.types import Type

ActionFunction = Callable[[Any, Arrays, Arrays], None]
"""``action(active, sources, destinations)``: see ``cudarun.emulator.machine.active``."""


class Role(Enum):
    """The source of a slot's value."""

    REGISTER = auto()  # a register of the program: a value per lane
    CONSTANT = auto()  # a register that holds one value throughout the launch
    SPECIAL = auto()  # a special register: a value per lane, or one for all
    PARAMETER = auto()  # a .param variable of a function or a call: bytes per lane
    STACK = auto()  # where the function's local variables begin, per lane


@dataclass(frozen=True, slots=True)
class RegisterSlot:
    """One register of a function; ``size`` is the number of bytes of a ``.param`` variable."""

    name: str
    type: Type
    role: Role
    size: int = 0


# --- operands ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RegisterUse:
    """A slot read as a type; a predicate may be ``negated``."""

    slot: int
    type: Type
    negated: bool = False


@dataclass(frozen=True, slots=True)
class ConstantUse:
    """A constant, as an array of one value."""

    value: Array


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """The address of a variable or function, known at launch; ``name`` is unique in the program."""

    space: str
    name: str
    addend: int
    type: Type


@dataclass(frozen=True, slots=True)
class KernelParameterUse:
    """A value in the kernel's parameter buffer."""

    offset: int
    type: Type


@dataclass(frozen=True, slots=True)
class ParameterUse:
    """A value in a ``.param`` variable of a function or of a call."""

    slot: int
    offset: int
    type: Type


@dataclass(frozen=True, slots=True)
class SinkUse:
    """An ignored destination, ``_``."""

    type: Type


Use = RegisterUse | ConstantUse | SymbolUse | KernelParameterUse | ParameterUse | SinkUse


def slots_of(uses: Iterable[Use]) -> set[int]:
    """Return the slots among some operands."""
    return {use.slot for use in uses if isinstance(use, RegisterUse | ParameterUse)}


# --- operations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Site:
    """The place of an instruction: its PTX line, and the CUDA source line from ``.loc``.

    ``name`` is the instruction as written, modifiers included; the line may have several.
    """

    function: str
    line: int
    text: str
    source: str | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Lanewise:
    """``function(*sources, *destinations, *temporaries)`` over arrays of lanes.

    ``name`` is the PTX instruction that it alone implements, ``mul.f32``, if there is one. It
    ``is_opaque`` if floats are numbers modulo a prime and it is no arithmetic on them.
    """

    action: ClassVar[None] = None

    function: Callable[..., object]
    sources: tuple[Use, ...]
    destinations: tuple[Use, ...]
    site: Site
    name: str = ""
    is_opaque: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """``action(active, sources, destinations)``: see ``cudarun.emulator.machine.active``."""

    action: ActionFunction
    sources: tuple[Use, ...]
    destinations: tuple[Use, ...]
    site: Site


Operation = Lanewise | Action


# --- functions -----------------------------------------------------------------------------------


class Terminator(ABC):
    """The end of a basic block."""

    def __init__(
        self,
        successors: tuple[int, ...] = (),
        reads: tuple[Use, ...] = (),
        *,
        condition: RegisterUse | None = None,
        site: Site | None = None,
    ) -> None:
        self.successors = successors  # the blocks of the same function that lanes can continue in
        self.reads = reads if condition is None else (condition, *reads)  # the operands it reads
        # The predicate by which lanes diverge, bound with the block's operations.
        self.condition = condition
        self.site = site  # the instruction; ``None`` if the block falls through to the next

    @abstractmethod
    def finish(self, batch: Any, active: Any) -> None:
        """Send the active lanes on; the arguments are of ``machine.batch`` and ``.active``."""


@dataclass(slots=True)
class BlockCode:
    """A basic block: operations that all its lanes execute, and its terminator.

    Slot sets are integers with a bit per slot, of lane-wide slots only.
    """

    index: int  # index in the function, in the order of the text
    operations: list[Operation]
    terminator: Terminator
    # The member mask of the warp-synchronous operation that the block begins with.
    sync_mask: Use | None = None
    sync_warps: int = 1  # number of warps that synchronize there: 4 for a warpgroup
    # The instruction there with its qualifiers, if lanes also synchronize with those at the same
    # one elsewhere.
    meets: str = ""
    # The last block that whole warps run together with this one; 0 if it is this one.
    through: int = 0
    reads: int = 0  # slots that it reads before it writes them
    writes: int = 0  # slots that it writes
    live_in: int = 0  # slots whose values it or a later block needs
    live_out: int = 0  # slots whose values its terminator or a later block needs
    # The cost of a jump back to this block, after which other threads run: high if the loop may be
    # waiting for one; 0 if it begins no loop.
    polls: int = 0
    # The names of the PTX instructions that it was decoded from, as ``add.s32``; operations need
    # not correspond to them one to one.
    instructions: tuple[str, ...] = ()


@dataclass(slots=True)
class FunctionCode:
    """One ``.entry`` or ``.func``."""

    name: str
    slots: list[RegisterSlot]
    base: int = 0  # the number of its first block in the program
    # Its basic blocks in the order of the text; it begins with the first.
    blocks: list[BlockCode] = field(default_factory=list)
    # Operations on constants, run once per launch.
    prologue: list[Lanewise] = field(default_factory=list)
    parameters: tuple[int, ...] = ()  # slots of the formal parameters of a ``.func``
    results: tuple[int, ...] = ()  # slots of its return values
    local_bytes: int = 0  # bytes of its local variables
    symbols: set[str] = field(default_factory=set)  # the variables and functions it refers to
    # Names of the functions it calls directly; ``indirect`` if it calls through pointers.
    calls: set[str] = field(default_factory=set)
    indirect: bool = False
    allocates: bool = False  # True if it has an ``alloca``
    unused_registers: int = 0  # registers that it declares and does not use; they have no slot
    is_optimized: bool = True  # False with ``.target debug``

    @property
    def operations(self) -> list[Operation]:
        """The operations of all basic blocks."""
        return [operation for block in self.blocks for operation in block.operations]

    @property
    def actions(self) -> list[ActionFunction]:
        """The actions among the operations."""
        return [each.action for each in self.operations if each.action is not None]

    @property
    def registers(self) -> int:
        """The number of its registers, used or not."""
        used = sum(1 for slot in self.slots if slot.role is Role.REGISTER)
        return used + self.unused_registers

    @property
    def grows_stack(self) -> bool:
        """True if it needs stack beyond its own frame."""
        return bool(self.calls) or self.indirect or self.allocates

    @property
    def frame_bytes(self) -> int:
        """Bytes of stack per call; a call without local variables takes some, too."""
        return -(-self.local_bytes // 16) * 16 + 16
