"""The report of ``managed``."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.base.errors import CudarunError, ExitCode
from cudarun.base.records import dataclass
from cudarun.diagnostics.entries import Diagnostic


@dataclass(frozen=True, slots=True)
class ObservedValue:
    """The value of a variable, read by the host or in a context."""

    text: str  # the value, as text
    value: object  # the value


@dataclass(frozen=True, slots=True)
class VariableContext:
    """A context that has the variables."""

    device: str  # the device, as for ``--device``
    context: str  # ``primary``, new, or new 2 for a further one

    def __str__(self) -> str:
        return self.device if self.context == "primary" else f"{self.device} {self.context}"


@dataclass(frozen=True, slots=True)
class Observation:
    """A variable at one moment."""

    moment: str  # the moment, such as after a launch
    host: ObservedValue | None  # the value that the host reads; ``None`` where it cannot
    # The value in each context, in the order of the document's places.
    places: tuple[ObservedValue, ...]

    @property
    def one_value(self) -> bool:
        """True if the host and all contexts read the same value."""
        seen = [*self.places, *([self.host] if self.host else [])]
        return len({each.text for each in seen}) <= 1


@dataclass(frozen=True, slots=True)
class ManagedVariable:
    """A variable."""

    name: str  # its symbol
    demangled: str  # its name in C++ spelling
    managed: bool  # whether it is a __managed__ variable
    type: str  # the type that it is read as
    size: int  # its size in bytes
    addresses: tuple[int, ...]  # its address in each context, in the order of the document's places
    observations: tuple[Observation, ...]  # its values, in the order of time

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
    """The variables of an image in several contexts."""

    tag: ClassVar[Literal["managed"]] = "managed"

    image: str  # the file
    places: tuple[VariableContext, ...]  # the contexts
    variables: tuple[ManagedVariable, ...]  # the variables, managed ones first
    # The error that the exit code is of; ``None`` where nothing but a check failed.
    error: CudarunError | None = None
    output: str = ""  # what kernels printed
    # Warnings of the compiler, and notes on the arguments of launches.
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the error; 1 if a managed variable has several addresses or values."""
        if self.error is not None:
            return self.error.exit_code
        passed = all(variable.passed for variable in self.variables)
        return ExitCode.OK if passed else ExitCode.CHECK_FAILED
