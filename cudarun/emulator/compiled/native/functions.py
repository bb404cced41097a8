"""The functions in C: calls of them by generated code, and what they know of the kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, ModuleText
from cudarun.emulator.compiled.state.layout import WarpState


@cache
def _functions() -> dict[str, str]:
    """Return the definitions and the declarations of functions, by name."""
    text = Path(__file__).with_name("runtime.ll").read_text()
    _, *texts = text.rstrip().split("\n\n")
    return {each.partition("@")[2].partition("(")[0]: each for each in texts}


def add_function(module: ModuleText, name: str) -> None:
    """Add a function, and those that it calls, to a module."""
    text = _functions().get(name, "")  # the module itself defines `step`
    if text.startswith("declare"):
        module.declare(text)
    elif text and not module.defines(name):
        module.define(name, text)
        for called in re.findall(r"@([\w.]+)\(", text):
            add_function(module, called)


def call(code: CodeBuilder, kind: str, name: str, *arguments: str) -> str:
    """Call a function in C; return its result of a type, or an empty text for ``void``."""
    add_function(code.module, name)
    text = f"call {kind} @{name}({', '.join(arguments)})"
    if kind == "void":
        code.line(text)
        return ""
    return code.scalar(text)


def kernel_facts(
    state: WarpState,
    groups: int = 0,
    *,
    meets: bool = False,
    is_observed: bool = False,
    finds_sync_errors: bool = False,
) -> dict[str, int]:
    """Return what the functions know of a kernel: ``struct kernel``.

    Args:
        state: The layout of a warp's state.
        groups: The number of blocks at which warpgroups wait.
        meets: Whether lanes of a warp that wait at several places can meet.
        is_observed: Whether accesses are recorded for detectors.
        finds_sync_errors: Whether lanes are checked for synchronization errors.
    """
    names = (
        *("size", "mask_bytes", "blocks", "barriers", "cluster_barriers", "counted"),
        *("cluster_arrived", "cluster_waited", "barrier_arrived", "barrier_extra"),
        *("barrier_number", "barrier_expected", "barrier_held", "barrier_total"),
        *("barrier_given", "barrier_done", "barrier_rest"),
    )
    masks = ("pending", "parked", "waiting", "cluster_waiting")
    return {
        **{name: int(getattr(state, name)) for name in names},
        **{name: getattr(state, name)(0) for name in masks},
        "groups": groups,
        "meets": meets,
        "is_observed": is_observed,
        "finds_sync_errors": finds_sync_errors,
    }


def define_run(
    module: ModuleText,
    facts: dict[str, int],
    barriers: Sequence[tuple[int, bool]],
    clusters: Sequence[int],
    groups: Sequence[int],
) -> None:
    """Add ``run``, which executes a range of thread blocks, to the module of a kernel.

    Args:
        module: The module.
        facts: What the functions know of the kernel.
        barriers: Where lanes continue after each barrier, and whether it has a reduction.
        clusters: Where they continue after each wait for the cluster.
        groups: The blocks at which warpgroups wait.
    """
    add_function(module, "run")
    for name, numbers in (
        ("kernel", list(facts.values())),
        ("barrier_targets", [target for target, _ in barriers]),
        ("barrier_reduces", [int(reduces) for _, reduces in barriers]),
        ("cluster_targets", clusters),
        ("group_blocks", groups),
    ):
        listed = ", ".join(f"i32 {int(number)}" for number in numbers or [0])
        kind = f"[{len(numbers) or 1} x i32]"
        module.define(name, f"@{name} = internal constant {kind} [{listed}]")
