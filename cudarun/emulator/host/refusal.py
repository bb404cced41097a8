"""The exception by which the host side refuses a call, with the result that the call returns."""

from __future__ import annotations

from typing import Any, SupportsInt, TypeVar

from cuda.bindings.driver import CUresult

E = TypeVar("E", bound=int)


class Refusal(Exception):
    """A driver call cannot be carried out.

    Args:
        result: The name of the ``CUresult``, without its prefix: ``"INVALID_VALUE"``.
        words: The message for the driver's log; may be empty.
    """

    def __init__(self, result: str, words: str = "") -> None:
        super().__init__(words or result)
        self.result: CUresult = getattr(CUresult, f"CUDA_ERROR_{result}")
        self.words = words


def refuse_if(condition: object, words: str, result: str = "INVALID_VALUE") -> None:
    """Raise `Refusal` if a condition holds; the message is formatted in any case."""
    if condition:
        raise Refusal(result, words)


def enum_member(kind: type[E], number: SupportsInt) -> E:
    """Return the member of an enumeration that has a number; `Refusal` if there is none."""
    try:
        return kind(int(number))
    except ValueError:
        raise Refusal("INVALID_VALUE", f"{int(number)} is not a {kind.__name__}") from None


def enum_field(structure: object, field: str) -> Any:
    """Return a field of a structure that is an enumeration; `Refusal` if it has another number.

    The bindings raise `ValueError` for such a number; those before 12.9.7 return ``None``.
    """
    try:
        value = getattr(structure, field)
    except ValueError:
        value = None
    if value is None:
        raise Refusal("INVALID_VALUE", f"{field} has no valid value")
    return value
