"""What ``cudarun launch`` can be told about one launch: its options.

Apart from what is made of their values (`launch_request`), because a worker is started in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cudarun.commands.numbers import INT_MAX, extent, not_negative, size, whole
from cudarun.commands.options import stack
from cudarun.session.driver.contexts import CACHE_CONFIGS
from cudarun.session.driver.selection import ALL, Selector, parse_devices

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_BLOCK = 256
"""Threads per block where only ``--threads`` is given."""
WARMUP = 10
"""Runs before the timed ones."""
DETECTORS = ("race", "uninit")
"""What ``--detect`` can look for."""
SHOW_KINDS = ("hist", "image", "plot")
"""What ``--show`` can make of a buffer."""


def _one_device(text: str) -> Selector:
    selectors = parse_devices(text)
    if len(selectors) > 1 or selectors[0].by == ALL:
        raise click.BadParameter(f"'{text}' is more than one device")
    return selectors[0]


def _detectors(text: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(filter(None, text.split(","))))
    for word in words:
        if word not in DETECTORS:
            raise click.BadParameter(f"'{word}' is none of {', '.join(DETECTORS)}")
    return words


def launch_options(function: F) -> F:
    """Everything about one launch but the image, the arguments and where it runs."""
    return stack(
        click.option(
            "-k",
            "--kernel",
            metavar="NAME",
            help="Mangled, demangled or bare function name; optional when there is one. Of a .cu, "
            "'ns::f<float, 4>' instantiates a template.",
        ),
        *_GEOMETRY,
        *_RESULTS,
        *_WATCH,
        *_TIMING,
    )(function)


_GEOMETRY = (
    click.option(
        "--grid", type=extent, metavar="X[,Y[,Z]]", help="Blocks in the grid.  [default: 1]"
    ),
    click.option(
        "--block",
        type=extent,
        metavar="X[,Y[,Z]]",
        help=f"Threads in a block.  [default: 1; {DEFAULT_BLOCK} with --threads]",
    ),
    click.option(
        "--threads",
        type=extent,
        metavar="X[,Y[,Z]]",
        help="Threads in all; the grid is deduced, rounding up.",
    ),
    click.option(
        "--smem",
        type=size,
        metavar="BYTES",
        help="Bytes of dynamic shared memory.",
    ),
    click.option(
        "--cooperative", is_flag=True, help="All blocks resident, so that the grid can synchronise."
    ),
    click.option("--cluster", type=extent, metavar="X[,Y[,Z]]", help="Blocks in a cluster."),
    click.option(
        "--carveout",
        type=whole(0, 100),
        metavar="PERCENT",
        help="How much of L1 the kernel would have as shared memory.",
    ),
    click.option(
        "--func-cache",
        type=click.Choice(CACHE_CONFIGS),
        help="Prefer shared memory or L1 for this kernel.",
    ),
    click.option(
        "--priority",
        type=whole(-INT_MAX, INT_MAX),
        metavar="N",
        help="Launch in a stream of this priority, 0 last.",
    ),
    click.option(
        "--params",
        "passing",
        type=click.Choice(["array", "buffer"]),
        default="array",
        show_default=True,
        help="Pass parameters by kernelParams, or packed by CU_LAUNCH_PARAM_BUFFER_POINTER.",
    ),
)

_RESULTS = (
    click.option(
        "--check",
        "checks",
        multiple=True,
        metavar="EXPR",
        help="An expression that must hold after the run; repeatable.",
    ),
    click.option(
        "--reference",
        type=_one_device,
        metavar="DEVICE",
        help="Launch on this device too, cpu or another GPU, and compare every buffer.",
    ),
    click.option(
        "--rtol",
        type=not_negative,
        metavar="X",
        help="Relative tolerance of --check and --reference.  [default: by dtype]",
    ),
    click.option(
        "--atol",
        type=not_negative,
        metavar="X",
        help="Absolute tolerance of --check and --reference.  [default: by dtype]",
    ),
    click.option("--equal-nan", is_flag=True, help="Let NaN equal NaN in them."),
    click.option(
        "--print",
        "prints",
        multiple=True,
        metavar="EXPR",
        help="Print an expression's value; repeatable.",
    ),
    click.option(
        "--show",
        "shows",
        multiple=True,
        metavar="NAME=KIND",
        help=f"Show a buffer as {', '.join(SHOW_KINDS)}; repeatable.",
    ),
    click.option(
        "--save",
        "saves",
        multiple=True,
        metavar="NAME=PATH",
        help="Write a buffer to PATH (.npy, .bin, .csv, .png); repeatable; {device} in PATH is the "
        "device.",
    ),
    click.option("--force", is_flag=True, help="Let --save replace existing files."),
    click.option(
        "--seed",
        type=whole(),
        metavar="N",
        help="Seed of random initialisers.  [default: random, printed]",
    ),
)

_WATCH = (
    click.option(
        "--detect",
        type=_detectors,
        metavar="WORDS",
        default="",
        help="On cpu, look for race, uninit, or race,uninit: data races, and reads of memory that "
        "nothing has written.",
    ),
    click.option(
        "--stats",
        is_flag=True,
        help="On cpu, count instructions, divergence, bytes by space and bank conflicts.",
    ),
)

_TIMING = (
    click.option(
        "--repeat",
        type=whole(1, INT_MAX),
        metavar="N",
        help="Time N runs by events; inputs restored and L2 flushed before each.",
    ),
    click.option(
        "--warmup",
        type=whole(0, INT_MAX),
        metavar="N",
        help=f"Runs before those of --repeat.  [default: {WARMUP}]",
    ),
    click.option("--hot", is_flag=True, help="Do not flush L2 between the runs of --repeat."),
    click.option(
        "--bytes",
        "nbytes",
        metavar="EXPR",
        help="Bytes that a run moves, as 12*n, for GB/s by --repeat.",
    ),
    click.option(
        "--flops",
        metavar="EXPR",
        help="Floating-point operations of a run, as 2*m*n*k, for GFLOP/s by --repeat.",
    ),
    click.option(
        "--profile",
        is_flag=True,
        help="One bare launch for a profiler: no guard zones, no copies that nobody asked for.",
    ),
)
