"""Memory actions declare their accesses, which is all that detectors know of them.

Rows of the instruction tables are found by their operands: an address, or a descriptor of a matrix
in shared memory. What each of them does to memory is here by its name, as the PTX manual says it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.detectors.instrumentation import InstrumentedAccess
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.isa.form import InstructionForm
from cudarun.emulator.isa.table import module_forms
from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.spaces import Piece
from tests.emulator.device import Device
from tests.emulator.test_isa_files import FILES, arguments_on, header, run

READ, WRITE = AccessKind.READ, AccessKind.WRITE
ATOMIC, MBARRIER = AccessKind.ATOMIC, AccessKind.MBARRIER
SYSTEM_CALLS = ("vprintf", "__assertfail")  # no instructions: they read texts byte by byte

# By the beginning of an instruction's name; the longest that fits counts.
KINDS: dict[str, set[AccessKind]] = {
    "ld": {READ},
    "ldu": {READ},
    "st": {WRITE},
    "atom": {ATOMIC},
    "red": {ATOMIC},
    "ldmatrix": {READ},
    "stmatrix": {WRITE},
    "wmma.load": {READ},
    "wmma.store": {WRITE},
    "wgmma.mma_async": {READ},
    "cp.async": {READ, WRITE},
    "cp.async.bulk": {READ, WRITE, MBARRIER},
    "cp.async.bulk.global.shared::cta.bulk_group": {READ, WRITE},
    "cp.async.bulk.prefetch": set(),
    "cp.async.bulk.prefetch.tensor": {READ},
    "cp.async.bulk.tensor": {READ, WRITE, MBARRIER},
    **{f"cp.async.bulk.tensor.{rank}d.global": {READ, WRITE} for rank in range(1, 6)},
    "cp.reduce.async.bulk": {READ, ATOMIC, MBARRIER},
    "cp.reduce.async.bulk.global": {READ, ATOMIC},
    "cp.reduce.async.bulk.tensor": {READ, ATOMIC},
    "cp.async.mbarrier.arrive": {MBARRIER},
    "mbarrier.init": {WRITE},
    "mbarrier.inval": {MBARRIER},
    "mbarrier.expect_tx": {MBARRIER},
    "mbarrier.complete_tx": {MBARRIER},
    "mbarrier.arrive": {MBARRIER},
    "mbarrier.arrive_drop": {MBARRIER},
    "mbarrier.test_wait": {READ},
    "mbarrier.try_wait": {READ},
    "prefetch": set(),
    "prefetchu": set(),
    "discard": set(),
    "applypriority": set(),
    "createpolicy.range": set(),
    "txq": set(),
    "suq": set(),
    "tex": set(),
    "tld4": set(),
    "suld": {READ},
    "sust": {WRITE},
    "sured": {ATOMIC},
    "st.async": {WRITE, MBARRIER},
    "st.async.release": {WRITE},
    "st.async.mmio": {WRITE},
    "red.async": {ATOMIC},
    "red.async.relaxed.cluster": {ATOMIC, MBARRIER},
    "clusterlaunchcontrol.try_cancel": {WRITE, MBARRIER},
    "tensormap.replace": {READ, WRITE},
    "tensormap.cp_fenceproxy": {READ, WRITE},
    "fence": set(),
    "tcgen05.alloc": {WRITE},
    "tcgen05.commit": {MBARRIER},
    "tcgen05.cp": {READ, WRITE},
    "tcgen05.ld": {READ},
    "tcgen05.mma": {READ, WRITE},
    "tcgen05.shift": {READ, WRITE},
    "tcgen05.st": {WRITE},
}


def rows() -> Iterator[InstructionForm]:
    """All rows of the tables with an operand that says where something is in memory."""
    for forms in module_forms().values():
        for form in forms:
            if any(
                each.shape in ("address", "texture", "tensor") or "desc" in each.name
                for each in form.operands
            ):
                yield form


def modifiers(form: InstructionForm) -> Iterator[tuple[str, ...]]:
    """Modifiers that the row takes: each word that it has is in some of these."""
    choices = [sorted(form.classes.get(word, {word})) for word, _ in form.words]
    least = [
        "" if may_be_missing else words[0]
        for words, (_, may_be_missing) in zip(choices, form.words, strict=True)
    ]
    for place, words in enumerate(choices):
        for word in words:
            chosen = [*least[:place], word, *least[place + 1 :]]
            given = tuple(word for word in chosen if word)
            # Some shapes of tensor memory have a least number of repetitions.
            if form.opcode != "tcgen05" or form.match(given) is not None:
                yield given


def decoded(form: InstructionForm, given: tuple[str, ...]) -> Any:
    """What a row makes of an instruction with these modifiers, and operands that it takes."""
    words = form.match(given)
    assert words is not None, (form.opcode, given)
    for operand in form.operands:
        if operand.optional:
            continue
        words.given.add(operand.name)
        if operand.shape == "address":
            words.offsets.append(0)
        elif operand.shape == "texture":
            words.counts.append(4)
        elif operand.shape in ("vector", "tensor"):
            words.counts.append(int(words.get("vec", "v2")[1:]))
        elif operand.shape == "constant":
            words.constants[operand.name] = 16
    make = form.action or form.make
    assert make is not None
    return make(words)


def expected(opcode: str, given: tuple[str, ...]) -> set[AccessKind]:
    """What the manual says of an instruction."""
    for end in range(len(given), -1, -1):
        known = KINDS.get(".".join([opcode, *given[:end]]))
        if known is not None:
            return known
    name = ".".join([opcode, *given])
    raise AssertionError(f"{name}: KINDS does not have what it does to memory")


def held(thing: object) -> Iterator[Access]:
    """Every access in an object, however deep."""
    if isinstance(thing, Access):
        yield thing
    elif isinstance(thing, dict):
        yield from held(list(thing.values()))
    elif isinstance(thing, list | tuple | set):
        for item in thing:
            yield from held(item)
    elif hasattr(thing, "__dict__") and not isinstance(thing, type):
        yield from held(vars(thing))


@pytest.mark.parametrize("opcode", sorted({form.opcode for form in rows()}))
def test_every_memory_form_declares_its_accesses(opcode: str) -> None:
    for form in rows():
        if form.opcode != opcode:
            continue
        for given in modifiers(form):
            action, name = decoded(form, given), ".".join([opcode, *given])
            declared = action.accesses if isinstance(action, MemoryAction) else ()
            assert {access.kind for access in declared} == expected(opcode, given), name
            assert set(held(action)) == set(declared), f"{name} has an undeclared access"


def test_there_are_rows_of_all_names() -> None:
    names = {".".join([form.opcode, *given]) for form in rows() for given in modifiers(form)}
    for name in KINDS:
        assert any(f"{each}.".startswith(f"{name}.") for each in names), name


@pytest.mark.parametrize(
    ("kind", "reads", "writes"),
    [(READ, True, False), (WRITE, False, True), (ATOMIC, True, True), (MBARRIER, True, True)],
)
def test_what_a_kind_does(kind: AccessKind, reads: bool, writes: bool) -> None:
    access = Access("global", np.dtype(np.uint32), 1, kind, 0)
    assert (access.reads, access.writes) == (reads, writes)


def test_an_exchange_whose_result_nobody_wants_only_writes() -> None:
    form = next(form for form in rows() if "exch" in form.classes.get("op", ()))
    action = decoded(form, ("exch", "b32"))
    action.without_result()
    (access,) = action.accesses
    assert (access.kind, access.reads, access.writes) == (ATOMIC, False, True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_accessed_is_declared(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions run on memory that only declared writes can change."""
    locate, tell = Access.locate, InstrumentedAccess.locate
    telling, undeclared = [False], []

    def located(self: Access, active: Active, addresses: Any) -> list[Piece]:
        if not telling[-1]:
            undeclared.append((active.site, self.kind))
        pieces = []
        for piece in locate(self, active, addresses):
            view = piece.view.view()
            view.flags.writeable = self.writes
            pieces.append(piece._replace(view=view))
        return pieces

    def told(self: InstrumentedAccess, active: Active, addresses: Any) -> list[Piece]:
        telling.append(True)
        try:
            return tell(self, active, addresses)
        finally:
            telling.pop()

    monkeypatch.setattr(Access, "locate", located)
    monkeypatch.setattr(InstrumentedAccess, "locate", told)
    text = path.read_text()
    launch = header(text)
    device = Device(text, observer=DetectorObserver(["race", "uninit"], count=True))
    with contextlib.nullcontext() if launch.fault is None else pytest.raises(DeviceFault):
        run(device, launch, arguments_on(device, launch))
    assert undeclared == [] or any(name in text for name in SYSTEM_CALLS)
