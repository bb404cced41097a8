"""Clusters: rows for ``cudarun.emulator.machine.clusters``. Cluster barriers are control flow."""

from __future__ import annotations

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.bulk_copies import CancelLaunch, canceled, first_block
from cudarun.emulator.machine.clusters import map_address, rank_of_address

FORMS: tuple[InstructionForm, ...] = (
    form("mapa{.space}.type  d, a, b:u32", make=map_address, space="shared::cluster",
         type="u32 u64"),
    form("getctarank{.space}.type  d:u32, a", make=rank_of_address, space="shared::cluster",
         type="u32 u64"),
    form("clusterlaunchcontrol.try_cancel.async{.space}.mbarrier::complete_tx::bytes"
         "{.multicast::cluster::all}.b128  [a], [m]", action=CancelLaunch, space="shared::cta"),
    form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128  p:pred, a:b128", make=canceled),
    form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  {d:b32}, a:b128",
         make=first_block, writes=1),
    form("clusterlaunchcontrol.query_cancel.axis.b32.b128  d:b32, a:b128", make=first_block,
         axis="get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z"),
)  # fmt: skip
