"""The options of ``cudarun launch`` for one launch: those of the fields of its requests.

They are separate from `launch_request`, which interprets their values, because a worker is started
in between.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import click

from cudarun.base.options import OptionGroup, OptionScope, option_fields
from cudarun.commands import completion
from cudarun.commands.declaration import F, option, options_of, value_name
from cudarun.commands.numbers import seconds, whole
from cudarun.commands.options import gpus, stack
from cudarun.session.driver.selection import ALL, Selector, parse_devices
from cudarun.session.launch.request import ProgramOptions
from cudarun.session.launch.step_request import SHOW_KINDS, GeometryRequest, LaunchStep

Seed: TypeAlias = int | Literal["random"]  # the value of ``--seed``
DETECTORS = ("race", "uninit", "sync")  # the detectors of ``--detect``
STRICT_RACES = "race=strict"  # the detector of races that also reports writes of equal values
ALL_DETECTORS = "all"  # all of them


def _one_device(text: str) -> Selector:
    selectors = parse_devices(text)
    if len(selectors) > 1 or selectors[0].by == ALL:
        raise click.BadParameter(f"'{text}' selects more than one device")
    return selectors[0]


def _detectors(text: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(filter(None, text.split(","))))
    known = (*DETECTORS, ALL_DETECTORS)
    for word in words:
        if word not in (*known, STRICT_RACES):
            from cudarun.arguments.scanner import did_you_mean  # only for an error

            what = f"'{word}' is not one of {', '.join(known)}"
            near = did_you_mean(word, known)
            raise click.BadParameter(f"{what}; {near}" if near else what)
    if STRICT_RACES in words:
        words = tuple(word for word in words if word != "race")
        return words if ALL_DETECTORS not in words else (STRICT_RACES, *DETECTORS[1:])
    return DETECTORS if ALL_DETECTORS in words else words


def _seed(text: str | int) -> Seed:
    return "random" if text == "random" else whole()(text)


def _schedule(text: str | int) -> Literal["late"] | int:
    try:
        return "late" if text == "late" else whole()(text)
    except click.BadParameter:
        raise click.BadParameter(f"'{text}' is not late or a seed, 0 to 2**63 - 1") from None


_BASELINE_GEOMETRY = {
    f"baseline_{name}": option(
        f"--baseline-{name}",
        group=OptionGroup.CHECKS,
        scope=OptionScope.CASE,
        form=facts["form"],
        metavar=facts["metavar"],
        help=f"--{name} of the kernel of --baseline.  [default: that of the launch]",
    )
    for field in option_fields(GeometryRequest)
    for name, facts in ((value_name(field), field.metadata["option"][1]),)
    if name in ("threads", "grid", "block", "smem")
}
"""The geometry of the kernel of ``--baseline``, where it is not that of the launch."""

_OF_STEP: dict[str, dict[str, Any]] = {
    "shared": {"of_step": True},
    "algebra": {"of_step": False},
    "kernel": {"shell_complete": completion.kernels},
    "checks": {"shell_complete": completion.labels},
    "expects": {"shell_complete": completion.label_of_value()},
    "prints": {"shell_complete": completion.labels},
    "shows": {"shell_complete": completion.label_of_value(*SHOW_KINDS)},
    "saves": {"shell_complete": completion.label_of_value()},
    "swaps": {"shell_complete": completion.labels},
    "gpus": {"type": gpus, "default": (), "shell_complete": completion.gpus},
}
DETECTION: dict[str, Any] = {
    "type": _detectors,
    "default": "",
    "shell_complete": completion.words(*DETECTORS, STRICT_RACES, ALL_DETECTORS),
}
"""The facts of ``--detect`` that its field does not have."""
_OF_PROGRAM: dict[str, dict[str, Any]] = {
    "reference": {"type": _one_device, "shell_complete": completion.devices},
    "seed": {"type": _seed},
    "schedule": {"type": _schedule},
    "cpu_threads": {"type": click.IntRange(1, 1024)},
    "detect": DETECTION,
    "expect_timeout": {"type": seconds},
}
_ORDER = """
kernel threads grid block smem cooperative cluster pdl carveout func_cache priority
allow_type_mismatch buffers settings passing checks asserts expects check_strength seeds stateless
schedule schedules python expect_timeout lets gpus reference baseline baseline_threads baseline_grid
baseline_block baseline_smem rtol atol equal_nan algebra
prints shows saves force seed detect prove stats repeat warmup input_sets hot nbytes flops profile
times swaps graph
"""
"""The order in the help, by the names of the values; other options come last."""
_ENGINE = ("engine", "cpu_threads")
_OPTIONS = {
    **options_of(LaunchStep, **_OF_STEP),
    **options_of(ProgramOptions, **_OF_PROGRAM),
    **_BASELINE_GEOMETRY,
}


def engine_options(function: F) -> F:
    """Add ``--cpu-engine`` and ``--cpu-threads``."""
    return stack(*(_OPTIONS[name] for name in _ENGINE))(function)


def launch_options(function: F) -> F:
    """Add the options of one launch, except the image, the arguments and the devices."""
    order = _ORDER.split()
    others = (name for name in _OPTIONS if name not in (*order, *_ENGINE))
    return stack(*(_OPTIONS[name] for name in (*order, *others)))(function)
