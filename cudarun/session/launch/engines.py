"""The engines that ran the kernels of a launch on an emulated device."""

from __future__ import annotations

from collections.abc import Sequence

from cudarun.images.demangler import demangle
from cudarun.model.launch import KernelEngine
from cudarun.session.driver.calls import Driver
from cudarun.session.launch.steps import BoundStep


def engines_of(
    driver: Driver, steps: Sequence[BoundStep], selected: str | None
) -> tuple[KernelEngine, ...]:
    """Return the engine of each kernel that has run; none for a GPU.

    Args:
        driver: The driver that launched the kernels.
        steps: The steps of the launch. Their kernels come first, then those that kernels launched.
        selected: The engine of ``--cpu-engine``; ``None`` for that of the environment.
    """
    option = f"--cpu-engine {selected}" if selected else "CUDARUN_CPU_ENGINE=interpret"
    notes = {note.kernel: note for note in driver.traits.engine_notes()}
    names = {step.kernel.name: step.kernel.demangled for step in steps}
    launched = {name: names.get(name) or demangle(name) for name in (*names, *notes)}
    return tuple(
        KernelEngine(
            name,
            demangled,
            "compile" if notes[name].engine == "compile" else "interpret",
            notes[name].reason or (option if notes[name].engine == "interpret" else None),
            notes[name].is_default,
        )
        for name, demangled in launched.items()
        if name in notes
    )
