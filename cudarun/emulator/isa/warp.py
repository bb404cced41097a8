"""Operations between the lanes of a warp: rows for ``cudarun.emulator.machine.warps``."""

from __future__ import annotations

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.machine.warps import (
    ActiveMask,
    Elect,
    Match,
    Reduce,
    ReduceNumbers,
    Shuffle,
    Vote,
)

FORMS: tuple[InstructionForm, ...] = (
    form("shfl.sync.mode.b32  d:b32|?p:pred, a:b32, b:b32, c:b32, mask:u32", action=Shuffle,
         mode="up down bfly idx"),
    form("shfl.mode.b32  d:b32|?p:pred, a:b32, b:b32, c:b32", action=Shuffle,
         mode="up down bfly idx"),
    form("vote.sync.mode.pred  d, a, mask:u32", action=Vote, mode="all any uni"),
    form("vote.sync.mode.b32  d, a:pred, mask:u32", action=Vote, mode="ballot"),
    form("vote.mode.pred  d, a", action=Vote, mode="all any uni"),
    form("vote.mode.b32  d, a:pred", action=Vote, mode="ballot"),
    form("match.mode.sync.type  d:b32, a, mask:u32", action=Match, mode="any", type="b32 b64"),
    form("match.mode.sync.type  d:b32|?p:pred, a, mask:u32", action=Match, mode="all",
         type="b32 b64"),
    form("redux.sync.op.type  d, a, mask:u32", action=Reduce, op="add min max", type="u32 s32"),
    form("redux.sync.op.b32  d, a, mask:u32", action=Reduce, op="and or xor"),
    form("redux.sync.op{.abs}{.NaN}.f32  d, a, mask:u32", action=ReduceNumbers, op="min max"),
    form("activemask.b32  d", action=ActiveMask),
    form("elect.sync  d:b32|p:pred, mask:u32", action=Elect),
)  # fmt: skip
