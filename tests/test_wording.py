"""The documents and the help texts are in standard technical English.

The list contains the words and openings of our former prose, each with its replacement. It contains
no terms of art (bank conflict, clock, member of a struct). Code and shown output are exempt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.command_tree import contexts
from tools.check_docs import ROOT, documents

# Texts that are still to be rewritten. Remove an entry together with the rewrite.
EXCEPTIONS = {
    "cudarun --help",
    "cudarun ctx --help",
    "cudarun ctx run --help",
    "cudarun ctx show --help",
    "cudarun ctx verify --help",
    "cudarun devices --help",
    "cudarun launch --help",
    "cudarun link --help",
    "cudarun load --help",
    "cudarun managed --help",
}

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
_WORDS = {
    re.compile(rf"\b(?:{pattern})\b".replace(" ", r"\s+"), re.IGNORECASE): replacement
    for pattern, replacement in BANNED.items()
}

# A sentence that begins with a clause in place of a noun, or is inverted.
_OPENINGS = re.compile(
    r"(?:^|(?<=[.:;?!] ))\W*"
    r"(?P<opening>What|Whatever|Which|Who|Whoever|Whose|Whether|Nobody|That which|Of|Beside)\b",
    re.MULTILINE,
)

_CODE = re.compile(r"^\s*```.*?^\s*```$|`[^`\n]+`|<!--.*?-->|\]\([^)]*\)", re.MULTILINE | re.DOTALL)


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the prose of each document and of each command's help text."""
    for path in documents():
        yield str(path.relative_to(ROOT)), prose(path.read_text())
    for context in contexts():
        yield f"{context.command_path} --help", context.get_help()


def prose(markdown: str) -> str:
    """Return a document without code, comments and link targets, with the same line numbers."""
    return _CODE.sub(lambda match: "`" + "\n" * match[0].count("\n"), markdown)


def faults(text: str) -> list[str]:
    """Return ``line: words (replacement)`` for each banned word and opening."""
    found = [
        (match.end(), match[0], replacement)
        for words, replacement in _WORDS.items()
        for match in words.finditer(text)
    ]
    found += [(m.end(), m["opening"], "subject first") for m in _OPENINGS.finditer(text)]
    return [
        f"{text.count(chr(10), 0, end) + 1}: {' '.join(words.split())} ({replacement})"
        for end, words, replacement in sorted(found)
    ]


TEXTS = dict(texts())


@pytest.mark.parametrize("name", sorted(TEXTS.keys() - EXCEPTIONS))
def test_wording(name: str) -> None:
    assert not faults(TEXTS[name])


def test_exceptions_exist() -> None:
    assert TEXTS.keys() >= EXCEPTIONS


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
