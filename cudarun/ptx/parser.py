"""The PTX parser: PTX ISA manual, chapters 4 to 6 and 11.

A recursive descent over the tokens, one method per rule of the grammar. Semantics are not checked:
any opcode, modifiers and well-formed operands parse. Like ptxas, it stops at the first syntax
error.

Names are resolved as far as the tree needs it: a name without ``%`` is a register if it is declared
as one in an enclosing block.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from cudarun.ptx import tree
from cudarun.ptx.errors import PtxError
from cudarun.ptx.lexer import TokenKind, end_of_block
from cudarun.ptx.variables import VariableRules

SHORT = 1 << 18
"""The length of a text that is read as a whole, though a part of it would do: 0.2 s with decoding.
"""

_LINKAGE = frozenset({"extern", "visible", "weak", "common"})
_FUNCTION_DIRECTIVES = frozenset({
    "abi_preserve", "abi_preserve_control", "blocksareclusters", "explicitcluster",
    "maxclusterrank", "maxnctapersm", "maxnreg", "maxntid", "minnctapersm", "noreturn",
    "reqnctapercluster", "reqntid",
})  # fmt: skip

_EXTENTS = {"maxntid": 3, "reqntid": 3, "maxnreg": 1, "minnctapersm": 1}  # the most numbers
_CONFLICTS = (("maxntid", "reqntid"), ("reqnctapercluster", "maxclusterrank"))
_MOST_THREADS = (1 << 32) - 1

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")


def parse(text: str) -> tree.Module:
    """Return the syntax tree of one PTX text; trailing NUL characters are dropped.

    Raises:
        PtxError: With one diagnostic, at the first syntax error.
    """
    return _ModuleParser(text.rstrip("\0")).module()


class LazyModule:
    """A PTX text of which at first only the declarations are parsed.

    Raises:
        PtxError: There is a syntax error outside of bodies. The diagnostic is at the first error in
            the text, as that of `parse`.
    """

    def __init__(self, text: str) -> None:
        try:
            self._parser = _ModuleParser(text.rstrip("\0"), reads_bodies=False)
            self.module = self._parser.module()  # the syntax tree, with unread bodies
        except PtxError:
            parse(text)
            raise
        self._declared: dict[str, tree.Variable] = {}  # the first variables of the module
        self._count = 0
        self._short: dict[tree.Position, tree.Function] = {}  # those of a short text that are read
        self._is_short = len(text) <= SHORT
        self._observers: list[Callable[[tree.Function], object]] = []

    def observe(self, observer: Callable[[tree.Function], object]) -> None:
        """Call ``observer`` with every function whose body is read from now on."""
        self._observers.append(observer)

    def read(self, function: tree.Function) -> tree.Function:
        """Return a function of the module with its body.

        Raises:
            PtxError: With one diagnostic, at the first syntax error in it.
        """
        if function.unread is None:
            return function
        whole = self._short.get(function.position)
        if whole is None:
            place = function.position.line, function.position.column

            def is_before(variable: tree.Variable) -> bool:
                return (variable.position.line, variable.position.column) < place

            variables = self.module.variables
            if self._count and not is_before(variables[self._count - 1]):
                self._declared, self._count = {}, 0
            while self._count < len(variables) and is_before(variables[self._count]):
                self._declared[variables[self._count].name] = variables[self._count]
                self._count += 1
            body = self._parser.body(function, function.unread, self._declared)
            whole = replace(function, body=body, unread=None)
            if self._is_short:
                self._short[function.position] = whole
        for observer in self._observers:
            observer(whole)
        return whole


@lru_cache(maxsize=2)
def lazy_module(text: str) -> LazyModule:
    """Return the module of a text, the same one each time: it is used for several purposes.

    Raises:
        PtxError: As `LazyModule`.
    """
    return LazyModule(text)


class _ModuleParser(VariableRules):
    """The grammar of modules, functions and statements."""

    def __init__(self, text: str, *, reads_bodies: bool = True) -> None:
        super().__init__(text)
        self._reads_bodies = reads_bodies  # whether to parse the bodies of functions
        self._targets: list[str] = []
        self._functions: list[tree.Function] = []
        self._variables: list[tree.Variable] = []
        self._files: dict[int, str] = {}
        self._aliases: dict[str, str] = {}

    # --- module level ----------------------------------------------------------------------------

    def module(self) -> tree.Module:
        """Parse the whole text."""
        try:
            return self._module()
        except RecursionError:
            raise self.refusal("Nesting is too deep") from None

    def _module(self) -> tree.Module:
        if not self.accept(".version"):
            raise self.refusal("Missing .version directive at start of file")
        found = _VERSION.fullmatch(self.token.text)
        if found is None:
            raise self.syntax_error()
        self.advance()
        if not self.accept(".target"):
            raise self.refusal("Missing .target directive at start of file")
        self._targets += self._separated(self._name)
        # The manual's default of 32 is obsolete: every target since CUDA 12.0 has 64 bits.
        address_size = self._number() if self.accept(".address_size") else 64
        while self.token.kind is not TokenKind.END:
            if self.accept(".file"):
                self._file()
            elif self.accept(".section"):
                self._section()
            elif self.accept(".pragma"):
                self._separated(self._string, ";")  # hints, which do not affect results
            elif self.accept(".alias"):
                alias = self._name()
                self.expect(",")
                self._aliases[alias] = self._name()
                self.expect(";")
            elif self.accept(".target"):
                self._targets += self._separated(self._name)
            else:
                position, linkage = self.position(), self._linkage()
                if self.at(".entry", ".func"):
                    self._functions.append(self._function(position, linkage))
                else:
                    self._variables += self._variable_statement(position, linkage)
        return tree.Module(
            version=(int(found[1]), int(found[2])),
            targets=tuple(self._targets),
            address_size=address_size,
            functions=tuple(self._functions),
            variables=tuple(self._variables),
            files=self._files,
            text=self.text,
            aliases=self._aliases,
        )

    def _file(self) -> None:
        number = self._number()
        self._files[number] = self._string()
        while self.accept(","):  # timestamp, size
            self._number()

    def _section(self) -> None:
        """Skip a debugging section (DWARF) up to the closing brace, unread where bodies are."""
        self.take(TokenKind.MODIFIER)
        if self.at("{") and not self._reads_bodies:
            end = end_of_block(self.text, self.token.offset)
            if end is not None:
                self.seek(end)
                return
        self.expect("{")
        depth = 1
        while depth:
            if self.token.kind is TokenKind.END:
                raise self.syntax_error()
            text = self.advance().text
            depth += (text == "{") - (text == "}")

    def _linkage(self) -> str | None:
        if self.token.text[1:] in _LINKAGE:
            return self.advance().text[1:]
        return None

    # --- functions -------------------------------------------------------------------------------

    def _function(self, position: tree.Position, linkage: str | None) -> tree.Function:
        is_entry = self.advance().text == ".entry"
        directives: dict[str, tuple[int, ...]] = {}
        if self.accept(".attribute"):
            directives |= dict(self._function_attributes())
        outer, self._scope = self._scope, self._scope.new_child()
        results = () if is_entry else self._parameters()
        name = self._name()
        parameters = self._parameters()
        directives |= self._function_directives()
        unread: int | None = None
        body: tuple[tree.Statement, ...] | None = ()
        if self.at("{") and not self._reads_bodies:
            start = self.token.offset
            end = end_of_block(self.text, start)
            if end is not None:
                self.seek(end)
                unread = start
        if unread is None:
            body = self._statements() if self.accept("{") else None
        if body is None:
            self.accept(";")
        self._scope = outer
        return tree.Function(
            name=name,
            is_entry=is_entry,
            parameters=parameters,
            results=results,
            body=body,
            position=position,
            linkage=linkage,
            directives=directives,
            unread=unread,
        )

    def body(
        self, function: tree.Function, start: int, variables: dict[str, tree.Variable]
    ) -> tuple[tree.Statement, ...]:
        """Parse a body that was skipped.

        Args:
            start: The offset of the body's opening brace.
            variables: The variables of the module that are declared before it.
        """
        own = {each.name: each for each in (*function.results, *function.parameters)}
        self._scope = ChainMap(own, variables)
        self.seek(start)
        try:
            self.advance()
            return self._statements()
        except RecursionError:
            raise self.refusal("Nesting is too deep") from None

    def _function_directives(self) -> dict[str, tuple[int, ...]]:
        directives: dict[str, tuple[int, ...]] = {}
        while self.token.kind is TokenKind.MODIFIER:
            if self.accept(".pragma"):
                self._separated(self._string, ";")  # hints, which do not affect results
                continue
            if self.token.text[1:] not in _FUNCTION_DIRECTIVES:
                break  # a declaration need not end in a semicolon
            word = self.advance().text[1:]
            if word not in _EXTENTS:
                directives[word] = self._numbers()
                continue
            start = self.token
            extents = [self._number()]
            while len(extents) < _EXTENTS[word] and self.accept(","):
                extents.append(self._number())
            if not all(0 < extent <= _MOST_THREADS for extent in extents):
                message = f"Positive non-zero value expected for {word}"
                raise self.refusal(message, start, "error")
            directives[word] = tuple(extents)
        for one, other in _CONFLICTS:
            if one in directives and other in directives:
                message = f"Conflicting directives: .{one} and .{other} cannot both be specified"
                raise self.refusal(message, severity="error")
        return directives

    # --- statements ------------------------------------------------------------------------------

    def _statements(self) -> tuple[tree.Statement, ...]:
        """Parse the statements of a block up to its closing brace, after the opening one."""
        statements: list[tree.Statement] = []
        while not self.accept("}"):
            if not self._plain_instructions(statements):
                self._statement(statements)
        return tuple(statements)

    def _statement(self, statements: list[tree.Statement]) -> None:
        kind = self.token.kind
        position = self.position()
        if self.accept(".loc"):
            file, line, column = self._number(), self._number(), self._number()
            call = None
            while self.accept(","):  # , function_name label{+offset}, inlined_at file line column
                if self.accept("function_name"):
                    self._name()
                    self._offset()
                else:
                    self.expect("inlined_at")
                    call = self._number(), self._number(), self._number()
            statements.append(tree.LineMark(file, line, column, call, position))
        elif self.accept(".pragma"):
            self._separated(self._string, ";")
        elif self.accept(".file"):
            self._file()
        elif kind is TokenKind.MODIFIER:
            if self.at(".common") or self._linkage() is not None:  # as in ptxas
                raise self.syntax_error()
            statements += self._variable_statement(position, None)
        elif kind is TokenKind.NAME and self.following().text == ":":
            statements.append(self._label())
        elif kind is TokenKind.NAME or self.at("@"):
            statements.append(self._instruction())
        elif self.at("{"):
            self.advance()
            outer, self._scope = self._scope, self._scope.new_child()
            statements.append(tree.Block(self._statements(), position))
            self._scope = outer
        else:
            raise self.syntax_error()

    def _label(self) -> tree.Label | tree.BranchTargets | tree.CallPrototype:
        position = self.position()
        name = self._name()
        self.expect(":")
        if self.at(".branchtargets", ".calltargets"):
            kind = self.advance().text[1:]
            return tree.BranchTargets(name, kind, self._separated(self._name, ";"), position)
        if self.accept(".callprototype"):
            outer, self._scope = self._scope, self._scope.new_child()
            results = self._parameters()
            self.expect("_")
            parameters = self._parameters()
            self._function_directives()
            self.expect(";")
            self._scope = outer
            return tree.CallPrototype(name, results, parameters, position)
        return tree.Label(name, position)
