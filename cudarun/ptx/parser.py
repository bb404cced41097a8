"""PTX text to a syntax tree: PTX ISA manual, chapters 4 to 6 and 11.

A recursive descent over the tokens, one method to a rule of the grammar. What an instruction means
is not known here: any opcode, any modifiers and any operands of the right form parse. Like ptxas,
it stops at the first text that has no such form.

Names are resolved as far as the tree needs it: whether one without ``%`` is a register depends on
the declarations in the enclosing blocks.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import TypeVar

from cudarun.ptx.constants import constant, integer, starts_constant
from cudarun.ptx.cursor import Cursor
from cudarun.ptx.lexer import TokenKind
from cudarun.ptx.tree import (
    Address,
    Block,
    BranchTargets,
    CallPrototype,
    Float,
    Function,
    Instruction,
    Integer,
    Label,
    LineMark,
    Module,
    Negated,
    Operand,
    Pair,
    Position,
    Register,
    Sink,
    Statement,
    Symbol,
    SymbolOffset,
    SymbolValue,
    TupleAddress,
    Variable,
    Vector,
)

STATE_SPACES = frozenset({"reg", "const", "global", "local", "param", "shared", "sreg", "tex"})
"""The words that begin the declaration of a variable (manual 5.1)."""

TYPE_BYTES = {
    **dict.fromkeys(("b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64", "texref", "samplerref", "surfref"), 8),
    "b128": 16,
    "pred": 1,
}
"""The types a variable can have (manual 5.2, 5.3), with the bytes each takes."""

_LINKAGE = frozenset({"extern", "visible", "weak", "common"})
_FUNCTION_DIRECTIVES = frozenset(
    {
        "abi_preserve",
        "abi_preserve_control",
        "blocksareclusters",
        "explicitcluster",
        "maxclusterrank",
        "maxnctapersm",
        "maxnreg",
        "maxntid",
        "minnctapersm",
        "noreturn",
        "reqnctapercluster",
        "reqntid",
    }
)
# The part of a register that an operand may name: an element of a vector, bytes or halves (video).
_COMPONENT = re.compile(r"\.(?:[xyzwrgba]|b[0-7]{1,4}|h[0-3]{1,2})")
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")
_MOST_FILLED_IN = 1 << 24  # elements of an initialiser's row; real tables are far smaller

_T = TypeVar("_T")


def parse(text: str) -> Module:
    """The syntax tree of one PTX text; NUL characters at its end are dropped.

    Raises:
        PtxError: With one diagnostic, where the text stops being PTX.
    """
    parser = _Parser(text.rstrip("\0"))
    try:
        return parser.module()
    except RecursionError:
        raise parser.refusal("Nesting is too deep") from None


class _Parser(Cursor):
    """The grammar. ``_scope`` maps the names declared so far, innermost block first."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._text = text
        self._scope: ChainMap[str, Variable] = ChainMap()
        self._opcode = ""  # of the instruction whose operands are being parsed
        self._targets: list[str] = []
        self._functions: list[Function] = []
        self._variables: list[Variable] = []
        self._files: dict[int, str] = {}
        self._aliases: dict[str, str] = {}

    # --- module level ----------------------------------------------------------------------------

    def module(self) -> Module:
        if not self.accept(".version"):
            raise self.refusal("Missing .version directive at start of file")
        version = self._version()
        if not self.accept(".target"):
            raise self.refusal("Missing .target directive at start of file")
        self._targets += self._separated(self._name)
        # The manual's default of 32 has no meaning any more: every target since 12.0 has 64 bits.
        address_size = self._number() if self.accept(".address_size") else 64
        while self.token.kind is not TokenKind.END:
            self._module_item()
        return Module(
            version=version,
            targets=tuple(self._targets),
            address_size=address_size,
            functions=tuple(self._functions),
            variables=tuple(self._variables),
            files=self._files,
            lines=tuple(line.removesuffix("\r") for line in self._text.split("\n")),
            aliases=self._aliases,
        )

    def _version(self) -> tuple[int, int]:
        version = _VERSION.fullmatch(self.token.text)
        if version is None:
            raise self.syntax_error()
        self.advance()
        return int(version[1]), int(version[2])

    def _module_item(self) -> None:
        if self.accept(".file"):
            self._file()
        elif self.accept(".section"):
            self._section()
        elif self.accept(".pragma"):
            self._pragma()
        elif self.accept(".alias"):
            self._alias()
        elif self.accept(".target"):
            self._targets += self._separated(self._name)
        else:
            self._declaration()

    def _file(self) -> None:
        number = self._number()
        self._files[number] = self._string()
        while self.accept(","):  # timestamp, size
            self._number()

    def _section(self) -> None:
        """Debugging sections: DWARF, of no use here, passed over up to the closing brace."""
        self.take(TokenKind.MODIFIER)
        self.expect("{")
        depth = 1
        while depth:
            if self.token.kind is TokenKind.END:
                raise self.syntax_error()
            text = self.advance().text
            depth += (text == "{") - (text == "}")

    def _pragma(self) -> None:
        """Hints to the compiler, which change no result."""
        self._separated(self._string)
        self.expect(";")

    def _alias(self) -> None:
        alias = self._name()
        self.expect(",")
        self._aliases[alias] = self._name()
        self.expect(";")

    def _declaration(self) -> None:
        position = self.position()
        linkage = self._linkage()
        if self.at(".entry", ".func"):
            self._functions.append(self._function(position, linkage))
        else:
            self._variables += self._variable_statement(position, linkage)

    def _linkage(self) -> str | None:
        if self.token.text[1:] in _LINKAGE:
            return self.advance().text[1:]
        return None

    # --- functions -------------------------------------------------------------------------------

    def _function(self, position: Position, linkage: str | None) -> Function:
        is_entry = self.advance().text == ".entry"
        directives: dict[str, tuple[int, ...]] = {}
        if self.accept(".attribute"):
            directives |= dict(self._function_attributes())
        outer, self._scope = self._scope, self._scope.new_child()
        results = () if is_entry else self._parameters()
        name = self._name()
        parameters = self._parameters()
        directives |= self._function_directives()
        body = self._statements() if self.accept("{") else None
        if body is None:
            self.accept(";")
        self._scope = outer
        return Function(
            name=name,
            is_entry=is_entry,
            parameters=parameters,
            results=results,
            body=body,
            position=position,
            linkage=linkage,
            directives=directives,
        )

    def _parameters(self) -> tuple[Variable, ...]:
        """A parenthesised list of declarations, or nothing."""
        if not self.accept("("):
            return ()
        if self.accept(")"):
            return ()
        parameters = self._separated(self._parameter)
        self.expect(")")
        return tuple(parameters)

    def _parameter(self) -> Variable:
        prefix = self._variable_prefix(self.position(), linkage=None)
        return self._declare(self._declarator(prefix))

    def _function_directives(self) -> dict[str, tuple[int, ...]]:
        directives: dict[str, tuple[int, ...]] = {}
        while self.token.kind is TokenKind.MODIFIER:
            if self.accept(".pragma"):
                self._pragma()
                continue
            if self.token.text[1:] not in _FUNCTION_DIRECTIVES:
                break  # a declaration need not end in a semicolon
            word = self.advance().text[1:]
            directives[word] = self._numbers()
        return directives

    def _function_attributes(self) -> list[tuple[str, tuple[int, ...]]]:
        """``.attribute(.unified(19, 95))``: words with their numbers."""
        self.expect("(")
        attributes = self._separated(self._attribute)
        self.expect(")")
        return attributes

    def _attribute(self) -> tuple[str, tuple[int, ...]]:
        word = self.take(TokenKind.MODIFIER)[1:]
        if not self.accept("("):
            return word, ()
        numbers = tuple(self._separated(self._number))
        self.expect(")")
        return word, numbers

    # --- variables -------------------------------------------------------------------------------

    def _variable_statement(self, position: Position, linkage: str | None) -> list[Variable]:
        """One declaration, which may name several variables, up to its semicolon."""
        prefix = self._variable_prefix(position, linkage)
        variables = [self._declare(self._initialised(self._declarator(prefix)))]
        while self.accept(","):
            prefix = replace(prefix, position=self.position())
            variables.append(self._declare(self._initialised(self._declarator(prefix))))
        self.expect(";")
        return variables

    def _variable_prefix(self, position: Position, linkage: str | None) -> Variable:
        """All that stands before the name, as a variable that has none yet."""
        space = self._word(STATE_SPACES)
        alignment = None
        attributes: list[str] = []
        while self.at(".align", ".attribute"):
            if self.accept(".align"):
                alignment = self._number()
            else:
                self.advance()
                attributes += map(_attribute_text, self._function_attributes())
        vector = int(self.advance().text[2:]) if self.at(".v2", ".v4") else 1
        type_ = self._word(TYPE_BYTES)
        pointer = self._pointer() if self.accept(".ptr") else None
        if self.accept(".align"):  # a parameter may have it behind the type
            alignment = self._number()
        return Variable(
            space=space,
            type=type_,
            name="",
            position=position,
            alignment=alignment,
            vector=vector,
            linkage=linkage,
            attributes=tuple(attributes),
            pointer=pointer,
        )

    def _pointer(self) -> tuple[str, ...]:
        """What ``.ptr`` says of the pointee: ``("global", "align", "16")``."""
        words = []
        if self.token.text[1:] in STATE_SPACES:
            words.append(self.advance().text[1:])
        if self.accept(".align"):
            words += ["align", str(self._number())]
        return tuple(words)

    def _declarator(self, prefix: Variable) -> Variable:
        """The name, with ``<count>`` or dimensions."""
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
        return replace(prefix, name=name, count=count, dimensions=tuple(dimensions))

    def _declare(self, variable: Variable) -> Variable:
        self._scope[variable.name] = variable
        return variable

    def _initialised(self, variable: Variable) -> Variable:
        if not self.accept("="):
            return variable
        shape = variable.dimensions
        if variable.vector > 1:
            shape += (variable.vector,)
        return replace(variable, initial=tuple(self._initial(shape)))

    def _initial(self, shape: tuple[int | None, ...]) -> list[Integer | Float | SymbolValue]:
        """The elements of an initialiser in memory order, short inner rows filled with zeros."""
        if not shape:
            return [self._initial_element()]
        length, inner = shape[0], shape[1:]
        row = prod(extent for extent in inner if extent is not None)
        elements: list[Integer | Float | SymbolValue] = []
        if row > _MOST_FILLED_IN:
            raise self.refusal("Array initializer is too large")
        self.expect("{")
        while not self.at("}"):
            if length is not None and len(elements) == length * row:
                raise self.refusal("Greater number of elements in array initializer")
            given = self._initial(inner)
            elements += given
            elements += [Integer(0)] * (row - len(given))
            if not self.accept(","):
                break
            if self.at("}"):
                raise self.syntax_error()
        self.expect("}")
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

    # --- statements ------------------------------------------------------------------------------

    def _statements(self) -> tuple[Statement, ...]:
        """The statements of a block up to its closing brace, the opening one taken already."""
        statements: list[Statement] = []
        while not self.accept("}"):
            self._statement(statements)
        return tuple(statements)

    def _statement(self, statements: list[Statement]) -> None:
        kind = self.token.kind
        if kind is TokenKind.MODIFIER:
            self._directive(statements)
        elif kind is TokenKind.NAME and self.following().text == ":":
            statements.append(self._label())
        elif kind is TokenKind.NAME or self.at("@"):
            statements.append(self._instruction())
        elif self.at("{"):
            statements.append(self._block())
        else:
            raise self.syntax_error()

    def _directive(self, statements: list[Statement]) -> None:
        position = self.position()
        if self.accept(".loc"):
            statements.append(self._line_mark(position))
        elif self.accept(".pragma"):
            self._pragma()
        elif self.accept(".file"):
            self._file()
        else:
            statements += self._variable_statement(position, self._linkage())

    def _block(self) -> Block:
        position = self.position()
        self.expect("{")
        outer, self._scope = self._scope, self._scope.new_child()
        statements = self._statements()
        self._scope = outer
        return Block(statements, position)

    def _line_mark(self, position: Position) -> LineMark:
        file, line, column = self._number(), self._number(), self._number()
        while self.accept(","):  # , function_name label{+offset}, inlined_at file line column
            if self.accept("function_name"):
                self._name()
                self._offset()
            else:
                self.expect("inlined_at")
                self._number(), self._number(), self._number()
        return LineMark(file, line, column, position)

    def _label(self) -> Label | BranchTargets | CallPrototype:
        position = self.position()
        name = self._name()
        self.expect(":")
        if self.at(".branchtargets", ".calltargets"):
            kind = self.advance().text[1:]
            targets = tuple(self._separated(self._name))
            self.expect(";")
            return BranchTargets(name, kind, targets, position)
        if self.accept(".callprototype"):
            return self._call_prototype(name, position)
        return Label(name, position)

    def _call_prototype(self, name: str, position: Position) -> CallPrototype:
        outer, self._scope = self._scope, self._scope.new_child()
        results = self._parameters()
        self.expect("_")
        parameters = self._parameters()
        self._function_directives()
        self.expect(";")
        self._scope = outer
        return CallPrototype(name, results, parameters, position)

    # --- instructions ----------------------------------------------------------------------------

    def _instruction(self) -> Instruction:
        position = self.position()
        guard = self._guard() if self.accept("@") else None
        self._opcode = opcode = self._name()
        modifiers = []
        while self.token.kind is TokenKind.MODIFIER:
            modifiers.append(self.advance().text[1:])
        if opcode == "call":
            operands = self._call_operands()
        elif self.at(";"):
            operands = ()
        else:
            operands = tuple(self._separated(self._operand))
        if self.accept(".unified"):  # of ld; it alone stands behind the operands
            modifiers.append("unified")
        self.expect(";")
        return Instruction(opcode, tuple(modifiers), operands, position, guard)

    def _guard(self) -> Register | Negated:
        negated = self.accept("!")
        register = Register(self._name())
        return Negated(register) if negated else register

    def _call_operands(self) -> tuple[Operand, ...]:
        """``{(results),} callee {, (arguments)} {, prototype}``, with absent lists made empty."""
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
            return results, callee, arguments, Symbol(self._name())
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
        if isinstance(first, Register | Sink) and self.accept("|"):
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
        if starts_constant(self):
            return constant(self)
        return self._named_operand()

    def _named_operand(self) -> Operand:
        """A register or a symbol, the latter with ``+offset`` or ``[index]`` behind it."""
        if self.accept("_"):
            return Sink()
        start = self.token
        named = self._register_or_symbol()
        if isinstance(named, Register):
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

    def _register_or_symbol(self) -> Register | Symbol:
        token = self.token
        name = self._name()
        if not self._is_register(name):
            return Symbol(name)
        adjacent = self.token.offset == token.offset + len(name)
        if adjacent and _COMPONENT.fullmatch(self.token.text):
            name += self.advance().text
        return Register(name)

    def _is_register(self, name: str) -> bool:
        declared = self._scope.get(name)
        if declared is not None and declared.count is None:
            return declared.space == "reg"
        if name.startswith("%"):
            return True
        stem = name.rstrip("0123456789")
        family = self._scope.get(stem)
        return (
            family is not None
            and family.space == "reg"
            and family.count is not None
            and stem != name
            and int(name[len(stem) :]) < family.count
        )

    def _address(self) -> Address | TupleAddress:
        """What stands in brackets, the opening one taken already."""
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
        return TupleAddress(address, tuple(rest)) if rest else address

    def _offset(self) -> int:
        """``+constant``, or nothing, which is 0. There is no minus: PTX writes ``+-4``."""
        return self._integer() if self.accept("+") else 0

    # --- small things ----------------------------------------------------------------------------

    def _name(self) -> str:
        return self.take(TokenKind.NAME)

    def _string(self) -> str:
        return self.take(TokenKind.STRING)[1:-1]

    def _number(self) -> int:
        """An integer literal where no expression may stand."""
        return integer(self.take(TokenKind.INTEGER)).value

    def _numbers(self) -> tuple[int, ...]:
        """Integer literals with commas between, or none."""
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
        """A dotted word that has to be one of ``words``; given without its dot."""
        if self.token.kind is not TokenKind.MODIFIER or self.token.text[1:] not in words:
            raise self.syntax_error()
        return self.advance().text[1:]

    def _separated(self, rule: Callable[[], _T]) -> list[_T]:
        """``rule`` once or more, with commas between."""
        found = [rule()]
        while self.accept(","):
            found.append(rule())
        return found


def _attribute_text(attribute: tuple[str, tuple[int, ...]]) -> str:
    word, numbers = attribute
    return f"{word}({', '.join(map(str, numbers))})" if numbers else word
