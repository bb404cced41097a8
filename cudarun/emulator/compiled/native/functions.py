"""The functions in C: calls of them by generated code, and what they know of the kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, ModuleText
from cudarun.emulator.compiled.state.layout import WarpState


@cache
def _functions() -> dict[str, str]:
    """Return the definitions and the declarations of functions, by name."""
    text = Path(__file__).with_name("runtime.ll").read_text()
    _, *texts = text.rstrip().split("\n\n")
    return {each.partition("@")[2].partition("(")[0]: each for each in texts}


def add_function(module: ModuleText, name: str, *, inline: bool = False) -> None:
    """Add a function, and those that it calls, to a module; maybe in line where it is called."""
    text = _functions().get(name, "")  # the module itself defines `step`
    if text.startswith("declare"):
        module.declare(text)
    elif text and not module.defines(name):
        inline = inline and " noinline cold " not in text
        changed = ("noinline", "alwaysinline") if inline else ("internal", "hidden")
        module.define(name, text.replace(*changed, 1))
        for called in re.findall(r"@([\w.]+)\(", text):
            add_function(module, called, inline=inline)


def call(code: CodeBuilder, kind: str, name: str, *arguments: str, inline: bool = False) -> str:
    """Call a function in C; return its result of a type, or an empty text for ``void``."""
    add_function(code.module, name, inline=inline)
    text = f"call {kind} @{name}({', '.join(arguments)})"
    if kind == "void":
        code.line(text)
        return ""
    return code.scalar(text)


def two_words(code: CodeBuilder, value: str) -> tuple[str, str]:
    """Return the halves of a result of 64 bits, the lower one first."""
    upper = code.scalar(f"trunc i64 {code.scalar(f'lshr i64 {value}, 32')} to i32")
    return code.scalar(f"trunc i64 {value} to i32"), upper


class KernelConstants(NamedTuple):
    """The constants of a kernel's module that the functions use."""

    state: WarpState  # the layout of a warp's state
    barriers: Sequence[int] = ()  # where lanes continue after each barrier in the code
    reduces: Sequence[bool] = ()  # whether each of these barriers has a reduction
    warp_barriers: Sequence[int] = ()  # where lanes continue after each barrier of warps
    cluster_barriers: Sequence[int] = ()  # where they continue after each wait for the cluster
    groups: Sequence[int] = ()  # the blocks at which warpgroups wait
    # Of each block the number of those at which lanes can meet, from 1 on, or 0.
    meetings: Sequence[int] = ()
    shadow_unit: int = 0  # bytes of the smallest access if they are recorded for detectors; else 0
    finds_sync_errors: bool = False  # whether lanes are checked for synchronization errors
    finds_unwritten: bool = False  # whether reads of unwritten bytes are findings
    scheduled: bool = False  # whether blocks follow a schedule,
    interleaves: bool = False  # and whether it draws the order of their warps

    def numbers(self) -> dict[str, int]:
        """Return the fields of ``struct kernel``: of lists of blocks, the length."""
        state = self.state
        return {
            **{name: getattr(state, name) for name in ("size", "mask_bytes", "blocks", "counted")},
            **state.offsets,
            **{name: len(values) for name, values in self._lists().items()},
            **{name: getattr(self, name) for name in self._fields[-5:]},
        }

    def _lists(self) -> dict[str, Sequence[int]]:
        names = ("barriers", "reduces", "warp_barriers", "cluster_barriers", "groups", "meetings")
        return {name: getattr(self, name) for name in names}

    def define_run(self, module: ModuleText) -> None:
        """Add ``run``, which executes a range of thread blocks, to the module of the kernel."""
        add_function(module, "run")
        if module.shares_functions:
            module.define("run", _functions()["run"].replace("define", "define hidden", 1))
        module.define_constants("kernel", "i32", map(int, self.numbers().values()))
        for name, values in self._lists().items():
            module.define_constants(f"at_{name}", "i32", map(int, values or [0]))
