"""The request of a launch, or of a program of several: frozen data, validated without a driver."""

from __future__ import annotations

from dataclasses import MISSING
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cudarun.base.files import FileUse
from cudarun.base.options import (
    INT_MAX,
    CaseForm,
    OptionGroup,
    OptionScope,
    fields_of_group,
    option_field,
)
from cudarun.base.records import dataclass, replace
from cudarun.session.driver.selection import Selector
from cudarun.session.launch.step_request import LaunchStep

if TYPE_CHECKING:  # only for annotations: a request of `devices` needs no argument grammar
    from cudarun.arguments.expressions.syntax import Expression
    from cudarun.session.image.image import Image

WARMUP = 10  # warm-up runs before the timed ones
MAX_SEEDS = 10_000  # the most runs of ``--seeds``: the results of all of them are in the report
MAX_INPUT_SETS = 1000
"""The most sets of ``--input-sets``: each is a copy of all inputs on the device."""
CheckStrength: TypeAlias = Literal["off", "warn", "fail"]
"""``--check-strength``: what happens where checks would pass whatever the kernel did."""

_override = partial(option_field, scope=OptionScope.OVERRIDE)
_timing = partial(_override, group=OptionGroup.TIMING)
_check = partial(_override, group=OptionGroup.CHECKS)
_output = partial(_override, group=OptionGroup.OUTPUT)
_emulator = partial(
    option_field, group=OptionGroup.CONTEXTS, scope=OptionScope.RUN, of_result=True, is_keyword=True
)


@dataclass(frozen=True, slots=True)
class Timing:
    """The timing of a kernel: ``--repeat``."""

    repeat: int = _timing(
        "--repeat N",
        default=MISSING,
        bounds=(1, INT_MAX),
        help="Time N runs with events; inputs are restored and L2 is flushed before each run.",
    )
    warmup: int = _timing(
        "--warmup N",
        default=WARMUP,
        bounds=(0, INT_MAX),
        help="Number of warm-up runs before --repeat.  [default: 10]",
        without=None,
    )
    input_sets: int = _timing(
        "--input-sets N",
        default=1,
        bounds=(1, MAX_INPUT_SETS),
        help="Alternate between N sets of inputs in the runs of --repeat, of the seeds --seed, "
        "--seed + 1, …, and check the last run of each.",
    )
    hot: bool = _timing("--hot", help="Do not flush L2 between the runs of --repeat.")
    nbytes: Expression | None = _timing(
        "--bytes EXPR",
        scope=OptionScope.CASE,
        form=CaseForm.COUNT,
        help="Bytes transferred per run, such as 12*n; --repeat then reports GB/s.",
    )
    flops: Expression | None = _timing(
        "--flops EXPR",
        scope=OptionScope.CASE,
        form=CaseForm.COUNT,
        help="Floating-point operations per run, such as 2*m*n*k; --repeat then reports GFLOP/s.",
    )


@dataclass(frozen=True, slots=True)
class Detection:
    """The detectors of a launch; false without any."""

    detect: tuple[str, ...] = _override(
        "--detect WORDS",
        default=(),
        group=OptionGroup.FIRST,
        form=CaseForm.WORDS,
        help="On cpu, detect data races (race; race=strict also between writes of equal values), "
        "uninitialized reads (uninit), synchronization errors (sync), or all.",
    )
    prove: bool = _check(
        "--prove",
        help="With --detect race, launch again without each barrier, fence and atomic, and "
        "report for which a race is found.",
    )
    stats: bool = _output(
        "--stats",
        help="On cpu, count instructions, divergent branches, bytes per memory space and bank "
        "conflicts.",
    )
    # The time limit of each launch of ``prove`` in seconds; ``None`` for the default.
    limit: float | None = None

    def __bool__(self) -> bool:
        return self.stats or bool(self.detect)


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """The way to run the functions of ``--expect``."""

    # The Python that runs them; ``None`` for the one that runs cudarun.
    python: str | None = _check(
        "--python EXE",
        scope=OptionScope.RUN,
        of_result=True,
        is_keyword=True,
        help="Run the functions of --expect with this Python interpreter.",
    )
    # The time limit of a call in seconds; ``None`` for none.
    timeout: float | None = _check(
        "--expect-timeout SECONDS",
        "expect_timeout",
        without=300.0,
        help="Time limit of a function of --expect in seconds, for which --timeout does not "
        "count; 0 for no limit.",
    )


@dataclass(frozen=True, slots=True)
class BaselineLaunch:
    """``--baseline IMAGE:KERNEL``: the same launch with another kernel."""

    label: str
    program: Program


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The options of a whole program."""

    priority: int | None = _override(
        "--priority N",
        group=OptionGroup.ATTRIBUTES,
        bounds=(-INT_MAX, INT_MAX),
        help="Launch in a stream with this priority; 0 is the lowest, negative numbers are higher.",
    )
    check_strength: CheckStrength = _check(
        "--check-strength",
        default="warn",
        choices=("off", "warn", "fail"),
        help="Report checks that also pass with the outputs replaced by zeros, inputs or NaN.",
    )
    seeds: int = _check(
        "--seeds N",
        default=1,
        bounds=(1, MAX_SEEDS),
        help="Check N runs with fresh inputs, of the seeds --seed, --seed + 1, …; variables of "
        "the image are restored before each run.",
    )
    stateless: bool = _check(
        "--stateless",
        help="Launch the same inputs again after others, without restoring variables of the "
        "image, and fail if the results differ.",
    )
    # The schedule of emulated kernels; ``None`` for the usual one.
    schedule: Literal["late"] | int | None = _check(
        "--schedule late|SEED",
        help="On cpu, complete asynchronous operations at the last permitted time (late), or at "
        "random times with threads in a random order (a seed, which repeats it).",
    )
    schedules: int = _check(
        "--schedules N",
        default=0,
        bounds=(0, MAX_SEEDS),
        help="On cpu, launch again with N schedules, late and the seeds 0, 1, …, and compare all "
        "buffers with those of the usual schedule.",
    )
    functions: FunctionRun = fields_of_group(FunctionRun)
    reference: Selector | None = _check(
        "--reference DEVICE",
        help="Also launch on this reference device, cpu or another GPU, and compare all buffers.",
    )
    baseline: BaselineLaunch | None = _check(
        "--baseline FILE[:KERNEL]",
        form=CaseForm.KERNEL,
        file=FileUse.INPUT,
        help="Make the same launch with another kernel, and compare all buffers; with --repeat, "
        "compare the times by a rank test. ':KERNEL' is another kernel of the same image.",
    )
    force: bool = _output(
        "--force",
        is_keyword=False,
        help="Allow --save and --junit to overwrite existing files.",
    )
    seed: int = _override(
        "--seed N",
        default=0,
        group=OptionGroup.ARGUMENTS,
        help="Seed for random initializers: a number, or random to choose one and print it.",
    )
    detection: Detection = fields_of_group(Detection)
    # The timing; ``None`` for one run with wall-clock time.
    timing: Timing | None = fields_of_group(Timing, default=None)
    profile: bool = _timing(
        "--profile",
        help="Launch once for a profiler, without guard zones and copies of unused outputs.",
    )
    graph: bool = _override(
        "--graph",
        group=OptionGroup.PROGRAMS,
        help="Capture all launches as a CUDA graph, and launch that.",
    )
    # The engine of emulated devices; ``None`` for that of the environment.
    engine: str | None = _emulator(
        "--cpu-engine",
        choices=("auto", "interpret", "compile"),
        help="On cpu, interpret kernels, compile them (requires cudarun[fast]), or compile those"
        " for which it pays (auto).  [env var: CUDARUN_CPU_ENGINE; default: auto]",
    )
    cpu_threads: int | None = _emulator(
        "--cpu-threads N",
        help="On cpu, run the blocks of compiled kernels in up to N threads.  [env var: "
        "CUDARUN_CPU_THREADS; default: the number of cores]",
    )
    # The existing file that every buffer is copied to after the last step.
    copies: str | None = None
    digests: bool = False  # report a digest of every buffer after the last step

    @property
    def runs_once(self) -> bool:
        """False if a launch is repeated with other seeds, schedules, variables or code."""
        return self.seeds == 1 and not (self.schedules or self.stateless or self.baseline)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Launches on the same buffers, one after the other; mostly a single one."""

    steps: tuple[LaunchStep, ...]
    options: ProgramOptions = ProgramOptions()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a short program once, as a server gets it again and again."""
        if any(len(each.data) > _SHORT or each.recording is not None for each in self.images):
            return object.__reduce_ex__(self, protocol)
        return _unpickled, (_pickled(self),)

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
    def counts(self) -> bool:
        """Return whether executed instructions are counted where that is possible."""
        asserts = (each for step in self.steps for each in step.asserts)
        return self.options.detection.stats or any(not each.is_resource for each in asserts)

    @property
    def algebra(self) -> bool:
        """Return whether floats are numbers modulo a prime."""
        return any(step.tolerance.algebra for step in self.steps)

    @property
    def calls_functions(self) -> bool:
        """Return whether an expected array is the result of a Python function."""
        return any(each.function is not None for step in self.steps for each in step.expectations)

    @property
    def is_random(self) -> bool:
        """Return whether an initializer generates random numbers."""
        from cudarun.arguments.initial_values import Generated
        from cudarun.arguments.values import Buffer, walk

        everything = [
            each for step in self.steps for each in (*step.arguments, *step.settings, *step.buffers)
        ]
        values = (value for each in everything for value in walk(each.value))
        initials = (value.initial for value in values if isinstance(value, Buffer))
        return any(isinstance(each, Generated) and each.is_random for each in initials)


_SHORT = 1 << 16


@lru_cache(64)
def _pickled(program: Program) -> bytes:
    import pickle  # only a launch in another process needs it

    return pickle.dumps((program.steps, program.options))


@lru_cache(64)
def _unpickled(data: bytes) -> Program:
    import pickle

    return Program(*pickle.loads(data))
