"""The documents of ``launch`` and ``launch --dry-run``."""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.checks import CheckRecord
from cudarun.report.schemas.detectors import SanitizerRecord, WatchedRecord
from cudarun.report.schemas.devices import DeviceRecord
from cudarun.report.schemas.engines import KernelEngineRecord
from cudarun.report.schemas.errors import DiagnosticRecord, ErrorRecord, Head
from cudarun.report.schemas.values import Extent, Number, Value


class ParameterRowRecord(TypedDict):
    """A parameter of the kernel, or a member of a struct; sizes in bytes.

    Attributes:
        name: Its name; s.n for the member n of s.
        type: Its type in the argument grammar; pointers as in C.
        offset: The offset in the parameter buffer.
        size: Its size.
        alignment: Its alignment.
        padding_before: Unused bytes before it.
        value: Its value, as text.
    """

    name: str
    type: str
    offset: int
    size: int
    alignment: int
    padding_before: int
    value: str


class MemoryRowRecord(TypedDict):
    """Memory that is not an argument: a variable of the image, or a buffer of --buffer.

    Attributes:
        name: The name in the request; symbol("…") where the request has that.
        symbol: The name of the variable's symbol, mangled in C++; null for a buffer.
        space: global or const.
        type: The type in the argument grammar, with the number of elements: f32[5].
        nbytes: Its size in bytes.
        value: The value of --set or the initializer, as text; null where there is none.
    """

    name: str
    symbol: str | None
    space: str
    type: str
    nbytes: int
    value: str | None


class BufferRecord(TypedDict):
    """A device buffer after the launch.

    Attributes:
        name: The name of the argument.
        type: The element type in the argument grammar.
        shape: Its dimensions.
        nbytes: Its size in bytes, without guard zones.
        never_written: The number of elements that were never written; null where the buffer had an
            initializer.
        guard_damage: The offset of the first damaged byte of its guard zones, from the start of
            the buffer and negative before it; null where they are intact.
    """

    name: str
    type: str
    shape: list[int]
    nbytes: int
    never_written: int | None
    guard_damage: int | None


class ReferenceRecord(TypedDict):
    """The comparison with the device of ``--reference``.

    Attributes:
        device: The reference device.
        comparisons: One for each buffer, or for each member of its structs; left is the device.
        is_itself: Whether the device was compared with itself.
    """

    device: str
    comparisons: list[CheckRecord]
    is_itself: bool


class SeededRunRecord(TypedDict):
    """A run of ``--seeds``, or the last one of a set of ``--input-sets``.

    Attributes:
        seed: The seed of its inputs.
        failures: The failed checks, damaged guard zones and findings of detectors.
    """

    seed: int
    failures: list[str]


class StateRecord(TypedDict):
    """The same inputs before and after launches with other inputs: ``--stateless``.

    Attributes:
        comparisons: One for each buffer, or for each member of its structs; left is after.
        changed: The variables of the image that the launches changed.
    """

    comparisons: list[CheckRecord]
    changed: list[str]


class PrintedRecord(TypedDict):
    """The value of a ``--print``.

    Attributes:
        expression: The expression as given.
        text: Its value, as text.
        value: Its value.
        step: The step after which it was evaluated; null after the last one.
    """

    expression: str
    text: str
    value: Value
    step: int | None


class FigureRecord(TypedDict):
    """A buffer reduced to what a terminal can show.

    Attributes:
        name: The buffer.
        kind: The kind of figure.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: The number of NaNs and infinities, which are left out.
        series: Of a histogram, the number of elements in each interval; of a plot, the smallest and
            the largest number of each column, or null; of an image, rows of red, green and blue.
    """

    name: str
    kind: Literal["hist", "plot", "image"]
    minimum: float
    maximum: float
    not_finite: int
    series: list[int] | list[tuple[float, float] | None] | list[list[tuple[int, int, int]]]


class SavedRecord(TypedDict):
    """A file that ``--save`` wrote.

    Attributes:
        name: The buffer.
        path: The file.
        nbytes: Its size in bytes.
    """

    name: str
    path: str
    nbytes: int


class TimingRecord(TypedDict):
    """The times of ``--repeat``, in milliseconds.

    Attributes:
        clock: What was measured: CUDA events, or wall time of the emulation.
        samples: All runs, in order.
        warmup: The number of runs before them.
        flushed_bytes: The bytes written before each run to flush the L2 cache.
        minimum: The shortest run.
        median: The median.
        mean: The mean.
        deviation: The standard deviation of the sample.
        percentiles: By percentage, as "95".
        noisy: Whether the deviation is too large for the times to mean much.
        throttled: What reduced the clock rates; null where that is not known.
        gigabytes_per_second: By the median and --bytes; null without.
        gigaflops_per_second: By the median and --flops; null without.
        rates_left_out: Whether rates were requested on an emulated device, whose time is no
            device's.
    """

    clock: str
    samples: list[Number]
    warmup: int
    flushed_bytes: int
    minimum: Number
    median: Number
    mean: Number
    deviation: Number
    percentiles: dict[str, Number]
    noisy: bool
    throttled: list[str] | None
    gigabytes_per_second: Number | None
    gigaflops_per_second: Number | None
    rates_left_out: bool


class SpeedRecord(TypedDict):
    """The comparison of the times of a launch and of its baseline by a rank test.

    Attributes:
        ratio: How many times faster the launch is than the baseline; below 1, slower.
        low: The lower bound of its interval; null if there are too few runs.
        high: The upper bound, likewise.
        confidence: The confidence of the interval.
        p_value: The probability of a difference at least as large if there is none.
        is_significant: Whether the times differ.
    """

    ratio: Number
    low: Number | None
    high: Number | None
    confidence: float
    p_value: Number
    is_significant: bool


class BaselineRecord(TypedDict):
    """The comparison with the kernel of ``--baseline``.

    Attributes:
        kernel: The kernel, as in the request.
        comparisons: One for each buffer, or for each member of its structs; left is the launch.
        timing: The times of the baseline; null without --repeat.
        speed: The comparison of the times; null without --repeat, on emulated devices, and where
            the launch failed.
    """

    kernel: str
    comparisons: list[CheckRecord]
    timing: TimingRecord | None
    speed: SpeedRecord | None


class KernelLaunchRecord(TypedDict):
    """A launch of a kernel.

    Attributes:
        kernel: The kernel's name.
        demangled: Its name in C++ spelling.
        grid: Blocks in the grid.
        block: Threads in a block.
        threads: The requested number of threads; null without --threads.
        shared_bytes: Dynamic shared memory of a block.
        cluster: Blocks in a cluster.
        cooperative: Whether the launch is cooperative.
        parameters: The contents of the parameter buffer.
        memory: The variables of the image that it uses, and its other buffers.
    """

    kernel: str
    demangled: str
    grid: Extent
    block: Extent
    threads: Extent | None
    shared_bytes: int
    cluster: Extent | None
    cooperative: bool
    parameters: list[ParameterRowRecord]
    memory: list[MemoryRowRecord]


class ProgramStepRecord(KernelLaunchRecord):
    """One step of a program.

    Attributes:
        image: The file.
        times: The number of launches.
        milliseconds: The time of all of them with their synchronization; with --repeat, the
            median; null in a graph.
        timing: The times of --repeat; null in a graph.
    """

    image: str
    times: int
    milliseconds: Number | None
    timing: TimingRecord | None


class LaunchResultRecord(KernelLaunchRecord):
    """A launch on a device that came back; of a program, the kernel is that of the last step.

    Attributes:
        device: The device.
        buffers: The buffers after the launch.
        checks: The results of --check.
        reference: The comparison with --reference.
        prints: The values of --print.
        figures: The figures of --show.
        saved: The files of --save.
        milliseconds: The time from the launch call to the end of synchronization; with --repeat,
            the median.
        timing: The times of --repeat.
        diagnostics: Warnings of the compiler, and notes on the arguments.
        watched: What --detect and --stats saw.
        weaknesses: The replacements of the outputs with which all checks still pass.
        errors: Why something that was asked of the results could not be done.
        steps: The steps of a program, or of a kernel that is launched several times.
        runs: The runs of --seeds; checks, buffers and findings are those of the first failed one.
        input_sets: The last timed run of each of several input sets, likewise.
        state: The result of --stateless; null without.
        baseline: The comparison with --baseline; null without.
        engines: The engines of an emulated device, by kernel, also of kernels that kernels
            launched; empty for a GPU.
    """

    device: DeviceRecord
    buffers: list[BufferRecord]
    checks: list[CheckRecord]
    reference: ReferenceRecord | None
    prints: list[PrintedRecord]
    figures: list[FigureRecord]
    saved: list[SavedRecord]
    milliseconds: Number
    timing: TimingRecord | None
    diagnostics: list[DiagnosticRecord]
    watched: WatchedRecord | None
    weaknesses: list[str]
    errors: list[ErrorRecord]
    steps: list[ProgramStepRecord]
    runs: list[SeededRunRecord]
    input_sets: list[SeededRunRecord]
    state: StateRecord | None
    baseline: BaselineRecord | None
    engines: list[KernelEngineRecord]


class LaunchOutcomeRecord(TypedDict):
    """A launch on a device.

    Attributes:
        device: The device, as for --device.
        result: The launch; null where it did not come back.
        error: The error; beside a result where something that was asked of it could not be done.
        output: What the kernel printed.
        sanitizer: What --sanitize found.
    """

    device: str
    result: LaunchResultRecord | None
    error: ErrorRecord | None
    output: str | None
    sanitizer: SanitizerRecord | None


class LaunchDocument(Head):
    """A launch on one or several devices.

    Attributes:
        schema: The schema of this document.
        image: The image file.
        seed: The seed of random initializers; null where there are none.
        outcomes: One for each device, in order.
    """

    schema: Literal["cudarun/launch/1"]
    image: str
    seed: int | None
    outcomes: list[LaunchOutcomeRecord]


class PlannedStepRecord(KernelLaunchRecord):
    """A step of a program that ``--dry-run`` does not make.

    Attributes:
        image: The file.
        parameter_bytes: Its size in bytes.
    """

    image: str
    parameter_bytes: int


class PlanDocument(Head, KernelLaunchRecord):
    """The launch that ``--dry-run`` does not make.

    Attributes:
        schema: The schema of this document.
        image: The file.
        parameter_bytes: Its size in bytes.
        diagnostics: Warnings of the compiler, and notes on the arguments.
        steps: The steps of a program.
    """

    schema: Literal["cudarun/launch/1"]
    image: str
    parameter_bytes: int
    diagnostics: list[DiagnosticRecord]
    steps: list[PlannedStepRecord]
