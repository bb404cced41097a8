"""The linker: combines several PTX texts into one, as ``cuLinkComplete`` returns it.

The device's machine code is PTX, so what the linker makes is PTX: one header, then all declarations
of functions, all variables and all functions. Declarations that an input resolves name the
definition's linkage, of weak symbols one is kept, and a local name that two inputs use is made
different. Complaints are in the words of nvlink. Driver API, section 6.12.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import prod

from cudarun.base.records import dataclass
from cudarun.emulator.host.headers import newest_ptx, parse_supported
from cudarun.emulator.host.images import NotLoadable
from cudarun.emulator.host.jit import compile_text
from cudarun.emulator.machine.system import SYSTEM_FUNCTIONS
from cudarun.ptx import tree
from cudarun.ptx.lexer import PtxToken, TokenKind, tokenize

_HEADER = frozenset({".version", ".target", ".address_size"})
_OTHER_ITEMS = frozenset({".file", ".section", ".alias"})
_NUMBERED_BY_FILE = frozenset({".file", ".loc", "inlined_at"})
_WEAK = frozenset({"weak", "common"})
_LAUNCH_BOUNDS = frozenset({".maxnreg", ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm"})


@dataclass(frozen=True, slots=True)
class DeclaredSymbol:
    """A function or variable that an input declares."""

    name: str
    linkage: str  # ``"local"`` if the text gives none; an entry is always visible
    is_function: bool
    defined: bool
    size: int = 0  # bytes of a variable; the largest ``.common`` definition is kept

    @property
    def is_local(self) -> bool:
        """True if the symbol is invisible to other inputs."""
        return self.linkage == "local"


@dataclass(frozen=True, slots=True)
class ModuleStatement:
    """A statement at module level: its text, its tokens, the symbols it declares."""

    text: str
    tokens: tuple[PtxToken, ...]  # offsets from the start of ``text``
    symbols: tuple[DeclaredSymbol, ...]

    @property
    def opening(self) -> str:
        """The first word."""
        return self.tokens[0].text


class LinkInput:
    """One PTX text of a link; `PtxError` if it does not parse, or is too new."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        lazy = parse_supported(text, newest_ptx())
        self.module = lazy.module
        self.items = tuple(_items(text, self.module))
        self._uses = Counter(t.text for t in tokenize(text) if t.kind is TokenKind.NAME)
        if any(self.undefined_symbols()):
            for function in self.module.functions:
                lazy.read(function)  # raises its syntax errors
        else:
            compile_text(text)  # raises its errors, with its own line numbers

    def symbols(self) -> Iterator[DeclaredSymbol]:
        """Yield all declared symbols."""
        for item in self.items:
            yield from item.symbols

    def undefined_symbols(self) -> Iterator[DeclaredSymbol]:
        """Yield the symbols that it uses and does not define."""
        defined = {symbol.name for symbol in self.symbols() if symbol.defined}
        for symbol in self.symbols():
            used = self._uses[symbol.name] > 1  # more than in its declaration
            if used and symbol.name not in defined and symbol.name not in SYSTEM_FUNCTIONS:
                yield symbol


def _items(text: str, module: tree.Module) -> Iterator[ModuleStatement]:
    """Yield the statements at module level in order, without the text before the first."""
    declared = _declared(text, module)
    tokens = tokenize(text)[:-1]
    starts, depth = [], 0
    for index, token in enumerate(tokens):
        if depth == 0 and (token.offset in declared or token.text in _HEADER | _OTHER_ITEMS):
            starts.append(index)
        if token.kind is TokenKind.PUNCTUATION:
            depth += (token.text in "{(") - (token.text in "})")
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        first = tokens[start].offset
        last = tokens[end].offset if end < len(tokens) else len(text)
        yield ModuleStatement(
            text=text[first:last],
            tokens=tuple(t._replace(offset=t.offset - first) for t in tokens[start:end]),
            symbols=tuple(declared.get(first, ())),
        )


def _declared(text: str, module: tree.Module) -> dict[int, list[DeclaredSymbol]]:
    """Return the symbols of the statement at each offset of the text."""
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
    declared: dict[int, list[DeclaredSymbol]] = {}

    def offset_of(position: tree.Position) -> int:
        return line_starts[position.line - 1] + position.column - 1

    for function in module.functions:
        linkage = function.linkage or ("visible" if function.is_entry else "local")
        symbol = DeclaredSymbol(function.name, linkage, True, function.body is not None)
        declared.setdefault(offset_of(function.position), []).append(symbol)
    statement = 0
    for variable in module.variables:
        offset = offset_of(variable.position)
        if text[offset] == ".":  # else it is another name in the same statement
            statement = offset
        # An unsized .extern .shared array is dynamic shared memory, not a symbol of another input.
        size = prod(extent or 0 for extent in variable.dimensions)
        dynamic = variable.linkage == "extern" and variable.space == "shared" and not size
        defined = dynamic or variable.linkage != "extern"
        linkage = "local" if dynamic else variable.linkage or "local"
        symbol = DeclaredSymbol(variable.name, linkage, False, defined, size)
        declared.setdefault(statement, []).append(symbol)
    return declared


class Linker:
    """The inputs so far, and the input that defines each symbol."""

    def __init__(self) -> None:
        self._inputs: list[LinkInput] = []
        self._definitions: dict[str, tuple[LinkInput, DeclaredSymbol]] = {}

    def add(self, link_input: LinkInput) -> None:
        """Add an input.

        Raises:
            NotLoadable: It defines a symbol that another input defines; the input is not added.
                The message is nvlink's, one line per symbol.
        """
        new: dict[str, tuple[LinkInput, DeclaredSymbol]] = {}
        errors = []
        for symbol in link_input.symbols():
            if not symbol.defined or symbol.is_local:
                continue
            other = self._definitions.get(symbol.name)
            if other is None or _overrides(symbol, other[1]):
                new[symbol.name] = (link_input, symbol)
            elif symbol.linkage not in _WEAK:
                errors.append(
                    f"error   : Multiple definition of '{symbol.name}' in '{link_input.name}', "
                    f"first defined in '{other[0].name}'"
                )
        if errors:
            raise NotLoadable("INVALID_SOURCE", "\n".join(errors))
        self._inputs.append(link_input)
        self._definitions |= new

    def undefined(self) -> list[str]:
        """Return nvlink's messages for undefined symbols, one line each."""
        complaints = dict.fromkeys(
            f"error   : Undefined reference to '{symbol.name}' in '{link_input.name}'"
            for link_input in self._inputs
            for symbol in link_input.undefined_symbols()
            if symbol.name not in self._definitions
        )
        return list(complaints)

    def complete(self, most_registers: int = 0) -> str:
        """Return the PTX text of all inputs together.

        The driver returns an image even if symbols are undefined (`undefined`); loading it fails.

        Args:
            most_registers: The limit for a thread of kernels without launch bounds, as of ptxas
                ``-maxrregcount``; 0 for none.

        Raises:
            NotLoadable: There is no input.
            PtxError: The combined text does not compile.
        """
        if not self._inputs:
            raise NotLoadable("INVALID_SOURCE", "error   : No input files")
        text = "".join(self._lines(most_registers))
        if not self.undefined():
            compile_text(text)
        return text

    def _lines(self, most_registers: int) -> Iterator[str]:
        names = ", ".join(link_input.name for link_input in self._inputs)
        version = max(link_input.module.version for link_input in self._inputs)
        first = self._inputs[0].module
        yield f"// linked by cudarun from {' '.join(names.split())}\n"
        yield f".version {version[0]}.{version[1]}\n"
        yield f".target {', '.join(first.targets)}\n"
        yield f".address_size {first.address_size}\n\n"
        files, variables, rest = list[str](), list[str](), list[str]()
        declarations: dict[str, str] = {}  # those of functions
        file_offset = 0
        for link_input, renamed in zip(self._inputs, self._renames(), strict=True):
            for item in link_input.items:
                if item.opening in _HEADER or item.opening == ".section":
                    continue
                symbol = item.symbols[0] if item.symbols else None
                words = {token.text for token in item.tokens}
                limit = 0 if ".entry" not in words or words & _LAUNCH_BOUNDS else most_registers
                text = _rewritten(item, renamed, file_offset, self._linkage(symbol), limit)
                if item.opening == ".file":
                    files.append(text)
                elif symbol is None:
                    rest.append(text)
                elif not symbol.defined:
                    if symbol.is_function:
                        declarations.setdefault(renamed.get(symbol.name, symbol.name), text)
                elif self._is_kept(link_input, item.symbols):
                    (rest if symbol.is_function else variables).append(text)
            file_offset += max(link_input.module.files, default=0)
        for text in (*files, *declarations.values(), *variables, *rest):
            yield text.rstrip() + "\n\n"

    def _linkage(self, symbol: DeclaredSymbol | None) -> str:
        """Return the linkage that replaces ``.extern`` in a declaration of a defined symbol."""
        if symbol is None or symbol.defined or symbol.name not in self._definitions:
            return "extern"
        return self._definitions[symbol.name][1].linkage

    def _is_kept(self, link_input: LinkInput, symbols: Iterable[DeclaredSymbol]) -> bool:
        """Return whether these definitions are the ones that are kept."""
        return any(
            symbol.is_local or self._definitions[symbol.name] == (link_input, symbol)
            for symbol in symbols
        )

    def _renames(self) -> list[dict[str, str]]:
        """Return new names, per input, for local names that another input uses too."""
        taken = set(self._definitions)
        renames = []
        for number, link_input in enumerate(self._inputs, start=1):
            local = {symbol.name for symbol in link_input.symbols() if symbol.is_local}
            renames.append({name: f"{name}${number}" for name in sorted(local & taken)})
            taken |= local
        return renames


def _overrides(symbol: DeclaredSymbol, other: DeclaredSymbol) -> bool:
    """Return whether a further definition replaces an earlier one."""
    if other.linkage not in _WEAK:
        return False
    if symbol.linkage == "common" and other.linkage == "common":
        return symbol.size > other.size
    return symbol.linkage not in _WEAK


def _rewritten(
    item: ModuleStatement, renamed: Mapping[str, str], file_offset: int, linkage: str, limit: int
) -> str:
    """Return a statement with local names, file numbers, linkage and a limit of registers."""
    pieces, end, before = [], 0, ""
    for token in item.tokens:
        new = token.text
        if token.kind is TokenKind.NAME:
            new = renamed.get(token.text, token.text)
        elif token.kind is TokenKind.INTEGER and before in _NUMBERED_BY_FILE:
            new = str(int(token.text) + file_offset)
        elif token.text == ".extern" and token.offset == 0:
            new = f".{linkage}"
        elif token.text == "{" and limit:
            new, limit = f".maxnreg {limit}\n{{", 0  # before the body
        pieces += [item.text[end : token.offset], new]
        end = token.offset + len(token.text)
        before = token.text
    return "".join([*pieces, item.text[end:]])
