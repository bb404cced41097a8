"""Construction of a launch request from the options and arguments of one launch.

A case of a spec has the same options, so it uses the same function.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cudarun.base.errors import RequestError, errors_of
from cudarun.commands.declaration import Values, conflict, filled
from cudarun.commands.launch_options import STRICT_RACES
from cudarun.commands.python_functions import check_function
from cudarun.session.driver.selection import ALL
from cudarun.session.image.image import Image
from cudarun.session.image.triton import TritonKernel, read_triton
from cudarun.session.launch.outputs import check_format
from cudarun.session.launch.request import (
    WARMUP,
    BaselineLaunch,
    Detection,
    FunctionRun,
    Program,
    ProgramOptions,
    Timing,
)
from cudarun.session.launch.step_request import (
    SHOW_KINDS,
    BufferExpectation,
    GeometryRequest,
    LaunchStep,
    Preferences,
    Save,
    Show,
    Swap,
)

if TYPE_CHECKING:
    from cudarun.arguments.scalars import CompiledConstant
    from cudarun.session.driver.contexts import Target

T = TypeVar("T")
V = TypeVar("V")
N = TypeVar("N", BufferExpectation, Save, Show)


def program_request(
    steps: Sequence[Values],
    where: Target,
    read_image: Callable[[Values], Image],
    directory: Path = Path(),
) -> Program:
    """Parse and validate everything of a launch, or of a program, that does not need a driver.

    Args:
        steps: For each step the values of `launch_options`, with ``image`` and ``arguments``.
        read_image: Reads the image of a step; called once for each image.
        directory: The base of relative paths.

    Raises:
        RequestError: An option or argument is invalid.
        ImageRefused: An image is empty or not an image, or the parameters of a Triton kernel cannot
            be read from it.
    """
    kernels: dict[tuple[str, str | None], list[str | None]] = {}
    for values in steps:
        kernels.setdefault(code_of(values), []).append(values["kernel"])
    images: dict[tuple[str, str | None], Image] = {}
    found: list[LaunchStep] = []
    options = ProgramOptions()
    for number, values in enumerate(steps, start=1):
        with errors_of(operation=f"step {number}" if len(steps) > 1 else None):
            code = code_of(values)
            if code not in images:
                images[code] = read_image(values).instantiating(*kernels[code])
            found.append(_step(values, where, images[code], directory))
            options = _options(values, where)
            is_uninterrupted = options.graph or options.timing
            if number < len(steps) and found[-1].reads_results and is_uninterrupted:
                option = "--graph" if options.graph else "--repeat"
                raise RequestError(
                    f"with {option}, buffers are read after the last step only",
                    hint="move --check, --expect, --print, --save and --show to the last step",
                    option=option,
                )
    timing, detection = options.timing, options.detection
    if len(steps) > 1 and timing is not None and timing.input_sets > 1:
        raise conflict("--input-sets", "--then", "the inputs of a program are one set")
    if options.graph and detection:
        raise conflict("--detect" if detection.detect else "--stats", "--graph")
    baseline = _baseline(steps, where, read_image, directory, found[-1].image)
    return Program(tuple(found), replace(options, baseline=baseline))


def code_of(values: Values) -> tuple[str, str | None]:
    """Return the files of a step's code: the image, and the one in place of recorded code."""
    return values["image"], values.get("candidate")


_GEOMETRY = ("threads", "grid", "block", "smem")
"""The options that a baseline can have with other values: ``--baseline-grid`` and so on."""


def _baseline(
    steps: Sequence[Values],
    where: Target,
    read_image: Callable[[Values], Image],
    directory: Path,
    launched: Image,
) -> BaselineLaunch | None:
    """Return the launch of ``--baseline``, if there is one.

    Args:
        launched: The image that it is compared with; if it is of a recording, so is the baseline.
    """
    values = baseline_values(steps[-1])
    if values is None:
        return None
    if len(steps) > 1:
        raise conflict("--baseline", "--then", "a baseline is one kernel")
    with errors_of(option="--baseline"):
        image = read_image(values).instantiating(values["kernel"])
        if image.recording is None:
            image = image.replaying(launched)
        else:  # it has a geometry of its own
            values |= {name: values[f"baseline_{name}"] for name in _GEOMETRY}
        program = Program((_step(values, where, image, directory),), _options(values, where))
    own = code_of(values) == code_of(steps[-1])
    return BaselineLaunch((values["kernel"] if own else None) or values["baseline"], program)


def baseline_values(values: Values) -> Values | None:
    """Return the values of the launch of ``--baseline``; ``None`` without."""
    own = {name: given for name in _GEOMETRY if (given := values[f"baseline_{name}"]) is not None}
    if values["baseline"] is None:
        for name in own:
            option = f"--baseline-{name}"
            raise RequestError(f"{option} requires --baseline").naming(option)
        return None
    image, _, kernel = values["baseline"].partition(":")
    if not (image or kernel):
        raise RequestError("':' names neither an image nor a kernel", option="--baseline")
    if own.keys() & {"threads", "grid"}:  # each sets the total size
        own = {"threads": None, "grid": None, **own}
    other = {"image": image, "candidate": None} if image else {}
    return {**values, **other, "kernel": kernel or None, **own}


def _step(values: Values, where: Target, image: Image, directory: Path) -> LaunchStep:
    """Parse and validate everything of one launch that does not need a driver."""
    from cudarun.arguments.assertions import parse_assertion
    from cudarun.arguments.expressions.parser import parse_expression
    from cudarun.arguments.expressions.statements import (
        Let,
        claimed_check,
        expanded,
        parse_check,
        parse_let,
    )
    from cudarun.arguments.grammar import parse_arguments, parse_buffer, parse_setting

    if values["schedules"] and values["schedule"] is not None:
        raise conflict("--schedules", "--schedule")
    several = {
        "--seeds": values["seeds"] > 1,
        "--schedules": values["schedules"] > 0,
        "--stateless": values["stateless"],
        "--baseline": values["baseline"] is not None,
    }
    for option in (each for each, given in several.items() if given):
        for other in ("--reference", "--profile"):
            if values[other.removeprefix("--")]:
                raise conflict(option, other, f"{other} makes a single launch")
    arguments = parse_arguments(values["arguments"])
    # The names that arguments give to buffers, or to names of earlier steps: ``in=x``.
    from cudarun.arguments.values import Buffer, FileBuffer, Reference

    named = {each.name: each.value for each in arguments}
    aliases: dict[str, str] = {}
    for name, value in named.items():
        if name and isinstance(value, Reference):
            target = named.get(value.name)
            if target is None or isinstance(target, Buffer | FileBuffer):
                aliases[name] = value.name
    renamed = tuple(Let(name, parse_expression(other)) for name, other in aliases.items())
    lets = tuple(
        replace(let, expression=expanded(let.expression, renamed))
        for let in map(parse_let, values["lets"])
    )
    recording = image.recording
    triton = None if recording else read_triton(image)
    kernel = values["kernel"] or (triton.name if triton else None)
    if recording is not None:
        from cudarun.commands.recorded_request import check_recorded, recorded_options

        check_recorded(values, where, image)
        if image.replaces_recorded is None:
            kernel = recording.manifest.kernel
        values = {**values, **recorded_options(values, recording.manifest)}
    geometry = geometry_request(values) if triton is None else _triton_geometry(values, triton)
    names: tuple[str, ...] = ()
    constants: tuple[CompiledConstant, ...] = ()
    if triton is not None and geometry.grid is not None and kernel == triton.name:
        from cudarun.session.image.triton_arguments import triton_arguments  # few images need it

        expanded_arguments = triton_arguments(triton, image, arguments, geometry.grid)
        arguments, names = expanded_arguments.arguments, expanded_arguments.names
        constants = expanded_arguments.constants
    preferences = filled(Preferences, values)
    if triton is not None and triton.programmatic:
        preferences = replace(preferences, programmatic=True)

    def renamed_buffer(request: N) -> N:
        return replace(request, name=aliases.get(request.name, request.name))

    return filled(
        LaunchStep,
        values,
        image=image,
        kernel=kernel,
        geometry=geometry,
        arguments=arguments,
        checks=tuple(
            claimed_check(check, (*renamed, *lets)) for check in map(parse_check, values["checks"])
        ),
        prints=tuple(
            expanded(parse_expression(text), (*renamed, *lets)) for text in values["prints"]
        ),
        lets=lets,
        asserts=tuple(map(parse_assertion, values["asserts"])),
        expectations=tuple(
            renamed_buffer(_expectation(text, directory)) for text in values["expects"]
        ),
        saves=tuple(renamed_buffer(_save(text, where, directory)) for text in values["saves"]),
        shows=tuple(map(renamed_buffer, map(_show, values["shows"]))),
        preferences=preferences,
        directory=directory,
        parameter_names=names,
        constants=constants,
        settings=_parsed_all(parse_setting, "--set", values["settings"]),
        buffers=_parsed_all(parse_buffer, "--buffer", values["buffers"]),
        swaps=_parsed_all(_swap, "--swap", values["swaps"]),
    )


def _options(values: Values, where: Target) -> ProgramOptions:
    """Parse and validate the options of a whole program."""
    seed = values["seed"]
    return filled(
        ProgramOptions,
        values,
        seed=int.from_bytes(os.urandom(4), "little") if seed == "random" else seed,
        functions=FunctionRun(values["python"], values["expect_timeout"] or None),
        timing=_timing(values),
        detection=_detection(values, where),
        baseline=None,
    )


def _swap(text: str) -> Swap:
    first, comma, second = (part.strip() for part in text.partition(","))
    if not (first and comma and second) or "," in second:
        raise RequestError(f"'{text}' is not A,B with the names of two buffers")
    return Swap(first, second)


def geometry_request(values: Values) -> GeometryRequest:
    """Parse the options of the geometry; `RequestError` if they cannot be combined."""
    geometry = filled(GeometryRequest, values)
    if geometry.grid and geometry.threads:
        raise conflict("--grid", "--threads", "each sets the total size")
    return geometry


def _triton_geometry(values: Values, triton: TritonKernel) -> GeometryRequest:
    """Return the geometry, with Triton's values for missing options."""
    given = {name: values[name] or own for name, own in triton.options.items()}
    wanted = geometry_request({**values, **given})
    if wanted.grid is None:
        raise RequestError(
            "a Triton kernel requires a number of programs",
            hint="set the number of programs with --grid",
            option="--grid" if wanted.threads is None else "--threads",
        )
    return replace(wanted, grid=triton.grid(wanted.grid))


def _detection(values: Values, where: Target) -> Detection:
    prove = values["prove"]
    if prove and {"race", STRICT_RACES}.isdisjoint(values["detect"]):
        raise RequestError("requires the race detector", hint="add --detect race", option="--prove")
    own = values.get("timeout")  # of a case of a spec
    limit = where.timeout if own is None else own or None
    detection = filled(Detection, values, limit=limit if prove else None)
    if detection and values["repeat"] is not None:
        option = "--detect" if detection.detect else "--stats"
        raise conflict(option, "--repeat", "instrumentation slows the kernel down")
    return detection


def _timing(values: Values) -> Timing | None:
    repeat, warmup = values["repeat"], values["warmup"]
    if repeat is None:
        given = {name: values[name] for name in ("warmup", "hot", "flops")}
        given |= {"bytes": values["nbytes"], "input-sets": values["input_sets"] > 1}
        for name, value in given.items():
            if value:
                raise RequestError(
                    f"--{name} requires --repeat", hint="time N runs with --repeat N"
                ).naming(f"--{name}")
        return None
    if values["profile"]:
        raise conflict("--profile", "--repeat", "--profile makes a single launch")
    count = values["input_sets"]
    if count > repeat:
        raise RequestError(
            f"{count} sets of inputs require at least {count} timed runs",
            hint=f"pass --repeat {count} or more",
            option="--input-sets",
        )
    if count > 1 and values["swaps"]:
        raise conflict("--input-sets", "--swap")
    return filled(Timing, values, warmup=WARMUP if warmup is None else warmup)


def _parsed_all(parse: Callable[[V], T], option: str, texts: Iterable[V]) -> tuple[T, ...]:
    """Parse the texts of a repeatable option."""
    with errors_of(option=option):
        return tuple(map(parse, texts))


def _expectation(text: str | BufferExpectation, directory: Path) -> BufferExpectation:
    """Parse ``NAME=@FILE`` or ``NAME=FILE:FUNCTION``; the file must exist."""
    from cudarun.arguments.files import locate

    if isinstance(text, BufferExpectation):
        return text

    name, _, source = text.partition("=")
    path, function = source[1:], None
    if not source.startswith("@"):
        path, _, function = source.rpartition(":")
    if not (name and path) or function == "":
        raise RequestError(
            f"'{text}' is not NAME=@FILE.npy or NAME=FILE.py:FUNCTION",
            hint=f"did you mean {name}=@{source}?" if source.endswith(".npy") else None,
            option="--expect",
        )
    file = locate(path, directory)
    if not file.is_file():
        raise RequestError(f"{file}: no such file", option="--expect")
    if function is not None:
        check_function(os.path.abspath(file), function)
    return BufferExpectation(name, os.path.abspath(file), function, source)


def _show(text: str) -> Show:
    name, _, word = text.partition("=")
    kind = next((each for each in SHOW_KINDS if each == word), None)
    if not name or kind is None:
        raise RequestError(
            f"'{text}' is not NAME=KIND with KIND one of {', '.join(SHOW_KINDS)}", option="--show"
        )
    return Show(name, kind)


def _save(text: str, where: Target, directory: Path) -> Save:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        stem = Path(text).stem
        named = f"{stem}={text}" if stem.isidentifier() and not equals else "y=y.npy"
        raise RequestError(
            f"'{text}' is not NAME=PATH",
            hint=f"name the buffer: --save {shlex.quote(named)}",
            option="--save",
        )
    several = len(where.devices) > 1 or any(s.by == ALL for s in where.devices)
    if several and "{device}" not in path:
        raise RequestError(
            f"several devices would write the same file {path}",
            hint="add {device} to the path, such as y-{device}.npy",
            option="--save",
        )
    request = Save(name, os.fspath(directory / path))
    check_format(request)
    return request
