"""The places of compiled code that call back: faults, rare cases of accesses, rare instructions."""

from __future__ import annotations

from collections.abc import Sequence

from cudarun.base.records import dataclass
from cudarun.emulator.code import Action, Terminator
from cudarun.emulator.compiled.lanes.lowering import LaneType
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, LaneVector
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.machine.access import Access


@dataclass(frozen=True, slots=True)
class CallbackSite:
    """An instruction that can call back."""

    work: Action | Terminator  # the operation or the terminator
    block: int  # the index of its basic block
    sources: tuple[LaneType, ...]  # the types of its sources, in the first columns of the scratch
    destinations: tuple[LaneType, ...]  # the types of its destinations, in the next columns
    # The numbers of its cache entries, in the order of its accesses: the address of each is the
    # source with the same place.
    entries: tuple[int, ...] = ()
    # Whether the columns after the sources have the lanes that make each access, and then any if
    # the caller has to execute the instruction; otherwise all make all.
    has_lanes: bool = False
    tensor: int | None = None  # the number of its tensor entry, if it has one


class CallbackSites:
    """The callback sites of a kernel, by number; and the numbers of cache and tensor entries."""

    def __init__(self) -> None:
        self.sites: list[CallbackSite] = []
        self.entries: list[Access] = []  # the access of each
        self.tensors = 0  # the number of tensor entries
        self.tests: list[Action] = []  # of mbarrier objects

    def new_entry(self, access: Access) -> int:
        """Return the number of a new cache entry."""
        self.entries.append(access)
        return len(self.entries) - 1

    def add(self, site: CallbackSite) -> int:
        """Return the number of a new site."""
        self.sites.append(site)
        return len(self.sites) - 1


def call_back(code: CodeBuilder, site: int, mask: str) -> str:
    """Call back and return the answer."""
    for offset, value in (
        (layout.SITE, code.number("i32", site)),
        (layout.CALLING_WARP, "%warp"),
        (layout.CALLING_MASK, mask),
    ):
        store_field(code, "%ctx", offset, "i32", value)
    function = field(code, "%ctx", layout.CALLBACK, "ptr")
    return code.scalar(f"call i32 {function}(ptr %ctx)")


def pass_values(code: CodeBuilder, values: Sequence[LaneVector], first: int = 0) -> None:
    """Store values to columns of the scratch."""
    scratch = field(code, "%ctx", layout.SCRATCH, "ptr")
    for place, value in enumerate(values, first):
        if value.element == "i1":
            value = code.cast("zext", value, "i8")
        pointer = pointer_to(code, scratch, place * layout.COLUMN_BYTES)
        code.line(f"store {value.typed}, ptr {pointer}, align 4")


def take_results(code: CodeBuilder, first: int, kinds: Sequence[LaneType]) -> list[LaneVector]:
    """Load values from columns of the scratch."""
    scratch = field(code, "%ctx", layout.SCRATCH, "ptr")
    found = []
    for place, kind in enumerate(kinds, first):
        pointer = pointer_to(code, scratch, place * layout.COLUMN_BYTES)
        count = WIDTH * kind.elements
        element = "i8" if kind.element == "i1" else kind.element
        value = code.vector(f"load <{count} x {element}>, ptr {pointer}, align 4", element, count)
        found.append(code.cast("trunc", value, "i1") if kind.element == "i1" else value)
    return found
