"""Messages and hints of the command line in the words of the Python API."""

from __future__ import annotations

import re
import shlex

from cudarun.api.keywords import LaunchKeywords, LoadKeywords
from cudarun.api.values import ARRAY_NAME
from cudarun.session.image.image import IN_MEMORY

_KEYWORDS = {
    **{
        keyword: str(getattr(kind, "__forward_arg__", kind))
        for keywords in (LoadKeywords, LaunchKeywords)
        for keyword, kind in keywords.__annotations__.items()
    },
    **dict.fromkeys(("device", "kernel", "timeout"), ""),
}
"""The keywords with their annotations."""
_SHORT = {"-d": "device", "-k": "kernel", "-I": "include", "-D": "define"}
_VALUES = {  # that are no other words of a sentence
    *("cpu", "race", "uninit", "sync", "all"),
    *re.findall(r"['\"]([a-z]+)['\"]", " ".join(_KEYWORDS.values())),
}
_OPTION = re.compile(
    r"(?<![\w-])(?P<quote>'?)(?P<option>--[a-z][a-z-]*|-[dkID](?= ))(?P=quote)"
    r"(?P<rest>(?:(?<!')[= ](?P<value>'[^']*'|[^\s'();]*[^\s'();,.:]))?)"
)
_CAST = re.compile(r"'?(?:(\w+)=)?(\w+)\[[^\]']*\]:cast\(@[^)]*\)'?")
_KINDS = {"f": "float", "i": "int", "u": "uint"}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def in_python(text: str) -> str:
    """Return a message with calls, keywords and values as in Python.

    >>> in_python("raise --timeout, or pass --compiler nvcc: 'cudarun launch --help'")
    'raise timeout, or pass compiler="nvcc": help(cudarun.launch)'
    """
    text = re.sub(r"'cudarun (launch|load) --help'", r"help(cudarun.\1)", text)
    text = re.sub(r"^cudarun (launch|load) (.*)$", _call, text, flags=re.MULTILINE)
    text = _CAST.sub(lambda found: f"{found[1] or 'the array'}.astype({_dtype(found[2])})", text)
    text = re.sub(r"(?<=: )\w+=…(?: \w+=…)*", _mapping, text)
    return _OPTION.sub(_keyword, text)


def _dtype(name: str) -> str:
    kind = _KINDS.get(name[0])
    return f"np.{kind}{name[1:]}" if kind and name[1:].isdecimal() else f'"{name}"'


def _mapping(words: re.Match[str]) -> str:
    names = re.findall(r"\w+(?==)", words[0])
    return "args={" + ", ".join(f'"{name}": …' for name in names) + "}"


def _name(option: str) -> str:
    return _SHORT.get(option) or option.lstrip("-").replace("-", "_")


def _keyword(found: re.Match[str]) -> str:
    """Return an option in a sentence as a keyword; a word that is not its value remains."""
    name, value = _name(found["option"]), found["value"]
    if name not in _KEYWORDS:
        return found[0]
    if _KEYWORDS[name] == "bool":
        return f"{name}=True{found['rest']}"
    if value and (not value.isalpha() or value.isupper() or value in _VALUES):
        return f"{name}={_literal(value.strip(chr(39)))}"
    return name + found["rest"]


def _literal(value: str) -> str:
    """Return a value as Python's; a placeholder such as BYTES remains."""
    if _NUMBER.fullmatch(value) or value.isupper():
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _call(command: re.Match[str]) -> str:
    """Return a command as a call."""
    try:
        image, *words = shlex.split(command[2])
    except ValueError:  # an apostrophe of a sentence
        return command[0]
    call = ["image" if image == IN_MEMORY else _literal(image)]
    names, values = [], []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            name = _name(name)
            is_flag = _KEYWORDS.get(name) == "bool"
            call.append(f"{name}=" + ("True" if is_flag else _literal(value or next(rest, ""))))
            continue
        names += [name] if equals else []
        value = value if equals else word
        values.append("array" if value == f"@{ARRAY_NAME}" else _literal(value))
    if values and len(names) == len(values):
        pairs = (f'"{name}": {value}' for name, value in zip(names, values, strict=True))
        call.append("args={" + ", ".join(pairs) + "}")
    elif values:
        call.append("args=[" + ", ".join(values) + "]")
    return f"cudarun.{command[1]}({', '.join(call)})"
