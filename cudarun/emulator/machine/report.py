"""Reports of faults, deadlocks and the thread states of a running kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cudarun.base.fault_place import FaultPlace
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.machine.spaces import NO_PARAMETER, NULL_BYTES
from cudarun.emulator.machine.threads import Threads, place_of_thread
from cudarun.emulator.memory import Allocation

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.launch import Launch

_LANES_SHOWN = 3
_PLACES_SHOWN = 4
_TESTED = "last tested an mbarrier object whose phase is incomplete"


class Report:
    """A report that is being written, and the places in it.

    Args:
        launch: The launch.
        what: The first line.
    """

    def __init__(self, launch: Launch, what: str) -> None:
        self.lines = [f"kernel {launch.kernel.name}: {what}"]
        self.places: list[FaultPlace] = []

    @property
    def text(self) -> str:
        """The whole report."""
        return "\n".join(self.lines)

    def at(self, site: Site | None, indent: str = "  ", **fields: Any) -> FaultPlace:
        """Add a place, with the location of an instruction in PTX and in the source."""
        place = FaultPlace(**fields)
        self.places.append(place)
        if site is not None:
            place.ptx_line, place.ptx = site.line, site.text
            self.lines.append(f"{indent}at PTX line {site.line}: {site.text}")
        if site is not None and site.source is not None:
            place.file, _, line = site.source.rpartition(":")
            place.line = int(line)
            self.lines.append(f"{indent}from {site.source}")
        return place

    def name(self, threads: Threads, lane: int) -> None:
        """Add the thread of the last place."""
        self.places[-1].block, self.places[-1].thread = threads.coordinates(lane)
        self.lines.append(f"  {_thread_name(threads, lane)}")

    def group(self, batch: Batch, lanes: Lanes, do: tuple[str, str], site: Site | None) -> None:
        """Add the description of lanes in one state, in the singular and in the plural."""
        count, first = lane_sets.count(lanes), lane_sets.indices(lanes)[:_LANES_SHOWN]
        names = "; ".join(_thread_name(batch.threads, int(lane)) for lane in first)
        more = f" and {count - _LANES_SHOWN} more" if count > _LANES_SHOWN else ""
        self.lines.append(f"  {count} {do[count > 1]}: {names}{more}")
        place = self.at(site, "    ", state=do[count > 1].partition(" ")[2], threads=count)
        place.block, place.thread = batch.threads.coordinates(int(first[0]))

    def fault(self, result: int) -> DeviceFault:
        """Return the fault that is reported."""
        return DeviceFault(result, self.text, tuple(self.places))


def _thread_name(threads: Threads, lane: int) -> str:
    """Return block and thread index of a lane as text."""
    block, thread = threads.coordinates(lane)
    return f"block ({_triple(block)}), thread ({_triple(thread)})"


def describe_address(launch: Launch, address: int, size: int) -> tuple[str, int | None]:
    """Describe a global address where an access is invalid, and its distance from valid ones.

    Returns:
        The description, and the start of the allocation that it names.
    """
    if address < NULL_BYTES:
        more = f" plus {address}" if address else ""
        return f"is a null pointer{more}", None
    nearest: list[tuple[int, str, int]] = []
    unused = launch.unused_variables
    for memory in launch.memories:
        allocation = memory.find(address)
        if allocation is not None:
            over = address + size - allocation.end
            text = f"reaches {over} bytes past the end of {_name(allocation)}"
            return text, allocation.base
        freed = memory.find_freed(address)
        if freed is not None:
            return (
                f"is in freed memory: offset {address - freed.base} of {freed.size} bytes at "
                f"{freed.base:#x} ({freed.label})"
            ), freed.base
        before, after = memory.neighbors(address, unused)
        if before is not None:
            past = address - before.end
            nearest.append((past, f"is {_past(past)} the end of {_name(before)}", before.base))
        if after is not None:
            left = after.base - address
            nearest.append((left, f"is {left} bytes before {_name(after)}", after.base))
    if not nearest:
        return "is not in any allocation; no memory is allocated", None
    return min(nearest)[1:]


def describe_offset(what: str, extent: int, offset: int, size: int) -> str:
    """Describe an invalid offset in memory of a space or a variable, which has so many bytes."""
    if offset < 0:
        return f"is {-offset} bytes before the {extent} bytes of {what}"
    if offset < extent:
        return f"reaches {offset + size - extent} bytes past the {extent} bytes of {what}"
    if offset >= NO_PARAMETER // 2:
        return "is outside of the variable"
    return f"is {_past(offset - extent)} the {extent} bytes of {what}"


def _past(distance: int) -> str:
    return f"{distance} bytes past" if distance else "just past"


def _name(allocation: Allocation) -> str:
    return f"{allocation.size} bytes at {allocation.base:#x} ({allocation.label})"


def describe_deadlock(batch: Batch) -> DeviceFault:
    """Return the fault of lanes that wait for one another, or for lanes that never arrive.

    Hardware has no such report: there the kernel hangs.
    """
    report = Report(batch.launch, "deadlock: no thread can make progress")
    _add_parked(report, batch)
    return report.fault(719)


def check_tensor_memory(batch: Batch, block: int, site: Site | None = None) -> None:
    """Raise the fault of a block that has exited with tensor memory allocated."""
    left = batch.tensor.left(block)
    if left:
        report = Report(batch.launch, f"exit of a block with {left} still allocated")
        report.at(site)
        report.name(batch.threads, block * batch.threads.threads)
        raise report.fault(719)


def describe_full_device(batches: Sequence[Batch]) -> DeviceFault:
    """Return the fault of blocks that fill the device and wait for others, which cannot begin.

    Hardware has no such report: there the kernel hangs.
    """
    launch = batches[0].launch
    report = Report(launch, "deadlock: blocks wait for others, which cannot begin")
    report.lines += _excluded(launch)
    for batch in batches:
        _add_states(report, batch)
    return report.fault(719)


def _excluded(launch: Launch) -> list[str]:
    """Return the blocks that cannot begin because others fill the device."""
    if not launch.excluded:
        return []
    first = (launch.blocks - launch.excluded) * launch.block_threads
    return [
        f"  {launch.excluded} of {launch.blocks} blocks have not begun, from block "
        f"({_triple(place_of_thread(launch, first)[0])}) on: no more than "
        f"{launch.resident_blocks} fit on the device at once"
    ]


def describe_thread_states(launch: Launch) -> Report:
    """Return the states of the threads at this moment, between any two instructions.

    Diverged threads wait at different instructions; those with the most threads are listed.
    """
    compiling = "it is being compiled; " if launch.is_compiling else ""
    report = Report(launch, f"{compiling}{launch.ended} of {launch.blocks} blocks have finished")
    batch = launch.running if launch.find_running is None else launch.find_running()
    if batch is not None:
        report.lines += _excluded(launch)
        _add_states(report, batch)
    return report


def _add_states(report: Report, batch: Batch) -> None:
    """Add the states of the threads of a batch."""
    places = [] if batch.active is None else [(batch.active.path, batch.active.lanes)]
    places += [(path, lane_sets.union(parts)) for path, parts in batch.waiting.items()]
    places.sort(key=lambda place: -lane_sets.count(place[1]))
    for path, lanes in places[:_PLACES_SHOWN]:
        _, block = batch.launch.locate(path[-1])
        site = block.operations[0].site if block.operations else block.terminator.site
        report.group(batch, lanes, ("thread runs", "threads run"), site)
    others = sum(lane_sets.count(lanes) for _, lanes in places[_PLACES_SHOWN:])
    if others:
        report.lines.append(f"  {others} more at other instructions")
    for failed in [each for waits in list(batch.failed_waits.values()) for each in waits]:
        left = failed.incomplete()
        if len(left.lanes):
            do = (f"thread {_TESTED}", f"threads {_TESTED}")
            report.group(batch, left.lanes, do, failed.site)
            outstanding = left.outstanding()
            report.lines += [f"    {text}" for text in outstanding[:_PLACES_SHOWN]]
            if len(outstanding) > _PLACES_SHOWN:
                more = len(outstanding) - _PLACES_SHOWN
                report.lines.append(f"    {more} objects in other states")
    _add_parked(report, batch)


def _add_parked(report: Report, batch: Batch) -> None:
    """Add the lanes that wait for others, and their location."""

    def add(lanes: Lanes, what: str, site: Site) -> None:
        report.group(batch, lanes, (f"thread waits {what}", f"threads wait {what}"), site)

    for arrival in sorted(batch.barriers.arrivals, key=lambda a: lane_sets.first(a.lanes)):
        if arrival.path is None:
            continue
        what = "at a warp barrier" if arrival.barrier is None else f"at barrier {arrival.barrier}"
        add(arrival.lanes, what, arrival.site)
    for _, lanes, site in batch.clusters.waiting:
        add(lanes, "at the barrier of their cluster", site)
    for path, lanes in batch.synchronizing.items():
        _, block = batch.launch.locate(path[-1])
        whose = "member mask" if block.sync_warps == 1 else "warpgroup"
        add(lanes, f"for the other threads of their {whose}", block.operations[0].site)


def _triple(values: tuple[int, int, int]) -> str:
    return ", ".join(map(str, values))
