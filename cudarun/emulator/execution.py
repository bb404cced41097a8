"""Launching: a kernel over a grid, batch after batch of blocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

import numpy as np

from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.observer import NOBODY, Observer
from cudarun.emulator.machine.textures import Texture
from cudarun.emulator.memory import DeviceHeap, Memory
from cudarun.emulator.program import KernelCode, Program
from cudarun.records import dataclass

DEFAULT_STACK = 1024
DEFAULT_PRINTF_FIFO = 8650752
_GRID_WORKSPACE = 64


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """How a kernel is launched; sizes in bytes.

    ``parameters`` is the whole parameter buffer, ``cluster`` is ``None`` where nobody asked for
    clusters, which are of one block then, ``stack_limit`` is ``CU_LIMIT_STACK_SIZE``,
    ``printf_fifo`` is ``CU_LIMIT_PRINTF_FIFO_SIZE``, ``textures`` the texture objects by handle.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    parameters: bytes
    dynamic_shared: int = 0
    cooperative: bool = False
    cluster: tuple[int, int, int] | None = None
    stack_limit: int = DEFAULT_STACK
    printf_fifo: int = DEFAULT_PRINTF_FIFO
    heap: DeviceHeap | None = None
    textures: Mapping[int, Texture] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """What a kernel can ask about the device it runs on."""

    ordinal: int = 0
    multiprocessors: int = 132
    threads_per_multiprocessor: int = 2048


_FIRST_DEVICE = DeviceTraits()


def execute(
    program: Program,
    kernel: KernelCode,
    config: LaunchConfig,
    *,
    memories: Sequence[Memory],
    symbols: Mapping[str, int],
    printf: Callable[[bytes], None],
    device: DeviceTraits = _FIRST_DEVICE,
    begun: Callable[[Launch], object] = lambda launch: None,
    told: Callable[[float], object] = lambda done: None,
    observer: Observer = NOBODY,
) -> None:
    """Run a kernel to its end.

    Args:
        program: The module the kernel belongs to.
        kernel: One of ``program.kernels``.
        config: Grid, block and the rest; already validated.
        memories: Where global addresses can lie: the device's memory and the managed one.
        symbols: The address of every variable of the program in this context.
        printf: Takes what the kernel printed when the kernel has ended, also by a fault.
        device: The device it runs on.
        begun: Is called with what is to run.
        told: Is called now and then with the part of the blocks that has ended, from 0 to 1.
        observer: Is told what the launch does.

    Raises:
        DeviceFault: The kernel did what ends a kernel on hardware.
    """
    with _grid_workspace(config, memories[0]) as workspace, np.errstate(all="ignore"):
        launch = Launch(program, kernel, config, memories, symbols, device, workspace, observer)
        observer.launched(launch)
        begun(launch)
        try:
            _run(launch, told)
        finally:
            printf(launch.printed.take())


@contextmanager
def _grid_workspace(config: LaunchConfig, memory: Memory) -> Iterator[int]:
    """The address of memory for the barrier of a cooperative grid, 0 for other launches."""
    if not config.cooperative:
        yield 0
        return
    address = memory.allocate(_GRID_WORKSPACE, label="barrier of the grid")
    try:
        yield address
    finally:
        memory.free(address)


def _run(launch: Launch, told: Callable[[float], object]) -> None:
    """Batch after batch. One that seems to wait for blocks not yet begun lets them begin."""
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
        for _ in steps:  # it waits for others: they are to have their turn
            running.append((batch, steps))
            break
        else:
            idle.append(batch)
            launch.ended = max(0, begun - size * len(running))
            told(launch.ended / launch.blocks)
