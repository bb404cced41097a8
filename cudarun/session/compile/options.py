"""Options of ``--compile-option`` in nvcc's spelling, and their meaning here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from cudarun.images.versions import parse_target
from cudarun.session.compile.task import CompileTask

_ARCHITECTURE = re.compile(
    r"--?(?:(?:gpu-architecture|arch)=|(?:gencode|generate-code)=arch=)(?P<name>[^,]+).*"
)
# Of the host's code, or without them the same source is refused where it needs them.
_UNKNOWN_TO_NVRTC = re.compile(r"-O[0-3]|-g|-m64|--?(?:(?:expt-)?extended-lambda|expt-[\w-]+)")


def with_named_target(task: CompileTask) -> CompileTask:
    """Return the compilation for the architecture that its options name, as nvcc does.

    Without a name it is that of the device. Of several it is the newest that the device runs: as
    machine code where it can, else as PTX, which the driver compiles.
    """
    options = task.options
    named = [_ARCHITECTURE.fullmatch(option) for option in options.options]
    others = tuple(o for o, name in zip(options.options, named, strict=True) if name is None)
    compilation = replace(options, options=others)
    task = replace(task, source=replace(task.source, compilation=compilation))
    targets = [target for name in named if name and (target := parse_target(name["name"]))]
    if not targets or task.relocatable:  # a link has one target
        return task
    device = task.target.number
    best = max(targets, key=lambda target: (target.number <= device, target.number))
    real = replace(best, is_virtual=False)
    if task.form == "CUBIN" and real.runs_on(device):
        return replace(task, target=real)
    form = "PTX" if task.form == "CUBIN" else task.form
    return replace(task, target=replace(best, is_virtual=True), form=form)


def known_to_nvrtc(options: Sequence[str]) -> list[str]:
    """Return the options without those of nvcc that do not change what NVRTC does."""
    return [option for option in options if not _UNKNOWN_TO_NVRTC.fullmatch(option)]
