"""The options of ``cudarun launch`` for one launch.

They are separate from `launch_request`, which interprets their values, because a worker is started
in between.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import click

from cudarun.commands import completion
from cudarun.commands.declaration import CaseForm, F, OptionGroup, OptionScope, option
from cudarun.commands.geometry_options import BASELINE_GEOMETRY, GEOMETRY_OPTIONS
from cudarun.commands.numbers import INT_MAX, not_negative, whole
from cudarun.commands.options import stack
from cudarun.session.driver.selection import ALL, Selector, parse_devices
from cudarun.writing import FileUse

WARMUP = 10
"""Warm-up runs before the timed ones."""
MAX_SEEDS = 10_000
"""The most runs of ``--seeds``: the results of all of them are in the report."""
MAX_INPUT_SETS = 1000
"""The most sets of ``--input-sets``: each is a copy of all inputs on the device."""
Seed: TypeAlias = int | Literal["random"]
"""The value of ``--seed``."""
DETECTORS = ("race", "uninit", "sync")
"""The detectors of ``--detect``."""
ALL_DETECTORS = "all"
"""All of them."""
SHOW_KINDS = ("hist", "image", "plot")
"""The forms of ``--show``."""


def _one_device(text: str) -> Selector:
    selectors = parse_devices(text)
    if len(selectors) > 1 or selectors[0].by == ALL:
        raise click.BadParameter(f"'{text}' selects more than one device")
    return selectors[0]


def _detectors(text: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(filter(None, text.split(","))))
    known = (*DETECTORS, ALL_DETECTORS)
    for word in words:
        if word not in known:
            from cudarun.arguments.scanner import did_you_mean  # only for an error

            what = f"'{word}' is not one of {', '.join(known)}"
            near = did_you_mean(word, known)
            raise click.BadParameter(f"{what}; {near}" if near else what)
    return DETECTORS if ALL_DETECTORS in words else words


def _seed(text: str | int) -> Seed:
    return "random" if text == "random" else whole()(text)


def engine_options(function: F) -> F:
    """Add ``--cpu-engine`` and ``--cpu-threads``."""
    return stack(
        option(
            "--cpu-engine",
            "engine",
            group=OptionGroup.CONTEXTS,
            scope=OptionScope.RUN,
            of_result=True,
            type=click.Choice(["auto", "interpret", "compile"]),
            help="On cpu, interpret kernels, compile them (requires cudarun[fast]), or compile "
            "those for which it pays (auto).  [env var: CUDARUN_CPU_ENGINE; default: auto]",
        ),
        option(
            "--cpu-threads",
            group=OptionGroup.CONTEXTS,
            scope=OptionScope.RUN,
            of_result=True,
            type=click.IntRange(1, 1024),
            metavar="N",
            help="On cpu, run the blocks of compiled kernels in up to N threads.  [env var: "
            "CUDARUN_CPU_THREADS; default: the number of cores]",
        ),
    )(function)


def launch_options(function: F) -> F:
    """Add the options of one launch, except the image, the arguments and the devices."""
    return stack(
        option(
            "-k",
            "--kernel",
            shell_complete=completion.kernels,
            group=OptionGroup.FIRST,
            scope=OptionScope.CASE,
            of_step=True,
            form=CaseForm.VALUE,
            metavar="NAME",
            help="Mangled, demangled or bare kernel name; optional if the image has one kernel. "
            "For a .cu, 'ns::f<float, 4>' instantiates a template.",
        ),
        *GEOMETRY_OPTIONS,
        *_RESULTS,
        *_WATCH,
        *_TIMING,
        *_PROGRAM,
    )(function)


_RESULTS = (
    option(
        "--check",
        "checks",
        shell_complete=completion.labels,
        group=OptionGroup.FIRST,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.EXPRESSIONS,
        multiple=True,
        metavar="EXPR",
        help="Check an expression after the launch, such as 'y == 2*x, rtol=1e-3'; repeatable.",
    ),
    option(
        "--expect",
        "expects",
        shell_complete=completion.label_of_value(),
        group=OptionGroup.FIRST,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.EXPECTATIONS,
        file=FileUse.INPUT,
        multiple=True,
        metavar="NAME=EXPECTED",
        help="Compare a buffer with @FILE.npy or with the result of FILE.py:FUNCTION; repeatable.",
    ),
    option(
        "--check-strength",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=click.Choice(["off", "warn", "fail"]),
        help="Report checks that also pass with the outputs replaced by zeros or their inputs.  "
        "[default: off; warn in specs]",
    ),
    option(
        "--seeds",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=whole(1, MAX_SEEDS),
        metavar="N",
        default="1",
        show_default=True,
        help="Check N runs with fresh inputs, of the seeds --seed, --seed + 1, …; variables of the "
        "image are restored before each run.",
    ),
    option(
        "--stateless",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.FLAG,
        is_flag=True,
        help="Launch the same inputs again after others, without restoring variables of the image, "
        "and fail if the results differ.",
    ),
    option(
        "--python",
        group=OptionGroup.CHECKS,
        scope=OptionScope.RUN,
        of_result=True,
        metavar="EXE",
        help="Run the functions of --expect with this Python interpreter.",
    ),
    option(
        "--expect-timeout",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=not_negative,
        metavar="SECONDS",
        default=300.0,
        show_default=True,
        help="Time limit of a function of --expect in seconds, for which --timeout does not count; "
        "0 for no limit.",
    ),
    option(
        "--let",
        "lets",
        group=OptionGroup.CHECKS,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.NAMED_EXPRESSIONS,
        multiple=True,
        metavar="NAME=EXPR",
        help="Define a name for an expression, for use in --check and --print; repeatable.",
    ),
    option(
        "--reference",
        shell_complete=completion.devices,
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=_one_device,
        metavar="DEVICE",
        help="Also launch on this reference device, cpu or another GPU, and compare all buffers.",
    ),
    option(
        "--baseline",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.KERNEL,
        file=FileUse.INPUT,
        metavar="FILE[:KERNEL]",
        help="Make the same launch with another kernel, and compare all buffers; with --repeat, "
        "compare the times by a rank test. ':KERNEL' is another kernel of the same image.",
    ),
    *BASELINE_GEOMETRY,
    option(
        "--rtol",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        of_step=True,
        form=CaseForm.VALUE,
        type=not_negative,
        metavar="X",
        help="Relative tolerance of --check and --reference.  [default: depends on the dtype]",
    ),
    option(
        "--atol",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        of_step=True,
        form=CaseForm.VALUE,
        type=not_negative,
        metavar="X",
        help="Absolute tolerance of --check and --reference.  [default: depends on the dtype]",
    ),
    option(
        "--equal-nan",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        of_step=True,
        form=CaseForm.FLAG,
        is_flag=True,
        help="Treat NaN as equal to NaN in --check and --reference.",
    ),
    option(
        "--print",
        "prints",
        shell_complete=completion.labels,
        group=OptionGroup.FIRST,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.EXPRESSIONS,
        multiple=True,
        metavar="EXPR",
        help="Print the value of an expression; repeatable.",
    ),
    option(
        "--show",
        "shows",
        shell_complete=completion.label_of_value(*SHOW_KINDS),
        group=OptionGroup.OUTPUT,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.TEXTS,
        multiple=True,
        metavar="NAME=KIND",
        help=f"Show a buffer as {', '.join(SHOW_KINDS)}; repeatable.",
    ),
    option(
        "--save",
        "saves",
        shell_complete=completion.label_of_value(),
        group=OptionGroup.OUTPUT,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.NAMED_PATHS,
        file=FileUse.OUTPUT,
        multiple=True,
        metavar="NAME=PATH",
        help="Write a buffer to PATH (.npy, .bin, .csv, .png); {device} in PATH is replaced by "
        "the device; repeatable.",
    ),
    option(
        "--force",
        group=OptionGroup.OUTPUT,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.FLAG,
        is_flag=True,
        help="Allow --save and --junit to overwrite existing files.",
    ),
    option(
        "--seed",
        group=OptionGroup.ARGUMENTS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=_seed,
        metavar="N",
        default="0",
        show_default=True,
        help="Seed for random initializers: a number, or random to choose one and print it.",
    ),
)

_WATCH = (
    option(
        "--detect",
        shell_complete=completion.words(*DETECTORS, ALL_DETECTORS),
        group=OptionGroup.FIRST,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.WORDS,
        type=_detectors,
        metavar="WORDS",
        default="",
        help="On cpu, detect data races (race), uninitialized reads (uninit), synchronization "
        "errors (sync), or all.",
    ),
    option(
        "--prove",
        group=OptionGroup.CHECKS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.FLAG,
        is_flag=True,
        help="With --detect race, launch again without each barrier, fence and atomic, and report "
        "for which a race is found.",
    ),
    option(
        "--stats",
        group=OptionGroup.OUTPUT,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.FLAG,
        is_flag=True,
        help="On cpu, count instructions, divergent branches, bytes per memory space and bank "
        "conflicts.",
    ),
)

_TIMING = (
    option(
        "--repeat",
        group=OptionGroup.TIMING,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=whole(1, INT_MAX),
        metavar="N",
        help="Time N runs with events; inputs are restored and L2 is flushed before each run.",
    ),
    option(
        "--warmup",
        group=OptionGroup.TIMING,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=whole(0, INT_MAX),
        metavar="N",
        help=f"Number of warm-up runs before --repeat.  [default: {WARMUP}]",
    ),
    option(
        "--input-sets",
        group=OptionGroup.TIMING,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.VALUE,
        type=whole(1, MAX_INPUT_SETS),
        metavar="N",
        default="1",
        show_default=True,
        help="Alternate between N sets of inputs in the runs of --repeat, of the seeds --seed, "
        "--seed + 1, …, and check the last run of each.",
    ),
    option(
        "--hot",
        group=OptionGroup.TIMING,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.FLAG,
        is_flag=True,
        help="Do not flush L2 between the runs of --repeat.",
    ),
    option(
        "--bytes",
        "nbytes",
        group=OptionGroup.TIMING,
        scope=OptionScope.CASE,
        form=CaseForm.COUNT,
        metavar="EXPR",
        help="Bytes transferred per run, such as 12*n; --repeat then reports GB/s.",
    ),
    option(
        "--flops",
        group=OptionGroup.TIMING,
        scope=OptionScope.CASE,
        form=CaseForm.COUNT,
        metavar="EXPR",
        help="Floating-point operations per run, such as 2*m*n*k; --repeat then reports GFLOP/s.",
    ),
    option(
        "--profile",
        group=OptionGroup.TIMING,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.FLAG,
        is_flag=True,
        help="Launch once for a profiler, without guard zones and copies of unused outputs.",
    ),
)

_PROGRAM = (
    option(
        "--times",
        group=OptionGroup.PROGRAMS,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.VALUE,
        type=whole(1, INT_MAX),
        metavar="N",
        default="1",
        show_default=True,
        help="Launch the kernel N times, one after the other.",
    ),
    option(
        "--swap",
        "swaps",
        shell_complete=completion.labels,
        group=OptionGroup.PROGRAMS,
        scope=OptionScope.CASE,
        of_step=True,
        form=CaseForm.PAIRS,
        multiple=True,
        metavar="A,B",
        help="Exchange the names of two buffers after each launch of the step, as a host program "
        "swaps pointers; repeatable.",
    ),
    option(
        "--graph",
        group=OptionGroup.PROGRAMS,
        scope=OptionScope.OVERRIDE,
        form=CaseForm.FLAG,
        is_flag=True,
        help="Capture all launches as a CUDA graph, and launch that.",
    ),
)
