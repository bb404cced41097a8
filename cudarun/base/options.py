"""Options of the command line as fields of the requests that they fill.

The metadata of a field has all facts of its option: the command line, the keys of a spec and the
keywords of the Python API come from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Any

INT_MAX = (1 << 31) - 1


class OptionScope(Enum):
    """The scope of an option of ``launch``, which decides where it is allowed."""

    CASE = auto()
    """One launch: a key in a case of a spec; refused with ``--spec``. It describes the launch of
    one kernel: its name, geometry, arguments, and what is expected of them."""
    OVERRIDE = auto()
    """One launch: a key in a case of a spec; with ``--spec`` it replaces the key of all cases."""
    RUN = auto()
    """The whole run: allowed with ``--spec``, and no key, because cases cannot differ in it."""
    SINGLE = auto()
    """A launch from the command line only: it replaces the ordinary launch, or its worker, or
    writes a spec. Neither a key nor allowed with ``--spec``."""


class CaseForm(Enum):
    """The TOML form of an option in a case of a spec."""

    FLAG = auto()  # a boolean
    VALUE = auto()  # a number or a string
    EXTENT = auto()  # a number or an expression as a text, or a list of up to three
    COUNT = auto()  # a number, or an expression as a text
    WORDS = auto()  # comma-separated words, or a list of words
    TEXTS = auto()  # a string, or a list of strings for a repeatable option
    PAIRS = auto()  # a list of two names, or of strings of the form ``A,B`` for several pairs
    EXPRESSIONS = auto()  # texts that can contain paths, in ``load(…)``
    NAMED_EXPRESSIONS = auto()  # strings of the form ``NAME=EXPR``, likewise
    PATHS = auto()  # strings that are paths
    NAMED_PATHS = auto()  # strings of the form ``NAME=PATH``
    KERNEL = auto()  # a string of the form ``IMAGE:KERNEL``, ``IMAGE`` or ``:KERNEL``
    EXPECTATIONS = auto()  # strings of the form ``NAME=@PATH`` or ``NAME=PATH:FUNCTION``
    SETTINGS = auto()  # strings of the form ``NAME=VALUE``, whose values can contain paths
    NAMED_SIZES = auto()  # strings of the form ``NAME=SIZE``


JOINED = frozenset({CaseForm.EXTENT, CaseForm.WORDS})
"""Forms whose lists are joined by commas to one value."""
_SINGLE = {CaseForm.FLAG, CaseForm.VALUE, CaseForm.COUNT, CaseForm.KERNEL}
REPEATED = frozenset(CaseForm) - JOINED - _SINGLE
"""Forms whose lists repeat the option for each item."""


class OptionGroup(Enum):
    """A group of options in the help of ``launch``; the groups stand in this order."""

    FIRST = "First launch"
    """The only ones that ``--help`` shows; ``--help-all`` shows the others, too."""
    ATTRIBUTES = "Launch attributes"
    ARGUMENTS = "Arguments"
    PROGRAMS = "Programs"
    CHECKS = "Checks"
    OUTPUT = "Output"
    SPECS = "Spec files"
    TIMING = "Timing"
    COMPILING = "Compiling"
    CONTEXTS = "Devices and contexts"


def option_field(*names: str, default: Any = None, **facts: object) -> Any:
    """Return a field of a request that an option fills.

    Args:
        names: The option's names as the help shows them, ``--grid X[,Y[,Z]]``, and that of its
            value where it is not the field's.
        default: The value without the option; by default ``False`` of a flag, ``()`` of a
            repeatable option, and ``None`` of others.
        facts: The facts of the option, as for `cudarun.commands.declaration.Option`. The bounds of
            a whole number are ``bounds``, all values are ``choices``, ``is_number`` is a
            nonnegative number, ``without`` the option's default where it is not the field's, and
            ``default_text`` that in the help.
    """
    names, metavar = split_names(names)
    metadata = {"option": (names, {**facts, **metavar})}
    if default is None and facts.get("form") in REPEATED:
        default = ()
    if default is None and not metavar and not facts.keys() & {"choices", "form"}:  # a flag
        default = False
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def split_names(names: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names of an option, and its ``metavar`` if one of them is followed by it."""
    pairs = [each.partition(" ") for each in names]
    metavars = [metavar for _, _, metavar in pairs if metavar]
    return tuple(name for name, _, _ in pairs), {"metavar": metavars[0]} if metavars else {}


def fields_of_group(kind: Any, **default: None) -> Any:
    """Return a field that is a request with options of its own; by default that without any."""
    return dataclasses.field(default=None if default else kind(), metadata={"options": kind})


def field_of(kind: Any, name: str) -> Any:
    """Return a field with the option of a field of another request."""
    [found] = (each for each in dataclasses.fields(kind) if each.name == name)
    return dataclasses.field(default=found.default, metadata=found.metadata)


def option_fields(kind: Any) -> Iterator[dataclasses.Field[Any]]:
    """Yield the fields of options of a request, and those of the requests in it."""
    for each in dataclasses.fields(kind):
        if "options" in each.metadata:
            yield from option_fields(each.metadata["options"])
        elif "option" in each.metadata:
            yield each
