"""What ``cudarun launch`` is told about one launch: its options, and the request they make.

A case of a spec file says the same words, so it goes through the same two functions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from cudarun.commands.options import extent, stack, whole_number
from cudarun.errors import RequestError
from cudarun.session.contexts import CACHE_CONFIGS
from cudarun.session.outputs import check_savable
from cudarun.session.requests import (
    Geometry,
    Image,
    LaunchRequest,
    Preferences,
    Save,
    Show,
    Target,
    Timing,
)
from cudarun.session.selection import ALL, Selector, parse_devices
from cudarun.session.triton import TritonKernel, parameter_count, read_triton

if TYPE_CHECKING:
    from cudarun.arguments.expressions import Expression

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULT_BLOCK = 256  # threads per block where only --threads is given
_WARMUP = 10  # runs before the timed ones
_SHOW_KINDS = ("hist", "image", "plot")


def _one_device(text: str) -> Selector:
    selectors = parse_devices(text)
    if len(selectors) > 1 or selectors[0].by == ALL:
        raise click.BadParameter(f"'{text}' is more than one device")
    return selectors[0]


def launch_options(function: F) -> F:
    """Everything about one launch but the image, the arguments and where it runs."""
    return stack(
        click.option(
            "-k",
            "--kernel",
            metavar="NAME",
            help="Mangled, demangled or bare function name; optional when there is one.",
        ),
        *_GEOMETRY,
        *_RESULTS,
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
        help="Threads in a block.  [default: 1; 256 with --threads]",
    ),
    click.option(
        "--threads",
        type=extent,
        metavar="X[,Y[,Z]]",
        help="Threads in all; the grid is deduced, rounding up.",
    ),
    click.option(
        "--smem",
        type=whole_number,
        metavar="BYTES",
        help="Bytes of dynamic shared memory.",
    ),
    click.option(
        "--cooperative", is_flag=True, help="All blocks resident, so that the grid can synchronise."
    ),
    click.option("--cluster", type=extent, metavar="X[,Y[,Z]]", help="Blocks in a cluster."),
    click.option(
        "--carveout",
        type=click.IntRange(0, 100),
        metavar="PERCENT",
        help="How much of L1 the kernel would have as shared memory.",
    ),
    click.option(
        "--func-cache",
        type=click.Choice(CACHE_CONFIGS),
        help="Prefer shared memory or L1 for this kernel.",
    ),
    click.option(
        "--priority", type=int, metavar="N", help="Launch in a stream of this priority, 0 last."
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
        type=click.FloatRange(min=0),
        help="Relative tolerance of --check and --reference.  [default: by dtype]",
    ),
    click.option(
        "--atol",
        type=click.FloatRange(min=0),
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
        help=f"Show a buffer as {', '.join(_SHOW_KINDS)}; repeatable.",
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
        type=click.IntRange(min=0),
        help="Seed of random initialisers.  [default: random, printed]",
    ),
)

_TIMING = (
    click.option(
        "--repeat",
        type=click.IntRange(min=1),
        metavar="N",
        help="Time N runs by events; inputs restored and L2 flushed before each.",
    ),
    click.option(
        "--warmup",
        type=click.IntRange(min=0),
        metavar="N",
        help=f"Runs before those of --repeat.  [default: {_WARMUP}]",
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


def launch_request(
    values: dict[str, Any], where: Target, image: Image, directory: Path = Path()
) -> LaunchRequest:
    """Parse and validate everything that needs no driver.

    Args:
        values: Of `launch_options`, with ``arguments``.
        where: The devices it will run on.
        image: What is launched.
        directory: What relative paths start from.

    Raises:
        RequestError: Any of it is unusable.
        ImageRefused: The parameters of a Triton kernel cannot be read from its image.
    """
    from cudarun.arguments.expressions import parse_expression
    from cudarun.arguments.grammar import parse_arguments
    from cudarun.arguments.tolerance import Tolerance

    force, seed = values["force"], values["seed"]
    triton = read_triton(image)
    kernel = values["kernel"] or (triton.name if triton else None)
    geometry = _geometry(values) if triton is None else _triton_geometry(values, triton)
    arguments = parse_arguments(values["arguments"])
    if triton is not None and kernel == triton.name:
        count = parameter_count(image, kernel)
        arguments = triton.with_scratch(arguments, count, geometry.grid_extent())
    return LaunchRequest(
        image=image,
        kernel=kernel,
        geometry=geometry,
        arguments=arguments,
        checks=tuple(map(parse_expression, values["checks"])),
        prints=tuple(map(parse_expression, values["prints"])),
        saves=_saves(values["saves"], where, directory, force=force),
        tolerance=Tolerance(values["rtol"], values["atol"], values["equal_nan"]),
        seed=int.from_bytes(os.urandom(4), "little") if seed is None else seed,
        passing=values["passing"],
        force=force,
        shows=tuple(map(_show, values["shows"])),
        preferences=Preferences(values["carveout"], values["func_cache"], values["priority"]),
        timing=_timing(values),
        profile=values["profile"],
        reference=values["reference"],
        directory=directory,
    )


def _geometry(values: dict[str, Any]) -> Geometry:
    grid, block, threads = values["grid"], values["block"], values["threads"]
    if grid and threads:
        raise RequestError("--grid and --threads exclude each other: each says the whole size")
    if block is None:
        block = (_DEFAULT_BLOCK if threads else 1, 1, 1)
    return Geometry(
        block, grid, threads, values["smem"] or 0, values["cooperative"], values["cluster"]
    )


def _triton_geometry(values: dict[str, Any], triton: TritonKernel) -> Geometry:
    """What the options leave open is as Triton would have it."""
    if values["threads"]:
        raise RequestError(
            "--threads: the grid of a Triton kernel counts programs", hint="--grid says how many"
        )
    smem = values["smem"]
    return Geometry(
        block=values["block"] or triton.block,
        grid=triton.grid(values["grid"] or (1, 1, 1)),
        shared_bytes=triton.shared_bytes if smem is None else smem,
        cooperative=values["cooperative"] or triton.cooperative,
        cluster=values["cluster"] or triton.cluster,
    )


def _timing(values: dict[str, Any]) -> Timing | None:
    repeat, warmup = values["repeat"], values["warmup"]
    if repeat is None:
        for name in ("warmup", "hot", "bytes", "flops"):
            if values["nbytes" if name == "bytes" else name]:
                raise RequestError(f"--{name} is for timing", hint="--repeat N times N runs")
        return None
    if values["profile"]:
        raise RequestError(
            "--profile and --repeat exclude each other: a profiler wants a single launch"
        )
    return Timing(
        repeat=repeat,
        warmup=_WARMUP if warmup is None else warmup,
        hot=values["hot"],
        nbytes=_count("--bytes", values["nbytes"]),
        flops=_count("--flops", values["flops"]),
    )


def _count(option: str, text: str | None) -> Expression | None:
    """An expression over the integer arguments, as a buffer's dimension is."""
    if text is None:
        return None
    from cudarun.arguments.dimensions import read_dimension
    from cudarun.arguments.scanner import Scanner

    scanner = Scanner(text)
    try:
        expression = read_dimension(scanner)
        scanner.expect_end()
    except RequestError as error:
        error.message = f"{option}: {error.message}"
        raise
    return expression


def _show(text: str) -> Show:
    name, equals, kind = text.partition("=")
    kinds: dict[str, Literal["hist", "image", "plot"]] = {
        "hist": "hist",
        "image": "image",
        "plot": "plot",
    }
    if not (name and equals) or kind not in kinds:
        raise RequestError(f"--show: '{text}' is not NAME=KIND, KIND {', '.join(_SHOW_KINDS)}")
    return Show(name, kinds[kind])


def _saves(
    texts: Sequence[str], where: Target, directory: Path, *, force: bool
) -> tuple[Save, ...]:
    saves = tuple(_save(text, where, directory, force=force) for text in texts)
    paths = [save.path for save in saves]
    for path in paths:
        if paths.count(path) > 1:
            raise RequestError(f"--save: two buffers would both write {path}")
    return saves


def _save(text: str, where: Target, directory: Path, *, force: bool) -> Save:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise RequestError(f"--save: '{text}' is not NAME=PATH")
    several = len(where.devices) > 1 or any(s.by == ALL for s in where.devices)
    if several and "{device}" not in path:
        raise RequestError(
            f"--save: several devices would all write {path}",
            hint="put {device} into the path, as in y-{device}.npy",
        )
    request = Save(name, os.fspath(directory / path))
    check_savable(request, force=force)
    return request
