"""The code of instructions that access memory: the check, the fast path, and the callback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy.typing as npt

from cudarun.emulator.code import Action
from cudarun.emulator.compiled import layout
from cudarun.emulator.compiled.atomics import AtomicFunctions
from cudarun.emulator.compiled.lowering import LaneType, lane_type
from cudarun.emulator.compiled.memory import (
    CheckedPlace,
    MemoryFunctions,
    cache_entry,
    field,
    pointer_to,
)
from cudarun.emulator.compiled.operators import Untraceable, cast
from cudarun.emulator.compiled.registers import WarpRegisters
from cudarun.emulator.compiled.sites import (
    CallbackSite,
    CallbackSites,
    call_back,
    pass_sources,
    take_results,
)
from cudarun.emulator.compiled.vectors import WIDTH, CodeBuilder, LaneVector, splat
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.transfers import MemoryLoad, MemoryStore

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]

_PRIVATE = ("", "local")  # the spaces in which each thread can have memory of its own


class CheckedLanes(NamedTuple):
    """The lanes that make the accesses of an instruction.

    Attributes:
        lanes: Of each access, the lanes that make it.
        others: A mask that is not 0 if the caller has to execute the instruction.
        of_sources: The same for the caller, of the sources of the active lanes.
    """

    lanes: list[LaneVector]
    others: str
    of_sources: Callable[[Arrays], tuple[Array, ...] | None]


class AccessCode:
    """The code of accesses.

    Args:
        code: Where it goes.
        registers: The registers.
        sites: Takes the places that call back.
    """

    def __init__(self, code: CodeBuilder, registers: WarpRegisters, sites: CallbackSites) -> None:
        self._code = code
        self._registers = registers
        self._sites = sites
        self.memory = MemoryFunctions(code.module)
        self._atomics = AtomicFunctions(code.module)
        self.block = 0

    # --- instructions ----------------------------------------------------------------------------

    def load(self, operation: Action, mask: str) -> None:
        """Compile ``ld``."""
        action = operation.action
        assert isinstance(action, MemoryLoad)
        (access,) = action.accesses
        width, size = 8 * access.dtype.itemsize, access.dtype.itemsize
        kinds = tuple(map(lane_type, operation.destinations))

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            (place,) = places
            found: list[LaneVector] = []
            for number, kind in enumerate(kinds):
                first = number * action.elements
                parts = [
                    self.memory.load(self._code, place, mask, width, size * (first + part))
                    for part in range(action.elements)
                ]
                if len(parts) == 1:
                    value = self._code.bitcast(parts[0], LaneType(access.dtype).element)
                    found.append(cast(self._code, value, access.dtype, kind.dtype))
                else:
                    order = [at for lane in range(WIDTH) for at in (lane, WIDTH + lane)]
                    found.append(self._code.shuffle(parts[0], order, parts[1]))
            return found

        sources = [self._registers.source(use) for use in operation.sources]
        self._finish(operation, self.access(operation, [access], sources, mask, fast))

    def store(self, operation: Action, mask: str) -> None:
        """Compile ``st``."""
        action = operation.action
        assert isinstance(action, MemoryStore)
        (access,) = action.accesses
        size = access.dtype.itemsize
        sources = [self._registers.source(use) for use in operation.sources]
        kinds = list(map(lane_type, operation.sources))

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            (place,) = places
            for number in range(action.count):
                value, kind = sources[1 + number], kinds[1 + number]
                for part in range(action.elements):
                    column = value
                    if action.elements > 1:
                        chosen = range(part, value.count, action.elements)
                        column = self._code.shuffle(value, chosen)
                    stored = cast(self._code, column, kind.dtype, access.dtype)
                    bits = self._code.bitcast(stored, f"i{8 * size}")
                    ahead = size * (number * action.elements + part)
                    self.memory.store(self._code, place, mask, bits, ahead)
            return []

        self.access(operation, [access], sources, mask, fast)

    def atomic(self, operation: Action, mask: str) -> None:
        """Compile ``atom`` and ``red``."""
        action = operation.action
        assert isinstance(action, Atomic)
        (access,) = action.accesses
        width = 8 * action.dtype.itemsize
        kinds = tuple(map(lane_type, operation.destinations))
        sources = [self._registers.source(use) for use in operation.sources]
        operands = 1 + (action.operation == "cas")
        name = self._atomics.name_of(action)
        given = [
            self._code.bitcast(value, f"i{width}")
            for value in sources[1 : 1 + operands * action.count]
        ]

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            (place,) = places
            code, found = self._code, []
            for number in range(action.count):
                ahead = number * action.dtype.itemsize
                host = pointer_to(code, place.host, ahead) if ahead else place.host
                mine = given[number * operands : (number + 1) * operands]
                arguments = ", ".join(value.typed for value in (place.offsets, *mine))
                text = f"call {mine[0].type} @{name}(ptr {host}, {arguments}, i32 {mask})"
                found.append(code.vector(text, f"i{width}"))
                self.memory.mark(code, place, mask, width, ahead)
            return [
                code.bitcast(old, each.element) for old, each in zip(found, kinds, strict=False)
            ]

        self._finish(operation, self.access(operation, [access], sources, mask, fast))

    def call(self, operation: Action, mask: str) -> None:
        """Compile an instruction that the caller executes."""
        sources = [self._registers.source(use) for use in operation.sources]
        self._finish(operation, self.executed(operation, sources, mask))

    def executed(self, operation: Action, sources: list[LaneVector], mask: str) -> list[LaneVector]:
        """Return the results of an instruction that the caller executes."""
        code = self._code
        kinds = tuple(map(lane_type, operation.destinations))
        site = self._site(operation, kinds)
        pass_sources(code, sources)
        answer = call_back(code, site, mask)
        done = code.fresh("done")
        wrong = code.scalar(f"icmp eq i32 {answer}, {layout.FAULT}")
        code.line(f"br i1 {wrong}, label %fault, label %{done}")
        code.label(done)
        return take_results(code, len(sources), kinds)

    def _finish(self, operation: Action, results: list[LaneVector]) -> None:
        for use, value in zip(operation.destinations, results, strict=True):
            self._registers.write(use, value)

    def _site(
        self,
        operation: Action,
        kinds: tuple[LaneType, ...],
        entries: tuple[int, ...] = (),
        lanes: Callable[[Arrays], tuple[Array, ...] | None] | None = None,
    ) -> int:
        sources = tuple(map(lane_type, operation.sources))
        if len(sources) + len(kinds) > layout.COLUMNS:
            raise Untraceable("so many operands")
        site = CallbackSite(operation, self.block, sources, kinds, entries, lanes)
        return self._sites.add(site)

    # --- the check -------------------------------------------------------------------------------

    def access(
        self,
        operation: Action,
        accesses: Sequence[Access],
        sources: list[LaneVector],
        mask: str,
        fast: Callable[[list[CheckedPlace]], list[LaneVector]],
        checked: CheckedLanes | None = None,
    ) -> list[LaneVector]:
        """Return the results of the fast path, or of the caller.

        Args:
            operation: The instruction.
            accesses: Its accesses. The address of each is the source with the same place.
            sources: The sources.
            mask: The active lanes.
            fast: Returns the results, of the checked places of the accesses.
            checked: The lanes that make each access; by default all active ones make all.
        """
        code = self._code
        kinds = tuple(map(lane_type, operation.destinations))
        numbers = tuple(self._sites.new_entry(access) for access in accesses)
        site = self._site(operation, kinds, numbers, checked and checked.of_sources)
        check, valid, slow, done, join = (
            code.fresh(stem) for stem in ("check", "valid", "slow", "done", "join")
        )
        addresses = [
            self._address(source, access.offset)
            for source, access in zip(sources, accesses, strict=False)
        ]
        code.line(f"br label %{check}")
        code.label(check)
        wrong = checked.others if checked else "0"
        places = []
        for turn, (access, number) in enumerate(zip(accesses, numbers, strict=True)):
            entry = cache_entry(code, number)
            relative = self._relative(entry, addresses[turn])
            bad = self._bad(access, entry, relative)
            makes = checked.lanes[turn] if checked else self._registers.mask
            mine = code.to_mask(code.binary("and", bad, makes))
            wrong = code.scalar(f"or i32 {wrong}, {mine}")
            places.append((access, entry, relative))
        good = code.scalar(f"icmp eq i32 {wrong}, 0")
        code.line(f"br i1 {good}, label %{valid}, label %{slow}, !prof !1")
        code.label(slow)
        pass_sources(code, sources)
        answer = call_back(code, site, mask)
        cases = f"i32 {layout.RETRY}, label %{check} i32 {layout.DONE}, label %{done}"
        code.line(f"switch i32 {answer}, label %fault [ {cases} ]")
        code.label(done)
        executed = take_results(code, len(sources), kinds)
        code.line(f"br label %{join}")
        code.label(valid)
        results = fast([self._place(*each) for each in places])
        last = code.fresh("last")
        code.line(f"br label %{last}")
        code.label(last)
        code.line(f"br label %{join}")
        code.label(join)
        return [
            code.vector(
                f"phi {a.type} [ {a.name}, %{last} ], [ {b.name}, %{done} ]", a.element, a.count
            )
            for a, b in zip(results, executed, strict=True)
        ]

    def _bad(self, access: Access, entry: str, relative: LaneVector) -> LaneVector:
        """Return the lanes whose access is outside of the region of an entry, or misaligned."""
        code = self._code
        count = code.broadcast("i64", field(code, entry, layout.COUNT, "i64"))
        bad = code.compare("uge", relative, count)
        if access.bytes == 1:
            return bad
        low = code.binary("and", relative, splat("i64", access.bytes - 1))
        return code.binary("or", bad, code.compare("ne", low, splat("i64", 0)))

    def _address(self, base: LaneVector, offset: int) -> LaneVector:
        code = self._code
        if offset:
            wrapped = offset % (1 << base.bits)
            base = code.binary("add", base, splat(base.element, wrapped))
        return base if base.bits == 64 else code.cast("zext", base, "i64")

    def _relative(self, entry: str, address: LaneVector) -> LaneVector:
        base = field(self._code, entry, layout.BASE, "i64")
        return self._code.binary("sub", address, self._code.broadcast("i64", base))

    def _place(self, access: Access, entry: str, relative: LaneVector) -> CheckedPlace:
        code = self._code
        host = field(code, entry, layout.HOST, "ptr")
        if access.space in _PRIVATE:
            stride = code.broadcast("i64", field(code, entry, layout.LANE_STRIDE, "i64"))
            own = code.binary("mul", stride, LaneVector("%thread", "i64"))
            relative = code.binary("add", relative, own)
        return CheckedPlace(host, relative, entry)
