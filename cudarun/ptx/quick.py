"""Quick parsing of most of a text: plain instructions, labels, lists of numbers, ``.loc``.

One regular expression matches a statement, a dictionary has the operands by their text. What they
do not match, above all every error, is left to the grammar. The trees are the same:
`tests/ptx/test_quick.py` compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cudarun.ptx.constants import float_of_bits
from cudarun.ptx.lines import Lines
from cudarun.ptx.tree import (
    Address,
    Float,
    Instruction,
    Integer,
    Label,
    LineMark,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Statement,
    SymbolReference,
    Vector,
)

_SPACE = r"(?: \s++ | //[^\n]*+ | /\*(?: [^*] | \*(?!/) )*+\*/ )*+"
# A modifier that begins with a digit can be a number to the lexer, unless it is as short as ".2d".
_STATEMENT = re.compile(
    rf"""
    {_SPACE}
    (?P<start>)
    (?:
        (?: @(?P<not>!?)(?P<guard>[%A-Za-z][\w$]*+)\s++ )?
        (?P<words> [a-z]\w*+ (?: \.(?:[A-Za-z_][\w$]*+|[1-5]d\b) (?:::\w++)*+ )*+ )
        (?: \s++ (?P<operands> [^;"/@:]*+ ) )?
        ;
      | \.loc\s++(?P<file>0|[1-9]\d{{0,8}}+)\s++(?P<line>0|[1-9]\d{{0,8}}+)
            \s++(?P<column>0|[1-9]\d{{0,8}}+)
        (?= \s*+[^\s,/\w.$] | \s++[^\s,/] )
      | (?P<label>[A-Za-z_$][\w$]*+):
        (?! {_SPACE} \.(?:branchtargets|calltargets|callprototype)\b )
    )
    """,
    re.VERBOSE | re.ASCII,
)
_WHITE = " \t\n\r\f\v"
_PARTS = re.compile(r"\s*+([^,{}\[\]]++|\{[^{}\[\]]*+\}|\[[^,{}\[\]]*+\])\s*+(?:,|\Z)", re.ASCII)
_COMPONENT = r"(?:\.(?:[xyzwrgba]|b[0-7]{1,4}|h[0-3]{1,2}))?"
_REGISTER = re.compile(rf"%[\w$]++{_COMPONENT}", re.ASCII)
_NAME = re.compile(r"[A-Za-z_$][\w$]*+", re.ASCII)
_ADDRESS = re.compile(
    r"\[\s*+([%A-Za-z_$][\w$]*+)\s*+(?:\+\s*+(-?(?:0|[1-9]\d{0,17}+)))?\s*+\]", re.ASCII
)
_NUMBER = r"(?:-?(?:0|[1-9]\d{0,17}+)|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})(?![\w$.])"
_CONSTANT = re.compile(_NUMBER, re.ASCII)
_NUMBERS = re.compile(rf"\{{\s*+({_NUMBER}(?:\s*+,\s*+{_NUMBER})*+)\s*+\}}", re.ASCII)
_RESERVED = frozenset({"_", "WARP_SZ", "generic"})


def quick_numbers(text: str, offset: int) -> tuple[list[Integer | Float], int] | None:
    """Return the numbers in the braces at an offset, and the offset after them.

    ``None`` if the grammar must parse them.
    """
    match = _NUMBERS.match(text, offset)
    if match is None:
        return None
    return [_number(part.strip(_WHITE)) for part in match[1].split(",")], match.end()


def _number(text: str) -> Integer | Float:
    if text[0] == "0" and len(text) > 1:
        return float_of_bits(text)
    return Integer(int(text))


def _split(words: str) -> tuple[str, tuple[str, ...]] | None:
    """Return opcode and modifiers; ``None`` if operands have a syntax of their own.

    Those of a call have, and ``.unified`` belongs to an operand.
    """
    opcode, *modifiers = words.split(".")
    return None if opcode == "call" or "unified" in modifiers else (opcode, tuple(modifiers))


class QuickStatements:
    """The statements of a text that can be parsed without the grammar.

    Args:
        text: The text.
        is_register: Returns whether a name without ``%`` is a register where it is used.
    """

    def __init__(self, text: str, is_register: Callable[[str], bool]) -> None:
        self._text = text
        self._is_register = is_register
        self._operands: dict[str, Operand] = {}  # those that are the same in every scope
        self._words: dict[str, tuple[str, tuple[str, ...]] | None] = {}

    def read(self, offset: int, statements: list[Statement], lines: Lines) -> int:
        """Append the statements from an offset up to one that the grammar must parse.

        Args:
            offset: The offset of the first one, or of spaces before it.
            statements: Gets instructions, labels and line marks.
            lines: The lines of the text.

        Returns:
            The offset after the last one.
        """
        text, known_words = self._text, self._words
        while (match := _STATEMENT.match(text, offset)) is not None:
            _, negated, guard, words, listed, file, line, column, label = match.groups()
            if words is None:
                position = lines.position(match.start(1))
                if label is not None:
                    statements.append(Label(label, position))
                else:
                    statements.append(LineMark(int(file), int(line), int(column), position))
                offset = match.end()
                continue
            try:
                known = known_words[words]
            except KeyError:
                known = known_words[words] = _split(words)
            if known is None:
                break
            opcode, modifiers = known
            operands = self._list(listed) if listed else ()
            if operands is None:
                break
            condition: Register | Negated | None = None
            if guard is not None:
                condition = Negated(Register(guard)) if negated else Register(guard)
            position = lines.position(match.start(1))
            statements.append(Instruction(opcode, modifiers, operands, position, condition))
            offset = match.end()
        return offset

    def _list(self, text: str) -> tuple[Operand, ...] | None:
        """Return the operands in a text, with commas between them."""
        known = self._operands
        try:
            return tuple([known[part] for part in text.split(", ")])
        except KeyError:
            pass
        if "{" in text or "[" in text:
            parts, end = [], 0
            for match in _PARTS.finditer(text):
                if match.start() != end:
                    return None
                parts.append(match[1])
                end = match.end()
            if end != len(text) or text.rstrip(_WHITE).endswith(","):
                return None
        else:
            parts = text.split(",")
        found = []
        for part in parts:
            part = part.strip(_WHITE)
            operand = known.get(part)
            if operand is None:
                operand = self._operand(part)
                if operand is None:
                    return None
            found.append(operand)
        return tuple(found)

    def _operand(self, text: str) -> Operand | None:
        """Return one operand; it is kept if it means the same in every scope."""
        if text[:1] == "%":
            if _REGISTER.fullmatch(text):
                return self._kept(text, Register(text))
            first, bar, second = text.partition("|")
            if bar and _REGISTER.fullmatch(first) and _REGISTER.fullmatch(second):
                return self._kept(text, Pair(Register(first), Register(second)))
            return None
        if text[:2] == "!%" and _REGISTER.fullmatch(text, 1):
            return self._kept(text, Negated(Register(text[1:])))
        if _NAME.fullmatch(text):
            if text in _RESERVED:
                return Sink() if text == "_" else None
            return self._named(text)
        if _CONSTANT.fullmatch(text):
            return self._kept(text, _number(text))
        if (match := _ADDRESS.fullmatch(text)) is not None:
            name, offset = match[1], int(match[2] or 0)
            if name[0] == "%":
                return self._kept(text, Address(Register(name), offset))
            return None if name in _RESERVED else Address(self._named(name), offset)
        if text[:1] == "{":
            elements = self._list(text[1:-1])
            return None if elements is None else Vector(elements)
        return None

    def _kept(self, text: str, operand: Operand) -> Operand:
        self._operands[text] = operand
        return operand

    def _named(self, name: str) -> Register | SymbolReference:
        return Register(name) if self._is_register(name) else SymbolReference(name)
