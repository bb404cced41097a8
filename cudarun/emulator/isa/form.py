"""The notation of the instruction tables: one row per instruction form, as in the manual.

A row begins with the syntax line of the manual's instruction page::

    form("add{.rnd}{.ftz}{.sat}.f32  d, a, b", make=..., rnd="rn rz rm rp")

* A dotted word is itself, or the name of a class given by keyword, ``rnd`` or ``type`` above.
  In braces it is optional; words in the same braces belong together, ``{.xorsign.abs}``.
  Programs may have them in other orders: see ``cudarun.emulator.isa.modifiers``.
* The operands follow. Each is of the instruction's ``.type``, unless a colon says otherwise:
  ``b:u32``, ``d:wide``, ``d:dtype`` (a class). ``[a]`` is an address, ``[a {c}]`` a texture object
  and coordinates, ``[&a {c}]`` the address of a tensor map and coordinates, ``{d}`` a vector,
  ``d|p`` a pair, ``d|?p`` one whose second half may be missing,
  ``n:int`` a constant integer, ``?c`` may be left out, ``+{d}`` is read before it is written.
  ``~d`` may be a register wider than the type (the rule of ``ld``, ``st`` and ``cvt``).
  ``a{.asel}`` may be followed by a selector of video instructions, of the class ``asel``; ``{-}a``
  may be preceded by a minus.
* ``only=`` is a function of the words that refuses combinations that the syntax line would allow.
* The first operand is the destination, unless it is an address, a surface or the row says
  ``writes=0``.

The operation of an instruction is given in one of three ways:

``function``
    computes lane by lane. It is called as numpy calls a ufunc: the sources, then the destinations
    to write to, then the scratch arrays that it requests with ``temporaries``. A source and a
    destination may be the same memory, so a destination is written when the sources are no longer
    needed.
``make``
    takes the matched words and returns such a function; see `computed`.
``action``
    takes the matched words and returns an object for an instruction that depends on where it
    runs: memory, warps, printf. See ``cudarun.emulator.machine.active``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cached_property, partial
from typing import Any

from cudarun.base.records import dataclass
from cudarun.emulator.code import ActionFunction
from cudarun.emulator.isa.modifiers import ordered_kinds
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function, result_of
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.words import Words

_WORD = re.compile(r"\{\.([\w:.]+)\}|\.([\w:]+)")
_TEXTURE = re.compile(r"\[(?P<map>&)?(?P<name>\w+) \{(?P<coordinates>\w+):(?P<type>\w+)\}\]$")
_OPERAND = re.compile(
    r"(?P<optional>\?)?(?P<updates>\+)?(?P<relaxed>~)?(?P<minus>\{-\})?"
    r"(?P<open>[\[{]?)(?P<name>\w[\w-]*)(\{\.(?P<selector>\w+)\})?(:(?P<type>\w+))?[\]}]?"
    r"(\|(?P<spare>\?)?(?P<pair>\w+)(:(?P<second>\w+))?)?$"
)


Keywords = dict[str, Any]
"""Arguments of `form` that several rows have: an action, and classes of words."""


@dataclass(frozen=True, slots=True)
class OperandForm:
    """One operand of a row.

    ``shape`` is ``"value"``, ``"address"``, ``"texture"``, ``"tensor"``, ``"vector"`` or
    ``"constant"``. ``pair`` is the name of the second half of a pair, if it is one, ``second`` its
    type; with ``spare`` it may be missing. Of textures and tensors it is the coordinates.
    ``selector`` is the class of its selectors, if it may have one; with ``minus`` it may have a
    minus. One that ``updates`` is both a destination and a source.
    """

    name: str
    type: str
    shape: str
    optional: bool = False
    relaxed: bool = False
    pair: str | None = None
    second: str = "pred"
    spare: bool = False
    selector: str = ""
    minus: bool = False
    updates: bool = False


@dataclass(frozen=True, eq=False)
class InstructionForm:
    """One row of an instruction table; its syntax line is parsed when it is needed.

    Attributes:
        syntax: The line after it.
        listed: The words of each class, as in the row.
        function, make, action, only: As in `form`.
        reads_carry, writes_carry: Whether the condition-code register is an operand.
        declared_writes: The number of destinations, if the row says it.
    """

    opcode: str
    syntax: str
    listed: dict[str, str]
    function: Function | None
    make: Callable[[Words], Function] | None
    action: Callable[[Words], ActionFunction] | None
    only: Callable[[Words], bool] | None
    reads_carry: bool
    writes_carry: bool
    declared_writes: int | None

    @cached_property
    def words(self) -> tuple[tuple[str, bool], ...]:
        """Each dotted word, or words of the same braces, and whether it is optional."""
        head = self.syntax.partition(" ")[0]
        return tuple((it[1] or it[2], it[1] is not None) for it in _WORD.finditer(head))

    @cached_property
    def classes(self) -> dict[str, frozenset[str]]:
        """The words of each class."""
        return {name: frozenset(text.split()) for name, text in self.listed.items()}

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The modifiers that it knows."""
        parts = (self.classes.get(word, word.split(".")) for word, _ in self.words)
        return frozenset().union(*parts)

    @cached_property
    def operands(self) -> tuple[OperandForm, ...]:
        """The operands, in order."""
        tail = self.syntax.partition(" ")[2]
        return tuple(_operand(part.strip()) for part in tail.split(",") if part.strip())

    @cached_property
    def writes(self) -> int:
        """The number of leading operands that are destinations."""
        if self.declared_writes is not None:
            return self.declared_writes
        reads = not self.operands or self.operands[0].shape in ("address", "texture", "tensor")
        return 0 if reads else 1

    @cached_property
    def required(self) -> int:
        """The number of operands that cannot be left out."""
        return sum(not operand.optional for operand in self.operands)

    @cached_property
    def selects(self) -> bool:
        """True if operands may have selectors."""
        return any(operand.selector for operand in self.operands)

    def match(self, modifiers: tuple[str, ...]) -> Words | None:
        """Return the words if these are modifiers of this form, else ``None``.

        ``type`` is added if there is no class of that name: the first type of the syntax line.
        """
        if not self.vocabulary.issuperset(modifiers):
            return None
        left = list(modifiers)
        found = Words({})
        for word, optional in self.words:
            if word in self.classes or "." not in word:
                found[word] = self._take(left, self.classes.get(word, (word,)))
                if not optional and not found[word]:
                    return None
            else:
                together = word.split(".")
                found.update((part, self._take(left, (part,))) for part in together)
                if len({bool(found[part]) for part in together}) > 1:
                    return None
        if left:
            return None
        if "type" not in found:
            types = [word for word, _ in self.words if word in TYPES]
            if types:
                found["type"] = types[0]
        return found if self.only is None or self.only(found) else None

    def _take(self, left: list[str], allowed: Collection[str]) -> str:
        """Remove one of the allowed words from ``left`` and return it; ``""`` if there is none.

        Words of an ordered kind are taken in their order.
        """
        kinds = ordered_kinds(self.opcode)
        for place, modifier in enumerate(left):
            if modifier in allowed:
                kind = kinds.get(modifier)
                if kind and any(kinds.get(before) == kind for before in left[:place]):
                    return ""
                return left.pop(place)
        return ""


def form(
    syntax: str,
    function: Function | None = None,
    *,
    make: Callable[[Words], Function] | None = None,
    action: Callable[[Words], ActionFunction] | None = None,
    writes: int | None = None,
    carry: str = "",
    only: Callable[[Words], bool] | None = None,
    **classes: str,
) -> InstructionForm:
    """Return one row; the notation is described at the top of this module.

    Args:
        syntax: The manual's syntax line.
        function: The lanewise function.
        make: Returns that function for the matched words.
        action: Returns an action for an instruction that depends on where it runs.
        writes: The number of leading operands that are destinations, if not the default.
        carry: ``"in"``, ``"out"`` or ``"in out"``: the condition-code register is read as the last
            source and written as the last destination.
        only: Returns whether words that match the syntax may be combined.
        classes: The words that each class name of ``syntax`` stands for.
    """
    opcode = re.split(r"[.{ ]", syntax, maxsplit=1)[0]
    return InstructionForm(
        opcode=opcode,
        syntax=syntax.removeprefix(opcode),
        listed=classes,
        function=function,
        make=make,
        action=action,
        only=only,
        reads_carry="in" in carry.split(),
        writes_carry="out" in carry.split(),
        declared_writes=writes,
    )


def computed(compute: Callable[..., Array]) -> Callable[[Words], Function]:
    """Return the ``make`` of a row from a function of the words and the sources."""
    return lambda words: result_of(partial(compute, words))


def _operand(text: str) -> OperandForm:
    texture = _TEXTURE.match(text)
    if texture is not None:
        pair, second = texture["coordinates"], texture["type"]
        shape = "tensor" if texture["map"] else "texture"
        return OperandForm(texture["name"], "u64", shape, pair=pair, second=second)
    match = _OPERAND.match(text)
    if match is None:
        raise ValueError(f"operand {text!r} in an instruction table")
    ptx_type = match["type"] or ("u64" if match["open"] == "[" else "type")
    shapes = {"[": "address", "{": "vector", "": "constant" if ptx_type == "int" else "value"}
    return OperandForm(
        name=match["name"],
        type=ptx_type,
        shape=shapes[match["open"]],
        optional=match["optional"] is not None,
        relaxed=match["relaxed"] is not None,
        pair=match["pair"],
        second=match["second"] or "pred",
        spare=match["spare"] is not None,
        selector=match["selector"] or "",
        minus=match["minus"] is not None,
        updates=match["updates"] is not None,
    )
