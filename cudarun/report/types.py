"""What happened, as plain data: every rendering (table, JSON, JUnit) starts from these."""

from __future__ import annotations

from dataclasses import dataclass, field

from cudarun.errors import CudarunError, ExitCode


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One element that differs: its index (empty for a scalar) and both values as text."""

    index: tuple[int, ...]
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one ``--check``.

    Attributes:
        expression: The text as given.
        held: Whether the check held.
        elements: How many elements were compared.
        mismatches: How many of them differ.
        max_abs_error: Largest ``|left - right|`` over all elements; ``None`` where there is none.
        max_rel_error: Largest ``|left - right| / |right|``; ``None`` where there is none.
        rtol: Relative tolerance used; 0 for integers.
        atol: Absolute tolerance used; 0 for integers.
        first: The first mismatches in index order.
    """

    expression: str
    held: bool
    elements: int
    mismatches: int
    max_abs_error: float | None
    max_rel_error: float | None
    rtol: float
    atol: float
    first: tuple[Mismatch, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device as the driver describes it; sizes in bytes.

    ``name`` to ``ptx_version`` are as the driver gives them; ``label`` is what ``--device`` calls
    the device: ``0``, ``cpu``, ``cpu:1``.
    """

    label: str
    index: int
    name: str
    uuid: str
    pci_bus_id: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory_free: int | None
    memory_total: int
    driver_version: tuple[int, int]
    ptx_version: tuple[int, int] | None
    peers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DevicesReport:
    """The answer of ``cudarun devices``."""

    devices: tuple[DeviceInfo, ...]


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """A line of the layout table: a parameter, or below it a member of a struct.

    Attributes:
        name: ``s``, or ``s.n`` for a member.
        type: As in the argument grammar; pointers as in C.
        offset: Bytes from the start of the parameter buffer.
        size: Bytes.
        alignment: Bytes.
        padding_before: Unused bytes before it.
        value: What it holds, as text.
    """

    name: str
    type: str
    offset: int
    size: int
    alignment: int
    padding_before: int
    value: str


@dataclass(frozen=True, slots=True)
class BufferResult:
    """One device buffer after the launch.

    Attributes:
        name: The argument's name.
        type: Element type in the argument grammar.
        shape: Dimensions as given.
        nbytes: Bytes on the device, guard zones not counted.
        never_written: Elements that still hold the poison pattern; ``None`` where the buffer was
            initialised.
        guard_damage: First damaged guard byte, relative to the buffer's start (negative: before
            it); ``None`` where the guard zones are intact.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    nbytes: int
    never_written: int | None
    guard_damage: int | None


@dataclass(frozen=True, slots=True)
class Printed:
    """One ``--print``: the expression, its value as text for people and as plain data for JSON."""

    expression: str
    text: str
    value: object


@dataclass(frozen=True, slots=True)
class Saved:
    """One file written by ``--save``."""

    name: str
    path: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """One launch on one device that came back.

    ``milliseconds`` is the time from the launch call to the end of the synchronisation.
    """

    device: DeviceInfo
    kernel: str
    demangled: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    parameters: tuple[LayoutRow, ...]
    buffers: tuple[BufferResult, ...]
    checks: tuple[CheckResult, ...]
    prints: tuple[Printed, ...]
    saved: tuple[Saved, ...]
    milliseconds: float

    @property
    def held(self) -> bool:
        """Whether every check held and every guard zone is intact."""
        return all(check.held for check in self.checks) and all(
            buffer.guard_damage is None for buffer in self.buffers
        )


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What ``--dry-run`` shows: the launch as it would be made."""

    image: str
    kernel: str
    demangled: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    parameters: tuple[LayoutRow, ...]
    parameter_bytes: int


@dataclass(frozen=True, slots=True)
class DeviceOutcome:
    """A launch on one device: its result or why there is none, and what the kernel printed."""

    device: str
    result: LaunchResult | None
    error: CudarunError | None
    output: str | None


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """The answer of ``cudarun launch``: one outcome per device, in the order asked for.

    ``seed`` is what random initialisers started from; ``None`` where there was none.
    """

    image: str
    seed: int | None
    outcomes: tuple[DeviceOutcome, ...]

    @property
    def exit_code(self) -> ExitCode:
        """The largest code of all devices."""
        return max((_exit_code(outcome) for outcome in self.outcomes), default=ExitCode.OK)


def _exit_code(outcome: DeviceOutcome) -> ExitCode:
    if outcome.error is not None:
        return outcome.error.exit_code
    held = outcome.result is not None and outcome.result.held
    return ExitCode.OK if held else ExitCode.CHECK_FAILED
