"""The request of a launch, or of a program of several: frozen data, validated without a driver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

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
        programmatic: The launch may overlap with the kernel before it in the stream.
    """

    carveout: int | None = None
    cache_config: str | None = None
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
        program: The launch.
    """

    label: str
    program: Program


@dataclass(frozen=True, slots=True)
class LaunchStep:
    """A kernel to launch, and what is requested of the buffers after it.

    Attributes:
        expectations: The buffers that are compared with an array.
        lets: The names of ``--let``; in checks and prints they are replaced already.
        directory: The base of relative paths in arguments and expressions.
        allow_type_mismatch: Accept buffers whose elements do not match the kernel's C++ types.
        parameter_names: The names of the parameters that the image lacks, from Triton.
        constants: The values that Triton compiled into the kernel.
        settings: The variables of the image that are written before the launch.
        buffers: The buffers that are not arguments.
        times: The number of launches of this step, one after the other.
        swaps: The buffers that exchange their names after each of them.
    """

    image: Image
    kernel: str | None
    geometry: GeometryRequest
    tolerance: Tolerance
    arguments: tuple[Argument, ...] = ()
    checks: tuple[Check, ...] = ()
    prints: tuple[Expression, ...] = ()
    saves: tuple[Save, ...] = ()
    shows: tuple[Show, ...] = ()
    expectations: tuple[BufferExpectation, ...] = ()
    lets: tuple[Let, ...] = ()
    passing: Literal["array", "buffer"] = "array"
    preferences: Preferences = Preferences()
    directory: Path = Path()
    allow_type_mismatch: bool = False
    parameter_names: tuple[str, ...] = ()
    constants: tuple[CompiledConstant, ...] = ()
    settings: tuple[Argument, ...] = ()
    buffers: tuple[Argument, ...] = ()
    times: int = 1
    swaps: tuple[Swap, ...] = ()

    def without_outputs(self) -> LaunchStep:
        """Return a step that only checks."""
        return replace(self, prints=(), shows=(), saves=())

    def without_results(self) -> LaunchStep:
        """Return a step after which no option reads a buffer."""
        return replace(self.without_outputs(), checks=(), expectations=(), lets=())

    @property
    def reads_results(self) -> bool:
        """True if an option reads buffers after this step."""
        return bool(self.checks or self.prints or self.saves or self.shows or self.expectations)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions of checks and prints."""
        return (*(check.expression for check in self.checks), *self.prints)


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The options of a whole program.

    Attributes:
        seed: The seed of random numbers.
        priority: The stream's priority; lower numbers run first.
        force: Replace existing files.
        functions: The way to run the functions of ``--expect``.
        check_strength: The treatment of checks that prove nothing.
        timing: The timing; ``None`` for one run with wall-clock time.
        profile: Launch for profilers: no guard zones, no copies that are not requested.
        detection: The detectors.
        reference: The device with which the results of the others are compared.
        graph: Launch the steps as one CUDA graph.
        seeds: The number of verified runs, each with the inputs of another seed.
        stateless: Compare the results before and after launches with other inputs.
        copies: The existing file that every buffer is copied to after the last step.
        baseline: The launch with whose results and times those of this one are compared.
        digests: Report a digest of every buffer after the last step.
        engine: The engine of emulated devices; ``None`` for that of the environment.
        cpu_threads: The most threads of its compiled code; ``None`` for that of the environment.
    """

    seed: int = 0
    priority: int | None = None
    force: bool = False
    functions: FunctionRun = FunctionRun()
    check_strength: CheckStrength = "off"
    timing: Timing | None = None
    profile: bool = False
    detection: Detection = Detection()
    reference: Selector | None = None
    graph: bool = False
    seeds: int = 1
    stateless: bool = False
    copies: str | None = None
    baseline: BaselineLaunch | None = None
    digests: bool = False
    engine: str | None = None
    cpu_threads: int | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """Launches on the same buffers, one after the other; mostly a single one."""

    steps: tuple[LaunchStep, ...]
    options: ProgramOptions = ProgramOptions()

    @property
    def last(self) -> LaunchStep:
        """The last step, or the only one."""
        return self.steps[-1]

    @property
    def images(self) -> tuple[Image, ...]:
        """The images of all steps, and that of the baseline."""
        baseline = self.options.baseline
        others = () if baseline is None else baseline.program.images
        return (*(step.image for step in self.steps), *others)

    def with_options(self, **options: Any) -> Program:
        """Return the program with other values of some options."""
        return replace(self, options=replace(self.options, **options))

    def without_outputs(self) -> Program:
        """Return a program that only checks: it prints, shows, saves and copies nothing."""
        steps = tuple(step.without_outputs() for step in self.steps)
        return replace(self, steps=steps).with_options(check_strength="off", copies=None)

    def without_results(self) -> Program:
        """Return a program without detectors, whose buffers only a comparison reads."""
        steps = tuple(step.without_results() for step in self.steps)
        return replace(self.without_outputs(), steps=steps).with_options(detection=Detection())

    @property
    def is_random(self) -> bool:
        """Return whether an initializer generates random numbers."""
        from cudarun.arguments.initial_values import Rand, RandInt, Randn
        from cudarun.arguments.value_parts import initials_in

        everything = [
            each for step in self.steps for each in (*step.arguments, *step.settings, *step.buffers)
        ]
        initials = (initial for each in everything for initial in initials_in(each.value))
        return any(isinstance(initial, Rand | Randn | RandInt) for initial in initials)
