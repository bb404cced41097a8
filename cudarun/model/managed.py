"""The report of ``managed``."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.base.errors import CudarunError, ExitCode
from cudarun.base.records import dataclass
from cudarun.diagnostics.entries import Diagnostic


@dataclass(frozen=True, slots=True)
class ObservedValue:
    """The value of a variable, read by the host or in a context.

    Attributes:
        text: The value, as text.
        value: The value.
    """

    text: str
    value: object


@dataclass(frozen=True, slots=True)
class VariableContext:
    """A context that has the variables.

    Attributes:
        device: The device, as for ``--device``.
        context: primary, new, or new 2 for a further one.
    """

    device: str
    context: str

    def __str__(self) -> str:
        return self.device if self.context == "primary" else f"{self.device} {self.context}"


@dataclass(frozen=True, slots=True)
class Observation:
    """A variable at one moment.

    Attributes:
        moment: The moment, such as after a launch.
        host: The value that the host reads; ``None`` where it cannot.
        places: The value in each context, in the order of the document's places.
    """

    moment: str
    host: ObservedValue | None
    places: tuple[ObservedValue, ...]

    @property
    def one_value(self) -> bool:
        """True if the host and all contexts read the same value."""
        seen = [*self.places, *([self.host] if self.host else [])]
        return len({each.text for each in seen}) <= 1


@dataclass(frozen=True, slots=True)
class ManagedVariable:
    """A variable.

    Attributes:
        name: Its symbol.
        demangled: Its name in C++ spelling.
        managed: Whether it is a __managed__ variable.
        type: The type that it is read as.
        size: Its size in bytes.
        addresses: Its address in each context, in the order of the document's places.
        observations: Its values, in the order of time.
    """

    name: str
    demangled: str
    managed: bool
    type: str
    size: int
    addresses: tuple[int, ...]
    observations: tuple[Observation, ...]

    @property
    def one_address(self) -> bool:
        """True if the address is the same in every context."""
        return len(set(self.addresses)) == 1

    @property
    def passed(self) -> bool:
        """True if a managed variable has one address, and one value at any moment."""
        return not self.managed or (
            self.one_address and all(each.one_value for each in self.observations)
        )


@dataclass(frozen=True, slots=True)
class ManagedReport:
    """The variables of an image in several contexts.

    Attributes:
        image: The file.
        places: The contexts.
        variables: The variables, managed ones first.
        error: The error that the exit code is of; ``None`` where nothing but a check failed.
        output: What kernels printed.
        diagnostics: Warnings of the compiler, and notes on the arguments of launches.
    """

    tag: ClassVar[Literal["managed"]] = "managed"

    image: str
    places: tuple[VariableContext, ...]
    variables: tuple[ManagedVariable, ...]
    error: CudarunError | None = None
    output: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the error; 1 if a managed variable has several addresses or values."""
        if self.error is not None:
            return self.error.exit_code
        passed = all(variable.passed for variable in self.variables)
        return ExitCode.OK if passed else ExitCode.CHECK_FAILED
