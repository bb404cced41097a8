"""The selection of cases by names, and by ``--filter``: an expression of names and values.

::

    either     = both (("or" | "|") both)*
    both       = negation (("and" | "&") negation)*
    negation   = ("not" | "!") negation | "(" either ")" | term
    term       = value [operator value]
    operator   = "==" | "!=" | "<=" | "<" | ">=" | ">"
    value      = word | "text" | 'text'

A term without an operator is a part of the case's name, in upper or lower case, as for ``-k`` of
pytest. In the others the left side is a name of the matrix, or ``name``, ``image``, ``kernel`` or
``device``.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Callable, Sequence
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, TypeAlias

from cudarun.arguments.scanner import Scanner, did_you_mean
from cudarun.base.errors import RequestError, errors_of

if TYPE_CHECKING:
    from cudarun.session.spec.case import Case

_Test: TypeAlias = Callable[["Case"], bool]

OWN = ("name", "image", "kernel", "device")
"""The names that every case has, beside those of its matrix."""

_WORD = re.compile(r"[\w.*?:/+-]+")
_END = r"(?![\w.*?:/+-])"
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_OPERATOR = re.compile(r"==|!=|<=|<|>=|>")
_OR = re.compile(rf"or{_END}|\|{{1,2}}")
_AND = re.compile(rf"and{_END}|&{{1,2}}")
_NOT = re.compile(rf"not{_END}|!(?!=)")
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {"<=": le, "<": lt, ">=": ge, ">": gt}


def is_glob(text: str) -> bool:
    """Return whether a text contains ``*`` or ``?``."""
    return "*" in text or "?" in text


def glob(text: str) -> re.Pattern[str]:
    """Return the pattern of a text in which ``*`` and ``?`` match; brackets are characters."""
    return re.compile(fnmatch.translate(text.replace("[", "[[]")))


def named(cases: Sequence[Case], names: Sequence[str], origin: str) -> list[Case]:
    """Return the cases with these names, in the order of the spec; all without names."""
    if not names:
        return [*cases]
    selected: set[str] = set()
    known = {case.name for case in cases}
    for name in names:
        found = {name} & known or {case.name for case in cases if case.base == name}
        if not found and is_glob(name):
            pattern = glob(name)
            found = {each for each in known if pattern.fullmatch(each)}
        if not found:
            hint = f"list the cases: cudarun launch --spec {shlex.quote(origin)} --list"
            if is_glob(name):
                raise RequestError(f"{origin}: no case matches '{name}'", hint=hint)
            close = did_you_mean(name, dict.fromkeys([*known, *(case.base for case in cases)]))
            raise RequestError(f"{origin} has no case '{name}'", hint=close or hint)
        selected |= found
    return [case for case in cases if case.name in selected]


def parse_filter(text: str, cases: Sequence[Case]) -> _Test:
    """Parse an expression of ``--filter``.

    Args:
        cases: All cases: a name must be in the matrix of one of them.
    """
    with errors_of(option="--filter"):
        return _Parser(text, cases).parse()


class _Parser:
    def __init__(self, text: str, cases: Sequence[Case]) -> None:
        self._scanner = Scanner(text)
        self._known = dict.fromkeys([*OWN, *(name for case in cases for name in case.matrix)])

    def parse(self) -> _Test:
        test = self._either()
        self._scanner.expect_end()
        return test

    def _either(self) -> _Test:
        return self._joined(_OR, lambda: self._joined(_AND, self._negation, all), any)

    def _joined(
        self, operator: re.Pattern[str], part: Callable[[], _Test], join: Callable[..., bool]
    ) -> _Test:
        tests = [part()]
        while self._scanner.match(operator):
            tests.append(part())
        return lambda case: join(test(case) for test in tests)

    def _negation(self) -> _Test:
        with self._scanner.nested():
            if self._scanner.match(_NOT):
                test = self._negation()
                return lambda case: not test(case)
            if self._scanner.accept("("):
                test = self._either()
                self._scanner.expect(")", "after an expression in parentheses")
                return test
            return self._term()

    def _term(self) -> _Test:
        start = self._scanner.skip_space()
        left = self._value()
        operator = self._scanner.match(_OPERATOR)
        if operator is None:
            if self._scanner.peek("="):
                raise self._scanner.error("unexpected '='", hint="did you mean ==?")
            if not is_glob(left):
                return lambda case: left.casefold() in case.name.casefold()
            pattern = glob(left)
            return lambda case: pattern.fullmatch(case.name) is not None
        if left not in self._known:
            raise self._scanner.error(
                f"unknown name '{left}'; the cases have {', '.join(self._known)}",
                start,
                hint=did_you_mean(left, self._known),
            )
        start = self._scanner.skip_space()
        right = self._value()
        if operator[0] in ("==", "!="):
            return _equality(left, right, negated=operator[0] == "!=")
        limit = _number(right)
        if limit is None:
            raise self._scanner.error(f"'{right}' is not a number to compare with", start)
        return _order(left, _COMPARISONS[operator[0]], limit)

    def _value(self) -> str:
        quoted = self._scanner.match(_QUOTED)
        if quoted is not None:
            return quoted[1] if quoted[1] is not None else quoted[2]
        word = self._scanner.match(_WORD)
        if word is None or word[0] in ("and", "or", "not"):
            raise self._scanner.error(
                "expected a name, a number or a quoted text", word.start() if word else None
            )
        return word[0]


def _equality(name: str, value: str, *, negated: bool) -> _Test:
    number, pattern = _number(value), glob(value)

    def equals(actual: str) -> bool:
        if number is not None and _number(actual) == number:
            return True
        return actual == value or pattern.fullmatch(actual) is not None

    def test(case: Case) -> bool:
        actual = _texts(case, name)
        return bool(actual) and any(map(equals, actual)) != negated

    return test


def _order(name: str, compare: Callable[[float, float], bool], limit: float) -> _Test:
    def test(case: Case) -> bool:
        numbers = map(_number, _texts(case, name))
        return any(number is not None and compare(number, limit) for number in numbers)

    return test


def _texts(case: Case, name: str) -> Sequence[str]:
    """Return the values of a name in a case: several devices, or none."""
    if name in case.matrix:
        value = case.matrix[name]
        return [str(value).lower() if isinstance(value, bool) else str(value)]
    own = {
        "name": [case.name],
        "image": [case.image],
        "kernel": [case.kernel] if case.kernel is not None else [],
        "device": [*map(str, case.devices)],
    }
    return own.get(name, [])


def _number(text: str) -> float | None:
    for kind in (int, float):  # an int is exact
        try:
            return kind(text)
        except ValueError:
            continue
    return None
