"""Execution of a launch: a kernel over a grid, in batches of blocks, and the grids it launches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.engines import Engines
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.batch import Batch, HandOver
from cudarun.emulator.machine.child_grids import ChildGrid, GridFamily
from cudarun.emulator.machine.launch import DeviceTraits, Launch, LaunchConfig
from cudarun.emulator.machine.observer import NO_OBSERVER, Observer
from cudarun.emulator.machine.standstill import Standstill
from cudarun.emulator.memory import Memory
from cudarun.emulator.program import KernelCode, ModuleCode

_GRID_WORKSPACE = 64
_FIRST_CHILD = -2  # %gridid of child grids counts down, as on an H200


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
    observer: Observer = NO_OBSERVER,
    engines: Engines | None = None,
) -> None:
    """Run a kernel to its end.

    Args:
        config: Grid, block and the rest; already validated.
        memories: The memories of global addresses: the device's, and managed memory.
        symbols: The address of every variable of the program in this context.
        printf: Called with the printed text when the kernel has ended, also by a fault.
        begun: Called with the launch before it runs, and with each grid that its kernels launch.
        on_progress: Called from time to time with the completed part of the blocks, from 0 to 1.
        observer: Notified of the actions of the launch.
        engines: Selects the engine; the interpreter by default.

    Raises:
        DeviceFault: The kernel did something that ends a kernel on hardware.
        NotCompiled: Only compiled code is permitted, and the kernel cannot be compiled.
    """
    family = GridFamily()
    launch_of = partial(
        Launch,
        program=program,
        memories=memories,
        symbols=symbols,
        device=device,
        observer=observer,
        family=family,
    )
    grids = _Grids(launch_of, memories[0], printf, begun, observer, engines or Engines())
    try:
        with np.errstate(all="ignore"):
            grids.complete(grids.run(kernel, config, on_progress))
    finally:
        family.release(memories[0])


@dataclass(slots=True)
class _Grids:
    """Runs the grid of a launch and those that its kernels launch; arguments as of `execute`."""

    launch_of: Callable[..., Launch]  # returns the launch of a kernel
    memory: Memory  # the device's
    printf: Callable[[bytes], None]
    begun: Callable[[Launch], object]
    observer: Observer
    engines: Engines
    children: int = 0

    def run(
        self,
        kernel: KernelCode,
        config: LaunchConfig,
        on_progress: Callable[[float], object],
        origin: ChildGrid | None = None,
    ) -> Launch:
        """Run the threads of a grid to their ends and return its launch."""
        memory, observer = self.memory, self.observer
        with ExitStack() as stack:
            workspace = 0  # the address of memory for the barrier of a cooperative grid
            if config.cooperative:
                workspace = memory.allocate(_GRID_WORKSPACE, label="grid barrier")
                stack.callback(memory.free, workspace)
            launch = self.launch_of(
                kernel=kernel, config=config, grid_workspace=workspace, origin=origin
            )
            launch.children.complete = partial(self._complete_children, launch)
            observer.launched(launch)
            self.begun(launch)
            try:
                self.engines.run(launch, on_progress, _run)
                launch.running = None  # its registers and shared memory are not kept
                observer.ran(launch)
            except DeviceFault:
                observer.ran(launch)
                raise
            finally:
                launch.children.release(memory)
                observer.ended(launch)
                self.printf(launch.printed.take())
        return launch

    def complete(self, launch: Launch) -> None:
        """Run all children of a grid whose threads have exited, and then its tail launches."""
        grids = [launch]  # nested ones; no recursion: each may launch the next
        while grids:
            parent = grids[-1]
            queue = parent.children
            if queue.children:
                work = queue.children.popleft()
            elif queue.tails:
                work = queue.tails.popleft()
            else:
                grids.pop()
                continue
            if not isinstance(work, ChildGrid):
                work()
                continue
            if not (queue.children or queue.tails):
                grids.pop()  # it only waits for this one
            grids.append(self._run_child(parent, work))

    def _complete_children(self, launch: Launch) -> None:
        """Run the children so far of a grid that is running."""
        work, launch.children.children = launch.children.children, deque()
        for child in work:
            if isinstance(child, ChildGrid):
                self.complete(self._run_child(launch, child))
            else:
                child()
        self.begun(launch)

    def _run_child(self, parent: Launch, child: ChildGrid) -> Launch:
        self.children += 1
        config = replace(
            parent.config,
            grid=child.grid,
            block=child.block,
            parameters=child.parameters,
            dynamic_shared=child.dynamic_shared,
            overlap=None,
            cooperative=False,
            cluster=child.kernel.required_cluster,
            grid_id=_FIRST_CHILD * self.children,
        )
        try:
            return self.run(child.kernel, config, lambda done: None, child)
        except DeviceFault as fault:
            by = f"  launched by kernel {parent.kernel.name}"
            raise DeviceFault(fault.result, f"{fault.report}\n{by}", fault.places) from None


def _run(launch: Launch, on_progress: Callable[[float], object]) -> int:
    """Run batch after batch; if one seems to wait for later blocks, start those, too.

    Returns:
        The number of the first block that another engine is to run, as `Launch.hands_over` says;
        that of all blocks if none is left.
    """
    size = launch.blocks_per_batch()
    begun = 0
    idle: list[Batch] = []
    running: deque[tuple[Batch, Iterator[None]]] = deque()
    standstill = Standstill(launch)
    launch.take_last = lambda: launch.blocks - begun >= launch.cluster_blocks
    while begun < launch.blocks or running:
        blocks_of = (each.threads.block_of[each.alive] for each, _ in running)
        in_progress = sum(int(np.count_nonzero(np.bincount(each))) for each in blocks_of)
        room = launch.whole_clusters(launch.resident_blocks - in_progress)
        launch.excluded = 0 if room else launch.blocks - begun
        if begun < launch.blocks and room:
            if begun and not running and launch.hands_over(()):
                break
            most = launch.batch_size(size)
            if launch.config.schedule is not None and not launch.config.cooperative:
                clusters = launch.config.schedule.clusters(most // launch.cluster_blocks)
                most = clusters * launch.cluster_blocks
            blocks = min(most, launch.blocks - begun, room)
            fitting = (batch for batch in idle if batch.threads.room >= blocks)
            if (batch := next(fitting, None)) is None:
                batch = Batch(launch, blocks if running else size)
                if launch.config.schedule is not None:
                    from cudarun.emulator.machine.schedules.pending import PendingOperations

                    batch.operations = PendingOperations(batch, launch.config.schedule)
            else:
                idle.remove(batch)
            batch.begin(begun, blocks)
            begun += blocks
            running.appendleft((batch, batch.run()))
        batch, steps = running.popleft()
        launch.running = batch
        batch.is_last = not running and batch.first_block + batch.blocks == begun
        try:
            for _ in steps:  # it waits for other batches, or for children, which run next
                running.append((batch, steps))
                if launch.children.children:
                    launch.children.complete()
                elif launch.excluded:
                    batches = [each for each, _ in running]
                    standstill.check(batch, batches, chain(*(each.state() for each in batches)))
                break
            else:
                idle.append(batch)
                launch.ended = min((each.first_block for each, _ in running), default=begun)
                on_progress(launch.ended / launch.blocks)
        except HandOver:
            return batch.first_block
    return begun
