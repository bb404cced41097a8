"""The code of ``ldmatrix``, ``stmatrix``, ``cp.async`` and ``cp.async.bulk``."""

from __future__ import annotations

from functools import partial

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.accesses import CheckedLanes, GeneralAccess
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.lanes.vectors import WIDTH, LaneVector, constant, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.memory import CheckedPlace
from cudarun.emulator.compiled.state.sites import pass_values
from cudarun.emulator.machine.bulk_copies import CHUNK, BulkCopy
from cudarun.emulator.machine.matrices import LoadMatrix, StoreMatrix
from cudarun.emulator.machine.transfers import AsynchronousCopy

_LANES = np.arange(WIDTH)


class CopyCode(AccessRules):
    """The code of these instructions."""

    # --- ldmatrix, stmatrix ----------------------------------------------------------------------

    def load_matrix(self, operation: Action, mask: str) -> None:
        """Compile ``ldmatrix``."""
        code, action = self._code, operation.action
        assert isinstance(action, LoadMatrix)
        sources = self._sources(operation)
        kinds = [lane_type(use) for use in operation.destinations]

        def loaded(places: list[CheckedPlace], _: list[LaneVector]) -> list[LaneVector]:
            found = []
            for matrix, kind in enumerate(kinds):
                halves = []
                for half in range(1 if not action.transposed else 2):
                    at = self._at(action, places[0], matrix, half)
                    width = 16 if action.transposed else 32
                    halves.append(self._accesses.memory.load(code, at, "%mask", width, 0))
                value = halves[0]
                if action.transposed:
                    order = [at for lane in range(WIDTH) for at in (lane, WIDTH + lane)]
                    value = code.bitcast(code.shuffle(value, order, halves[1]), "i32")
                found.append(code.bitcast(value, kind.element))
            return found

        general = GeneralAccess(loaded, partial(self._rows, action))
        results = self._accesses.access(operation, action.accesses, sources, mask, general)
        self._finish(operation, results)

    def store_matrix(self, operation: Action, mask: str) -> None:
        """Compile ``stmatrix``."""
        code, action = self._code, operation.action
        assert isinstance(action, StoreMatrix)
        sources = self._sources(operation)

        def stored(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            for matrix in range(action.matrices):
                value = code.bitcast(given[1 + matrix], "i32")
                if not action.transposed:
                    at = self._at(action, places[0], matrix, 0)
                    self._accesses.memory.store(code, at, "%mask", value, 0)
                    continue
                parts = code.bitcast(value, "i16")
                for half in range(2):
                    part = code.shuffle(parts, range(half, 2 * WIDTH, 2))
                    at = self._at(action, places[0], matrix, half)
                    self._accesses.memory.store(code, at, "%mask", part, 0)
            return []

        general = GeneralAccess(stored, partial(self._rows, action))
        self._accesses.access(operation, action.accesses, sources, mask, general)

    def _rows(self, action: LoadMatrix | StoreMatrix, _: list[LaneVector]) -> CheckedLanes:
        """Return the lanes with addresses of rows; incomplete warps are left to the caller."""
        pointing = 8 * action.matrices > _LANES
        missing = self._code.scalar("xor i32 %mask, -1")
        return CheckedLanes([constant(pointing)], missing)

    def _at(
        self, action: LoadMatrix | StoreMatrix, place: CheckedPlace, matrix: int, half: int
    ) -> CheckedPlace:
        """Return the places of a register of all lanes, or of a half of it if transposed."""
        code = self._code
        row, column = action.place(matrix, half)
        offsets = code.shuffle(place.offsets, row.tolist())
        ahead = constant((2 * column).astype(np.int64))
        return CheckedPlace(place.host, code.binary("add", offsets, ahead), place.entry)

    # --- cp.async --------------------------------------------------------------------------------

    def copy(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async``; the caller copies parts that are neither whole nor empty."""
        code, action = self._code, operation.action
        assert isinstance(action, AsynchronousCopy)
        sources = self._sources(operation)
        unit = action.size // action.count

        def checked(given: list[LaneVector]) -> CheckedLanes:
            every = self._registers.mask
            reads, others = every, "0"
            if action.partial:
                whole = code.compare("eq", given[2], splat("i32", action.size))
                some = code.compare("ne", given[2], splat("i32", 0))
                reads = code.binary("and", every, whole)
                odd = code.binary("and", some, code.binary("xor", whole, splat("i1", True)))
                others = code.to_mask(code.binary("and", every, odd))
            elif action.ignorable:
                wanted = code.binary("xor", given[2], splat("i1", True))
                reads = code.binary("and", every, wanted)
            return CheckedLanes([every, reads], others)

        def copied(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            _, reads = checked(given).lanes
            reading = code.to_mask(reads)
            target, origin = places
            data = [
                self._accesses.memory.load(code, origin, reading, 8 * unit, unit * part)
                for part in range(action.count)
            ]
            for part, value in enumerate(data):
                kept = code.select(reads, value, splat(value.element, 0))
                self._accesses.memory.store(code, target, "%mask", kept, unit * part)
            return []

        general = GeneralAccess(copied, checked)
        self._accesses.access(operation, action.accesses[:2], sources, mask, general)

    # --- cp.async.bulk ---------------------------------------------------------------------------

    def copy_bulk(self, operation: Action, mask: str) -> None:
        """Compile ``cp.async.bulk``.

        Lanes copy one after the other, then complete their bytes on their barrier objects
        (``native/copies.c``). A copy that reaches beyond a region, or into another block, is left
        to the caller.
        """
        code, action = self._code, operation.action
        assert isinstance(action, BulkCopy)
        if action.multicast or action.within_cluster:
            self._accesses.call(operation, mask)
            return
        sources = self._sources(operation)

        def checked(given: list[LaneVector]) -> CheckedLanes:
            some = code.compare("uge", self._wide(given[2]), splat("i64", CHUNK))
            copying = code.binary("and", some, self._registers.mask)
            return CheckedLanes([copying, copying], "0")

        def copied(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            to, origin = places
            values = [self._wide(given[place]) for place in (2, 0, 3)[: 2 + action.reports]]
            pass_values(code, [to.offsets, origin.offsets, *values])
            memory = f"ptr {to.host}, ptr {to.entry}, ptr {origin.host}, ptr {origin.entry}"
            offset = action.accesses[-1].offset if action.reports else 0
            objects = f"i32 {int(action.reports)}, i64 {offset}"
            arguments = f"ptr %ctx, {memory}, i32 %mask, {objects}"
            good = code.scalar(f"icmp ne i32 {call(code, 'i32', 'copy_bulk', arguments)}, 0")
            return self._executed_unless(good, operation, given, "%mask", list)

        general = GeneralAccess(copied, checked)
        self._accesses.access(operation, action.accesses[:2], sources, mask, general)
