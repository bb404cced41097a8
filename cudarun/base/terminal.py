"""Text of others on a terminal: control characters are shown, not obeyed.

An escape sequence in a name, a log or a kernel's output could rewrite what the terminal shows, or
send it answers to type. In a pipe or a file such text stays as it is.
"""

from __future__ import annotations

import re

# C0 and C1 controls but tab and line ends, and Unicode's overrides of the direction of text.
# `re` compiles a pattern when it is used: `--help` uses none.
_CONTROL = r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"


def visible(text: str) -> str:
    r"""Return a text with its control characters as escapes.

    >>> print(visible("\x1b[31mred\N{RIGHT-TO-LEFT OVERRIDE}"))
    \x1b[31mred\u202e
    """
    return re.sub(_CONTROL, _escape, text)


def one_line(text: str) -> str:
    r"""Return a text without line ends, which are escapes: a name forges no line of a report.

    >>> print(one_line("a\nb"))
    a\x0ab
    """
    return re.sub("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", _escape, text)


def without_commands(text: str) -> str:
    r"""Return a text in which GitHub's runner finds no workflow command.

    It takes ``::`` at the start of a line for one, and the older ``##[`` anywhere.

    >>> print(without_commands("  ::error::a ##[error]"))
      :\x3aerror::a ##\x5berror]
    """
    return re.sub(r"(?m)^\s*::|##\[", lambda match: f"{match[0][:-1]}{_escape(match)}", text)


def escaped(document: str) -> str:
    r"""Return a JSON document whose control characters are all escapes, C1 and bidirectional too.

    >>> print(escaped('"\x9b\u202e"'))
    "\u009b\u202e"
    """
    return re.sub(_CONTROL, lambda match: f"\\u{ord(match.group()):04x}", document)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group()[-1])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
