"""The code of instructions that access memory: the check, the fast path, and the callback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.memory import MemoryFunctions
from cudarun.emulator.compiled.lanes.lowering import LaneType, lane_type
from cudarun.emulator.compiled.lanes.operators import Untraceable, cast
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, LaneVector, NumberParameter
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


class GeneralAccess(NamedTuple):
    """The accesses of an instruction, in a function of which ``%mask`` are the active lanes."""

    # Returns the results, of the checked places of the accesses and of the sources.
    results: Callable[[list[CheckedPlace], list[LaneVector]], list[LaneVector]]
    # Returns the lanes that make each access, of the sources; by default all active ones make all.
    lanes: Callable[[list[LaneVector]], CheckedLanes] | None = None


class PatternAccess(NamedTuple):
    """The faster paths of an access whose addresses have a pattern."""

    # Returns the results where the lanes follow one another; of the places of the halves and those
    # of all lanes.
    row: Callable[[HalfPlaces, CheckedPlace], list[LaneVector]]
    # The same where all lanes of a half access one address.
    uniform: Callable[[HalfPlaces, CheckedPlace], list[LaneVector]] | None = None


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
            lambda places, place: values(memory.load_row(code, places, columns, place.entry)),
            lambda places, place: values(memory.load_uniform(code, places, columns, place.entry)),
        )
        sources = self._sources(operation)
        general = GeneralAccess(loaded)
        results = self.access(operation, [access], sources, mask, general, patterns)
        self._finish(operation, results)

    def store(self, operation: Action, mask: str) -> None:
        """Compile ``st``."""
        action = operation.action
        assert isinstance(action, MemoryStore)
        (access,) = action.accesses
        size = access.dtype.itemsize
        sources = self._sources(operation)
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

        def row(places: HalfPlaces, place: CheckedPlace) -> list[LaneVector]:
            self.memory.store_row(self._code, places, columns(sources), place)
            return []

        general = GeneralAccess(stored)
        self.access(operation, [access], sources, mask, general, PatternAccess(row))

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
        done = code.fresh("done")
        wrong = code.scalar(f"icmp eq i32 {answer}, {layout.FAULT}")
        code.line(f"br i1 {wrong}, label %fault, label %{done}")
        code.label(done)
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

    def numbers_of(self, operation: Action, numbers: Sequence[NumberParameter]) -> list[int]:
        """Return the numbers of an instruction whose code there is, with other numbers.

        It is a load, a store, or an instruction on registers that can call back.
        """
        own: dict[str, int] = {}
        entries: tuple[int, ...] = ()
        if isinstance(operation.action, MemoryLoad | MemoryStore):
            (access,) = operation.action.accesses
            entries = (self.sites.new_entry(access),)
            own = {"entry": entries[0] * layout.CACHE_BYTES, "offset": access.offset}
        own["site"] = self.site(operation, tuple(map(lane_type, operation.destinations)), entries)
        return [
            own.get(number.role, number.value) % (1 << int(number.kind[1:])) for number in numbers
        ]

    # --- the check -------------------------------------------------------------------------------

    def access(
        self,
        operation: Action,
        accesses: Sequence[Access],
        sources: list[LaneVector],
        mask: str,
        general: GeneralAccess,
        patterns: PatternAccess | None = None,
    ) -> list[LaneVector]:
        """Return the results of an instruction, of its accesses or of the caller.

        Args:
            operation: The instruction.
            accesses: Its accesses. The address of each is the source with the same place.
            mask: The active lanes.
            general: The accesses of any lanes to any addresses, in a function that equal
                instructions share.
            patterns: Faster paths of the only access.
        """
        code = self._code
        kinds = tuple(map(lane_type, operation.destinations))
        numbers = tuple(self.sites.new_entry(access) for access in accesses)
        site = self.site(operation, kinds, numbers, has_lanes=general.lanes is not None)
        exits = []
        if patterns is not None and accesses[0].space != "local":
            entry, base = cache_entry(code, numbers[0]), self._base(sources[0], accesses[0].offset)
            exits += self._patterns(accesses[0], patterns, entry, base, mask)
        entries = list(zip(accesses, numbers, strict=True))
        self._call_general(site, entries, sources, mask, general)
        results = take_results(code, len(sources), kinds)
        if not exits:
            return results
        exits.append(self._exit(results))
        join = code.fresh("join")
        for label, _ in exits:
            code.label(label)
            code.line(f"br label %{join}")
        code.label(join)
        return [
            code.vector(
                f"phi {first.type} "
                + ", ".join(f"[ {results[place].name}, %{label} ]" for label, results in exits),
                first.element,
                first.count,
            )
            for place, first in enumerate(exits[0][1])
        ]

    def _call_general(
        self,
        site: int,
        entries: list[tuple[Access, int]],
        sources: list[LaneVector],
        mask: str,
        general: GeneralAccess,
    ) -> None:
        """Call the function of the general path; the results are columns after the sources."""
        code = self._code
        given = [
            LaneVector(f"%s{place}", source.element, source.count)
            for place, source in enumerate(sources)
        ]
        body, numbers = self._functions.compiled(
            lambda _: self._general(site, entries, given, general), {}
        )
        parameters = [f"{each.kind} %n{place}" for place, each in enumerate(numbers)]
        parameters += [each.typed for each in given]
        name = self._functions.define(", ".join(parameters), (), body, ["  ret i1 false"])
        arguments = [
            f"{each.kind} {code.number(each.kind, each.value, each.role)}" for each in numbers
        ]
        arguments += [each.typed for each in sources]
        first = f"ptr %ctx, i32 %warp, ptr %state, i32 {mask}"
        fault = code.scalar(f"call i1 @{name}({', '.join([first, *arguments])})")
        done = code.fresh("done")
        code.line(f"br i1 {fault}, label %fault, label %{done}, !prof !2")
        code.label(done)

    def _general(
        self,
        site: int,
        entries: list[tuple[Access, int]],
        sources: list[LaneVector],
        general: GeneralAccess,
    ) -> None:
        """Add the body of the general path: checked accesses, or a call of the interpreter."""
        code = self._code
        check, valid, slow, done = (code.fresh(stem) for stem in ("check", "valid", "slow", "done"))
        checked = None if general.lanes is None else general.lanes(sources)
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
            lanes = code.to_mask(checked.lanes[turn]) if checked else "%mask"
            offsets, are_valid = self._checked(access, entry, bases[turn], turn, lanes)
            good = code.scalar(f"and i1 {good}, {are_valid}")
            places.append((access, entry, offsets))
        code.line(f"br i1 {good}, label %{valid}, label %{slow}, !prof !1")
        code.label(valid)
        results = general.results([self._place(*each) for each in places], sources)
        pass_values(code, results, len(sources))
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
        self, access: Access, patterns: PatternAccess, entry: str, base: LaneVector, mask: str
    ) -> list[PathExit]:
        """Add the paths of addresses with a pattern; return their exits.

        What follows is the general path.
        """
        code, exits = self._code, list[PathExit]()
        whole, every = code.fresh("whole"), code.fresh("every")
        all_active = code.scalar(f"icmp eq i32 {mask}, -1")
        code.line(f"br i1 {all_active}, label %{whole}, label %{every}")
        code.label(whole)
        found = AddressPattern(code, base, access.bytes)
        host = field(code, entry, layout.HOST, "ptr")
        first = found.first(field(code, entry, layout.BASE, "i64"))

        def path(pattern: str, room: int, results: Callable[[], list[LaneVector]]) -> None:
            fits, good, other = (code.fresh(stem) for stem in ("fits", "good", "other"))
            code.line(f"br i1 {pattern}, label %{fits}, label %{other}")
            code.label(fits)
            valid = found.is_valid(first, field(code, entry, room, "i64"))
            code.line(f"br i1 {valid}, label %{good}, label %{every}, !prof !1")
            code.label(good)
            exits.append(self._exit(results()))
            code.label(other)

        places = HalfPlaces(host, first)
        place = CheckedPlace(host, self._relative(entry, base), entry)
        path(found.is_row(), layout.ROW_COUNT, lambda: patterns.row(places, place))
        uniform = patterns.uniform
        if uniform is not None:
            path(found.is_uniform(), layout.SHARED_COUNT, lambda: uniform(places, place))
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
        ahead = self._code.spread(base.element, offset % (1 << base.bits), "offset")
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
