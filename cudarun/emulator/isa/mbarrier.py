"""Barrier objects (PTX manual 9.7.13.15): rows for ``cudarun.emulator.machine.mbarriers``."""

from __future__ import annotations

from typing import Any

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.mbarriers import (
    Arrive,
    ArriveAfterCopies,
    BulkCopy,
    Initialize,
    Transactions,
    Wait,
    pending_count,
)
from cudarun.emulator.machine.transfers import NoEffect

_OWN = "shared shared::cta"
_SCOPES = "cta cluster"
_ARRIVE: dict[str, Any] = {
    "action": Arrive,
    "kind": "noComplete expect_tx",
    "sem": "release relaxed",
    "scope": _SCOPES,
    "space": f"{_OWN} shared::cluster",
}
_TRANSACTIONS: dict[str, Any] = {
    "action": Transactions,
    "sem": "relaxed",
    "scope": _SCOPES,
    "space": f"{_OWN} shared::cluster",
}
_WAIT: dict[str, Any] = {
    "action": Wait,
    "sem": "acquire relaxed",
    "scope": _SCOPES,
    "space": _OWN,
}
_WHERE = "{.sem}{.scope}{.space}.b64"
_REPORTING = "mbarrier::complete_tx::bytes{.hint}"
_COPY: dict[str, Any] = {"action": BulkCopy, "hint": "L2::cache_hint"}

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
    form(f"cp.async.bulk.to.global.{_REPORTING}  [d], [a], size:u32, [m], ?policy:u64",
         to="shared::cluster shared::cta", **_COPY),
    form("cp.async.bulk.to.source.mbarrier::complete_tx::bytes  [d], [a], size:u32, [m]",
         action=BulkCopy, to="shared::cluster", source="shared::cta"),
    form("cp.async.bulk.global.source.bulk_group{.hint}  [d], [a], size:u32, ?policy:u64",
         source="shared::cta", **_COPY),
    form("cp.async.bulk.commit_group", action=NoEffect),
    form("cp.async.bulk.wait_group{.read}  n:int", action=NoEffect),
)  # fmt: skip
