"""What ``cudarun managed`` found, as plain data."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.diagnostics.entries import Diagnostic
from cudarun.errors import CudarunError, ExitCode
from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """A value as someone saw it: as text for people and as plain data for JSON."""

    text: str
    value: object


@dataclass(frozen=True, slots=True)
class Place:
    """A context that has the variables: ``primary``, ``new``, or ``new 2`` for a further one."""

    device: str
    context: str

    def __str__(self) -> str:
        return self.device if self.context == "primary" else f"{self.device} {self.context}"


@dataclass(frozen=True, slots=True)
class Observation:
    """A variable at one moment.

    Attributes:
        moment: ``at first``, ``written``, ``after bump k=i32:5 on 0``.
        host: What the host reads at the address; ``None`` where it cannot.
        places: What is read in each context, in the order of `ManagedReport.places`.
    """

    moment: str
    host: Seen | None
    places: tuple[Seen, ...]

    @property
    def one_value(self) -> bool:
        """Whether everybody sees the same."""
        seen = [*self.places, *([self.host] if self.host else [])]
        return len({each.text for each in seen}) <= 1


@dataclass(frozen=True, slots=True)
class VariableReport:
    """A variable of the image.

    Attributes:
        name: The symbol's name.
        demangled: In C++ spelling.
        managed: Whether it is a ``__managed__`` one.
        type: What it is shown as, ``u32`` or ``f32[4]``; ``bytes`` where nobody tells.
        size: Bytes.
        addresses: In each context, in the order of `ManagedReport.places`.
        observations: In the order of time.
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
        """Whether it has the same address in every context."""
        return len(set(self.addresses)) == 1

    @property
    def held(self) -> bool:
        """What is promised of managed variables: one address, and one value at any moment."""
        return not self.managed or (
            self.one_address and all(each.one_value for each in self.observations)
        )


@dataclass(frozen=True, slots=True)
class ManagedReport:
    """The answer of ``cudarun managed``.

    Attributes:
        image: The file.
        places: The contexts that were looked from.
        variables: What was found, managed ones first.
        error: What kept a launch from coming back; what was seen before it is there all the same.
        output: What kernels printed, where it was captured.
        diagnostics: The warnings about CUDA source, and notes on the arguments of launches.
    """

    tag: ClassVar[Literal["managed"]] = "managed"

    image: str
    places: tuple[Place, ...]
    variables: tuple[VariableReport, ...]
    error: CudarunError | None = None
    output: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """That of the error; 1 where a managed variable is not what it should be."""
        if self.error is not None:
            return self.error.exit_code
        held = all(variable.held for variable in self.variables)
        return ExitCode.OK if held else ExitCode.CHECK_FAILED
