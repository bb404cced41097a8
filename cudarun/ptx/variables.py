"""The syntax of variable declarations (PTX ISA manual, chapter 5) and function parameters."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import partial

from cudarun.ptx.constants import constant, float_of_bits, starts_constant
from cudarun.ptx.instructions import InstructionRules
from cudarun.ptx.lexer import TokenKind
from cudarun.ptx.tree import TYPE_BYTES, Float, Integer, Position, SymbolValue, Variable

STATE_SPACES = frozenset({"reg", "const", "global", "local", "param", "shared", "sreg", "tex"})
"""The words that begin the declaration of a variable (manual 5.1)."""

_PREFIX = re.compile(r"(?:\.\w++\s++|\d++\s++)++(?=[%A-Za-z_$])", re.ASCII)
_NUMBER = r"(?:-?(?:0|[1-9]\d{0,17}+)|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})(?![\w$.])"
_NUMBERS = re.compile(rf"\{{\s*+({_NUMBER}(?:\s*+,\s*+{_NUMBER})*+)\s*+\}}", re.ASCII)
_LARGEST = (1 << 63) - 1  # bytes of a variable
_MOST_FILLED_IN = 1 << 24  # elements of an initializer's row; real tables are far smaller


class VariableRules(InstructionRules):
    """One method per rule; declared names are in the scope from then on."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._prefixes: dict[str, partial[Variable]] = {}

    def _parameters(self) -> tuple[Variable, ...]:
        """Parse a parenthesized list of declarations, or nothing."""
        if not self.accept("(") or self.accept(")"):
            return ()

        def parameter() -> Variable:
            position = self.position()
            return self._declare(self._declarator(self._prefix(), position))

        return self._separated(parameter, ")")

    def _variable_statement(self, position: Position, linkage: str | None) -> list[Variable]:
        """Parse one declaration, which may name several variables, up to its semicolon."""
        prefix = partial(self._prefix(), linkage=linkage)
        variables = [self._variable(prefix, position)]
        while self.accept(","):
            variables.append(self._variable(prefix, self.position()))
        self.expect(";")
        return variables

    def _variable(self, prefix: partial[Variable], position: Position) -> Variable:
        """Parse a name with its dimensions and its initializer."""
        start = self.token
        variable = self._declarator(prefix, position)
        if self.accept("="):
            initial = self._initial(variable.dimensions, variable.vector)
            variable = replace(variable, initial=tuple(initial))
        self._declare(variable)
        if variable.linkage == "extern":
            if variable.initial is not None:
                words = f"No initial value is allowed for external symbol '{variable.name}'"
                raise self.refusal(words, start, "error")
        elif not all(variable.dimensions) and variable.initial is None:
            words = f"Non-external variable '{variable.name}' has incomplete type"
            raise self.refusal(words, start, "error")
        if variable.linkage == "common" and variable.space != "global":
            words = ".common variables must be declared in .global space"
            raise self.refusal(words, start, "error")
        return variable

    def _prefix(self) -> partial[Variable]:
        """Parse everything before the name; a text that repeats an earlier one means the same."""
        match = _PREFIX.match(self.text, self.token.offset)
        if match is None:
            return self._parsed_prefix()
        known = self._prefixes.get(match[0])
        if known is not None:
            self.seek(match.end())
            return known
        prefix = self._parsed_prefix()
        if self.token.offset == match.end():
            self._prefixes[match[0]] = prefix
        return prefix

    def _parsed_prefix(self) -> partial[Variable]:
        space = self._word(STATE_SPACES)
        alignment = None
        attributes: list[str] = []
        while self.at(".align", ".attribute"):
            if self.accept(".align"):
                alignment = self._number()
            else:
                self.advance()
                for word, numbers in self._function_attributes():
                    attributes.append(
                        f"{word}({', '.join(map(str, numbers))})" if numbers else word
                    )
        vector = int(self.advance().text[2:]) if self.at(".v2", ".v4") else 1
        type_ = self._word(TYPE_BYTES)
        pointer: tuple[str, ...] | None = None
        if self.accept(".ptr"):  # with a description of the pointee: global, align 16
            words = []
            if self.token.text[1:] in STATE_SPACES:
                words.append(self.advance().text[1:])
            if self.accept(".align"):
                words += ["align", str(self._number())]
            pointer = tuple(words)
        if self.accept(".align"):  # a parameter may have it after the type
            alignment = self._number()
        return partial(
            Variable,
            space=space,
            type=type_,
            alignment=alignment,
            vector=vector,
            attributes=tuple(attributes),
            pointer=pointer,
        )

    def _declarator(self, prefix: partial[Variable], position: Position) -> Variable:
        """Parse the name, with ``<count>`` or dimensions."""
        start = self.token
        name = self._name()
        count = None
        if self.accept("<"):
            count = self._number()
            self.expect(">")
        dimensions: list[int | None] = []
        while self.accept("["):
            if self.at("]") and not dimensions:
                dimensions.append(None)
            else:
                dimensions.append(self._number())
            self.expect("]")
        variable = prefix(name=name, position=position, count=count, dimensions=tuple(dimensions))
        size = TYPE_BYTES[variable.type] * variable.vector
        if math.prod((size, *(each for each in dimensions if each is not None))) > _LARGEST:
            raise self.refusal(f"Variable '{name}' is too large", start, "error")
        return variable

    def _declare(self, variable: Variable) -> Variable:
        # The registers of `a<2>` leave the name `a` to another one.
        name = variable.name if variable.count is None else f"{variable.name}<"
        self._scope[name] = variable
        if variable.name.startswith("%") and variable.space != "reg" and variable.count is None:
            self.has_symbols_like_registers = True
        return variable

    def _initial(
        self, shape: tuple[int | None, ...], vector: int
    ) -> list[Integer | Float | SymbolValue]:
        """Parse the elements of an initializer, in memory order.

        As with ptxas the elements are contiguous: a row after a short one begins where that ends,
        and the zeros come last.
        """
        if not shape and vector == 1:
            return [self._initial_element()]
        if not shape:
            elements = self._initial((None,), 1)
            if len(elements) != vector:
                raise self.refusal("Incorrect number of elements in vector initializer")
            return elements
        length, inner = shape[0], shape[1:]
        row = vector * math.prod(extent for extent in inner if extent is not None)
        plain = _NUMBERS.match(self.text, self.token.offset) if row == 1 else None
        if plain is not None:  # a table can have thousands
            numbers = [each.strip() for each in plain[1].split(",")]
            if length is None or len(numbers) <= length:
                self.seek(plain.end())
                return [
                    float_of_bits(each) if each[:2].lower() in ("0f", "0d") else Integer(int(each))
                    for each in numbers
                ]
        elements = []
        rows = 0
        if row > _MOST_FILLED_IN:
            raise self.refusal("Array initializer is too large")
        self.expect("{")
        while not self.at("}"):
            if rows == length:
                raise self.refusal("Greater number of elements in array initializer")
            elements += self._initial(inner, vector)
            rows += 1
            if not self.accept(","):
                break
            if self.at("}"):
                raise self.syntax_error()
        self.expect("}")
        if length is None:  # it is as long as it has rows
            elements += [Integer(0)] * (rows * row - len(elements))
        return elements

    def _initial_element(self) -> Integer | Float | SymbolValue:
        if self.token.kind is TokenKind.INTEGER and self.following().text == "(":
            mask = self._number()
            self.expect("(")
            value = replace(self._symbol_value(), mask=mask)
            self.expect(")")
            return value
        if self.token.kind is TokenKind.NAME and not starts_constant(self):
            return self._symbol_value()
        return constant(self)

    def _symbol_value(self) -> SymbolValue:
        generic = self.at("generic") and self.following().text == "("
        if generic:
            self.advance()
            self.expect("(")
        name = self._name()
        if generic:
            self.expect(")")
        return SymbolValue(name, self._offset(), generic)

    def _function_attributes(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Parse ``.attribute(.unified(19, 95))``: words with their numbers."""

        def attribute() -> tuple[str, tuple[int, ...]]:
            word = self.take(TokenKind.MODIFIER)[1:]
            return word, self._separated(self._number, ")") if self.accept("(") else ()

        self.expect("(")
        return self._separated(attribute, ")")
