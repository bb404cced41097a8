"""Tensor memory access and tensor maps: rows for ``cudarun.emulator.machine.tensor_maps.copies``.

PTX manual 9.7.9.27 and 9.7.9.28 (copies, ``tensormap.replace``), 9.7.13.13 (fences of proxies).
"""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.machine.tensor_maps.actions import (
    AcquireMap,
    CopyMap,
    PrefetchMap,
    ReplaceField,
)
from cudarun.emulator.machine.tensor_maps.copies import (
    PairedLoad,
    TensorLoad,
    TensorPrefetch,
    TensorReduction,
    TensorStore,
)
from cudarun.emulator.machine.transfers import Fence

_ROWS: Keywords = {"dim": "2d", "hint": "L2::cache_hint"}
_TILE: Keywords = {"dim": "1d 2d 3d 4d 5d", "mode": "tile", "hint": "L2::cache_hint"}
_COLUMNS: Keywords = {**_TILE, "dim": "3d 4d 5d"}
_LOAD = "cp.async.bulk.tensor.dim.to.global"
_REPORTING = "mbarrier::complete_tx::bytes"
_TENSOR = "[&t {c:b32}]"
_OPERATIONS = "add min max inc dec and or xor"
_SCOPES = "cta cluster gpu sys"
_SPACES = "global shared::cta"


def _copies() -> Iterator[InstructionForm]:
    """Copies in the mode of tiles, in that of im2col, which has offsets, and of four rows."""
    for words, mode, offsets in (
        (_TILE, "{.mode}", ""),
        ({**_COLUMNS, "mode": "im2col"}, ".mode", ", {o:u16}"),
        ({**_ROWS, "mode": "tile::gather4"}, ".mode", ""),
    ):
        for to, multicast, mask in (
            ("shared::cluster shared::cta", "", ""),
            ("shared::cluster", ".multicast::cluster", ", mask:u16"),
        ):
            end = f"[d], {_TENSOR}, [m]{offsets}{mask}, ?policy:u64"
            head = f"{_LOAD}{mode}.{_REPORTING}{multicast}"
            yield form(f"{head}{{.hint}}  {end}", action=TensorLoad, to=to, **words)
            yield form(f"{head}.cta_group::1{{.hint}}  {end}", action=TensorLoad, to=to, **words)
            yield form(f"{head}.cta_group::2{{.hint}}  {end}", action=PairedLoad, to=to, **words)
        yield form(
            f"cp.async.bulk.prefetch.tensor.dim.L2.global{mode}{{.hint}}  {_TENSOR}{offsets}, "
            "?policy:u64", action=TensorPrefetch, **words,
        )  # fmt: skip
    for words, mode in (
        (_TILE, "{.mode}"),
        ({**_COLUMNS, "mode": "im2col_no_offs"}, ".mode"),
        ({**_ROWS, "mode": "tile::scatter4"}, ".mode"),
    ):
        yield form(
            f"cp.async.bulk.tensor.dim.global.source{mode}.bulk_group{{.hint}}  {_TENSOR}, [a], "
            "?policy:u64", action=TensorStore, source="shared::cta", **words,
        )  # fmt: skip
        yield form(
            f"cp.reduce.async.bulk.tensor.dim.global.source.op{mode}.bulk_group{{.hint}}  "
            f"{_TENSOR}, [a], ?policy:u64", action=TensorReduction, source="shared::cta",
            op=_OPERATIONS, **words,
        )  # fmt: skip


def _replacements() -> Iterator[InstructionForm]:
    replacement: Keywords = {"action": ReplaceField, "space": _SPACES}
    for fields, operands, width in (
        ("global_address", "b", "b64"),
        ("rank", "b", "b32"),
        ("global_stride", "place:int, b", "b64"),
        ("box_dim global_dim element_stride", "place:int, b", "b32"),
        ("elemtype interleave_layout swizzle_mode swizzle_atomicity fill_mode", "n:int", "b32"),
    ):
        yield form(
            f"tensormap.replace.tile.field{{.space}}.b1024.type  [a], {operands}",
            field=fields, type=width, **replacement,
        )  # fmt: skip


FORMS: tuple[InstructionForm, ...] = (
    *_copies(),
    *_replacements(),
    form("prefetch{.space}.tensormap  [a]", action=PrefetchMap, space="const param"),
    form("tensormap.cp_fenceproxy.to.source.tensormap::generic.release.scope.sync.aligned  "
         "[d], [a], size:int", action=CopyMap, to="global", source="shared::cta", scope=_SCOPES),
    form("fence.proxy.tensormap::generic.release.scope", action=Fence, scope=_SCOPES),
    form("fence.proxy.tensormap::generic.acquire.scope  [a], size:int", action=AcquireMap,
         scope=_SCOPES),
)  # fmt: skip
