"""How options are declared: click's, with what all parts of cudarun must know of each.

An option says by itself where it may stand, how a spec writes it down, and what it means to the
workers, so that nobody else keeps a list of options.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any

import click


class Scope(Enum):
    """What an option of ``launch`` is about, and so where it may stand."""

    CASE = auto()
    """One launch: a key in a case of a spec, and refused beside ``--spec``."""
    DEFAULT = auto()
    """One launch: a key in a case of a spec, and beside ``--spec`` for cases that lack the key."""
    RUN = auto()
    """The whole run, beside ``--spec`` too; no case has one of its own."""
    SINGLE = auto()
    """One launch from the command line: not a launch as others are, or nothing that is part of it,
    so that neither a case nor ``--spec`` goes with it."""


class CaseForm(Enum):
    """The TOML of an option in a case of a spec."""

    FLAG = auto()
    """True or false."""
    VALUE = auto()
    """A number or a text."""
    EXTENT = auto()
    """A number, or a list of up to three."""
    WORDS = auto()
    """Words joined by commas, or a list of them."""
    TEXTS = auto()
    """A text, or a list of them, for an option that may be repeated."""
    EXPRESSIONS = auto()
    """Texts that can have paths in them, in ``load(…)``."""
    PATHS = auto()
    """Texts that are paths."""
    NAMED_PATHS = auto()
    """Texts ``NAME=PATH``."""
    NAMED_SIZES = auto()
    """Texts ``NAME=SIZE``."""


JOINED = frozenset({CaseForm.EXTENT, CaseForm.WORDS})
"""Forms of which a list is joined by commas to one value."""
REPEATED = frozenset(
    {
        CaseForm.TEXTS,
        CaseForm.EXPRESSIONS,
        CaseForm.PATHS,
        CaseForm.NAMED_PATHS,
        CaseForm.NAMED_SIZES,
    }
)
"""Forms of which a list has an option for each item."""


class EarlyEffect(Enum):
    """What an option means to the workers that begin before the command line is parsed."""

    NONE = "none"
    DEVICES = "devices"
    """It names the devices."""
    TOGETHER = "together"
    """All devices have one worker."""
    NO_WORKER = "no worker"
    """None is needed, or another kind of worker."""


class Option(click.Option):
    """An option, and what all parts of cudarun must know of it.

    Args:
        names: Its names, and that of its parameter, as `click.option` has them.
        scope: What it is about; ``None`` where ``launch`` does not have it.
        form: How a case of a spec writes it down; ``None`` where no case can have it.
        early: What it means to workers that begin early.
        of_device: It is about a device or the driver, so that it goes with nothing that asks none.
        attributes: What `click.Option` takes.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        scope: Scope | None = None,
        form: CaseForm | None = None,
        early: EarlyEffect = EarlyEffect.NONE,
        of_device: bool = False,
        **attributes: Any,
    ) -> None:
        super().__init__(names, **attributes)
        self.scope = scope
        self.form = form
        self.early = early
        self.of_device = of_device

    @property
    def goes_with_spec(self) -> bool:
        """Whether it may stand beside ``--spec``."""
        return self.scope in (Scope.RUN, Scope.DEFAULT)


def option(*names: str, **attributes: Any) -> Callable[[Any], Any]:
    """Decorate a function as `click.option` does, with an `Option`."""
    return click.option(*names, cls=Option, **attributes)
