"""The words of one instruction: its modifiers and the constant parts of its operands."""

from __future__ import annotations

from collections.abc import Hashable

from cudarun.emulator.numerics.types import TYPES, Type, bits_of, wider


class Words(dict[str, str]):
    """The words of one instruction: modifiers by class name, and constant parts of its operands.

    The word of a missing optional modifier is ``""``.
    """

    def __init__(self, words: dict[str, str]) -> None:
        super().__init__(words)
        # The values of constant operands (``n:int``) by name, and of predicates that are given as
        # constants.
        self.constants: dict[str, int] = {}
        self.offsets: list[int] = []  # the byte offset in each address operand
        self.counts: list[int] = []  # the number of elements of each vector operand
        # The names of the operands present; optional ones may be missing.
        self.given: set[str] = set()
        self.selectors: dict[str, str] = {}  # the selectors given, by the names of their operands
        self.negative: set[str] = set()  # the names of the operands with a minus

    @property
    def count(self) -> int:
        """Number of elements of the first vector operand; 1 without one."""
        return self.counts[0] if self.counts else 1

    @property
    def type(self) -> Type:
        """The instruction's type: the class ``type``, or the only type among the words."""
        return TYPES[self["type"]]

    @property
    def space(self) -> str:
        """The state space of its addresses; ``""`` for generic addressing."""
        return self["space"] if "space" in self else self.get("global", "")

    @property
    def operands(self) -> Hashable:
        """The properties of the operands, which are equal for equal ones."""
        constants, selectors = tuple(self.constants.items()), tuple(self.selectors.items())
        names = frozenset(self.given), frozenset(self.negative)
        return constants, selectors, names, tuple(self.offsets), tuple(self.counts)

    def type_of(self, name: str, count: int) -> Type:
        """Return the type of an operand of a row that has ``count`` elements."""
        return bits_of(self.type.bits // count) if name == "part" else self.type_named(name)

    def type_named(self, name: str) -> Type:
        """Return a type by the word of a row: a class, a derived one (``wide``), or a name."""
        if name == "wide":
            return wider(self.type)
        return TYPES[self.get(name, name)]
