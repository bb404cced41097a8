"""Declaration of options: click's, with the facts that other parts of cudarun need.

Where an option is allowed, its TOML in a spec and its effect on early workers are declared with the
option, so that there is no second list of options.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from cudarun.writing import FileUse

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

Values: TypeAlias = dict[str, Any]
"""The values of a command's parameters by name, as click passes them."""


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

    FLAG = auto()
    """A boolean."""
    VALUE = auto()
    """A number or a string."""
    EXTENT = auto()
    """A number or an expression as a text, or a list of up to three."""
    COUNT = auto()
    """A number, or an expression as a text."""
    WORDS = auto()
    """Comma-separated words, or a list of words."""
    TEXTS = auto()
    """A string, or a list of strings for a repeatable option."""
    PAIRS = auto()
    """A list of two names, or of strings of the form ``A,B`` for several pairs."""
    EXPRESSIONS = auto()
    """Texts that can contain paths, in ``load(…)``."""
    NAMED_EXPRESSIONS = auto()
    """Strings of the form ``NAME=EXPR``, likewise."""
    PATHS = auto()
    """Strings that are paths."""
    NAMED_PATHS = auto()
    """Strings of the form ``NAME=PATH``."""
    KERNEL = auto()
    """A string of the form ``IMAGE:KERNEL``, ``IMAGE`` or ``:KERNEL``."""
    EXPECTATIONS = auto()
    """Strings of the form ``NAME=@PATH`` or ``NAME=PATH:FUNCTION``."""
    SETTINGS = auto()
    """Strings of the form ``NAME=VALUE``, whose values can contain paths."""
    NAMED_SIZES = auto()
    """Strings of the form ``NAME=SIZE``."""


JOINED = frozenset({CaseForm.EXTENT, CaseForm.WORDS})
"""Forms whose lists are joined by commas to one value."""
REPEATED = frozenset(
    {
        CaseForm.TEXTS,
        CaseForm.PAIRS,
        CaseForm.EXPRESSIONS,
        CaseForm.NAMED_EXPRESSIONS,
        CaseForm.PATHS,
        CaseForm.NAMED_PATHS,
        CaseForm.EXPECTATIONS,
        CaseForm.SETTINGS,
        CaseForm.NAMED_SIZES,
    }
)
"""Forms whose lists repeat the option for each item."""


class EarlyEffect(Enum):
    """The effect of an option on workers that start before the command line is parsed."""

    NONE = "none"
    DEVICES = "devices"
    """The option names the devices."""
    TOGETHER = "together"
    """All devices share one worker."""
    NO_WORKER = "no worker"
    """No worker is needed, or another kind of worker."""


_PATHS = {"FILE": "file", "EXE": "file", "DIR": "dir"}
"""The kind of path that the value of an option is, by its metavar."""


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


class Option(click.Option):
    """An option with its facts.

    Args:
        names: Its names and that of its parameter, as for `click.option`.
        scope: Its scope; ``None`` for options that ``launch`` does not have.
        form: Its TOML in a case of a spec; ``None`` where cases do not have it.
        early: Its effect on early workers.
        group: Its group in the help; ``None`` for options that ``launch`` does not have.
        of_device: It concerns a device or the driver, so that it is refused where none is used.
        file: The use of the file that it names. The rule for outputs applies to every option that
            declares one.
        of_spec: It concerns the run of a spec, so that it is refused without ``--spec``.
        of_result: It can change the result of a case of a spec, though it is no key.
        of_step: Each step of a program has its own; other options are of the whole program.
        attributes: Arguments of `click.Option`.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        scope: OptionScope | None = None,
        form: CaseForm | None = None,
        early: EarlyEffect = EarlyEffect.NONE,
        group: OptionGroup | None = None,
        of_device: bool = False,
        file: FileUse | None = None,
        of_spec: bool = False,
        of_result: bool = False,
        of_step: bool = False,
        **attributes: Any,
    ) -> None:
        super().__init__(names, **attributes)
        self.scope = scope
        self.form = form
        self.early = early
        self.group = group
        self.of_device = of_device
        self.file = file
        self.of_spec = of_spec
        self.of_result = of_result
        self.of_step = of_step

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a value; of a file or a folder, the shell does."""
        kind = _PATHS.get(str(self.metavar))
        if kind is not None:
            from click.shell_completion import CompletionItem

            return [CompletionItem(incomplete, type=kind)]
        return super().shell_complete(ctx, incomplete)

    @property
    def goes_with_spec(self) -> bool:
        """True if it is allowed with ``--spec``."""
        return self.scope in (OptionScope.RUN, OptionScope.OVERRIDE)


def option(*names: str, **attributes: Any) -> Callable[[F], F]:
    """Decorate a function as `click.option` does, with an `Option`."""
    return click.option(*names, cls=Option, **attributes)
