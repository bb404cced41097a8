"""The decision to compile a kernel: as soon as interpreting it is expected to take longer.

The interpreter starts at once. Another process compiles, and compiled code runs the blocks that the
interpreter has not run. Nothing of the compiler is imported for launches that end before.

Results of some kernels can show the order of the warps, which is another one in compiled code. The
work of the interpreter decides about these, not its time, so that they are the same in every run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

from cudarun.base.processors import available_cores
from cudarun.emulator.code import FunctionCode
from cudarun.emulator.costs import Clock, Costs
from cudarun.emulator.engine_run import COMPILE, INTERPRET, SUSPECTED, EngineRun
from cudarun.emulator.known_kernels import is_known, remember
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.memory import snapshot

if TYPE_CHECKING:
    from cudarun.emulator.compiled.engine import KernelCompilation

_MOST_TIERS = 256
_SAVED_BYTES = 32 << 20  # of memory: copied in 10 ms before a launch with detectors
_SAVED_AT_FIRST = 16 << 20  # the same before the first launch of a kernel without them
_SAVED_PER_THREAD = 64  # or as many bytes for each thread: copied faster than it runs
_TIMES_AS_FAST = 4  # compiled code, at least: whether it pays to run a part of a launch again
_BATCHES, _LEAST_LANES = 8, 1024  # the batches instead of one that has to end first, and their size

ORDER = "results can depend on the order of warps"
"""The reason why a compiled kernel can have other results than an interpreted one."""

MUCH_MEMORY = "copying its memory for detectors takes long"
"""The reason of launches with detectors that cannot be repeated."""

SHORT = "it takes less time than compiling"
"""The reason of ``auto`` for a launch that compiled code would not make shorter."""

_RUNNING = "all its blocks were running before it was known to take longer than compiling"
_FOUND = "the detectors had findings before the compiled code was ready"
_CHANGED = "its last blocks were running, and had changed memory, before it was compiled"
_UNFINISHED = "the launch ended before the kernel was compiled"


class KernelTier:
    """The engine of a kernel's launches in this process, by the time that they take.

    Args:
        tiers: The tiers of this process.
        function: The kernel.
        detect: The names of the detectors that observe it.
        shows_order: Whether its results may show the order of the warps.

    Attributes:
        reason: Why it cannot be compiled; empty if this is not known.
    """

    def __init__(
        self, tiers: Tiers, function: FunctionCode, detect: frozenset[str], *, shows_order: bool
    ) -> None:
        self.reason = ""
        self.costs = tiers.costs
        self._tiers = tiers
        self._shows_order = shows_order
        self._function = function
        self._key = function, detect
        self._seconds = 0.0  # of interpreted launches
        self._launches = 0  # of them
        self._due = 0.0  # when all of them have taken so long, the kernel has been compiled
        self._is_remembered = False
        self._compilation: KernelCompilation | None = None

    def is_of(self, function: FunctionCode) -> bool:
        """Return whether it is that of a kernel."""
        return self._function is function

    def run(self, run: EngineRun) -> None:
        """Run a launch.

        Raises:
            DeviceFault: The kernel did something that ends a kernel on hardware.
        """
        launch, first = run.launch, 0
        if launch.observer.detectors:
            self._run_observed(run)
            return
        if self.reason or not self.hands_over(launch, 0, 0):
            first = self._interpret(run)
        if first < launch.blocks:
            assert self._compilation is not None
            some = f"the first {first} of {launch.blocks} blocks were interpreted" if first else ""
            order = order_reason(self._compilation.visible_order) if self._shows_order else ""
            run.note(COMPILE, "; ".join(filter(None, [some, order])))
            self._compilation.run(run, first)

    def _interpret(self, run: EngineRun) -> int:
        """Interpret a launch until compiled code can take over; return the first block for it."""
        launch = run.launch
        clock = self._clock(launch)
        started = clock()
        decision = _Decision(self, launch, clock, self._saved(launch))
        launch.hands_over = decision
        if not launch.observer.detectors:
            launch.batch_size = decision.batch_size
        has_ended = False
        try:
            first = run.interpret()
            has_ended = True
        finally:
            elapsed = clock() - started
            self._seconds += elapsed
            self._launches += 1
            run.note(INTERPRET, self.reason or self._why_interpreted(launch, elapsed, has_ended))
        if not decision.begins_again:
            return first
        decision.restore()
        launch.begin_again()
        return 0

    def _saved(self, launch: Launch) -> Callable[[], None] | None:
        """Copy the memory of a launch that may take long, if compiled code needs it to begin again.

        Returns:
            What restores the memory; ``None`` if it is not needed, or copying it takes long.
        """
        if launch.observer.detectors or launch.launches_grids or not self.holds_back():
            return None
        if not is_copied(launch, _SAVED_AT_FIRST):
            return None
        return snapshot(launch.memories, launch.config.heap)

    def holds_back(self) -> bool:
        """Return whether a running batch of a launch that may take long cannot begin again."""
        are_short = self._seconds < self.costs.loading * self._launches
        return not (self.reason or are_short) and self._changes_memory_early

    @cached_property
    def _changes_memory_early(self) -> bool:
        from cudarun.emulator.machine.effects import changes_memory_early

        return changes_memory_early(self._function)

    def _why_interpreted(self, launch: Launch, elapsed: float, has_ended: bool) -> str:
        """Return why no compiled code has taken over a launch."""
        compilation = self._compilation
        if compilation is not None and compilation.kernel is not None:
            return _FOUND if launch.observer.detectors else _CHANGED
        if not has_ended:
            return _UNFINISHED
        is_late = compilation is None and self._pays(elapsed)
        return _RUNNING if is_late else SHORT

    def _run_observed(self, run: EngineRun) -> None:
        """Run a launch with detectors: compiled code begins with its first block."""
        if self.reason:
            run.interpret_whole(self.reason)
            return
        launch = run.launch
        restore = snapshot(launch.memories, launch.config.heap)
        if not self.hands_over(launch, 0, 0):
            if self._interpret(run) == launch.blocks:
                return
            restore()
            launch.begin_again()
            launch.observer.ended(launch)
            launch.observer.launched(launch)
        assert self._compilation is not None
        if not self._compilation.run_observed(run, restore):
            self.reason = SUSPECTED

    def _clock(self, launch: Launch) -> Clock:
        """Return what measures the seconds of an interpreted launch."""
        if self._shows_order:
            return lambda: self.costs.per_work * launch.work
        return self._tiers.clock

    def hands_over(
        self,
        launch: Launch,
        rest: float,
        elapsed: float,
        can_leave: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Return whether compiled code can run the rest of a launch; begin to compile if it pays.

        Args:
            launch: The launch.
            rest: The seconds that interpreting the rest is expected to take.
            elapsed: The seconds since the launch began.
            can_leave: Returns whether the interpreter can leave its running batch.
        """
        expected = max(rest, self._seconds + elapsed if self._seconds else 0)
        if self._compilation is None:
            if not self._pays(expected):
                return False
            self._begin(launch)
            self._due = self._seconds + elapsed + self._compile_seconds
        compilation = self._compilation
        if compilation is None:
            return False
        if self._shows_order and (self._seconds + elapsed < self._due or not can_leave()):
            return False
        if self._shows_order or self._tiers.waits:
            with launch.compiling():
                compilation.wait()
        if not compilation.is_loaded():
            self.reason = compilation.reason
            return False
        if not self._is_remembered:
            self._is_remembered = True  # an entry is written once, not with each launch
            if not compilation.was_stored:
                remember(*self._key)
        return can_leave()

    def _pays(self, seconds: float) -> bool:
        """Return whether compiling pays if interpreting takes so long."""
        return seconds >= self.costs.loading and seconds >= self._pays_from

    @cached_property
    def _pays_from(self) -> float:
        times = 1 + (self._shows_order or available_cores() == 1)
        if not self._shows_order and is_known(*self._key):
            times = 0
        return self.costs.loading + times * self._compile_seconds

    @cached_property
    def _compile_seconds(self) -> float:
        """The seconds that compiling is expected to take."""
        return self.costs.of_operations(len(self._function.operations))

    def _begin(self, launch: Launch) -> None:
        """Begin to compile."""
        from cudarun.emulator.compiled.actions import slower_compiled  # slow to import
        from cudarun.emulator.compiled.engine import compilation_of

        self.reason = slower_compiled(self._function)
        if self.reason:
            return
        compilation = compilation_of(launch, in_order=False)
        if compilation.kernel is None and not compilation.reason:
            compilation.begin()
        self.reason = compilation.reason
        if not self.reason:
            self._compilation = compilation
            self._shows_order = self._shows_order and bool(compilation.visible_order)


def order_reason(visible_order: str) -> str:
    """Return the reason that the note of a compiled kernel has if its order can be seen."""
    return f"{ORDER} ({visible_order})" if visible_order else ""


def is_copied(launch: Launch, most: int = _SAVED_BYTES) -> bool:
    """Return whether memory has so few bytes, or few for each thread: copying it takes no time."""
    used = sum(memory.used for memory in launch.memories)
    return used <= max(most, _SAVED_PER_THREAD * launch.blocks * launch.block_threads)


def has_changed_memory(launch: Launch, executed: Collection[int]) -> bool:
    """Return whether a batch can have changed what is not its own in some basic blocks."""
    from cudarun.emulator.machine.effects import changes_memory  # few launches need it

    return any(changes_memory(launch.locate(number)[1]) for number in executed)


class _Decision:
    """The question of the interpreter whether compiled code takes over, in one launch.

    Args:
        tier: The tier of its kernel.
        launch: The launch.
        clock: Measures its seconds.
        restore: Restores the memory before the launch; ``None`` if it has not been saved.

    Attributes:
        begins_again: Whether compiled code begins again with the first block.
    """

    def __init__(
        self,
        tier: KernelTier,
        launch: Launch,
        clock: Clock,
        restore: Callable[[], None] | None,
    ) -> None:
        self.begins_again = False
        self._tier = tier
        self._launch = launch
        self._clock = clock
        self._restore = restore
        self._started = self._ended_at = clock()
        self._next = self._started + tier.costs.interval
        self._ended = 0

    def __call__(self, executed: Collection[int]) -> bool:
        now = self._clock()
        if (now < self._next and executed) or self._tier.reason:
            return False  # asked too often, but between two batches, when most can take over
        rest, elapsed = self._rest(now), now - self._started

        def can_leave() -> bool:
            if self._launch.observer.detectors:  # compiled code begins again
                return not self._launch.observer.has_findings  # otherwise in vain
            if not has_changed_memory(self._launch, executed):
                return True
            pays = _TIMES_AS_FAST * rest > rest + elapsed
            self.begins_again = pays and self._restore is not None
            return self.begins_again

        answer = self._tier.hands_over(self._launch, rest, elapsed, can_leave)
        self.begins_again = self.begins_again and answer
        self._next = self._clock() + self._tier.costs.interval
        return answer

    def restore(self) -> None:
        """Restore the memory before the launch."""
        assert self._restore is not None
        self._restore()

    def batch_size(self, most: int) -> int:
        """Return the number of blocks of the next batch: few if it is long, and has to end first.

        Args:
            most: The largest number.
        """
        launch = self._launch
        is_whole = launch.config.cooperative or self._restore is not None
        if is_whole or not self._tier.holds_back():
            return most
        least = max(most // _BATCHES, _LEAST_LANES // launch.block_threads)
        wanted = 0
        if launch.ended:
            self._rest(self._clock())
            seconds = max(self._ended_at - self._started, 1e-9)
            wanted = int(self._tier.costs.batch * self._ended / seconds)
        blocks = min(max(wanted, least), most) // launch.cluster_blocks * launch.cluster_blocks
        return max(blocks, launch.cluster_blocks)

    def _rest(self, now: float) -> float:
        """Return the seconds that the blocks that have not ended are expected to take."""
        launch = self._launch
        if launch.ended > self._ended:
            self._ended, self._ended_at = launch.ended, now
        since = now - self._ended_at
        if not self._ended:
            return since  # nothing is known: as long again
        left = launch.blocks - self._ended
        return abs((self._ended_at - self._started) * left / self._ended - since)


def may_show_order(launch: Launch) -> bool:
    """Return whether results of a kernel, or of a function that it may call, can show an order."""
    from cudarun.emulator.machine.effects import can_show_order  # imports what kernels import

    program = launch.program
    called = (each for name, each in program.code.items() if name not in program.kernels)
    return any(map(can_show_order, (launch.kernel_function, *called)))


class Tiers:
    """The tiers of kernels in a process, and how they measure and expect times.

    Args:
        costs: The expected times.
        clock: Measures the times of launches.
        waits: Whether the interpreter waits for the compiler once it pays to compile, so that
            the moment at which compiled code takes over does not depend on the machine.
    """

    def __init__(
        self, costs: Costs | None = None, clock: Clock = time.perf_counter, *, waits: bool = False
    ) -> None:
        self.costs = costs or Costs()
        self.clock = clock
        self.waits = waits
        self._tiers: dict[tuple[object, ...], KernelTier] = {}  # the last one used is the last

    def of(self, launch: Launch) -> KernelTier:
        """Return the tier of the kernel of a launch, and of its detectors."""
        function = launch.kernel_function
        detect = launch.observer.detectors or frozenset()
        key = id(function), launch.is_serial, detect
        tier = self._tiers.pop(key, None)
        if tier is None or not tier.is_of(function):
            shows_order = not (detect or launch.is_serial) and may_show_order(launch)
            tier = KernelTier(self, function, detect, shows_order=shows_order)
        self._tiers[key] = tier
        if len(self._tiers) > _MOST_TIERS:
            del self._tiers[next(iter(self._tiers))]
        return tier


PROCESS_TIERS = Tiers()
"""Those of this process: engines that are selected one after another share what was compiled."""
