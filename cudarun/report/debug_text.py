"""The results of the debugger's commands as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePath
from textwrap import wrap
from typing import Any

from cudarun.model import debug
from cudarun.report.terminal import fold_words, ranges

_WIDTH = 80
_LANES = 32
_HELP = 36  # the column of descriptions
_REASONS = {
    "start": "start of the launch",
    "exit": "the selected thread has exited",
    "finish": "returned",
    "pause": "paused",
    "fault": "fault",
    "finding": "finding",
    "nan": "NaN",
    "ended": "the launch has ended",
}


def lines_of(result: Any) -> Iterator[str]:
    """Yield the lines of the result of a command."""
    match result:
        case debug.StoppedAt(stop, line):
            yield from stop.output.splitlines()
            is_program = stop.reason == "ended" and not stop.kernel
            what = "the program has ended" if is_program else _REASONS.get(stop.reason, "")
            if stop.reason == "start":
                what = f"{what} of {stop.kernel.partition('(')[0]}"
            if stop.exit_code is not None:
                what = f"{what}, exit code {stop.exit_code}"
            for number, change in zip(stop.breakpoints, stop.changes, strict=False):
                yield f"watchpoint {number}: {change.name} = {change.before} -> {change.after}"
                yield f"  written by {change.thread}, {_place(change.place)}"
            if others := ", ".join(map(str, stop.breakpoints[len(stop.changes) :])):
                yield f"breakpoint {others}"
            if what:
                yield what
            yield from (f"  {each}" for each in stop.text.splitlines())
            if stop.thread is None or stop.place is None:
                return
            count = f", with {stop.threads - 1} more" if stop.threads > 1 else ""
            yield f"{stop.thread}{count}"
            yield f"  lanes {_mask(stop.lanes)}  position {stop.position}"
            yield f"  {_place(stop.place)}"
            if line is not None:
                yield _line(line)
        case debug.MemoryWrite():
            yield f"{result.name} = {result.before} -> {result.after}"
            yield f"  written by {result.thread}, {_place(result.place)}"
            yield f"  position {result.position}"
        case debug.NanOrigin():
            if result.text:
                yield result.text
            if result.place is not None:
                yield f"{result.thread}, position {result.position}"
                yield f"  {_place(result.place)}"
                yield f"  {result.place.ptx}"
            for each in result.operands:
                yield f"  {each.name} = {each.text}"
        case debug.Breakpoint():
            condition = f" if {result.condition}" if result.condition else ""
            once = " once" if result.once else ""
            further = len(result.places) - 1
            places = f": {_place(result.places[0])}" if result.places else ""
            more = f" and {further} more" if further > 0 else ""
            kind = f"{result.kind} " if result.kind in ("watch", "catch", "ptx") else ""
            facts = "".join([
                f", reached {result.hits} times" if result.hits > 1 else "",
                f", passed {result.ignore} times" if result.ignore else "",
                f", prints {result.message!r}" if result.message else "",
            ])  # fmt: skip
            yield f"{result.number} {kind}{result.target}{condition}{once}{places}{more}{facts}"
        case debug.StackFrame():
            yield f"#{result.level} {_place(result.place)}"
        case debug.Value():
            yield f"{result.name} = {result.text}  ({result.type})"
        case debug.Lanes():
            yield f"{result.expression} in block {_triple(result.block)}, warp {result.warp}"
            cells = [each or "-" for each in result.values]
            width = max(map(len, cells)) + 2
            columns = max(1, (_WIDTH - 4) // width)
            columns = next(each for each in (16, 8, 4, 2, 1) if each <= columns or each == 1)
            for first in range(0, len(cells), columns):
                row = cells[first : first + columns]
                marked = [
                    f"{cell}{'*' if first + each == result.selected else ' '}"
                    for each, cell in enumerate(row)
                ]
                yield f"{first:3} " + "".join(cell.rjust(width) for cell in marked).rstrip()
        case debug.Listing():
            yield result.file
            yield from map(_line, result.lines)
        case [debug.CommandHelp(), *_]:
            for each in result:
                names = f"{each.name}, {each.short}" if each.short else each.name
                head = f"{names} {each.arguments}".rstrip()
                text = wrap(each.text, _WIDTH - _HELP)
                if len(head) >= _HELP:
                    yield head
                    head = ""
                yield f"{head:{_HELP}}{text[0]}"
                yield from (f"{'':{_HELP}}{line}" for line in text[1:])
        case [debug.Warp(), *_]:
            yield from _warps(result)
        case [str(), *_]:
            yield from fold_words(result, _WIDTH)
        case [_, *_]:
            for each in result:
                yield from lines_of(each)
        case None:
            yield "not written before"
        case _:
            yield "none"


def _warps(warps: Sequence[debug.Warp]) -> Iterator[str]:
    """Yield the states of warps, once for blocks in a row that are in the same ones."""
    blocks = [(block, [*found]) for block, found in groupby(warps, lambda each: each.block)]
    for states, same in groupby(blocks, lambda each: [(own.warp, own.groups) for own in each[1]]):
        first, *others = [_triple(block) for block, _ in same]
        name = f"block {first}"
        if others:  # those between that have exited are not counted
            name = f"{len(others) + 1} blocks from {first} to {others[-1]}"
        for groups, alike in groupby(states, lambda each: each[1]):
            numbers = [warp for warp, _ in alike]
            yield f"{name}, warp{'s' if len(numbers) > 1 else ''} {ranges(numbers)}"
            for group in groups:
                where = "" if group.place is None else f", {_place(group.place)}"
                yield f"  {_mask(group.lanes)} {group.state}{where}"
                yield from (f"    {note}" for note in group.notes)


def _line(line: debug.SourceLine) -> str:
    mark = "->" if line.is_current else "  "
    return f"{mark}{line.number:5}  {line.text}".rstrip()[: 2 * _WIDTH]


def _place(place: debug.CodePlace) -> str:
    """Return a place as ``function (file:line)``, or with the line in the PTX."""
    if place.file is None:
        return f"{place.function} (ptx:{place.ptx_line})"
    return f"{place.function} ({PurePath(place.file).name}:{place.line})"


def _triple(block: debug.Triple) -> str:
    return f"({', '.join(map(str, block))})"


def _mask(lanes: Sequence[int]) -> str:
    """Return lanes as ranges: ``0-15,17``."""
    return "all" if len(lanes) == _LANES else ranges(lanes) or "none"
