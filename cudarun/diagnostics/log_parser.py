"""Parsing of the logs of ptxas, nvlink, nvJitLink, NVRTC and nvcc.

They are not documented. The forms below were observed with ptxas and nvlink 12.4 and 13.0, NVRTC
and nvJitLink 13.5 and the linker in driver 580::

    ptxas main.ptx, line 43; error   : Unknown modifier '.xx'
    ptxas fatal   : Unresolved extern function '_Z4partf'
    nvlink error   : Multiple definition of 'factor' in 'b.o', first defined in 'a.o'
    error   : Undefined reference to 'factor' in 'main.ptx'       (nvJitLink and the driver's)
    @E@error   : Multiple definition of …                         (nvJitLink, on descriptor 2)
    ERROR 4: bad input:main.cubin
    lib.ltoir: link error: error: Linking globals named 'factor': symbol multiply defined!
    main.cu(4): error: identifier "x" is undefined                (NVRTC, with the line and a caret)
    main.cu:1:10: fatal error: none.h: No such file or directory  (nvcc's host compiler)
    nvcc fatal   : Unknown option '--foo'

Closing lines (``Ptx assembly aborted due to errors``) are no diagnostics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from cudarun.diagnostics.entries import Diagnostic, Severity, Tool

_GRADES = r"(?P<severity>fatal|error|warning|info)"
_PTXAS_LINE = re.compile(rf"ptxas (?P<file>.*), line (?P<line>\d+); {_GRADES} *: *(?P<message>.*)")
_TOOL_LINE = re.compile(rf"(?:@\w@)?(?:(?P<tool>ptxas|nvlink) +)?{_GRADES} *: *(?P<message>.*)")
_JITLINK_LINE = re.compile(r"ERROR (?P<code>\w+): *(?P<message>.*)")
_JITLINK_INFO = re.compile(r"(?P<severity>INFO): (?P<message>.*)")
_LTO_LINE = re.compile(r"(?P<file>[^:]+): link error: (?P<severity>error): (?P<message>.*)")
_NVRTC_LINE = re.compile(
    r"(?:(?P<file>.+?)\((?P<line>\d+)\)|At end of source): "
    r"(?P<severity>catastrophic error|error|warning|note|remark)(?: #\d+(?:-D)?)?: (?P<message>.*)"
)
_NVRTC_OPTION = re.compile(r"nvrtc: (?P<severity>error|warning): (?P<message>.*)")
_HOST_COMPILER_LINE = re.compile(
    r"(?P<file>[^:\s][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)? "
    r"(?P<severity>fatal error|error|warning|note): (?P<message>.*)"
)
_NVCC_LINE = re.compile(r"nvcc (?P<severity>fatal|error|warning) *: *(?P<message>.*)")
_CARET = re.compile(r" +\^$")

# The reference to a file in a message.
_OF_FILE = re.compile(r"(?:in|JIT the PTX) [('](?P<file>[^)']+)[)']")
# Messages of nvJitLink that are followed directly by the input's name.
_BAD_INPUT = re.compile(
    r"(?P<message>bad input(?:: (?:does not match type \w+?_INPUT_(?:PTX|CUBIN|LTOIR|FATBIN|OBJECT"
    r"|LIBRARY|ANY)|malformed cubin ELF))?):?\s*(?P<file>.*)"
)
_CLOSING = re.compile(
    r"Ptx assembly aborted due to errors|merge_elf failed|elfLink internal error|complete"
)
_PTX_OF_INPUT = "JIT the PTX"
_NAMELESS = "application ptx input"  # ptxas's name for PTX from memory

_OTHER_LINES: tuple[tuple[Tool, re.Pattern[str]], ...] = (
    ("ptxas", _PTXAS_LINE),
    ("NVRTC", _NVRTC_OPTION),
    ("nvcc", _NVCC_LINE),
    ("nvcc", _HOST_COMPILER_LINE),
    ("nvJitLink", _LTO_LINE),
    ("nvJitLink", _JITLINK_INFO),
)
_SEVERITIES: dict[str, Severity] = {
    "catastrophic error": "fatal",
    "fatal error": "fatal",
    "remark": "note",
    "INFO": "info",
}


def parse_log(log: str) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a log, in order; lines of unknown form are ignored."""
    found: list[Diagnostic] = []
    lines = log.replace("\0", "").split("\n")
    for index, line in enumerate(lines):
        line = line.rstrip()
        if match := _JITLINK_LINE.fullmatch(line):
            _add_of_jitlink(found, match["message"])
        else:
            found.extend(_of_line(line, lines[index + 1 : index + 3]))
    return tuple(found)


def _of_line(line: str, following: list[str]) -> Iterator[Diagnostic]:
    if match := _TOOL_LINE.fullmatch(line):
        tool: Tool = "ptxas" if match["tool"] == "ptxas" else "nvlink"
        if not _CLOSING.fullmatch(match["message"]):
            named = _OF_FILE.search(match["message"]) if tool == "nvlink" else None
            yield replace(_parsed(tool, match), file=named["file"] if named else None)
    elif match := _NVRTC_LINE.fullmatch(line):
        source = column = None
        # The source line, indented by two, and the caret below the column.
        if len(following) == 2 and _CARET.fullmatch(following[1].rstrip()):
            source = following[0].removeprefix("  ")
            column = len(following[1].rstrip()) - 2
        yield replace(_parsed("NVRTC", match), column=column, source=source)
    else:
        for tool, pattern in _OTHER_LINES:
            if match := pattern.fullmatch(line):
                yield _parsed(tool, match)
                return


def _parsed(tool: Tool, match: re.Match[str]) -> Diagnostic:
    """Return the diagnostic of a line whose parts are the groups of a match."""
    found = match.groupdict()
    severity, file = found["severity"], found.get("file")
    return Diagnostic(
        tool,
        _SEVERITIES.get(severity, severity),  # type: ignore[arg-type]  # patterns name no others
        found["message"].strip(),
        None if file == _NAMELESS else file,
        int(found["line"]) if found.get("line") else None,
        int(found["column"]) if found.get("column") else None,
    )


def _add_of_jitlink(found: list[Diagnostic], message: str) -> None:
    """Add the input that an ``ERROR …`` line names to ptxas's diagnostics before it."""
    if message.startswith(_PTX_OF_INPUT):
        named = _OF_FILE.search(message)
        for index in range(len(found) - 1, -1, -1):
            if found[index].tool != "ptxas" or found[index].file is not None or named is None:
                break
            found[index] = replace(found[index], file=named["file"])
    elif match := _BAD_INPUT.fullmatch(message):
        found.append(Diagnostic("nvJitLink", "error", match["message"], match["file"] or None))
    elif not _CLOSING.fullmatch(message):
        found.append(Diagnostic("nvJitLink", "error", message))
