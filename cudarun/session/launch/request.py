"""The request of one launch: frozen data, validated before any driver call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from cudarun.records import dataclass
from cudarun.session.driver.selection import Selector
from cudarun.session.load.request import Extent

if TYPE_CHECKING:  # only for annotations: a request of `devices` needs no argument grammar
    from cudarun.arguments.constants import CompiledConstant
    from cudarun.arguments.expressions import Expression
    from cudarun.arguments.grammar import Argument
    from cudarun.arguments.statements import Check, Let
    from cudarun.arguments.tolerance import Tolerance
    from cudarun.session.image.image import Image


@dataclass(frozen=True, slots=True)
class GeometryRequest:
    """The launch geometry as requested: integer expressions over the arguments, or nothing.

    Attributes:
        block: The threads of a block.
        grid: The blocks of the grid.
        threads: The total number of threads, in place of ``grid``.
        shared_bytes: The dynamic shared memory of a block.
        cooperative: Require all blocks to be resident, so that they can synchronize.
        cluster: The blocks of a cluster; ``None`` for the kernel's own.
    """

    block: tuple[Expression, ...] | None = None
    grid: tuple[Expression, ...] | None = None
    threads: tuple[Expression, ...] | None = None
    shared_bytes: Expression | None = None
    cooperative: bool = False
    cluster: tuple[Expression, ...] | None = None


@dataclass(frozen=True, slots=True)
class Geometry:
    """The geometry of a launch of a kernel with its arguments.

    Attributes:
        grid: The blocks of the grid.
        block: The threads of a block.
        threads: The requested number of threads, from which the grid was computed, rounding up.
        shared_bytes: The dynamic shared memory of a block.
        cooperative: Require all blocks to be resident, so that they can synchronize.
        cluster: The blocks of a cluster; ``None`` for the kernel's own.
        notes: Notes on it, each a line.
    """

    grid: Extent
    block: Extent
    threads: Extent | None = None
    shared_bytes: int = 0
    cooperative: bool = False
    cluster: Extent | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences that do not change results. ``None`` is the driver's default.

    Attributes:
        carveout: The percentage of shared memory in a multiprocessor's unified L1 memory.
        cache_config: ``cuKernelSetCacheConfig``: ``none``, ``shared``, ``l1`` or ``equal``.
        priority: The stream's priority; lower numbers run first.
        programmatic: The launch may overlap with the kernel before it in the stream.
    """

    carveout: int | None = None
    cache_config: str | None = None
    priority: int | None = None
    programmatic: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    """The timing of a kernel: ``--repeat``.

    Attributes:
        repeat: The number of timed runs.
        warmup: The number of warm-up runs.
        hot: Do not flush the L2 cache between runs.
        nbytes: The bytes that one run moves, an expression over the integer arguments.
        flops: The floating-point operations of one run, likewise.
        input_sets: The number of sets of inputs that take turns.
    """

    repeat: int
    warmup: int
    hot: bool = False
    nbytes: Expression | None = None
    flops: Expression | None = None
    input_sets: int = 1


@dataclass(frozen=True, slots=True)
class Detection:
    """The detectors of a launch; false without any.

    Attributes:
        detect: The detectors: ``race``, ``uninit``, ``sync``.
        stats: Count instructions and accesses.
        prove: Launch again without each synchronizing instruction.
        limit: The time limit of each such launch in seconds; ``None`` for the default.
    """

    detect: tuple[str, ...] = ()
    stats: bool = False
    prove: bool = False
    limit: float | None = None

    def __bool__(self) -> bool:
        return self.stats or bool(self.detect)


def on_device(path: str, device: str) -> str:
    """Return a path with the label of a device for ``{device}``."""
    return path.replace("{device}", device.replace(":", "-"))


@dataclass(frozen=True, slots=True)
class Save:
    """``--save NAME=PATH``; ``{device}`` in the path is replaced by the device's label."""

    name: str
    path: str

    def path_on(self, device: str) -> str:
        """Return the path for one device."""
        return on_device(self.path, device)


@dataclass(frozen=True, slots=True)
class Show:
    """``--show NAME=KIND``: a buffer displayed in the terminal."""

    name: str
    kind: Literal["hist", "image", "plot"]


CheckStrength: TypeAlias = Literal["off", "warn", "fail"]
"""``--check-strength``: what happens where checks would pass whatever the kernel did."""


@dataclass(frozen=True, slots=True)
class BufferExpectation:
    """``--expect NAME=@FILE`` or ``--expect NAME=FILE.py:FUNCTION``: the expected buffer.

    Attributes:
        name: The buffer.
        path: The ``.npy`` file, or the file of the function; absolute.
        function: The function; ``None`` for an array in a file.
        source: The right side as given.
    """

    name: str
    path: str
    function: str | None
    source: str


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """The way to run the functions of ``--expect``.

    Attributes:
        python: The Python that runs them; ``None`` for the one that runs cudarun.
        timeout: The time limit of a call in seconds; ``None`` for none.
    """

    python: str | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Swap:
    """``--swap A,B``: two buffers that exchange their names after each launch of a step."""

    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first},{self.second}"


@dataclass(frozen=True, slots=True)
class BaselineLaunch:
    """``--baseline IMAGE:KERNEL``: the same launch with another kernel.

    Attributes:
        label: The name of the kernel in reports.
        request: The launch.
    """

    label: str
    request: LaunchRequest


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """The request of one launch, or of a program: of several launches on the same buffers.

    Of a program this is the last step. It has the others as ``earlier``, and the options of the
    whole program: seed, timing, detection, reference, profile, graph.

    Attributes:
        expectations: The buffers that are compared with an array.
        functions: The way to run their functions.
        check_strength: The treatment of checks that prove nothing.
        lets: The names of ``--let``; in checks and prints they are replaced already.
        timing: The timing; ``None`` for one run with wall-clock time.
        profile: Launch for profilers: no guard zones, no copies that are not requested.
        detection: The detectors.
        reference: The device with which the results of the others are compared.
        directory: The base of relative paths in arguments and expressions.
        allow_type_mismatch: Accept buffers whose elements do not match the kernel's C++ types.
        settings: The variables of the image that are written before the launch.
        parameter_names: The names of the parameters that the image lacks, from Triton.
        constants: The values that Triton compiled into the kernel.
        buffers: The buffers that are not arguments.
        times: The number of launches of this step, one after the other.
        swaps: The buffers that exchange their names after each of them.
        earlier: The steps before this one.
        graph: Launch the steps as one CUDA graph.
        seeds: The number of verified runs, each with the inputs of another seed.
        stateless: Compare the results before and after launches with other inputs.
        copies: The existing file that every buffer is copied to after the launch.
        baseline: The launch with whose results and times those of this one are compared.
        digests: Report a digest of every buffer after the last step.
        engine: The engine of emulated devices; ``None`` for that of the environment.
        cpu_threads: The most threads of its compiled code; ``None`` for that of the environment.
    """

    image: Image
    kernel: str | None
    geometry: GeometryRequest
    arguments: tuple[Argument, ...]
    checks: tuple[Check, ...]
    prints: tuple[Expression, ...]
    saves: tuple[Save, ...]
    tolerance: Tolerance
    seed: int
    passing: Literal["array", "buffer"] = "array"
    force: bool = False
    lets: tuple[Let, ...] = ()
    expectations: tuple[BufferExpectation, ...] = ()
    functions: FunctionRun = FunctionRun()
    check_strength: CheckStrength = "off"
    shows: tuple[Show, ...] = ()
    preferences: Preferences = Preferences()
    timing: Timing | None = None
    profile: bool = False
    detection: Detection = Detection()
    reference: Selector | None = None
    directory: Path = Path()
    allow_type_mismatch: bool = False
    parameter_names: tuple[str, ...] = ()
    constants: tuple[CompiledConstant, ...] = ()
    settings: tuple[Argument, ...] = ()
    buffers: tuple[Argument, ...] = ()
    times: int = 1
    swaps: tuple[Swap, ...] = ()
    earlier: tuple[LaunchRequest, ...] = ()
    graph: bool = False
    seeds: int = 1
    stateless: bool = False
    copies: str | None = None
    baseline: BaselineLaunch | None = None
    digests: bool = False
    engine: str | None = None
    cpu_threads: int | None = None

    @property
    def images(self) -> tuple[Image, ...]:
        """The images of all steps, and that of the baseline."""
        others = () if self.baseline is None else self.baseline.request.images
        return (*(step.image for step in self.steps), *others)

    @property
    def steps(self) -> tuple[LaunchRequest, ...]:
        """All steps of the program, in order; of one launch, itself."""
        return (*self.earlier, self)

    def without_outputs(self) -> LaunchRequest:
        """Return a launch that only checks: it prints, shows, saves and copies nothing."""
        return replace(
            self,
            earlier=tuple(step.without_outputs() for step in self.earlier),
            prints=(),
            shows=(),
            saves=(),
            check_strength="off",
            copies=None,
        )

    def without_checks(self) -> LaunchRequest:
        """Return a launch without detectors, whose buffers only a comparison reads."""
        return replace(
            self.without_outputs(),
            earlier=tuple(step.without_checks() for step in self.earlier),
            checks=(),
            expectations=(),
            lets=(),
            detection=Detection(),
        )

    @property
    def reads_results(self) -> bool:
        """True if an option reads buffers after this step."""
        return bool(self.checks or self.prints or self.saves or self.shows or self.expectations)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions of checks and prints."""
        return (*(check.expression for check in self.checks), *self.prints)

    @property
    def is_random(self) -> bool:
        """Return whether an initializer generates random numbers."""
        from cudarun.arguments.initial_values import Rand, RandInt, Randn
        from cudarun.arguments.value_parts import (
            initials_in,
        )

        everything = [
            each for step in self.steps for each in (*step.arguments, *step.settings, *step.buffers)
        ]
        initials = (initial for each in everything for initial in initials_in(each.value))
        return any(isinstance(initial, Rand | Randn | RandInt) for initial in initials)
