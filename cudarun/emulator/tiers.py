"""The decision to compile a kernel, by the work of the interpreter and not by its time.

The interpreter starts at once. As soon as interpreting is expected to take longer than compiling,
another process compiles, and compiled code runs the blocks that have not run when it is ready.
Nothing of the compiler is imported for launches that end before.

Results of some kernels can show the order of the warps, which is another one in compiled code. The
interpreter runs these up to an amount of work, so that they are the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from cudarun.base.records import dataclass
from cudarun.emulator.engine_run import COMPILE, INTERPRET, SUSPECTED, EngineRun
from cudarun.emulator.heap import snapshot
from cudarun.emulator.machine.launch import Launch

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

COMMUNICATES = "the program can have seen what it wrote"
"""The reason of launches with detectors that must not be repeated."""

_RUNNING = "all its blocks were running before it was known to take longer than compiling"
_FINDINGS = "the detectors had findings before the compiled code was ready"
_CHANGED = "its last blocks were running, and had changed memory, before it was compiled"
_UNFINISHED = "the launch ended before the kernel was compiled"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Amounts of `Launch.work`, of which the interpreter does about 2^29 in a second."""

    # From which on a kernel without instructions is compiled: importing the compiler is a small
    # part of the time of such a launch.
    least: float = 3 << 26
    per_operation: float = 1 << 16  # what every instruction adds
    # From which on for each instruction the code is compiled once more, to code that runs faster.
    improved: float = 1 << 24
    interval: float = 1 << 20  # between two decisions
    batch: float = 1 << 27  # of a batch that has to end before compiled code takes over
    detectors: float = 4  # how many times as long work takes with detectors


class KernelTier:
    """The engine of a kernel's launches in this process.

    Args:
        launch: The first launch of the kernel.
    """

    def __init__(self, tiers: Tiers, launch: Launch) -> None:
        self.reason = ""  # why it cannot be compiled; empty if this is not known
        self.thresholds = tiers.thresholds  # the amounts of work that decide
        self._waits = tiers.waits
        self._shows_order = False  # known when it begins to compile: few launches need it
        self.function = launch.kernel_function  # that of the kernel
        self._has_system_atomics: bool | None = None
        self._work = 0.0  # of interpreted launches
        self._compiled_work = 0.0  # what the interpreter would take for that of compiled code
        self._lane_work = 0.0  # of a thread of the last launch
        self._launches = 0  # of them
        self._due = 0.0  # the work after which the interpreter waits for the compiler
        self._compilation: KernelCompilation | None = None

    def run(self, run: EngineRun) -> None:
        """Run a launch."""
        launch, first = run.launch, 0
        if self.reason or not (self._is_compiled_first(launch) or self.takes_over(launch)):
            first = self._interpret(run)
        if first == launch.blocks:
            return
        assert self._compilation is not None
        if launch.observer.detectors:
            if not self._compilation.run_observed(run):
                self.reason = SUSPECTED
            return
        some = f"the first {first} of {launch.blocks} blocks were interpreted" if first else ""
        order = order_reason(self._compilation.visible_order) if self._shows_order else ""
        run.note(COMPILE, "; ".join(filter(None, [some, order])))
        self._compiled_work += self._lane_work * (launch.blocks - first) * launch.block_threads
        if self._compiled_work >= self.thresholds.improved * len(self.function.operations):
            self._compilation.improve()
            if self._waits:
                self._compilation.wait()
        self._compilation.run(run, first)

    def _is_compiled_first(self, launch: Launch) -> bool:
        """Compile a kernel whose operations are atomic for the program: slow in the interpreter."""
        if not launch.shares_memory:
            return False
        if self._has_system_atomics is None:
            from cudarun.emulator.machine import effects  # few launches need it

            self._has_system_atomics = effects.has_system_atomics(launch)
        if not self._has_system_atomics:
            return False
        if self._compilation is None:
            self._begin(launch)
        if self._compilation is None:
            return False
        self._lane_work = inf  # it is not known: faster code is compiled at once
        if self._compilation.kernel is None:
            with launch.compiling():
                self._compilation.wait()
        if not self._compilation.is_loaded():
            self.reason = self._compilation.reason
        return not self.reason

    def _interpret(self, run: EngineRun) -> int:
        """Interpret a launch until compiled code can take over; return the first block for it."""
        launch = run.launch
        handover = _Handover(self, launch)
        launch.hands_over, launch.batch_size = handover, handover.batch_size
        has_ended = False
        try:
            first = run.interpret()
            has_ended = True
        finally:
            work = self.work_of(launch)
            self._work += work
            self._launches += 1
            if has_ended:
                self._lane_work = work / (launch.blocks * launch.block_threads)
            run.note(INTERPRET, self.reason or self._why_interpreted(launch, work, has_ended))
        return 0 if handover.begins_again() else first

    def work_of(self, launch: Launch) -> float:
        """Return the work of a launch so far, in that of launches without detectors."""
        return launch.work * (self.thresholds.detectors if launch.observer.detectors else 1)

    def holds_back(self) -> bool:
        """Return whether a running batch of a launch that may take long cannot begin again."""
        are_short = self._work < self.thresholds.least * self._launches
        return not (self.reason or are_short) and self._changes_memory_early

    @cached_property
    def _changes_memory_early(self) -> bool:
        from cudarun.emulator.machine.effects import changes_memory_early

        return changes_memory_early(self.function)

    def _why_interpreted(self, launch: Launch, work: float, has_ended: bool) -> str:
        """Return why no compiled code has taken over a launch."""
        compilation = self._compilation
        if compilation is not None and compilation.kernel is not None:
            return _FINDINGS if launch.observer.detectors else _CHANGED
        if not has_ended:
            return _UNFINISHED
        return _RUNNING if compilation is None and work >= self._pays_from else SHORT

    @cached_property
    def _pays_from(self) -> float:
        operations = len(self.function.operations)
        return self.thresholds.least + self.thresholds.per_operation * operations

    def takes_over(
        self, launch: Launch, rest: float = 0, can_leave: Callable[[], bool] = lambda: True
    ) -> bool:
        """Return whether compiled code can run the rest of a launch; begin to compile if it pays.

        Args:
            rest: The expected work of the rest.
            can_leave: Returns whether the interpreter can leave its running batch.
        """
        own = self.work_of(launch)
        work = self._work + own
        if rest:
            self._lane_work = (own + rest) / (launch.blocks * launch.block_threads)
        if self._compilation is None:
            if max(rest, work if self._work else 0) < self._pays_from:
                return False
            self._begin(launch)
            self._due = work + self._pays_from
        compilation = self._compilation
        if compilation is None or (self._shows_order and (work < self._due or not can_leave())):
            return False
        if compilation.kernel is None and (self._shows_order or self._waits):
            with launch.compiling():
                compilation.wait()
        if not compilation.is_loaded():
            self.reason = compilation.reason
            return False
        return can_leave()

    def _begin(self, launch: Launch) -> None:
        """Begin to compile."""
        from cudarun.emulator.compiled.actions import slower_compiled  # slow to import
        from cudarun.emulator.compiled.engine import compilation_of

        self.reason = slower_compiled(self.function)
        if self.reason:
            return
        compilation = compilation_of(launch, is_quick=not launch.observer.detectors)
        if compilation.kernel is None and not compilation.reason:
            compilation.begin()
        self.reason = compilation.reason
        if not self.reason:
            self._compilation = compilation
            is_ordered = launch.observer.detectors or launch.is_serial
            self._shows_order = bool(compilation.visible_order) and not is_ordered


def order_reason(visible_order: str) -> str:
    """Return the reason that the note of a compiled kernel has if its order can be seen."""
    return f"{ORDER} ({visible_order})" if visible_order else ""


def is_copied(launch: Launch, most: int = _SAVED_BYTES) -> bool:
    """Return whether memory has so few bytes, or few for each thread: copying it takes no time."""
    used = sum(memory.used for memory in launch.memories)
    return used <= max(most, _SAVED_PER_THREAD * launch.blocks * launch.block_threads)


class _Handover:
    """The question of the interpreter whether compiled code takes over, in one launch.

    Args:
        launch: The launch, before it runs. Its memory is copied if compiled code can have to begin
            again, which it always has to with detectors. Only what the launch itself has written
            is restored: other streams and the program write and allocate at the same time.
    """

    def __init__(self, tier: KernelTier, launch: Launch) -> None:
        self._tier = tier
        self._launch = launch
        self._is_observed = bool(launch.observer.detectors)
        self._next = tier.thresholds.interval
        self._ended, self._ended_at = 0, 0.0  # blocks, and the work until then
        self._begins_again = False
        self._restore: Callable[..., None] | None = None
        is_delayed = not launch.launches_grids and tier.holds_back()
        if is_delayed:
            from cudarun.emulator.machine.effects import communicates  # few launches need it

            is_delayed = not communicates(launch) and is_copied(launch, _SAVED_AT_FIRST)
        if not tier.reason and (self._is_observed or is_delayed):
            self._restore = snapshot(launch.memories, launch.config.heap, tracks=True)

    def __call__(self, executed: Collection[int]) -> bool:
        work = self._tier.work_of(self._launch)
        if (work < self._next and executed) or self._tier.reason:
            return False  # asked too often, but between two batches, when most can take over
        self._next = work + self._tier.thresholds.interval
        rest = self._rest(work)

        def can_leave() -> bool:
            if self._is_observed:
                self._begins_again = not self._launch.observer.has_findings  # otherwise in vain
                return self._begins_again
            from cudarun.emulator.machine.effects import changes_memory  # few launches need it

            # Whether a batch can have changed what is not its own in the executed blocks.
            changed = any(changes_memory(self._launch.locate(each)[1]) for each in executed)
            pays = _TIMES_AS_FAST * rest > rest + work
            self._begins_again = changed and pays and self._restore is not None
            return self._begins_again or not changed

        takes_over = self._tier.takes_over(self._launch, rest, can_leave)
        self._begins_again &= takes_over  # the compiler can fail after the question
        return takes_over

    def begins_again(self) -> bool:
        """Restore the state before the launch if compiled code begins with the first block."""
        launch = self._launch
        if self._restore is not None:
            self._restore(restores=self._begins_again)
        if self._begins_again:
            launch.begin_again()
            if self._is_observed:
                launch.observer.ended(launch)
                launch.observer.launched(launch)
        return self._begins_again

    def batch_size(self, most: int) -> int:
        """Return the number of blocks of the next batch: few if it is long and has to end first."""
        launch = self._launch
        is_whole = launch.config.cooperative or self._restore is not None
        if is_whole or not self._tier.holds_back():
            return most
        blocks = max(most // _BATCHES, _LEAST_LANES // launch.block_threads)
        if launch.ended:
            self._rest(launch.work)
            in_time = self._tier.thresholds.batch * self._ended / max(self._ended_at, 1)
            blocks = max(int(in_time), blocks)
        return launch.whole_clusters(min(blocks, most)) or launch.cluster_blocks

    def _rest(self, work: float) -> float:
        """Return the expected work of the blocks that have not ended."""
        launch = self._launch
        if launch.ended > self._ended:
            self._ended, self._ended_at = launch.ended, work
        since = work - self._ended_at
        if not self._ended:  # those that run take as long again, and others at least as long
            assert launch.running is not None
            return since * launch.blocks / (launch.running.first_block + launch.running.blocks)
        left = launch.blocks - self._ended
        return abs(self._ended_at * left / self._ended - since)


class Tiers:
    """The tiers of kernels in a process.

    Args:
        thresholds: The amounts of work that decide.
        waits: Whether the interpreter waits for the compiler once it pays to compile, so that
            the moment at which compiled code takes over does not depend on the machine.
    """

    def __init__(self, thresholds: Thresholds | None = None, *, waits: bool = False) -> None:
        self.thresholds = thresholds or Thresholds()
        self.waits = waits
        self._tiers: dict[tuple[object, ...], KernelTier] = {}  # the last one used is the last

    def of(self, launch: Launch) -> KernelTier:
        """Return the tier of the kernel of a launch, and of its detectors."""
        function = launch.kernel_function
        detect = launch.observer.detectors or frozenset()
        key = id(function), launch.is_serial, detect
        tier = self._tiers.pop(key, None)
        if tier is None or tier.function is not function:
            tier = KernelTier(self, launch)
        self._tiers[key] = tier
        if len(self._tiers) > _MOST_TIERS:
            del self._tiers[next(iter(self._tiers))]
        return tier


PROCESS_TIERS = Tiers()
"""Those of this process: engines that are selected one after another share what was compiled."""
