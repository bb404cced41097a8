"""Check that the documents are true: links, shown commands, the command reference, help texts.

``python -m tools.check_docs`` prints every fault as ``file:line: what`` and exits with 1 when there
is one. `tests/test_docs.py` runs the same checks.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from cudarun.arguments.dimensions import parse_extent, parse_size
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.grammar import parse_argument
from cudarun.base.errors import CudarunError
from cudarun.commands.steps import divided
from tests.support.command_tree import contexts, find
from tests.support.console_blocks import commands
from tools import generate_cli_docs, generate_json_schemas, generate_man_page
from tools.engines import page

ROOT = Path(__file__).resolve().parent.parent

_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+\s+(?P<title>.*)$", re.MULTILINE)
_FENCED = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)
_SHELL_OPERATORS = {"|", "||", "&&", ";", ">", ">>", "<", "&"}


def documents() -> list[Path]:
    """Every Markdown file that is part of the project."""
    folders = ("docs", "samples", "benchmarks", "tests")
    return sorted({*ROOT.glob("*.md")}.union(*((ROOT / name).rglob("*.md") for name in folders)))


def broken_links() -> Iterator[str]:
    """Relative links that lead nowhere: no such file, or no such heading in it."""
    for path in documents():
        # Code is not text with links in it; blanks keep the line numbers.
        text = _FENCED.sub(lambda m: "\n" * m[0].count("\n"), path.read_text())
        for match in _LINK.finditer(text):
            target, _, anchor = match["target"].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = (path.parent / target).resolve() if target else path
            if not file.exists():
                yield f"{_where(path, text, match.start())}: no such file: {target}"
            elif anchor and file.suffix == ".md" and anchor not in _anchors(file):
                yield f"{_where(path, text, match.start())}: no such heading: {match['target']}"


def _where(path: Path, text: str, position: int) -> str:
    return f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, position) + 1}"


def _anchors(path: Path) -> set[str]:
    """The anchors that a Markdown file's headings get on code-hosting sites."""
    text = _FENCED.sub("", path.read_text())
    titles = (match["title"].lower() for match in _HEADING.finditer(text))
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


def unusable_commands() -> Iterator[str]:
    """Shown ``cudarun`` commands that would be refused before any file or device is looked at."""
    for path in documents():
        for command in commands(path.read_text()):
            where = f"{path.relative_to(ROOT)}:{command.line}"
            for words in invocations(command.text):
                fault = _fault(words)
                if fault:
                    yield f"{where}: {fault}"


def invocations(text: str) -> Iterator[list[str]]:
    """The words after ``cudarun`` for each time that a shell command runs it."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word in _SHELL_OPERATORS:
            program = _without_environment(words)
            if program and Path(program[0]).name == "cudarun":
                yield program[1:]
            words = []
        else:
            words.append(word)


def _without_environment(words: list[str]) -> list[str]:
    """Drop what stands before the program's name: ``NAME=VALUE`` and ``time``."""
    for index, word in enumerate(words):
        if not re.match(r"^\w+=", word) and word not in {"time", "exec"}:
            return words[index:]
    return []


def _fault(words: list[str]) -> str | None:
    """Why the words would be refused, whatever the files hold; None when they would not be."""
    context, rest = find(words)
    if isinstance(context.command, click.Group) and rest and not rest[0].startswith("-"):
        return f"{context.command_path} has no command {rest[0]!r}"
    try:
        first, *later = divided(rest)
        for step in (first, *(["", *each] for each in later)):
            values, _, _ = context.command.make_parser(context).parse_args(args=step)
            for parameter in context.command.params:
                given = values.get(parameter.name)
                if isinstance(given, str | list | tuple):  # what is not given has a click's marker
                    value = parameter.type_cast_value(context, given)
                    _parse_language(parameter.name, value)
    except click.UsageError as error:
        return f"{context.command_path}: {error.format_message()}"
    except CudarunError as error:
        return f"{context.command_path}: {error}"
    return None


def _parse_language(name: str, value: object) -> None:
    """Parse what is written in one of the project's own small languages.

    Raises:
        ArgumentSyntaxError: It does not parse.
    """
    parsers: dict[str, Callable[[str], object]] = {
        "arguments": parse_argument,
        "checks": parse_expression,
        "prints": parse_expression,
        **dict.fromkeys(("threads", "grid", "block", "cluster"), parse_extent),
        "smem": parse_size,
    }
    texts = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
    for text in texts:
        if name in parsers and isinstance(text, str):  # `load --block` is parsed already
            parsers[name](text)


def stale_reference() -> Iterator[str]:
    """The command reference, when it is not what ``--help`` says."""
    target = generate_cli_docs.TARGET
    if not target.exists() or target.read_text() != generate_cli_docs.reference():
        yield f"{target.relative_to(ROOT)}:1: stale; run python -m tools.generate_cli_docs"


def stale_man_page() -> Iterator[str]:
    """The manual page, when it is not what ``--help`` and the changelog contain."""
    target = generate_man_page.TARGET
    if not target.exists() or target.read_text() != generate_man_page.page():
        yield f"{target.relative_to(ROOT)}:1: stale; run python -m tools.generate_man_page"


def stale_schemas() -> Iterator[str]:
    """The JSON Schemas, when they are not those of the documents that commands write."""
    known = {
        generate_json_schemas.file_name(name): name for name in generate_json_schemas.DOCUMENTS
    }
    folder = generate_json_schemas.TARGET
    for file in sorted({*known, *(path.name for path in folder.iterdir())}):
        path = folder / file
        if file not in known:
            yield f"{path.relative_to(ROOT)}:1: the schema of no document"
        elif not path.exists() or path.read_text() != generate_json_schemas.text(known[file]):
            yield f"{path.relative_to(ROOT)}:1: stale; run python -m tools.generate_json_schemas"


def unlisted_schemas() -> Iterator[str]:
    """The JSON Schemas that the page on JSON documents does not link to."""
    page = ROOT / "docs" / "reference" / "json.md"
    linked = {match["target"] for match in _LINK.finditer(page.read_text())}
    for name in generate_json_schemas.DOCUMENTS:
        if f"schemas/{generate_json_schemas.file_name(name)}" not in linked:
            yield f"{page.relative_to(ROOT)}:1: no link to the schema of {name}"


def stale_engines() -> Iterator[str]:
    """The comparison of the engines, when it is not one of the recorded forms."""
    for fault in page.faults():
        yield f"{page.PAGE.relative_to(ROOT)}:1: {fault}"


def missing_help() -> Iterator[str]:
    """Commands and options without a help text."""
    for context in contexts():
        if not context.command.help:
            yield f"{context.command_path}: no help text"
        for parameter in context.command.params:
            if isinstance(parameter, click.Option) and not parameter.help:
                yield f"{context.command_path} {parameter.opts[0]}: no help text"


CHECKS = (
    broken_links,
    unusable_commands,
    stale_reference,
    stale_man_page,
    stale_schemas,
    unlisted_schemas,
    stale_engines,
    missing_help,
)


def main() -> int:
    """Run all checks; 1 when there is a fault."""
    faults = [fault for check in CHECKS for fault in check()]
    print("\n".join(faults) if faults else f"{len(documents())} documents, no faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
