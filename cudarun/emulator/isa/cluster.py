"""Clusters: rows for ``cudarun.emulator.machine.clusters``. Cluster barriers are control flow."""

from __future__ import annotations

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.clusters import MapAddress, RankOfAddress

FORMS: tuple[InstructionForm, ...] = (
    form("mapa{.space}.type  d, a, b:u32", action=MapAddress, space="shared::cluster",
         type="u32 u64"),
    form("getctarank{.space}.type  d:u32, a", action=RankOfAddress, space="shared::cluster",
         type="u32 u64"),
)  # fmt: skip
