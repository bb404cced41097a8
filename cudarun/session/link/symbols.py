"""The symbols that the inputs of a link define and use, and the errors among them.

Linkers do not report these reliably: nvJitLink 13 succeeds with two definitions of a symbol, naming
neither file, and the driver's linker was observed to succeed with an undefined one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cudarun.base.records import dataclass
from cudarun.diagnostics.entries import Diagnosed, Diagnostic, located
from cudarun.diagnostics.refusals import listed
from cudarun.images.demangler import quoted
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.symbols import LinkSymbol, link_symbols
from cudarun.session.image.image import Image


@dataclass(frozen=True, slots=True)
class _SymbolUse:
    """A symbol of an input."""

    file: str
    symbol: LinkSymbol


class SymbolTable:
    """The symbols of all inputs.

    Args:
        inputs: The inputs, in order. A linker takes only needed members of a static library, so
            a second definition there is not an error.
        architecture: 90 for sm_90.
    """

    def __init__(self, inputs: Sequence[Image], architecture: int) -> None:
        self._sources = {
            image.origin: image.code.decode("latin-1")
            for image in inputs
            if identify(image.data) is ImageKind.PTX and not image.is_compiled
        }
        self._mentions: dict[str, list[_SymbolUse]] = {}
        self._available: set[str] = set()  # in static libraries
        for image in inputs:
            symbols = link_symbols(image.data, image.origin, architecture)
            if identify(image.data) is ImageKind.ARCHIVE:
                self._available.update(s.name for s in symbols if s.role != "wanted")
                continue
            for symbol in symbols:
                line = None if image.is_compiled else symbol.line
                mention = _SymbolUse(image.origin, replace(symbol, line=line))
                self._mentions.setdefault(symbol.name, []).append(mention)

    def check_duplicates(self) -> None:
        """Refuse symbols that more than one input defines."""
        twice = {
            name: defined
            for name, mentions in self._mentions.items()
            if len(defined := [m for m in mentions if m.symbol.role == "defined"]) > 1
        }
        if not twice:
            return
        diagnostics = []
        for name, (first, *others) in twice.items():
            for mention in others:
                diagnostics.append(_error(f"multiple definition of {quoted(name)}", mention))
            note = _error(f"{quoted(name)} is first defined here", first)
            diagnostics.append(replace(note, severity="note"))
        raise Diagnosed(
            f"multiple definition of {listed(twice)}",
            diagnostics=located(diagnostics, self._sources),
            hint="remove one of the files, or make a definition static or weak",
        )

    def missing(self) -> set[str]:
        """The symbols that an input uses and no input defines."""
        return {
            name
            for name, mentions in self._mentions.items()
            if name not in self._available and all(m.symbol.role == "wanted" for m in mentions)
        }

    def refuse(self, unresolved: Iterable[str]) -> None:
        """Refuse undefined symbols; `Diagnosed`, with the files that use them, if any does."""
        missing = {n: self._mentions[n] for n in sorted(unresolved) if n in self._mentions}
        if not missing:
            return
        diagnostics = [
            _error(f"undefined reference to {quoted(name)}", mention)
            for name, mentions in missing.items()
            for mention in mentions
            if mention.symbol.role == "wanted"
        ]
        raise Diagnosed(
            f"undefined symbols: {listed(missing)}",
            diagnostics=located(diagnostics, self._sources),
            hint="add the file that defines it",
        )

    def with_lines(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return a linker's complaints of symbols with their lines in the texts."""
        return tuple(located(map(self._placed, diagnostics), self._sources))

    def _placed(self, given: Diagnostic) -> Diagnostic:
        for name, mentions in self._mentions.items():
            for mention in mentions if f"'{name}'" in given.message else ():
                if given.line is None and mention.file == given.file:
                    return replace(given, line=mention.symbol.line)
        return given

    @property
    def definers(self) -> dict[str, tuple[str, ...]]:
        """The files that define each symbol."""
        return {
            name: tuple(m.file for m in mentions if m.symbol.role != "wanted")
            for name, mentions in self._mentions.items()
        }


def _error(message: str, mention: _SymbolUse) -> Diagnostic:
    return Diagnostic("cudarun", "error", message, mention.file, mention.symbol.line)
