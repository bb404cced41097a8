"""The syntax of instructions and operands: PTX ISA manual, 4.3.2 and chapter 6.

Semantics are not checked: any opcode, modifiers and well-formed operands parse.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from cudarun.ptx import tree
from cudarun.ptx.constants import NOT_INTEGER, constant, integer, starts_constant
from cudarun.ptx.lexer import Cursor, TokenKind
from cudarun.ptx.tree import Instruction, Negated, Operand, Register, SymbolReference, Vector

# The part of a register that an operand may name: an element of a vector, bytes or halves (video).
_COMPONENT = re.compile(r"\.(?:[xyzwrgba]|b[0-7]{1,4}|h[0-3]{1,2})")

# An instruction whose operands end at the next semicolon. A modifier that begins with a digit can
# be a number to the lexer, unless it is as short as ".2d".
_PLAIN = re.compile(
    r"""
    (?: \s++ | //[^\n]*+ | /\*(?: [^*] | \*(?!/) )*+\*/ )*+
    (?P<start>)
    (?: @(?P<not>!?)(?P<guard>%[\w$]++|[A-Za-z][\w$]*+)\s++ )?
    (?P<words> [a-z]\w*+ (?: \.(?:[A-Za-z_][\w$]*+|[1-5]d\b) (?:::\w++)*+ )*+ )
    (?: \s++ (?P<operands> [^.;"/@:][^;"/@:]*+ ) )?
    ;
    """,
    re.VERBOSE | re.ASCII,
)
_REGISTER = re.compile(r"%[\w$]++", re.ASCII)
_BETWEEN = re.compile(r", (?![^{]*\})")
_SCOPE_FREE = re.compile(
    r"!?%[\w$]+(?:\.\w+)?(?:\|%[\w$]+)?|\[%[\w$]+(?:\+-?\d\w*)?\]|\{%[\w$]+(?:, %[\w$]+)*\}"
    r"|-?\d[\w.]*",
    re.ASCII,
)
"""Operands that mean the same in every scope."""

_MOST_DIGITS = 20  # of a register's number

_T = TypeVar("_T")


@lru_cache(maxsize=1 << 12)
def _split(words: str) -> tuple[str, tuple[str, ...]]:
    """Return an opcode and its modifiers."""
    opcode, *modifiers = words.split(".")
    return opcode, tuple(modifiers)


class InstructionRules(Cursor):
    """One method per rule. ``_scope`` maps the declared names, innermost block first.

    That of the registers of ``%r<8>`` is ``%r<``.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._scope: ChainMap[str, tree.Variable] = ChainMap()
        self._operands: dict[str, Operand] = {}  # those that mean the same in every scope
        self._opcode = ""  # of the instruction whose operands are being parsed
        self.has_symbols_like_registers = False  # names with % that are no registers
        self._unified = False  # if one of them is an address with .unified

    def _instruction(self) -> Instruction:
        position = self.position()
        guard: Register | Negated | None = None
        if self.accept("@"):
            is_negated = self.accept("!")
            guard = Register(self._name())
            guard = Negated(guard) if is_negated else guard
        self._opcode = opcode = self._name()
        modifiers = []
        while self.token.kind is TokenKind.MODIFIER:
            modifiers.append(self.advance().text[1:])
        if "unified" in modifiers:
            raise self.refusal("Parsing error near '.unified': syntax error")
        self._unified = False
        operands: tuple[Operand, ...] = ()
        if opcode == "call":  # {(results),} callee {, (arguments)} {, prototype}
            results = arguments = Vector(())  # of absent lists
            if self.at("("):
                results = self._call_list()
                self.expect(",")
            callee = self._named_operand()
            more = self.accept(",")
            if more and self.at("("):
                arguments = self._call_list()
                more = self.accept(",")
            operands = results, callee, arguments
            if more:
                operands = *operands, SymbolReference(self._name())
        elif not self.at(";"):
            operands = self._separated(self._operand)
        if self._unified:
            modifiers.append("unified")
        self.expect(";")
        return Instruction(opcode, tuple(modifiers), operands, position, guard)

    def _plain_instructions(self, statements: list[tree.Statement]) -> bool:
        """Parse instructions by an expression, and their operands by those of earlier ones.

        It takes a third of the time that tokens take. At an instruction that is not plain it ends;
        errors are those of the rules.

        Returns:
            Whether there was one.
        """
        start = end = self.token.offset
        while not self.has_symbols_like_registers:
            match = _PLAIN.match(self.text, end)
            if match is None:
                break
            _, negated, guard, words, listed = match.groups()
            self._opcode, modifiers = _split(words)
            if self._opcode == "call" or "unified" in modifiers:
                break
            operands = self._plain_operands(listed, match.start("operands")) if listed else ()
            if operands is None:
                break
            condition: Register | Negated | None = None
            if guard is not None:
                condition = Negated(Register(guard)) if negated else Register(guard)
            position = self._lines.position(match.start("start"))
            statements.append(Instruction(self._opcode, modifiers, operands, position, condition))
            end = match.end()
        self.seek(end)
        return end > start

    def _plain_operands(self, text: str, start: int) -> tuple[Operand, ...] | None:
        """Return operands; ``None`` if they are not separated by a comma and a space."""
        operands, known = [], self._operands
        for part in _BETWEEN.split(text) if "{" in text else text.split(", "):
            operand = known.get(part)
            if operand is None and _REGISTER.fullmatch(part):
                operand = known[part] = Register(part)
            elif operand is None:
                self._unified = False
                self.seek(start)
                operand = self._operand()
                if self.token.offset != start + len(part) or self._unified:
                    return None
                if _SCOPE_FREE.fullmatch(part):
                    known[part] = operand
            operands.append(operand)
            start += len(part) + 2
        return tuple(operands)

    def _call_list(self) -> Vector:
        self.expect("(")
        if self.accept(")"):
            return Vector(())
        return Vector(self._separated(self._operand, ")"))

    # --- operands --------------------------------------------------------------------------------

    def _operand(self) -> Operand:
        first = self._simple_operand()
        if isinstance(first, Register | tree.Sink | Vector) and self.accept("|"):
            return tree.Pair(first, self._simple_operand())
        return first

    def _simple_operand(self) -> Operand:
        if self.accept("["):
            address: tree.Address
            if starts_constant(self):
                address = tree.Address(None, self._integer())
            else:
                base = self._register_or_symbol()
                address = tree.Address(base, self._offset())
            rest = self._separated(self._simple_operand, "]") if self.accept(",") else ()
            if not rest:
                self.expect("]")
            self._unified |= self.accept(".unified")
            return tree.TupleAddress(address, rest) if rest else address
        if self.accept("{"):
            return Vector(self._separated(self._operand, "}"))
        if self.at("!") and self.following().kind is TokenKind.NAME:
            self.advance()
            return Negated(self._register())
        if (
            self.at("-")
            and self.following().kind is TokenKind.NAME
            and self._is_register(self.following().text)
        ):
            self.advance()
            return tree.Minus(self._register())
        if starts_constant(self):
            return constant(self)
        return self._named_operand()

    def _named_operand(self) -> Operand:
        """Parse a register or a symbol, the latter with an optional ``+offset`` or ``[index]``."""
        if self.accept("_"):
            return tree.Sink()
        start = self.token
        named = self._register_or_symbol()
        if isinstance(named, Register):
            if self.at("+") and (start.text in self._scope or self._is_numbered(start.text)):
                return tree.RegisterOffset(named, self._offset())
            return named
        if self.at("+"):
            return tree.SymbolOffset(named, self._offset())
        if self.accept("["):
            declared = self._scope.get(named.name)
            if declared is None:
                raise self.refusal(f"Unknown symbol '{named.name}'", start, "error")
            offset = self._number() * tree.TYPE_BYTES[declared.type] * declared.vector
            self.expect("]")
            # mov takes the address of the element where a memory instruction takes what is there.
            return (tree.SymbolOffset if self._opcode == "mov" else tree.Address)(named, offset)
        return named

    def _register(self) -> Register:
        start = self.token
        register = self._register_or_symbol()
        if not isinstance(register, Register):
            raise self.refusal("Predicate expression expected", start, "error")
        return register

    def _register_or_symbol(self) -> Register | SymbolReference:
        token = self.token
        name = self._name()
        if not self._is_register(name):
            return SymbolReference(name)
        adjacent = self.token.offset == token.offset + len(name)
        if adjacent and _COMPONENT.fullmatch(self.token.text):
            name += self.advance().text
        return Register(name)

    def _is_register(self, name: str) -> bool:
        declared = next((names[name] for names in self._scope.maps if name in names), None)
        if declared is not None:
            return declared.space == "reg"
        return name.startswith("%") or self._is_numbered(name)

    def _is_numbered(self, name: str) -> bool:
        """Return whether a name is one of those that ``.reg .b32 %r<8>`` declares."""
        stem = name.rstrip("0123456789")
        family = self._scope.get(f"{stem}<")
        number = name[len(stem) :]
        return (
            family is not None
            and family.space == "reg"
            and family.count is not None
            and 0 < len(number) <= _MOST_DIGITS
            and int(number) < family.count
        )

    def _offset(self) -> int:
        """Parse ``+constant``, or nothing, which is 0. There is no minus: PTX writes ``+-4``."""
        return self._integer() if self.accept("+") else 0

    # --- small things ----------------------------------------------------------------------------

    def _name(self) -> str:
        return self.take(TokenKind.NAME)

    def _string(self) -> str:
        return self.take(TokenKind.STRING)[1:-1]

    def _number(self) -> int:
        """Parse an integer literal where expressions are not allowed."""
        return integer(self).value

    def _numbers(self) -> tuple[int, ...]:
        """Parse integer literals separated by commas, or none."""
        if self.token.kind is not TokenKind.INTEGER:
            return ()
        return self._separated(self._number)

    def _integer(self) -> int:
        start = self.token
        value = constant(self)
        if isinstance(value, tree.Float):
            raise self.refusal(NOT_INTEGER, start, "error")
        return value.value

    def _word(self, words: frozenset[str] | dict[str, int]) -> str:
        """Parse a dotted word that must be one of ``words``; return it without its dot."""
        if self.token.kind is not TokenKind.MODIFIER or self.token.text[1:] not in words:
            raise self.syntax_error()
        return self.advance().text[1:]

    def _separated(self, rule: Callable[[], _T], end: str | None = None) -> tuple[_T, ...]:
        """Parse ``rule`` once or more, separated by commas, and the token after it."""
        found = [rule()]
        while self.accept(","):
            found.append(rule())
        if end is not None:
            self.expect(end)
        return tuple(found)
