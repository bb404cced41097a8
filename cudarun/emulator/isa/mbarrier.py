"""Barrier objects (PTX manual 9.7.13.15): rows for ``cudarun.emulator.machine.mbarriers``."""

from __future__ import annotations

from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.machine.mbarriers import (
    Arrive,
    ArriveAfterCopies,
    Initialize,
    PhaseTest,
    Transactions,
    pending_count,
)

_OWN = "shared shared::cta"
_SCOPES = "cta cluster"
_ARRIVE: Keywords = {
    "action": Arrive,
    "kind": "noComplete expect_tx",
    "sem": "release relaxed",
    "scope": _SCOPES,
    "space": f"{_OWN} shared::cluster",
}
_TRANSACTIONS: Keywords = {
    "action": Transactions,
    "sem": "relaxed",
    "scope": _SCOPES,
    "space": f"{_OWN} shared::cluster",
}
_WAIT: Keywords = {
    "action": PhaseTest,
    "sem": "acquire relaxed",
    "scope": _SCOPES,
    "space": _OWN,
}
_WHERE = "{.sem}{.scope}{.space}.b64"

FORMS: tuple[InstructionForm, ...] = (
    form("mbarrier.init{.space}.b64  [a], count:u32", action=Initialize, space=_OWN),
    form("mbarrier.inval{.space}.b64  [a]", action=Initialize, space=_OWN),
    form(f"mbarrier.expect_tx{_WHERE}  [a], bytes:u32", **_TRANSACTIONS),
    form(f"mbarrier.complete_tx{_WHERE}  [a], bytes:u32", **_TRANSACTIONS),
    form(f"mbarrier.arrive{{.kind}}{_WHERE}  d, [a], ?count:u32", **_ARRIVE),
    form(f"mbarrier.arrive_drop{{.kind}}{_WHERE}  d, [a], ?count:u32", **_ARRIVE),
    form(f"mbarrier.test_wait{_WHERE}  p:pred, [a], state", **_WAIT),
    form(f"mbarrier.test_wait.parity{_WHERE}  p:pred, [a], phase:u32", **_WAIT),
    form(f"mbarrier.try_wait{_WHERE}  p:pred, [a], state, ?hint:u32", **_WAIT),
    form(f"mbarrier.try_wait.parity{_WHERE}  p:pred, [a], phase:u32, ?hint:u32", **_WAIT),
    form("mbarrier.pending_count.b64  d:u32, a", pending_count),
    form("cp.async.mbarrier.arrive{.noinc}{.space}.b64  [a]", action=ArriveAfterCopies, space=_OWN),
)  # fmt: skip
