"""Write ``man/cudarun.1``: the manual page, from the help texts of all commands."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from cudarun import __version__
from cudarun.commands.declaration import Option
from tests.support.command_tree import contexts

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "man" / "cudarun.1"

_NO_REWRAP = "\b"  # click's mark of a paragraph that keeps its lines
_RELEASE = re.compile(r"^## (?P<version>\d\S*) – (?P<date>\d{4}-\d\d-\d\d)$", re.MULTILINE)


def release_date() -> str:
    """Return the date of this version in the changelog; empty before its release."""
    text = (ROOT / "CHANGELOG.md").read_text()
    dates = {match["version"]: match["date"] for match in _RELEASE.finditer(text)}
    return dates.get(__version__, "")


def page() -> str:
    """Return the manual page in the macros of man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    root, *commands = contexts()
    yield '.\\" Written by `python -m tools.generate_man_page` from --help: change the help texts.'
    yield f'.TH CUDARUN 1 "{release_date()}" "cudarun {__version__}" "User Commands"'
    yield from (".nh", ".ad l", ".SH NAME")
    summary = _paragraphs(root)[0].rstrip(".")
    yield f"cudarun \\- {_text(summary[0].lower() + summary[1:])}"
    yield ".SH SYNOPSIS"
    shown = [each for each in commands if not isinstance(each.command, click.Group)]
    for context in shown:
        yield from (f".B {_text(context.command_path)}", *_usage(context))
        if context is not shown[-1]:
            yield ".br"
    yield ".SH DESCRIPTION"
    yield from _description(_paragraphs(root))
    yield from _options(root)
    yield ".SH COMMANDS"
    for context in commands:
        yield f'.SS "{_text(context.command_path)}"'
        yield from _description(_paragraphs(context))
        yield from _options(context)


def _usage(context: click.Context) -> Iterator[str]:
    words = context.command.collect_usage_pieces(context)
    if words:
        yield _line(" ".join(words))


def _paragraphs(context: click.Context) -> list[str]:
    import inspect

    return inspect.cleandoc(context.command.help or "").split("\n\n")


def _description(paragraphs: list[str]) -> Iterator[str]:
    """Yield paragraphs; those with click's mark keep their lines."""
    for number, paragraph in enumerate(paragraphs):
        mark, _, rest = paragraph.partition("\n")
        if number:
            yield ".PP"
        if mark.strip() == _NO_REWRAP:
            yield from (".nf", ".RS 2")
            yield from map(_line, rest.split("\n"))
            yield from (".RE", ".fi")
        else:
            yield _line(" ".join(paragraph.split()))


def _options(context: click.Context) -> Iterator[str]:
    """Yield the options in the groups and the order of ``--help``."""
    grouped: dict[str, list[tuple[str, str]]] = {}
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            group = parameter.group if isinstance(parameter, Option) else None
            grouped.setdefault("Options" if group is None else group.value, []).append(record)
    for title, records in grouped.items():
        yield from (".PP", f".I {_text(title)}")
        for names, text in records:
            yield from (".TP", f".B {_text(names)}", _line(" ".join(text.split())))


def _line(text: str) -> str:
    """Return a text as a line that is no request."""
    escaped = _text(text)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _text(text: str) -> str:
    """Return a text with the escapes of roff: a hyphen of an option is a minus sign."""
    for character, escape in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga")):
        text = text.replace(character, escape)
    return text.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq")


def main() -> int:
    """Write the page, and report whether that changed it."""
    text = page()
    if not TARGET.exists() or TARGET.read_text() != text:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(text)
        print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
