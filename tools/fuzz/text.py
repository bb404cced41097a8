"""Damage to texts: words removed, doubled, moved, replaced, repeated and nested."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_WORD = re.compile(r"\s+|[.%$]?\w+|.", re.DOTALL)

NUMBERS = (
    *("0", "1", "-1", "2", "3", "7", "31", "32", "63", "64", "127", "128", "255", "256"),
    *("2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807"),
    *("18446744073709551615", "18446744073709551616", "-9223372036854775808", "1e400", "1e-400"),
    *("0x7fffffff", "0xffffffffffffffffff", "1.5", "nan", "inf", "-inf", "1e9", "0.1", "5000"),
    *("0f7f800000", "0f00000000", "0d7ff0000000000000", "1Ki", "7G", "1_000", "00", "1e", "2**31"),
    "9" * 30,
    "9" * 5000,
    "1e99999999999",
)
"""Numbers at and beyond the limits of types."""

STRANGE = ("\0", "\x1b[31m", "é", "\u202e", "\ud800", "\t", "\n", "'", '"', "\\", "🦊", "\x7f")
"""Characters that texts do not expect."""


def damaged(text: str, chance: random.Random, words: Sequence[str], most: int = 4) -> str:
    """Return a text with up to ``most`` changes.

    Args:
        text: The text.
        chance: The random generator.
        words: Words of the language, to insert.
        most: The largest number of changes.
    """
    parts = _WORD.findall(text)
    for _ in range(chance.randint(1, most)):
        at = chance.randrange(len(parts) + 1)
        end = min(len(parts), at + chance.choice((0, 1, 1, 1, 2, 5, 20)))
        match chance.randrange(12):
            case 0 | 1:
                parts[at:end] = []
            case 2:
                parts[at:at] = parts[at:end]
            case 3 if parts:
                other = chance.randrange(len(parts))
                parts[at:end] = parts[other : other + end - at]
            case 4 | 5 | 6:
                parts[at:end] = [chance.choice(words)]
            case 7:
                parts[at:at] = [" ", chance.choice(words), " "]
            case 8:
                parts[at:end] = [chance.choice(NUMBERS)]
            case 9:
                parts[at:end] = parts[at:end] * chance.choice((2, 10, 100, 1000))
            case 10:
                opening, closing = chance.choice(("()", "[]", "{}", ("-", ""), ("not ", ""), ",,"))
                depth = chance.choice((1, 2, 10, 60, 300, 3000))
                parts[at:end] = [opening * depth, *parts[at:end], closing * depth]
            case _:
                parts[at:end] = [chance.choice(STRANGE)]
    return "".join(parts)[:100_000]
