"""Reports of faults, deadlocks and the thread states of a running kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.machine.spaces import NO_PARAMETER, NULL_BYTES
from cudarun.emulator.machine.threads import place_of_thread
from cudarun.emulator.memory import Allocation

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.launch import Launch
    from cudarun.emulator.machine.threads import Threads

_LANES_SHOWN = 3
_PLACES_SHOWN = 4
_TESTED = "last tested an mbarrier object whose phase is incomplete"


def describe(active: Active, what: str, lane: int, details: Sequence[str]) -> str:
    """Return the report of a fault of one lane."""
    lines = [f"kernel {active.batch.launch.kernel.name}: {what}"]
    lines += [f"  {detail}" for detail in details]
    if active.site is not None:
        lines += [f"  {line}" for line in place(active.site)]
    lines += [f"  {line}" for line in _callers(active, lane)]
    lines.append(f"  {thread_name(active.batch.threads, lane)}")
    return "\n".join(lines)


def place(site: Site) -> Iterable[str]:
    """Return the location of an instruction, in PTX and in the source."""
    yield f"at PTX line {site.line}: {site.text}"
    if site.source is not None:
        yield f"from {site.source}"


def thread_name(threads: Threads, lane: int) -> str:
    """Return block and thread index of a lane as text."""
    block, thread = threads.coordinates(lane)
    return f"block ({_triple(block)}), thread ({_triple(thread)})"


def _callers(active: Active, lane: int) -> Iterable[str]:
    launch = active.batch.launch
    for number in reversed(active.path[:-1]):
        function, block = launch.locate(number)
        site = block.terminator.site
        if site is not None:
            source = f" ({site.source})" if site.source else ""
            yield f"called from {function.name}, PTX line {site.line}{source}"


def describe_address(launch: Launch, address: int, size: int) -> str:
    """Describe a global address where an access is invalid, and its distance from valid ones."""
    if address < NULL_BYTES:
        return "is a null pointer" if address == 0 else f"is a null pointer plus {address}"
    nearest: list[tuple[int, str]] = []
    unused = launch.unused_variables
    for memory in launch.memories:
        allocation = memory.find(address)
        if allocation is not None:
            over = address + size - allocation.end
            return f"reaches {over} bytes past the end of {_name(allocation)}"
        freed = memory.find_freed(address)
        if freed is not None:
            return (
                f"is in freed memory: offset {address - freed.base} of {freed.size} bytes at "
                f"{freed.base:#x} ({freed.label})"
            )
        before, after = memory.neighbors(address, unused)
        if before is not None:
            past = address - before.end
            nearest.append((past, f"is {_past(past)} the end of {_name(before)}"))
        if after is not None:
            left = after.base - address
            nearest.append((left, f"is {left} bytes before {_name(after)}"))
    return min(nearest, default=(0, "is not in any allocation; no memory is allocated"))[1]


def describe_offset(space: str, extent: int, offset: int, size: int) -> str:
    """Describe an invalid offset in memory of a space, which has so many bytes."""
    if offset < 0:
        return f"is {-offset} bytes before the {extent} bytes of {space} memory"
    if offset < extent:
        return f"reaches {offset + size - extent} bytes past the {extent} bytes of {space} memory"
    if offset >= NO_PARAMETER // 2:
        return "is outside of the variable"
    return f"is {_past(offset - extent)} the {extent} bytes of {space} memory"


def _past(distance: int) -> str:
    return f"{distance} bytes past" if distance else "just past"


def _name(allocation: Allocation) -> str:
    return f"{allocation.size} bytes at {allocation.base:#x} ({allocation.label})"


def describe_deadlock(batch: Batch) -> DeviceFault:
    """Return the fault of lanes that wait for one another, or for lanes that never arrive.

    Hardware has no such report: there the kernel hangs.
    """
    head = f"kernel {batch.launch.kernel.name}: deadlock: no thread can make progress"
    return DeviceFault(719, "\n".join([head, *_parked(batch)]))


def describe_full_device(batches: Sequence[Batch]) -> DeviceFault:
    """Return the fault of blocks that fill the device and wait for others, which cannot begin.

    Hardware has no such report: there the kernel hangs.
    """
    launch = batches[0].launch
    head = f"kernel {launch.kernel.name}: deadlock: blocks wait for others, which cannot begin"
    lines = [head, *_excluded(launch), *(line for batch in batches for line in _states(batch))]
    return DeviceFault(719, "\n".join(lines))


def _excluded(launch: Launch) -> list[str]:
    """Return the blocks that cannot begin because others fill the device."""
    first = (launch.blocks - launch.excluded) * launch.block_threads
    line = (
        f"  {launch.excluded} of {launch.blocks} blocks have not begun, from block "
        f"({_triple(place_of_thread(launch, first)[0])}) on: no more than "
        f"{launch.resident_blocks} fit on the device at once"
    )
    return [line] if launch.excluded else []


def describe_thread_states(launch: Launch) -> str:
    """Return the states of the threads at this moment, between any two instructions.

    Diverged threads wait at different instructions; those with the most threads are listed.
    """
    compiling = "it is being compiled; " if launch.is_compiling else ""
    blocks = f"{launch.ended} of {launch.blocks} blocks have finished"
    lines = [f"kernel {launch.kernel.name}: {compiling}{blocks}"]
    batch = launch.running if launch.find_running is None else launch.find_running()
    if batch is None:
        return lines[0]
    return "\n".join([*lines, *_excluded(launch), *_states(batch)])


def _states(batch: Batch) -> list[str]:
    """Return the states of the threads of a batch."""
    lines: list[str] = []
    places = [] if batch.active is None else [(batch.active.path, batch.active.lanes)]
    places += [(path, lane_sets.union(parts)) for path, parts in batch.waiting.items()]
    places.sort(key=lambda place: -lane_sets.count(place[1]))
    for path, lanes in places[:_PLACES_SHOWN]:
        _, block = batch.launch.locate(path[-1])
        site = block.operations[0].site if block.operations else block.terminator.site
        lines += _group(batch, lanes, ("thread runs", "threads run"), site)
    others = sum(lane_sets.count(lanes) for _, lanes in places[_PLACES_SHOWN:])
    if others:
        lines.append(f"  {others} more at other instructions")
    return [*lines, *_failed_waits(batch), *_parked(batch)]


def _failed_waits(batch: Batch) -> list[str]:
    """Return the lanes whose last test of an mbarrier object failed, and what it waits for."""
    lines: list[str] = []
    for failed in [each for waits in list(batch.failed_waits.values()) for each in waits]:
        left = failed.incomplete()
        if len(left.lanes):
            do = (f"thread {_TESTED}", f"threads {_TESTED}")
            lines += _group(batch, left.lanes, do, failed.site)
            outstanding = left.outstanding()
            lines += [f"    {text}" for text in outstanding[:_PLACES_SHOWN]]
            if len(outstanding) > _PLACES_SHOWN:
                lines.append(f"    {len(outstanding) - _PLACES_SHOWN} objects in other states")
    return lines


def _parked(batch: Batch) -> list[str]:
    """Yield the lanes that wait for others, and their location."""
    lines: list[str] = []
    for arrival in sorted(batch.barriers.arrivals, key=lambda a: lane_sets.first(a.lanes)):
        if arrival.path is None:
            continue
        what = "at a warp barrier" if arrival.barrier is None else f"at barrier {arrival.barrier}"
        lines += _waiters(batch, arrival.lanes, what, arrival.site)
    for _, lanes, site in batch.clusters.waiting:
        lines += _waiters(batch, lanes, "at the barrier of their cluster", site)
    for path, lanes in batch.synchronizing.items():
        _, block = batch.launch.locate(path[-1])
        whose = "member mask" if block.sync_warps == 1 else "warpgroup"
        what = f"for the other threads of their {whose}"
        lines += _waiters(batch, lanes, what, block.operations[0].site)
    return lines


def _waiters(batch: Batch, lanes: Lanes, what: str, site: Site) -> list[str]:
    return _group(batch, lanes, (f"thread waits {what}", f"threads wait {what}"), site)


def _group(batch: Batch, lanes: Lanes, do: tuple[str, str], site: Site | None) -> list[str]:
    """Return the description of lanes in one state, in the singular and in the plural."""
    count = lane_sets.count(lanes)
    names = [
        thread_name(batch.threads, int(lane)) for lane in lane_sets.indices(lanes)[:_LANES_SHOWN]
    ]
    more = f" and {count - _LANES_SHOWN} more" if count > _LANES_SHOWN else ""
    head = f"  {count} {do[count > 1]}: {'; '.join(names)}{more}"
    return [head, *(f"    {line}" for line in place(site))] if site else [head]


def _triple(values: tuple[int, int, int]) -> str:
    return ", ".join(map(str, values))
