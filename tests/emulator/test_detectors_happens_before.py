"""What lanes know of each other, held against vector clocks with an entry for every thread."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudarun.emulator.code import Site
from cudarun.emulator.detectors.agents import COPIES, of_thread
from cudarun.emulator.detectors.happens_before import HappensBefore
from cudarun.emulator.detectors.vector_clocks import (
    BLOCK,
    NOTHING,
    THREAD,
    THREAD_BITS,
    WARP,
    LogicalClock,
    VectorClock,
)
from cudarun.emulator.machine.barriers import Arrival
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.lanes import distinct, groups
from cudarun.emulator.machine.launch import DeviceTraits, Launch, LaunchConfig
from cudarun.emulator.machine.observer import NO_OBSERVER
from tests.emulator.device import Device

BLOCKS, THREADS, WARPS = 3, 40, 2  # the second warp of each block has 8 threads
LANES = BLOCKS * THREADS
SITE = Site("k", 1, "ld.global.u32", None)


def new_batch() -> Batch:
    device = Device(".visible .entry k() { ret; }")
    config = LaunchConfig(grid=(BLOCKS, 1, 1), block=(THREADS, 1, 1), parameters=b"")
    kernel = device.program.kernels["k"]
    launch = Launch(
        device.program, kernel, config, [device.memory], {}, DeviceTraits(), 0, NO_OBSERVER
    )
    batch = Batch(launch, BLOCKS)
    batch.begin(0, BLOCKS)
    return batch


class VectorClocks:
    """The textbook: a timestamp for every pair of threads."""

    def __init__(self) -> None:
        self.known = np.zeros((LANES, LANES), dtype=np.int64)
        self.fenced = np.zeros_like(self.known)
        self.released: dict[int, np.ndarray] = {}

    def access(self, lanes: np.ndarray, timestamp: int) -> None:
        self.known[lanes, lanes] = timestamp

    def meet(self, arriving: dict[int, np.ndarray], waiting: np.ndarray) -> None:
        self.known[waiting] = np.max([*arriving.values()], axis=0)

    def fence(self, lanes: np.ndarray) -> None:
        self.fenced[lanes] = self.known[lanes]

    def write(self, lanes: np.ndarray, address: int) -> None:
        held = self.released.get(address, np.zeros(LANES, dtype=np.int64))
        self.released[address] = np.maximum(held, self.fenced[lanes].max(axis=0))

    def read(self, lanes: np.ndarray, address: int) -> None:
        if address in self.released:
            self.known[lanes] = np.maximum(self.known[lanes], self.released[address])


class Both:
    """The same steps for `HappensBefore` and for the textbook."""

    def __init__(self) -> None:
        self.batch = new_batch()
        self.logical_clock = LogicalClock()
        self.order = HappensBefore(self.batch, self.logical_clock)
        self.order.begin(0)
        self.clocks = VectorClocks()
        self.accesses: list[tuple[int, int]] = []
        self.released: dict[int, VectorClock] = {}

    def access(self, lanes: np.ndarray) -> None:
        timestamp = self.logical_clock.next(self.logical_clock.site_number(SITE, "load"))
        self.clocks.access(lanes, timestamp)
        self.accesses += [(timestamp, int(lane)) for lane in lanes]

    def block_barrier(self, block: int) -> None:
        lanes = np.arange(block * THREADS, (block + 1) * THREADS)
        self.order.blocks_synchronize(slice(int(lanes[0]), int(lanes[-1]) + 1))
        self.clocks.meet({lane: self.clocks.known[lane] for lane in lanes}, lanes)

    def warp_barrier(self, warp: int, bits: int) -> None:
        first = warp // WARPS * THREADS + warp % WARPS * 32
        size = min(32, THREADS - warp % WARPS * 32)
        bits &= (1 << size) - 1
        lanes = np.array([first + lane for lane in range(size) if bits >> lane & 1])
        if len(lanes):
            self.order.warps_synchronize(lanes, np.full(len(lanes), bits, dtype=np.uint32))
            self.clocks.meet({lane: self.clocks.known[lane] for lane in lanes}, lanes)

    def named_barrier(self, block: int, first_waits: bool) -> None:
        """One warp of a block waits for the other, which arrives and goes on."""
        first = np.arange(block * THREADS, block * THREADS + 32)
        second = np.arange(block * THREADS + 32, (block + 1) * THREADS)
        waiting, arriving = (first, second) if first_waits else (second, first)
        before = {int(lane): self.clocks.known[lane].copy() for lane in arriving}
        arrivals = [self._arrival(arriving, None), self._arrival(waiting, (0,))]
        self.access(arriving)  # after the arrival: the others do not know of it
        self.order.barrier(arrivals)
        before |= {int(lane): self.clocks.known[lane] for lane in waiting}
        self.clocks.meet(before, waiting)

    def _arrival(self, lanes: np.ndarray, path: tuple[int, ...] | None) -> Arrival:
        expected = np.full(len(lanes), 64, dtype=np.uint32)
        known = None if path else self.order.arrived(lanes)
        return Arrival(1, lanes, expected, path, SITE, known=known)

    def fence(self, lanes: np.ndarray) -> None:
        self.order.fence(lanes, "gpu")
        self.clocks.fence(lanes)

    def write(self, lanes: np.ndarray, address: int) -> None:
        writers = lanes[self.order.has_fenced(lanes, "grid")]
        if len(writers):
            clock = self.order.released_clock(writers, "grid")
            each = [
                self.order.released_clock(writers[i : i + 1], "grid") for i in range(len(writers))
            ]
            assert known_by(clock).tolist() == np.max([*map(known_by, each)], axis=0).tolist()
            self.released[address] = self.released.get(address, NOTHING).joined(clock)
        self.clocks.write(lanes, address)

    def read(self, lanes: np.ndarray, address: int) -> None:
        if address in self.released:
            self.order.acquire(lanes, self.released[address])
        self.clocks.read(lanes, address)

    def answers(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each access of the past, which lanes see it unordered: ours, the textbook's."""
        lanes = np.arange(LANES)
        for timestamp, thread in self.accesses:
            words = np.full(LANES, timestamp << THREAD_BITS | thread, dtype=np.int64)
            yield self.order.unordered(lanes, words), self.clocks.known[:, thread] < timestamp


def known_by(clock: VectorClock) -> np.ndarray:
    """What a clock knows of each thread."""
    thread = np.arange(LANES)
    warp = thread // THREADS * WARPS + thread % THREADS // 32
    keys = np.stack([THREAD + thread, WARP + warp, BLOCK + thread // THREADS])
    return clock.get(keys).max(axis=0)


whole_blocks = st.integers(0, BLOCKS - 1).map(
    lambda block: np.arange(block * THREADS, (block + 1) * THREADS)
)
some_lanes = st.one_of(
    st.sets(st.integers(0, LANES - 1), min_size=1, max_size=12).map(
        lambda lanes: np.array(sorted(lanes))
    ),
    whole_blocks,
    st.just(np.arange(LANES)),
)
meetings = st.one_of(
    st.tuples(st.just("access"), some_lanes),
    st.tuples(st.just("block_barrier"), st.integers(0, BLOCKS - 1)),
    st.tuples(
        st.just("warp_barrier"), st.integers(0, BLOCKS * WARPS - 1), st.integers(1, (1 << 32) - 1)
    ),
    st.tuples(st.just("warp_barrier"), st.integers(0, BLOCKS * WARPS - 1), st.just((1 << 32) - 1)),
)
through_memory = st.one_of(
    st.tuples(st.just("fence"), some_lanes),
    st.tuples(st.just("write"), some_lanes, st.integers(0, 1)),
    st.tuples(st.just("read"), some_lanes, st.integers(0, 1)),
)
named = st.tuples(st.just("named_barrier"), st.integers(0, BLOCKS - 1), st.booleans())


def carried_out(steps: list[tuple]) -> Both:  # type: ignore[type-arg]
    both = Both()
    for name, *arguments in steps:
        getattr(both, name)(*arguments)
    return both


@settings(max_examples=150)
@given(st.lists(meetings, min_size=3, max_size=25))
def test_barriers_are_known_exactly(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    for ours, theirs in carried_out(steps).answers():
        np.testing.assert_array_equal(ours, theirs)


@settings(max_examples=200)
@given(st.lists(st.one_of(meetings, through_memory, named), min_size=3, max_size=30))
def test_nothing_that_is_ordered_is_taken_for_a_race(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    for ours, theirs in carried_out(steps).answers():
        assert not (ours & ~theirs).any()


def test_a_barrier_orders_what_was_known_at_the_arrival() -> None:
    """Not what the arriving warp has learned and done until others wait for its arrival."""
    both = Both()
    first, second = np.arange(32), np.arange(32, THREADS)
    arrival = both._arrival(second, None)
    both.access(first)
    both.named_barrier(0, first_waits=False)  # the second warp goes on after the first one
    both.access(second)
    both.access(first + THREADS)
    both.fence(first + THREADS)
    both.write(first + THREADS, 0)
    both.read(second, 0)
    both.order.completions.complete(second, COPIES, np.full(len(second), 1))
    both.order.barrier([arrival, both._arrival(first, (0,))])
    own = both.order.unordered(first, np.full(32, both.accesses[-33][0] << 32 | 33))
    foreign = both.order.unordered(first, np.full(32, both.accesses[-1][0] << 32 | THREADS))
    copied = both.order.unordered(first, 1 << 32 | of_thread(COPIES, np.full(32, 33)))
    assert own.all()
    assert foreign.all()
    assert copied.all()


def lanes_of(*numbers: int) -> np.ndarray:
    return np.array(numbers)


def test_a_message_passes_through_memory() -> None:
    both = Both()
    both.access(lanes_of(3))
    both.fence(lanes_of(3))
    both.write(lanes_of(3), 0)
    both.read(lanes_of(90), 0)
    [(ours, _)] = both.answers()
    assert not ours[90]
    assert ours[91]


@pytest.mark.parametrize(
    "steps",
    [
        [("access", lanes_of(3)), ("write", lanes_of(3), 0)],  # no fence
        [("fence", lanes_of(3)), ("access", lanes_of(3)), ("write", lanes_of(3), 0)],  # too early
        [("access", lanes_of(3)), ("fence", lanes_of(3)), ("write", lanes_of(3), 1)],  # elsewhere
        [("access", lanes_of(3)), ("fence", lanes_of(4)), ("write", lanes_of(4), 0)],  # another
    ],
)
def test_a_message_does_not_pass_without(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    both = carried_out([*steps, ("read", lanes_of(90), 0)])
    [(ours, theirs)] = both.answers()
    assert ours[90]
    assert theirs[90]


def test_an_arrival_tells_only_what_was_before_it() -> None:
    both = Both()
    both.access(np.arange(32))
    both.named_barrier(0, first_waits=False)
    answers = [ours for ours, _ in both.answers()]
    assert not answers[0][35]  # before the arrival
    assert answers[32][35]  # after it
    assert answers[0][45]  # another block


# --- clocks --------------------------------------------------------------------------------------


def clock_of(known: dict[int, int]) -> VectorClock:
    return VectorClock.latest(np.array([*known], np.int64), np.array([*known.values()], np.int64))


known = st.dictionaries(st.integers(0, 50), st.integers(1, 99), max_size=20)


@given(known, known)
def test_joined_clocks_know_the_latest(left: dict[int, int], right: dict[int, int]) -> None:
    joined = clock_of(left).joined(clock_of(right))
    expected = [max(left.get(key, 0), right.get(key, 0)) for key in range(51)]
    assert joined.get(np.arange(51)).tolist() == expected


@given(known, known)
def test_a_clock_covers_what_it_knows(left: dict[int, int], right: dict[int, int]) -> None:
    one, other = clock_of(left), clock_of(right)
    covers = all(left.get(key, 0) >= timestamp for key, timestamp in right.items())
    assert one.covers(other) == covers
    if covers:
        assert one.joined(other) is one


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_the_latest_of_each_key_counts(pairs: list[tuple[int, int]]) -> None:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    clock = VectorClock.latest(array[:, 0], array[:, 1])
    expected = [max((t for key, t in pairs if key == each), default=0) for each in range(10)]
    assert clock.get(np.arange(10)).tolist() == expected
    assert len(clock) == sum(1 for each in expected if each)


# --- groups --------------------------------------------------------------------------------------


@given(st.lists(st.integers(-5, 5), max_size=40))
def test_groups_are_the_positions_of_each_number(numbers: list[int]) -> None:
    found = [(number, positions.tolist()) for number, positions in groups(np.array(numbers, int))]
    places = {each: [i for i, n in enumerate(numbers) if n == each] for each in sorted({*numbers})}
    assert found == [*places.items()]
    assert distinct(np.array(numbers, int)) == [*places]
