"""The matrix of a case: an instance of the case for each combination of values.

``${n}`` in a text is the value of ``n``, ``$$`` is ``$``, and any other ``$`` is itself; ``$n`` and
``{n}`` are refused. A text that is only ``${n}`` is the value itself, so that it can be a number or
a boolean.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from cudarun.base.errors import RequestError
from cudarun.base.toml_text import REFERENCE
from cudarun.model.spec import MatrixValue

MATRIX = "matrix"  # the key of the matrix in a case
Instance: TypeAlias = dict[str, MatrixValue]  # the values of one instance, by name

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_OTHER_REFERENCE = re.compile(r"(?<!\$)(?:\$(\w+)|\{(\w+)\})")
"""What shells and Python have in the place of ``${n}``."""


class Matrix:
    """The matrix of a case; `RequestError` if a name or a value is invalid.

    Args:
        table: Its TOML: lists of values by name.
    """

    def __init__(self, table: object) -> None:
        if not isinstance(table, dict):
            raise _invalid("must be lists of values by name, such as matrix = {n = [1, 31, 32]}")
        self._values: Mapping[str, Sequence[MatrixValue]] = table
        for name, values in table.items():
            if _NAME.fullmatch(name) is None:
                raise _invalid(
                    f"'{name}' is not a valid name: a letter or _, then letters, digits and _"
                )
            is_list = isinstance(values, list) and values
            if not is_list or not all(
                isinstance(each, str | int) or (isinstance(each, float) and math.isfinite(each))
                for each in values
            ):
                raise _invalid(
                    f"{name} must be a list of strings, numbers or booleans, and not empty"
                )
            seen = set[str]()
            for text in map(_text, values):
                if text in seen:
                    raise _invalid(f"{name} contains the value {text} more than once")
                seen.add(text)

    @property
    def count(self) -> int:
        """The number of instances."""
        return math.prod(map(len, self._values.values()))

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances; the last name varies fastest."""
        for values in product(*self._values.values()):
            yield dict(zip(self._values, values, strict=True))


def instance_name(name: str, instance: Instance) -> str:
    """Return the name of an instance: ``saxpy[n=31,block=64]``.

    Values that the name refers to are not repeated.

    Raises:
        RequestError: The name refers to an unknown value, or contains a control character.
    """
    used = {match[1] for match in REFERENCE.finditer(name)}
    rest = [f"{key}={_text(value)}" for key, value in instance.items() if key not in used]
    whole = substituted(name, instance) + (f"[{','.join(rest)}]" if rest else "")
    if _CONTROL.search(whole):
        raise RequestError(f"the name {whole!r} contains a control character", option="name")
    return whole


def substituted(text: str, instance: Instance) -> str:
    """Return a text with the values of an instance; `RequestError` if one is unknown."""
    for match in _OTHER_REFERENCE.finditer(text):
        name = match[1] or match[2]
        if name in instance:
            raise RequestError(
                f"'{match[0]}' in '{text}' is not a value of the matrix",
                hint=f"write ${{{name}}}; for the characters {match[0]}, "
                + (f"write ${match[0]}" if match[1] else f"write {{ {name} }}"),
            )

    def replacement(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else _text(_value(match, instance))

    return REFERENCE.sub(replacement, text)


def typed(value: object, instance: Instance) -> object:
    """Return a value of TOML, or the texts in a list, with the values of an instance."""
    if isinstance(value, list):
        return [substituted(each, instance) if isinstance(each, str) else each for each in value]
    if not isinstance(value, str):
        return value
    match = REFERENCE.fullmatch(value)
    return substituted(value, instance) if not match or value == "$$" else _value(match, instance)


def _value(match: re.Match[str], instance: Instance) -> MatrixValue:
    name = match[1]
    if name in instance:
        return instance[name]
    if name is None:
        raise RequestError(
            "'${' is not followed by a name and '}'",
            hint="write ${n} for a value of the matrix, $${ for the characters ${",
        )
    from cudarun.arguments.scanner import did_you_mean

    known = f"the matrix has {', '.join(instance)}" if instance else "the case has no matrix"
    hint = did_you_mean(name, instance) or "write $${ for the characters ${"
    raise RequestError(f"unknown value ${{{name}}}: {known}", hint=hint)


def _text(value: MatrixValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _invalid(what: str) -> RequestError:
    return RequestError(what, option=MATRIX)
