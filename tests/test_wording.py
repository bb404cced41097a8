"""The documents, the help texts and the messages are in standard technical English.

The lists contain the words and openings of our former prose, each with its replacement, and no
terms of art (bank conflict, clock, member of a struct). Code and shown output are exempt.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

import pytest

from tests.support.command_tree import contexts
from tools.check_docs import ROOT, documents

# Each word or phrase, as a regular expression, and its replacement.
BANNED = {
    "mend(?:s|ed|ing)?": "fix, resolve",
    "held": "passed",
    "broken": "failed",
    "what differs": "mismatch",
    "out of time|no result within": "timed out after",
    "far outside": "out of bounds",
    "nothing (?:wrote|has written)|nobody wrote": "uninitialized",
    "nobody|whoever": "the noun for the actor",
    "misfits?|(?:does|do) not fit": "invalid, does not match",
    "there (?:is|are) not|(?:does|do) not have": "unsupported, not implemented",
    "most registers": "registers per thread",
    "tells?|told|says?|said": "report, print, log",
    "plays? with|what is said": "inspect, script, verify",
    "lanes part|repack(?:s|ed|ing)?": "diverge, compact",
    "publish(?:es|ed|ing)?": "release",
    "crew|head start|overdue": "worker pool, prefork, deadline",
    "standing": "thread states",
    "verdicts?": "result",
    "in no time": "a figure",
    r"(?:\w*(?:initiali|optimi|recogni|normali|seriali)|synchroni)s(?:e\w*|ing|ation)": "-ize",
    "(?:behavio|colo|neighbo)ur\\w*": "-or",
    "centred?|misspelt|signalling": "center, misspelled, signaling",
}
# Only of messages and help texts, which are too short for a subordinate clause or an idiom.
BANNED_IN_MESSAGES = {
    "wants?": "requires",
    "asked": "requested",
    "so far|of which|for instance": "a sentence of its own",
    "there (?:is|are) none|no such thing": "no, and the noun",
    r"(?<!there\x20)is no (?!longer)\w+": "is not a",
    "stands?": "is",
    "takes? for|mean(?:t|s)? by": "the standard term",
    "whatever|no one|somebody|someone": "the noun for the actor",
    "exclude each other": "cannot be combined",
    "of its own|of your own": "its, its own",
    "go(?:es)? together|go(?:es)? with": "match",
    "(?:don't|doesn't|isn't|can't|won't)": "the long form",
}

# Words of identifiers that have no meaning of their own in CUDA.
BANNED_IN_IDENTIFIERS = {
    "mend": "fix, resolve",
    "held": "passed, kept",
    "nobody": "the noun for the actor",
    "misfit": "mismatch",
    "tell|told|said": "report, send",
    "crew|overdue": "worker pool, timeout",
    "standing": "thread states",
    "parted|repack": "divergent, compact",
    "onlooker": "observer",
    "colour|neighbour|centre": "-or, -er",
}


def _compiled(banned: Mapping[str, str]) -> dict[re.Pattern[str], str]:
    return {
        re.compile(rf"\b(?:{pattern})\b".replace(" ", r"\s+"), re.IGNORECASE): replacement
        for pattern, replacement in banned.items()
    }


_WORDS = _compiled(BANNED)
_WORDS_IN_MESSAGES = _WORDS | _compiled(BANNED_IN_MESSAGES)

# A sentence that begins with a clause in place of a noun, or is inverted.
_OPENINGS = re.compile(
    r"(?:^|(?<=[.:;?!] ))\W*"
    r"(?P<opening>What|Whatever|Which|Who|Whoever|Whose|Whether|Nobody|That which|Of|Beside)\b",
    re.MULTILINE,
)

_CODE = re.compile(r"^\s*```.*?^\s*```$|`[^`\n]+`|<!--.*?-->|\]\([^)]*\)", re.MULTILINE | re.DOTALL)


# Arguments of these functions are patterns for texts of other programs.
_MATCHERS = frozenset({"compile", "finditer", "fullmatch", "match", "search", "sub"})


def documents_read() -> Iterator[tuple[str, str]]:
    """Yield the name and the prose of each document."""
    for path in documents():
        yield str(path.relative_to(ROOT)), prose(path.read_text())


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the help text of each command."""
    for context in contexts():
        yield f"{context.command_path} --help", context.get_help()


def modules() -> Iterator[tuple[str, str]]:
    """Yield the path and the source of each module of the package that contains messages."""
    for path in sorted((ROOT / "cudarun").rglob("*.py")):
        name = path.relative_to(ROOT)
        yield name.as_posix(), path.read_text()


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each message of a module.

    A message is a string of three or more words that is neither a docstring nor a pattern; adjacent
    literals are one string, and a replacement field is ``{}``. Whether it is raised, is a hint, a
    help text or a constant does not matter.
    """
    tree = ast.parse(source)
    exempt: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant() as docstring):
                exempt.add(docstring)
            case ast.JoinedStr(parts):
                exempt.update(part for part in parts if isinstance(part, ast.Constant))
            case ast.FormattedValue(format_spec=ast.JoinedStr() as spec):
                exempt.add(spec)
            case ast.Call(ast.Attribute(attr=name), arguments) if name in _MATCHERS:
                exempt.update(arguments)
    for node in ast.walk(tree):
        text = None if node in exempt else _text(node)
        if text is not None and len(text.split()) >= 3:
            assert isinstance(node, ast.expr)
            yield node.lineno, text


def _text(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(_text(part) or "{}" for part in parts)
    return None


def prose(markdown: str) -> str:
    """Return a document without code, comments and link targets, with the same line numbers."""
    return _CODE.sub(lambda match: "`" + "\n" * match[0].count("\n"), markdown)


def faults(text: str, banned: Mapping[re.Pattern[str], str] = _WORDS) -> list[str]:
    """Return ``line: words (replacement)`` for each banned word and opening."""
    found = [
        (match.end(), match[0], replacement)
        for words, replacement in banned.items()
        for match in words.finditer(text)
    ]
    found += [(m.end(), m["opening"], "subject first") for m in _OPENINGS.finditer(text)]
    return [
        f"{text.count(chr(10), 0, end) + 1}: {' '.join(words.split())} ({replacement})"
        for end, words, replacement in sorted(found)
    ]


# Messages of ptxas, which the emulated device repeats.
PTXAS = {"Operand vector size doesn't match geometry for instruction '{}'"}


def message_faults(source: str) -> list[str]:
    """Return the faults of a module's messages, each with the line of the message."""
    return [
        f"{line}: {fault.partition(': ')[2]} in {text!r}"
        for line, text in messages(source)
        if text not in PTXAS
        for fault in faults(text, _WORDS_IN_MESSAGES)
    ]


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each definition: functions, classes, parameters, variables."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(name, ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def identifier_faults(source: str) -> list[str]:
    """Return ``line: name (replacement)`` for each definition whose name has a banned word."""
    return [
        f"{line}: {name} ({replacement})"
        for line, name in identifiers(source)
        for replacement in _replacements(name)
    ]


@cache
def _replacements(name: str) -> list[str]:
    return [
        replacement
        for words, replacement in BANNED_IN_IDENTIFIERS.items()
        if re.search(rf"(?:^|_|(?<=[a-z])(?=[A-Z]))(?i:{words})(?:s|ed)?(?![a-z])", name)
    ]


def test_documents() -> None:
    assert _found(documents_read(), faults) == {}


def test_help() -> None:
    assert _found(help_texts(), lambda text: faults(text, _WORDS_IN_MESSAGES)) == {}


def test_messages() -> None:
    assert _found(modules(), message_faults) == {}


def test_identifiers() -> None:
    assert _found(modules(), identifier_faults) == {}


def _found(
    texts: Iterable[tuple[str, str]], check: Callable[[str], list[str]]
) -> dict[str, list[str]]:
    """Return the faults of each text that has some, by its name."""
    found = {name: check(text) for name, text in texts}
    assert found
    return {name: faults for name, faults in found.items() if faults}


# --- the checks themselves -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One.\nIt mends\nthe file.", ["2: mends (fix, resolve)"]),
        ("Code of which nobody knows.", ["1: nobody (the noun for the actor)"]),
        ("The work is OUT OF\nTIME.", ["2: OUT OF TIME (timed out after)"]),
        ("Colours are recognised.", ["1: Colours (-or)", "1: recognised (-ize)"]),
        ("## What a file is", ["1: What (subject first)"]),
        ("It stops. Of a fatbin, all is read.", ["1: Of (subject first)"]),
        ("- **Which** it is", ["1: Which (subject first)"]),
    ],
)
def test_faults_are_found(text: str, found: list[str]) -> None:
    assert faults(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "A bank conflict; `%clock` and a vector clock; members of a struct.",
        "The table shows what a fault changes.",
        "Recognized and initialized by half of the threads.",
    ],
)
def test_terms_of_art_pass(text: str) -> None:
    assert not faults(text)


def test_code_is_exempt() -> None:
    text = "a `held` b\n\n```console\n$ x\nheld y\n```\n[said](#what-is-said)\n"
    assert faults(prose(text)) == ["7: said (report, print, log)"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("raise Error('nobody here\\n'\n  'knows')", ["1: nobody (the noun for the actor)"]),
        ("f(hint=f'{x} wants a {y:>3}')", ["1: wants (requires)"]),
        ("\nHINT = 'a size of which n is asked'", ["2: of which (a sentence of its own)",
                                                  "2: asked (requested)"]),
        ("f('{} is no number'.format(x))", ["1: is no number (is not a)"]),
    ],
)  # fmt: skip
def test_message_faults_are_found(source: str, found: list[str]) -> None:
    assert [fault.partition(" in ")[0] for fault in message_faults(source)] == found


@pytest.mark.parametrize(
    "source",
    [
        "'''What nobody told is held here.'''",
        "re.compile(r'entry function does not have a body')",
        "f(f'{held} {nobody} {x:held}', 'held', 'is no longer valid')",
    ],
)
def test_other_strings_are_no_messages(source: str) -> None:
    assert not message_faults(source)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def is_held(x): ...", ["1: is_held (passed, kept)"]),
        ("class NobodyMissing:\n    def f(self, told): ...",
         ["1: NobodyMissing (the noun for the actor)", "2: told (report, send)"]),
        ("for OVERDUE in x:\n    self._standing = y",
         ["1: OVERDUE (worker pool, timeout)", "2: _standing (thread states)"]),
        ("def outstanding(intelligible): amended = withheld", []),
    ],
)  # fmt: skip
def test_identifier_faults_are_found(source: str, found: list[str]) -> None:
    assert sorted(identifier_faults(source)) == found
