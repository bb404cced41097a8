"""The code of instructions that access memory: the check, the fast path, and the callback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.memory import MemoryFunctions
from cudarun.emulator.compiled.lanes.lowering import LaneType, lane_type
from cudarun.emulator.compiled.lanes.operators import Untraceable, cast
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, LaneVector
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import CheckedPlace, cache_entry, field
from cudarun.emulator.compiled.state.patterns import AddressPattern, HalfPlaces
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters
from cudarun.emulator.compiled.state.shared_functions import SharedFunctions
from cudarun.emulator.compiled.state.sites import (
    CallbackSite,
    CallbackSites,
    call_back,
    pass_values,
    take_results,
)
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.transfers import MemoryLoad, MemoryStore

_PRIVATE = ("", "local")  # the spaces in which each thread can have memory of its own
MOST_ACCESSES = 2  # of an instruction, that are checked together
_SHARED = ("", "shared")  # those in which another block of the cluster can have it
_OWN_RANK = "%cluster_ctarank"


class CheckedLanes(NamedTuple):
    """The lanes that make the accesses of an instruction."""

    lanes: list[LaneVector]  # of each access, the lanes that make it
    others: str  # a mask that is not 0 if the caller has to execute the instruction


class PatternAccess(NamedTuple):
    """The faster paths of an access whose addresses have a pattern."""

    # Returns the results where the lanes follow one another; of the places of the halves and those
    # of all lanes, and of the sources.
    row: Callable[[HalfPlaces, CheckedPlace, list[LaneVector]], list[LaneVector]]
    # The same where all lanes of a half access one address.
    uniform: Callable[[HalfPlaces, CheckedPlace, list[LaneVector]], list[LaneVector]] | None = None


Results = Callable[[list[CheckedPlace], list[LaneVector]], list[LaneVector]]
"""Returns the results of an instruction, of the checked places of the accesses and of the sources.

Its code is in a function of which ``%mask`` are the active lanes, as is that of `Lanes`.
"""

Lanes = Callable[[list[LaneVector]], CheckedLanes]
"""Returns the lanes that make each access of an instruction, of the sources."""

PathExit = tuple[str, list[LaneVector]]


class AccessCode(LoweringRules):
    """The code of accesses."""

    def __init__(
        self,
        code: CodeBuilder,
        registers: WarpRegisters,
        functions: SharedFunctions,
        sites: CallbackSites,
        memory: MemoryFunctions,
        *,
        in_cluster: bool,
    ) -> None:
        super().__init__(code, registers)
        self._functions = functions  # the functions of the module
        self.sites = sites  # takes the places that call back
        # Whether addresses may be in the shared memory of other blocks.
        self._in_cluster = in_cluster
        self.memory = memory  # loads and stores
        self.block = 0

    # --- instructions ----------------------------------------------------------------------------

    def load(self, operation: Action, mask: str) -> None:
        """Compile ``ld``."""
        action, code, memory = operation.action, self._code, self.memory
        assert isinstance(action, MemoryLoad)
        (access,) = action.accesses
        size = access.dtype.itemsize
        kinds = tuple(map(lane_type, operation.destinations))
        columns = [f"i{8 * size}"] * (len(kinds) * action.elements)

        def values(parts: list[LaneVector]) -> list[LaneVector]:
            found: list[LaneVector] = []
            for number, kind in enumerate(kinds):
                own = parts[number * action.elements : (number + 1) * action.elements]
                if len(own) == 1:
                    value = code.bitcast(own[0], LaneType(access.dtype).element)
                    found.append(cast(code, value, access.dtype, kind.dtype))
                else:
                    order = [at for lane in range(WIDTH) for at in (lane, WIDTH + lane)]
                    found.append(code.shuffle(own[0], order, own[1]))
            return found

        def loaded(places: list[CheckedPlace], _: list[LaneVector]) -> list[LaneVector]:
            (place,) = places
            parts = [
                memory.load(code, place, "%mask", 8 * size, size * column)
                for column in range(len(columns))
            ]
            return values(parts)

        patterns = PatternAccess(
            lambda at, place, _: values(memory.load_row(code, at, columns, place.entry)),
            lambda at, place, _: values(memory.load_uniform(code, at, columns, place.entry)),
        )
        self.access(operation, [access], mask, loaded, patterns=patterns)

    def store(self, operation: Action, mask: str) -> None:
        """Compile ``st``."""
        action = operation.action
        assert isinstance(action, MemoryStore)
        (access,) = action.accesses
        size = access.dtype.itemsize
        kinds = list(map(lane_type, operation.sources))

        def columns(sources: list[LaneVector]) -> list[LaneVector]:
            found = []
            for value, kind in zip(sources[1:], kinds[1:], strict=True):
                for part in range(action.elements):
                    column = value
                    if action.elements > 1:
                        chosen = range(part, value.count, action.elements)
                        column = self._code.shuffle(value, chosen)
                    column = cast(self._code, column, kind.dtype, access.dtype)
                    found.append(self._code.bitcast(column, f"i{8 * size}"))
            return found

        def stored(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            (place,) = places
            for number, bits in enumerate(columns(given)):
                self.memory.store(self._code, place, "%mask", bits, size * number)
            return []

        def row(at: HalfPlaces, place: CheckedPlace, given: list[LaneVector]) -> list[LaneVector]:
            self.memory.store_row(self._code, at, columns(given), place)
            return []

        self.access(operation, [access], mask, stored, patterns=PatternAccess(row))

    def call(self, operation: Action, mask: str) -> None:
        """Compile an instruction that the caller executes."""
        sources = self._sources(operation)
        self._finish(operation, self.executed(operation, sources, mask))

    def executed(self, operation: Action, sources: list[LaneVector], mask: str) -> list[LaneVector]:
        """Return the results of an instruction that the caller executes."""
        code = self._code
        kinds = tuple(map(lane_type, operation.destinations))
        site = self.site(operation, kinds)
        pass_values(code, sources)
        answer = call_back(code, site, mask)
        code.leave_if(code.scalar(f"icmp eq i32 {answer}, {layout.FAULT}"), "fault", "done")
        return take_results(code, len(sources), kinds)

    def called(
        self, site: int, sources: list[LaneVector], mask: str, check: str, done: str
    ) -> None:
        """Call back; continue where the instruction begins again, or where it has been executed."""
        code = self._code
        pass_values(code, sources)
        answer = call_back(code, site, mask)
        cases = f"i32 {layout.RETRY}, label %{check} i32 {layout.DONE}, label %{done}"
        code.line(f"switch i32 {answer}, label %fault [ {cases} ]")

    def site(
        self,
        operation: Action,
        kinds: tuple[LaneType, ...],
        entries: tuple[int, ...] = (),
        *,
        has_lanes: bool = False,
        tensor: int | None = None,
    ) -> int:
        """Return the number of a new site that calls back."""
        sources = tuple(map(lane_type, operation.sources))
        if len(sources) + len(kinds) > layout.COLUMNS:
            raise Untraceable("so many operands")
        site = CallbackSite(operation, self.block, sources, kinds, entries, has_lanes, tensor)
        return self.sites.add(site)

    # --- the check -------------------------------------------------------------------------------

    def access(
        self,
        operation: Action,
        accesses: Sequence[Access],
        mask: str,
        results: Results,
        lanes: Lanes | None = None,
        *,
        patterns: PatternAccess | None = None,
    ) -> None:
        """Compile an instruction: its accesses, or a call of the interpreter.

        Args:
            accesses: Its accesses. The address of each is the source with the same place.
            results: The accesses of any lanes to any addresses, in a function that equal
                instructions share.
            lanes: By default all active lanes make all accesses.
            patterns: Faster paths of the only access.
        """
        code, sources = self._code, self._sources(operation)
        kinds = tuple(map(lane_type, operation.destinations))
        numbers = tuple(self.sites.new_entry(access) for access in accesses)
        site = self.site(operation, kinds, numbers, has_lanes=lanes is not None)
        exits = []
        if patterns is not None and accesses[0].space != "local":
            exits = self._patterns(accesses[0], patterns, numbers[0], sources, mask)
        entries = list(zip(accesses, numbers, strict=True))
        self._call_general(site, entries, sources, mask, results, lanes)
        found = take_results(code, len(sources), kinds)
        if exits:
            exits.append(self._exit(found))
            join = code.fresh("join")
            for label, _ in exits:
                code.label(label)
                code.line(f"br label %{join}")
            code.label(join)
            for place, each in enumerate(found):
                values = ", ".join(f"[ {own[place].name}, %{label} ]" for label, own in exits)
                found[place] = code.vector(f"phi {each.type} {values}", each.element, each.count)
        self._finish(operation, found)

    def _call_general(
        self,
        site: int,
        entries: list[tuple[Access, int]],
        sources: list[LaneVector],
        mask: str,
        results: Results,
        lanes: Lanes | None,
    ) -> None:
        """Call the function of the general path; the results are columns after the sources."""
        code = self._code
        given = [
            LaneVector(f"%s{place}", source.element, source.count)
            for place, source in enumerate(sources)
        ]
        body, numbers = self._functions.compiled(
            lambda _: self._general(site, entries, given, results, lanes), {}
        )
        parameters = [f"{each.kind} %n{place}" for place, each in enumerate(numbers)]
        parameters += [each.typed for each in given]
        name = self._functions.define(", ".join(parameters), (), body, ["  ret i1 false"])
        arguments = [f"{each.kind} {code.number(each.kind, each.value)}" for each in numbers]
        arguments += [each.typed for each in sources]
        first = f"ptr %ctx, i32 %warp, ptr %state, i32 {mask}"
        fault = code.scalar(f"call i1 @{name}({', '.join([first, *arguments])})")
        code.leave_if(fault, "fault", "done", ", !prof !2")

    def _general(
        self,
        site: int,
        entries: list[tuple[Access, int]],
        sources: list[LaneVector],
        results: Results,
        lanes: Lanes | None,
    ) -> None:
        """Add the body of the general path: checked accesses, or a call of the interpreter."""
        code = self._code
        check, slow, done = (code.fresh(stem) for stem in ("check", "slow", "done"))
        checked = None if lanes is None else lanes(sources)
        bases = [
            self._base(source, access.offset)
            for source, (access, _) in zip(sources, entries, strict=False)
        ]
        code.line(f"br label %{check}")
        code.label(check)
        good = code.scalar(f"icmp eq i32 {checked.others if checked else 0}, 0")
        places = []
        for turn, (access, number) in enumerate(entries):
            entry = cache_entry(code, number)
            some = code.to_mask(checked.lanes[turn]) if checked else "%mask"
            offsets, are_valid = self._checked(access, entry, bases[turn], turn, some)
            good = code.scalar(f"and i1 {good}, {are_valid}")
            places.append((access, entry, offsets))
        code.leave_unless(good, slow, "valid", ", !prof !1")
        found = results([self._place(*each) for each in places], sources)
        pass_values(code, found, len(sources))
        code.line(f"br label %{done}")
        code.label(slow)
        given = [*checked.lanes, code.from_mask(checked.others)] if checked else []
        self.called(site, sources + given, "%mask", check, done)
        code.label(done)

    def _exit(self, results: list[LaneVector]) -> PathExit:
        """End a path of an access; return the label of its exit, and its results."""
        label = self._code.fresh("exit")
        self._code.line(f"br label %{label}")
        return label, results

    def _patterns(
        self,
        access: Access,
        patterns: PatternAccess,
        number: int,
        sources: list[LaneVector],
        mask: str,
    ) -> list[PathExit]:
        """Add the paths of addresses with a pattern; return their exits.

        What follows is the general path.
        """
        code, exits, every = self._code, list[PathExit](), self._code.fresh("every")
        entry, base = cache_entry(code, number), self._base(sources[0], access.offset)
        code.leave_unless(code.scalar(f"icmp eq i32 {mask}, -1"), every, "whole")
        found = AddressPattern(code, base, access.bytes)
        host = field(code, entry, layout.HOST, "ptr")
        first = found.first(field(code, entry, layout.BASE, "i64"))
        places = HalfPlaces(host, first)
        place = CheckedPlace(host, self._relative(entry, base), entry)
        for step, room, results in (
            (access.bytes, layout.ROW_COUNT, patterns.row),
            (0, layout.SHARED_COUNT, patterns.uniform),
        ):
            if results is not None:
                pattern, other = found.has_step(step), code.fresh("other")
                code.leave_unless(pattern, other, "fits")
                valid = found.is_valid(first, field(code, entry, room, "i64"))
                code.leave_unless(valid, every, "good", ", !prof !1")
                exits.append(self._exit(results(places, place, sources)))
                code.label(other)
        code.line(f"br label %{every}")
        code.label(every)
        return exits

    def _checked(
        self, access: Access, entry: str, address: LaneVector, turn: int, mask: str
    ) -> tuple[LaneVector, str]:
        """Return the offsets from the start of a region, and whether those of lanes are valid."""
        code, places, rank = self._code, f"%places{turn}", "0"
        address = self._wide(address)
        code.line(f"store {address.typed}, ptr {places}, align 8")
        if self._in_cluster and access.space in _SHARED and not access.is_own:
            own = self._registers.block_value(_OWN_RANK)
            rank = code.scalar(f"add i64 1, {code.scalar(f'zext i32 {own} to i64')}")
        given = f"ptr %ctx, ptr {entry}, ptr {places}, i32 {mask}, i64 {access.bytes}, i64 {rank}"
        valid = call(code, "i32", "check_access", given, inline=True)
        offsets = code.vector(f"load {address.type}, ptr {places}, align 8", "i64")
        return offsets, code.scalar(f"icmp ne i32 {valid}, 0")

    def _base(self, base: LaneVector, offset: int) -> LaneVector:
        """Return addresses with the constant offset of an operand."""
        if not offset:
            return base
        ahead = self._code.spread(base.element, offset % (1 << base.bits))
        return self._code.binary("add", base, ahead)

    def _relative(self, entry: str, address: LaneVector) -> LaneVector:
        base = field(self._code, entry, layout.BASE, "i64")
        return self._code.binary("sub", self._wide(address), self._code.broadcast("i64", base))

    def _place(self, access: Access, entry: str, relative: LaneVector) -> CheckedPlace:
        code = self._code
        host = field(code, entry, layout.HOST, "ptr")
        if access.space in _PRIVATE:
            stride = code.broadcast("i64", field(code, entry, layout.LANE_STRIDE, "i64"))
            own = code.binary("mul", stride, LaneVector("%thread", "i64"))
            relative = code.binary("add", relative, own)
        return CheckedPlace(host, relative, entry)
