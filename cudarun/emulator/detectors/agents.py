"""Asynchronous operations as agents: numbers beside those of threads, and groups of copies.

An operation reads its source and writes its destination at any time from its issue to its
completion. Until a thread knows of the completion, the accesses are those of another thread: the
agent. The agents of a thread are its ``cp.async`` copies, and the reads and the writes of its bulk
groups, which complete in the order of their issue. Others complete by the phases of an ``mbarrier``
object, or are those of some threads together: the products of a warpgroup, the loads and the stores
of tensor memory of a warp. The operations of a thread on tensor memory are one agent, as they are
executed in order.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.bulk_copies import BulkTransfer
from cudarun.emulator.machine.mbarriers import ArriveAfterCopies, PhaseTest
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.machine.tensor_memory.copies import CommitTensors
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.machine.transfers import GroupControl
from cudarun.emulator.numerics.arrays import Array, Arrays, Mask

FIRST_AGENT = 1 << 31  # the first number of an agent; those of threads are below it

COPIES, BULK_READS, BULK_WRITES, NUMBERED = (FIRST_AGENT | kind << 29 for kind in range(4))
"""The first numbers of the agents of threads, and of the others."""

_OF_THREADS = {"cp.async": COPIES, "bulk read": BULK_READS, "bulk write": BULK_WRITES}
_QUEUES = {"cp.async": (COPIES,), "bulk": (BULK_READS, BULK_WRITES)}
TOGETHER = {"wgmma": WARPGROUP, "tcgen05.ld": WARP, "tcgen05.st": WARP, "tcgen05": 1}
"""By agent, the number of threads that issue its operations together."""
IN_ORDER = frozenset({"", "tcgen05"})
"""Threads, and the agents whose operations are executed in the order of their issue."""
_INDEX = (1 << 29) - 1
_MOST_GROUPS = 32  # that a wait leaves pending


def is_generic(access: Access) -> bool:
    """Return whether an access goes through the generic proxy."""
    return access.agent in ("", "cp.async", "st.async")


def of_thread(kind: int | Array, threads: int | Array) -> Array:
    """Return the agents of threads, by the first number of their kind."""
    return np.bitwise_or(kind, np.bitwise_and(threads, _INDEX))


def kinds_of(numbers: Array) -> Array:
    """Return the first number of the kind of each agent; 0 of threads."""
    return np.where(numbers >= FIRST_AGENT, numbers & ~_INDEX, 0)


class Agents:
    """The agents of a launch, and the groups in which their operations are committed."""

    def __init__(self) -> None:
        # The parity of the phase that each lane waits for, if the action is such a wait.
        self.asked: Array | None = None
        # Whether the async proxy reports its completion at ``mbarrier`` objects.
        self.report = False
        self.issued: tuple[MemoryAction, Active, Arrays]  # the action that makes accesses
        self._numbers: dict[tuple[int, ...], int] = {}
        self._keys: list[tuple[int, ...]] = []
        self._issuers: dict[int, int] = {}  # of agents with a number, the last one
        self._copies: dict[int, int] | None = None  # a number for agents of equal operands
        # The agents with a number of the action, by lane, and 0; ``None`` if it has none.
        self._of_lanes: Array | None = None
        self._ends: dict[tuple[Batch, str], Array] = {}  # the times of each lane's last commits

    def begin(self, batch: Batch) -> None:
        """Forget the groups of operations of the blocks before."""
        self._ends = {key: ends for key, ends in self._ends.items() if key[0] is not batch}

    def issue(self, action: MemoryAction, active: Active, sources: Arrays) -> None:
        """Note the action that makes the next accesses."""
        self.issued = action, active, sources
        self._copies = None
        self.asked = action.phases(sources) if isinstance(action, PhaseTest) else None
        self._of_lanes = None
        self.report = False
        if isinstance(action, BulkTransfer) and action.reports:
            self.report = not is_generic(action.accesses[0])
            offset = action.accesses[-1].offset
            objects = action.objects(sources).astype(np.int64) + offset & (1 << RANK_SHIFT) - 1
            threads, size = active.batch.threads.number(0), active.batch.threads.threads
            self._of_lanes = np.zeros(active.batch.lanes, dtype=np.int64)
            for place, object_ in enumerate(objects.tolist()):
                lane = active.lane(place)
                key = (threads + lane) // size, object_
                self._of_lanes[lane] = self._numbered(key, threads + lane)

    def are_one_copy(self, agents: Array, others: Array) -> Mask:
        """Return which pairs of the action's agents make one copy: of lanes with equal operands.

        Those of one with a number have equal operands, too, unless these differ.
        """
        if self._copies is None:
            self._copies = self._copies_of(*self.issued[1:])
        one, other = (
            np.array([self._copies.get(agent, -1) for agent in each.tolist()], dtype=np.int64)
            for each in (agents, others)
        )
        same: Mask = (one >= 0) & (one == other) & ((agents != others) | (agents >= NUMBERED))
        return same

    def _copies_of(self, active: Active, sources: Arrays) -> dict[int, int]:
        """Return a number for each agent, the same for equal operands; -1 for several."""
        operands = np.stack([np.asarray(source, dtype=np.int64) for source in sources])
        numbers = np.unique(operands, axis=1, return_inverse=True)[1].ravel().tolist()
        first, found = active.batch.threads.number(0), dict[int, int]()
        for lane, number in zip(lane_sets.indices(active.lanes).tolist(), numbers, strict=True):
            agents = [of_thread(kind, first + lane) for kind in _OF_THREADS.values()]
            if self._of_lanes is not None and self._of_lanes[lane]:
                agents = [self._of_lanes[lane]]
            for agent in map(int, agents):
                found[agent] = number if found.get(agent, number) == number else -1
        return found

    def of(self, access: Access, active: Active, threads: Array) -> Array:
        """Return the agents that make an access of the active lanes."""
        if access.agent == "tensormap":
            return threads
        kind = _OF_THREADS.get(access.agent)
        if kind is not None:
            return of_thread(kind, threads)
        if access.agent in TOGETHER:
            return self.together(access.agent, active, threads)
        return self._of_active(active)

    def together(self, agent: str, active: Active, threads: Array) -> Array:
        """Return the agents of the groups of threads of the active lanes, one for each lane."""
        size = active.batch.threads.threads
        first_threads = threads - threads % size % TOGETHER[agent]
        groups, place = np.unique(first_threads, return_inverse=True)
        kind = -1 - [*TOGETHER].index(agent)
        found = [
            self._numbered((first // size, kind, first % size), first) for first in groups.tolist()
        ]
        return np.array(found, dtype=np.int64)[place]

    def completing(self, active: Active, threads: Array) -> Array:
        """Return the agents whose operations the action completes at ``mbarrier`` objects.

        It is a copy, ``cp.async.mbarrier.arrive``, or ``tcgen05.commit``.
        """
        if isinstance(self.issued[0], CommitTensors):
            own = active.batch.threads.number(0) + lane_sets.indices(active.lanes)
            return self.together("tcgen05", active, own)
        if isinstance(self.issued[0], ArriveAfterCopies):
            return of_thread(COPIES, threads)
        return np.zeros(0, dtype=np.int64) if self._of_lanes is None else self._of_active(active)

    def _of_active(self, active: Active) -> Array:
        assert self._of_lanes is not None, "the action reports at an object"
        found: Array = self._of_lanes[active.lanes]
        return found

    def _numbered(self, key: tuple[int, ...], issuer: int) -> int:
        number = self._numbers.setdefault(key, len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
        self._issuers[number] = issuer
        return NUMBERED | number

    def issuer(self, number: int) -> int:
        """Return the thread that issued the last operation of an agent; or the thread itself."""
        if number < NUMBERED:
            return number & _INDEX if number >= FIRST_AGENT else number
        return self._issuers[number & _INDEX]

    def object_of(self, number: int) -> int:
        """Return the address of the ``mbarrier`` object in the shared memory of its block."""
        return self._keys[number & _INDEX][1]

    # --- groups ----------------------------------------------------------------------------------

    def commit(self, active: Active, queue: str, now: int) -> None:
        """Note that lanes commit a group of operations in a queue at some time."""
        key, lanes = (active.batch, queue), active.lanes
        if key not in self._ends:
            self._ends[key] = np.zeros((active.batch.lanes, _MOST_GROUPS), dtype=np.int64)
        ends = self._ends[key]
        ends[lanes, 1:] = ends[lanes, :-1].copy()
        ends[lanes, 0] = now

    def completed(self, active: Active, wait: GroupControl, now: int) -> Array:
        """Return up to which timestamps operations of lanes are complete after a wait."""
        if wait.pending is None:
            return np.full(active.count, now)
        ends = self._ends.get((active.batch, wait.queue))
        if ends is None or wait.pending >= _MOST_GROUPS:
            return np.zeros(active.count, dtype=np.int64)
        return ends[active.lanes, wait.pending]


def completed_agents(wait: GroupControl) -> tuple[int, ...]:
    """Return the kinds of agents of single threads that a wait for groups completes."""
    kinds = _QUEUES.get(wait.queue, ())
    return kinds[:1] if wait.reads else kinds
