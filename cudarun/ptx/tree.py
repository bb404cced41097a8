"""The syntax tree of a PTX module with source positions.

Follows the PTX ISA manual, chapters 4 (syntax), 5 (state spaces and types) and 11 (directives).
Types and state spaces keep the manual's names without the leading dot (``"f32"``, ``"global"``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from cudarun.base.records import dataclass

TYPE_BYTES = {
    **dict.fromkeys(("b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64", "texref", "samplerref", "surfref"), 8),
    "b128": 16,
    "pred": 1,
}
"""The types a variable can have (manual 5.2, 5.3), with the bytes each takes."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the PTX text; both numbers count from 1.

    A node has the position of its first token, a later name of a declaration its own.
    """

    line: int
    column: int


# --- operands (manual chapter 6) -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Register:
    """A register or special register, ``%r1`` or ``%tid.x``; ``%`` is part of the name.

    So is a selector: ``.x`` of ``%tid.x`` or a vector, ``.b0`` of a video operand.
    A name without ``%`` is a register if a ``.reg`` in an enclosing scope declares it.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant; ``unsigned`` if it has the suffix ``U`` or exceeds 63 bits."""

    value: int
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class Float:
    """A floating constant by its bits: ``0f3F800000`` (width 32), ``0d…`` and decimals (64)."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class SymbolReference:
    """The name of a variable, function, parameter or label."""

    name: str


@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand ``[base + offset]``; an absolute one has base ``None``."""

    base: Register | SymbolReference | None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TupleAddress:
    """Several operands in one pair of brackets, ``[tensorMap, {%r1, %r2}]``, ``[tex, smp, {…}]``.

    ``address`` is the accessed object; ``rest`` the operands after it: a sampler, the coordinates.
    """

    address: Address
    rest: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class SymbolOffset:
    """``symbol + offset`` outside brackets, as in ``mov.u64 %rd1, table+16``."""

    symbol: SymbolReference
    offset: int


@dataclass(frozen=True, slots=True)
class Vector:
    """A list in braces, ``{a, b}``; also the parenthesized lists of ``call``."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two destinations joined by a bar, ``%r1|%p1``."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Negated:
    """A predicate operand with ``!`` before it."""

    operand: Register


@dataclass(frozen=True, slots=True)
class RegisterOffset:
    """The sum of a register and a constant, ``%r1+4``, as an operand."""

    register: Register
    offset: int


@dataclass(frozen=True, slots=True)
class Minus:
    """A register preceded by ``-``, as in ``vmad``."""

    operand: Register


@dataclass(frozen=True, slots=True)
class Sink:
    """The bit bucket ``_``."""


Operand = (
    Register
    | Integer
    | Float
    | SymbolReference
    | Address
    | TupleAddress
    | SymbolOffset
    | Vector
    | Pair
    | Negated
    | Minus
    | RegisterOffset
    | Sink
)


# --- declarations --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SymbolValue:
    """An initializer element that is an address: ``name`` or ``generic(name)``, plus an offset."""

    name: str
    offset: int = 0
    generic: bool = False
    mask: int | None = None  # 0xFF(name) takes one byte of the address


@dataclass(frozen=True, slots=True)
class Variable:
    """A declaration in any state space; ``.reg`` ones may stand for ``count`` registers.

    ``dimensions`` is empty for a scalar; its first item is ``None`` for ``name[]``. ``vector`` is
    1, 2 or 4. ``initial`` is flat in memory order; missing elements are zero.
    ``attributes`` are the ``.attribute`` words (``"managed"``, …). ``pointer`` holds the ``.ptr``
    words of a kernel parameter: ``("global", "align", "16")``.
    """

    space: str
    type: str
    name: str
    position: Position
    alignment: int | None = None
    vector: int = 1
    dimensions: tuple[int | None, ...] = ()
    count: int | None = None  # %r<count>
    initial: tuple[Integer | Float | SymbolValue, ...] | None = None
    linkage: str | None = None  # "extern", "visible", "weak", "common"
    attributes: tuple[str, ...] = ()
    pointer: tuple[str, ...] | None = None


# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Instruction:
    """``@!%p1 add.rn.f32 %f1, %f2, %f3;`` — ``modifiers`` are the dotted words after the opcode.

    The operands of a ``call`` are always ``results, callee, arguments``, each list a Vector that
    may be empty; an indirect call has the name of its prototype or targets as the last operand.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    position: Position
    guard: Register | Negated | None = None

    @property
    def name(self) -> str:
        """The instruction as written, modifiers included: ``add.rn.f32``."""
        return ".".join((self.opcode, *self.modifiers))


@dataclass(frozen=True, slots=True)
class Label:
    """``$L__BB0_1:``."""

    name: str
    position: Position


@dataclass(frozen=True, slots=True)
class LineMark:
    """``.loc file line column``: the source line of the statements that follow."""

    file: int
    line: int
    column: int
    call: tuple[int, int, int] | None  # file, line and column of the call that was inlined
    position: Position


@dataclass(frozen=True, slots=True)
class Block:
    """``{ … }``: a scope for the names declared in it."""

    statements: tuple[Statement, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class BranchTargets:
    """``name: .branchtargets a, b;`` (``kind`` also ``"calltargets"``)."""

    name: str
    kind: str
    targets: tuple[str, ...]
    position: Position


@dataclass(frozen=True, slots=True)
class CallPrototype:
    """``name: .callprototype (…) _ (…);``."""

    name: str
    results: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    position: Position


Statement = Instruction | Label | LineMark | Block | Variable | BranchTargets | CallPrototype


# --- module --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Function:
    """An ``.entry`` or ``.func``; ``body`` is ``None`` for a declaration.

    ``directives`` are the performance-tuning ones with their numbers: ``{"reqntid": (256, 1, 1)}``.
    ``unread`` is the offset in the text of a body that has not been parsed; ``body`` is empty then.
    """

    name: str
    is_entry: bool
    parameters: tuple[Variable, ...]
    results: tuple[Variable, ...]
    body: tuple[Statement, ...] | None
    position: Position
    linkage: str | None = None
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    unread: int | None = None

    def statements(self) -> Iterator[Statement]:
        """Yield all statements in order, including nested blocks, without their scopes."""
        yield from _flatten(self.body or ())


def _flatten(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in statements:
        if isinstance(statement, Block):
            yield from _flatten(statement.statements)
        else:
            yield statement


@dataclass(frozen=True, slots=True)
class Module:
    """One PTX ``text``: ``files`` maps the numbers of ``.file`` to paths."""

    version: tuple[int, int]
    targets: tuple[str, ...]
    address_size: int
    functions: tuple[Function, ...]
    variables: tuple[Variable, ...]
    files: dict[int, str]
    text: str = field(repr=False)
    aliases: dict[str, str] = field(default_factory=dict)
