"""Execution of a launch: a kernel over a grid, in batches of blocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.launch import DeviceTraits, Launch, LaunchConfig
from cudarun.emulator.machine.observer import NOBODY, Observer
from cudarun.emulator.memory import Memory
from cudarun.emulator.program import KernelCode, ModuleCode

_GRID_WORKSPACE = 64


_FIRST_DEVICE = DeviceTraits()


def execute(
    program: ModuleCode,
    kernel: KernelCode,
    config: LaunchConfig,
    *,
    memories: Sequence[Memory],
    symbols: Mapping[str, int],
    printf: Callable[[bytes], None],
    device: DeviceTraits = _FIRST_DEVICE,
    begun: Callable[[Launch], object] = lambda launch: None,
    on_progress: Callable[[float], object] = lambda done: None,
    observer: Observer = NOBODY,
) -> None:
    """Run a kernel to its end.

    Args:
        program: The module the kernel belongs to.
        kernel: One of ``program.kernels``.
        config: Grid, block and the rest; already validated.
        memories: The memories of global addresses: the device's, and managed memory.
        symbols: The address of every variable of the program in this context.
        printf: Called with the printed text when the kernel has ended, also by a fault.
        device: The device it runs on.
        begun: Called with the launch before it runs.
        on_progress: Called from time to time with the completed part of the blocks, from 0 to 1.
        observer: Notified of the actions of the launch.

    Raises:
        DeviceFault: The kernel did something that ends a kernel on hardware.
    """
    with _grid_workspace(config, memories[0]) as workspace, np.errstate(all="ignore"):
        launch = Launch(program, kernel, config, memories, symbols, device, workspace, observer)
        observer.launched(launch)
        begun(launch)
        try:
            _run(launch, on_progress)
        finally:
            printf(launch.printed.take())


@contextmanager
def _grid_workspace(config: LaunchConfig, memory: Memory) -> Iterator[int]:
    """Yield the address of memory for the barrier of a cooperative grid; 0 for other launches."""
    if not config.cooperative:
        yield 0
        return
    address = memory.allocate(_GRID_WORKSPACE, label="grid barrier")
    try:
        yield address
    finally:
        memory.free(address)


def _run(launch: Launch, on_progress: Callable[[float], object]) -> None:
    """Run batch after batch; if one seems to wait for later blocks, start those, too."""
    size = launch.blocks_per_batch()
    begun = 0
    idle: list[Batch] = []
    running: deque[tuple[Batch, Iterator[None]]] = deque()
    while begun < launch.blocks or running:
        if begun < launch.blocks and len(running) < launch.most_batches(size):
            batch = idle.pop() if idle else Batch(launch, size)
            blocks = min(size, launch.blocks - begun)
            batch.begin(begun, blocks)
            begun += blocks
            running.appendleft((batch, batch.run()))
        batch, steps = running.popleft()
        launch.running = batch
        for _ in steps:  # it waits for other batches, which run next
            running.append((batch, steps))
            break
        else:
            idle.append(batch)
            launch.ended = max(0, begun - size * len(running))
            on_progress(launch.ended / launch.blocks)
