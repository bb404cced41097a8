"""Messages and hints of the command line in the words of the Python API."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from cudarun.api.options import LaunchKeywords, LoadKeywords

_KEYWORDS: dict[str, Any] = {
    **LoadKeywords.__annotations__,
    **LaunchKeywords.__annotations__,
    **dict.fromkeys(("device", "kernel", "timeout"), ""),
}
_SHORT = {"-d": "device", "-k": "kernel", "-I": "include", "-D": "define"}
_WORDS = {"cpu", "race", "uninit", "sync", "all"}  # values that are no other words of a sentence
_OPTION = re.compile(
    r"(?<![\w-])(?P<quote>'?)(?P<option>--[a-z][a-z-]*|-[dkID](?= ))(?P=quote)"
    r"(?:(?<!')[= ](?P<value>'[^']*'|[^\s'();]*[^\s'();,.:]))?"
)
_CAST = re.compile(r"'?(?:(\w+)=)?(\w+)\[[^\]']*\]:cast\(@array\)'?")
_COMMAND = re.compile(r"^cudarun (launch|load) (.*)$", re.MULTILINE)
_KINDS = {"f": "float", "i": "int", "u": "uint"}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def errors_in(document: object) -> Iterator[dict[str, Any]]:
    """Yield the records of errors in a document."""
    if isinstance(document, Mapping):
        if {"kind", "exit_code", "message"} <= document.keys():
            yield document  # type: ignore[misc]
        for each in document.values():
            yield from errors_in(each)
    elif isinstance(document, list):
        for each in document:
            yield from errors_in(each)


def in_python(text: str) -> str:
    """Return a message with calls, keywords and values as in Python.

    >>> in_python("raise --timeout, or pass --compiler nvcc: 'cudarun launch --help'")
    'raise timeout, or pass compiler="nvcc": help(cudarun.launch)'
    """
    text = re.sub(r"see 'cudarun (launch|load) --help'", r"see help(cudarun.\1)", text)
    text = re.sub(r"'cudarun (launch|load) --help'", r"help(cudarun.\1)", text)
    text = _COMMAND.sub(lambda found: _call(found[1], found[2]), text)
    text = _CAST.sub(lambda found: f"{found[1] or 'the array'}.astype({_dtype(found[2])})", text)
    text = re.sub(r"(?<=: )\w+=…(?: \w+=…)*", lambda found: _mapping(found[0]), text)
    return _OPTION.sub(_keyword, text)


def _dtype(name: str) -> str:
    kind = _KINDS.get(name[0])
    return f"np.{kind}{name[1:]}" if kind and name[1:].isdecimal() else f'"{name}"'


def _mapping(words: str) -> str:
    named = (word.partition("=")[0] for word in words.split())
    return "args={" + ", ".join(f'"{name}": …' for name in named) + "}"


def _keyword(found: re.Match[str]) -> str:
    """Return an option in a sentence as a keyword; a word that is not its value remains."""
    option, value = found["option"], found["value"]
    name = _SHORT.get(option) or option.lstrip("-").replace("-", "_")
    kind = _KEYWORDS.get(name)
    if kind is None:
        return found[0]
    annotation = getattr(kind, "__forward_arg__", kind)
    rest = "" if value is None else f" {value}"
    if annotation == "bool":
        return f"{name}=True{rest}"
    words = _WORDS | {*re.findall(r"['\"]([\w-]+)['\"]", annotation)}
    is_value = value and (value[0] in "'-" or not value.isalpha() or value.isupper())
    if value and (is_value or value in words):
        return f"{name}={_literal(value.strip(chr(39)))}"
    return name + rest


def _literal(value: str) -> str:
    """Return a value as Python's; a placeholder such as BYTES remains."""
    if _NUMBER.fullmatch(value) or value.isupper():
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _call(function: str, line: str) -> str:
    """Return a command as a call."""
    try:
        image, *words = shlex.split(line)
    except ValueError:  # an apostrophe of a sentence
        return f"cudarun {function} {line}"
    call = [image if image == "image" else _literal(image)]
    arguments: list[tuple[str, str]] = []
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            option, _, value = word.partition("=")
            name = _SHORT.get(option) or option.lstrip("-").replace("-", "_")
            is_flag = getattr(_KEYWORDS.get(name), "__forward_arg__", "") == "bool"
            call.append(f"{name}=" + ("True" if is_flag else _literal(value or next(rest, ""))))
        else:
            name, equals, value = word.partition("=")
            value = value if equals else word
            shown = "array" if value == "@array" else _literal(value)
            arguments.append((f'"{name}"' if equals else "", shown))
    if arguments and all(name for name, _ in arguments):
        call.append("args={" + ", ".join(f"{name}: {value}" for name, value in arguments) + "}")
    elif arguments:
        call.append("args=[" + ", ".join(value for _, value in arguments) + "]")
    return f"cudarun.{function}({', '.join(call)})"
