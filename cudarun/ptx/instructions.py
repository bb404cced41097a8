"""The syntax of instructions and operands: PTX ISA manual, 4.3.2 and chapter 6.

Semantics are not checked: any opcode, modifiers and well-formed operands parse.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable
from typing import TypeVar

from cudarun.ptx.constants import constant, integer, starts_constant
from cudarun.ptx.cursor import Cursor
from cudarun.ptx.lexer import TokenKind
from cudarun.ptx.tree import (
    TYPE_BYTES,
    Address,
    Float,
    Instruction,
    Minus,
    Negated,
    Operand,
    Pair,
    Register,
    RegisterOffset,
    Sink,
    SymbolOffset,
    SymbolReference,
    TupleAddress,
    Variable,
    Vector,
)

# The part of a register that an operand may name: an element of a vector, bytes or halves (video).
_COMPONENT = re.compile(r"\.(?:[xyzwrgba]|b[0-7]{1,4}|h[0-3]{1,2})")

_MOST_DIGITS = 20  # of a register's number

_T = TypeVar("_T")


class InstructionRules(Cursor):
    """One method per rule. ``_scope`` maps the declared names, innermost block first."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._scope: ChainMap[str, Variable] = ChainMap()
        self._opcode = ""  # of the instruction whose operands are being parsed
        self.has_symbols_like_registers = False  # names with % that are no registers
        self._unified = False  # if one of them is an address with .unified

    def _instruction(self) -> Instruction:
        position = self.position()
        guard = self._guard() if self.accept("@") else None
        self._opcode = opcode = self._name()
        modifiers = []
        while self.token.kind is TokenKind.MODIFIER:
            modifiers.append(self.advance().text[1:])
        if "unified" in modifiers:
            raise self.refusal("Parsing error near '.unified': syntax error")
        self._unified = False
        if opcode == "call":
            operands = self._call_operands()
        elif self.at(";"):
            operands = ()
        else:
            operands = tuple(self._separated(self._operand))
        if self._unified:
            modifiers.append("unified")
        self.expect(";")
        return Instruction(opcode, tuple(modifiers), operands, position, guard)

    def _guard(self) -> Register | Negated:
        negated = self.accept("!")
        register = Register(self._name())
        return Negated(register) if negated else register

    def _call_operands(self) -> tuple[Operand, ...]:
        """Parse ``{(results),} callee {, (arguments)} {, prototype}``; absent lists are empty."""
        results = arguments = Vector(())
        if self.at("("):
            results = self._call_list()
            self.expect(",")
        callee = self._named_operand()
        more = self.accept(",")
        if more and self.at("("):
            arguments = self._call_list()
            more = self.accept(",")
        if more:
            return results, callee, arguments, SymbolReference(self._name())
        return results, callee, arguments

    def _call_list(self) -> Vector:
        self.expect("(")
        if self.accept(")"):
            return Vector(())
        elements = self._separated(self._operand)
        self.expect(")")
        return Vector(tuple(elements))

    # --- operands --------------------------------------------------------------------------------

    def _operand(self) -> Operand:
        first = self._simple_operand()
        if isinstance(first, Register | Sink | Vector) and self.accept("|"):
            return Pair(first, self._simple_operand())
        return first

    def _simple_operand(self) -> Operand:
        if self.accept("["):
            return self._address()
        if self.accept("{"):
            elements = tuple(self._separated(self._operand))
            self.expect("}")
            return Vector(elements)
        if self.at("!") and self.following().kind is TokenKind.NAME:
            self.advance()
            return Negated(self._register())
        if (
            self.at("-")
            and self.following().kind is TokenKind.NAME
            and self._is_register(self.following().text)
        ):
            self.advance()
            return Minus(self._register())
        if starts_constant(self):
            return constant(self)
        return self._named_operand()

    def _named_operand(self) -> Operand:
        """Parse a register or a symbol, the latter with an optional ``+offset`` or ``[index]``."""
        if self.accept("_"):
            return Sink()
        start = self.token
        named = self._register_or_symbol()
        if isinstance(named, Register):
            if self.at("+") and (start.text in self._scope or self._is_numbered(start.text)):
                return RegisterOffset(named, self._offset())
            return named
        if self.at("+"):
            return SymbolOffset(named, self._offset())
        if self.accept("["):
            declared = self._scope.get(named.name)
            if declared is None:
                raise self.refusal(f"Unknown symbol '{named.name}'", start, "error")
            offset = self._number() * TYPE_BYTES[declared.type] * declared.vector
            self.expect("]")
            # mov takes the address of the element where a memory instruction takes what is there.
            return (SymbolOffset if self._opcode == "mov" else Address)(named, offset)
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
        if declared is not None and declared.count is None:
            return declared.space == "reg"
        return name.startswith("%") or self._is_numbered(name)

    def _is_numbered(self, name: str) -> bool:
        """Return whether a name is one of those that ``.reg .b32 %r<8>`` declares."""
        stem = name.rstrip("0123456789")
        family = self._scope.get(stem)
        number = name[len(stem) :]
        return (
            family is not None
            and family.space == "reg"
            and family.count is not None
            and 0 < len(number) <= _MOST_DIGITS
            and int(number) < family.count
        )

    def _address(self) -> Address | TupleAddress:
        """Parse an address in brackets, after the opening one."""
        address: Address
        if starts_constant(self):
            address = Address(None, self._integer())
        else:
            base = self._register_or_symbol()
            address = Address(base, self._offset())
        rest = []
        while self.accept(","):
            rest.append(self._simple_operand())
        self.expect("]")
        self._unified |= self.accept(".unified")
        return TupleAddress(address, tuple(rest)) if rest else address

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
        return tuple(self._separated(self._number))

    def _integer(self) -> int:
        start = self.token
        value = constant(self)
        if isinstance(value, Float):
            raise self.refusal("Integer constant expression expected", start, "error")
        return value.value

    def _word(self, words: frozenset[str] | dict[str, int]) -> str:
        """Parse a dotted word that must be one of ``words``; return it without its dot."""
        if self.token.kind is not TokenKind.MODIFIER or self.token.text[1:] not in words:
            raise self.syntax_error()
        return self.advance().text[1:]

    def _separated(self, rule: Callable[[], _T]) -> list[_T]:
        """Parse ``rule`` once or more, separated by commas."""
        found = [rule()]
        while self.accept(","):
            found.append(rule())
        return found
