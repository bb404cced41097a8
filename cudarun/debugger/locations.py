"""Locations in the code of a launch: where lines begin, and which statements breakpoints mean."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from cudarun.arguments.scanner import did_you_mean
from cudarun.base.errors import RequestError
from cudarun.images.demangler import demangle
from cudarun.model.debug import Breakpoint, CodePlace

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import BlockCode, FunctionCode, Site

_WITH_RETURN_TYPE = re.compile(r"^[^<]* (?=[\w:]+<)")  # that of a template
_FUNCTION = re.compile(r"\.(?:entry|func)\b")
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")

Statement = tuple[int, int]
"""The number of a basic block in the program, and the index of a statement in it."""


def place_of(site: Site) -> CodePlace:
    """Return the place of an instruction."""
    file, _, line = (site.source or "").rpartition(":")
    text = " ".join(site.text.split())
    return CodePlace(
        name_of(site.function), site.line, text, file or None, int(line) if file else None
    )


def name_of(function: str) -> str:
    """Return the name of a function in C++, without its parameters."""
    return _WITH_RETURN_TYPE.sub("", demangle(function).partition("(")[0])


def variable_name(symbol: str) -> str:
    """Return the name of a variable in its function: of ``f._ZZ1fE4part`` it is ``part``."""
    return demangle(symbol.rpartition(".")[2]).rpartition("::")[2]


def line_of(site: Site) -> str:
    """Return the source line of an instruction, or its line in the PTX without one."""
    return site.source or f"ptx:{site.line}"


def sites_of(block: BlockCode) -> list[Site | None]:
    """Return the instruction of each statement of a block."""
    return [*(each.site for each in block.operations), block.terminator.site]


class Locations:
    """The statements of the functions of a launch."""

    def __init__(self, functions: Mapping[str, FunctionCode], text: str = "") -> None:
        self._functions = functions
        self._text = text
        self._starts: dict[str, dict[Statement, Site]] = {}

    def resolve(self, point: Breakpoint) -> dict[Statement, CodePlace]:
        """Return the statements that a point of a location stops at.

        Raises:
            RequestError: There is no such location.
        """
        found: dict[Statement, Site] = {}
        match point.kind:
            case "function":
                chosen = [each for each in self._functions if point.target in _names(each)]
                if not chosen:
                    known = [_names(each)[-1] for each in self._functions]
                    near = did_you_mean(point.target, known)
                    raise RequestError(
                        f"unknown function {point.target!r}",
                        hint=near or _known("the functions are", known),
                    )
                found = dict(self._entry(self._functions[each]) for each in chosen)
            case "ptx":
                line = int(point.target)
                every = [each for one in self._functions.values() for each in _statements(one)]
                first = min((site.line for _, site in every if site.line >= line), default=None)
                if first is None:
                    raise RequestError(f"the PTX has no instruction at line {line} or later")
                for statement, site in every:
                    if site.line == first and site not in found.values():
                        found[statement] = site
            case _:
                file, _, number = point.target.rpartition(":")
                line = int(number)
                files, end = self.files, PurePath(file).parts
                matching = [each for each in files if PurePath(each).parts[-len(end) :] == end]
                if not matching:
                    raise RequestError(
                        f"no code of {file}", hint=_known("the source files are", files) or
                        "the PTX has no source lines: compile it with -lineinfo, or use ptx:LINE",
                    )  # fmt: skip
                after = [each for each in files[matching[0]] if each >= line]
                if not after:
                    last = files[matching[0]][-1]
                    raise RequestError(
                        f"{file} has no code at line {line} or later; the last is {last}"
                    )
                wanted = {f"{each}:{after[0]}" for each in matching}
                found = {
                    statement: site
                    for function in self._functions.values()
                    for statement, site in self.line_starts(function).items()
                    if site.source in wanted
                }
        return {statement: place_of(site) for statement, site in found.items()}

    @property
    def files(self) -> dict[str, list[int]]:
        """The source files, and their lines with code."""
        lines: dict[str, set[int]] = defaultdict(set)
        for function in self._functions.values():
            for site in self.line_starts(function).values():
                if site.source is not None:
                    file, _, line = site.source.rpartition(":")
                    lines[file].add(int(line))
        return {file: sorted(found) for file, found in lines.items()}

    @property
    def functions(self) -> list[str]:
        """The names of the functions, in C++."""
        return [*map(name_of, self._functions)]

    def _entry(self, function: FunctionCode) -> tuple[Statement, Site]:
        """Return where a breakpoint of a function stops: after the instructions of its header."""
        first, *others = self.line_starts(function).items()
        # The header has the first ``.loc``, to which no instruction may belong.
        text = self._text.splitlines()[: first[1].line - 1]
        start = max((at for at, each in enumerate(text) if _FUNCTION.search(each)), default=-1)
        header = next((found[1] for each in text[start + 1 :] if (found := _LOC.match(each))), None)
        if (first[1].source or "").rpartition(":")[2] == header:
            block = first[0][0]
            body = (each for each in others if each[1].source and each[0][0] == block)
            return next(body, first)
        return first if first[1].source else next(_statements(function))

    def line_starts(self, function: FunctionCode) -> dict[Statement, Site]:
        """Return the statements at which a line begins, with their instructions."""
        if function.name not in self._starts:
            self._starts[function.name] = dict(_starts(function))
        return self._starts[function.name]


def _statements(function: FunctionCode) -> Iterator[tuple[Statement, Site]]:
    """Yield the statements that are instructions, in the order of the text."""
    for block in function.blocks:
        for index, site in enumerate(sites_of(block)):
            if site is not None:
                yield (function.base + block.index, index), site


def _starts(function: FunctionCode) -> Iterator[tuple[Statement, Site]]:
    """Yield the statements that no statement of the same line precedes directly."""
    before: dict[int, set[str]] = defaultdict(set)
    for block in function.blocks:
        sites = [site for site in sites_of(block) if site is not None]
        for successor in block.terminator.successors:
            before[successor].add(line_of(sites[-1]) if sites else "")
    for block in function.blocks:
        lines = before[block.index]
        for index, site in enumerate(sites_of(block)):
            if site is None:
                continue
            line = line_of(site)
            if lines != {line}:
                yield (function.base + block.index, index), site
            lines = {line}


def _names(function: str) -> list[str]:
    """Return the names that mean a function; the last one is that in C++ without parameters."""
    plain = name_of(function)
    base = plain.partition("<")[0]
    return [function, demangle(function), base, base.rpartition("::")[2], plain]


def _known(what: str, names: Iterable[str]) -> str | None:
    listed = ", ".join(names)
    return f"{what} {listed}" if listed else None
