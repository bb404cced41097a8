"""The forms of PTX 9.0 that are not implemented, each with the reason.

``docs/reference/ptx-support.md`` has them as a table. A row that is implemented is removed here;
`tests/test_ptx_support.py` shows that all are refused, and that every refused instruction is here.
"""

from __future__ import annotations

from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class RefusedForms:
    """Forms that are refused for one reason.

    Attributes:
        forms: Instructions by the manual's names, or forms with all modifiers.
        reason: The reason.
    """

    forms: tuple[str, ...]
    reason: str


def _row(forms: str, reason: str) -> RefusedForms:
    return RefusedForms(tuple(forms.split()), reason)


REFUSED_FOR_SM_90: tuple[RefusedForms, ...] = (
    _row("multimem.ld_reduce multimem.st multimem.red",
         "They need memory that NVLink multicast maps on several GPUs. The emulated driver has no "
         "multicast objects, so no program can have a valid address."),
)  # fmt: skip
"""Forms that ptxas accepts for sm_90."""

REFUSED_FOR_LATER: tuple[RefusedForms, ...] = (
    _row("add.rn.f32.f16 sub.rn.f32.f16 fma.rn.f32.f16 add.rn.f32x2 cvt.rs.f16x2.f32 "
         "cvt.rn.satfinite.e2m1x2.f32 cvt.rz.satfinite.ue8m0x2.f32 redux.sync.min.f32 "
         "ld.global.v8.b32 ld.global.L2::evict_first.v4.b64 st.bulk "
         "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 "
         "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 clusterlaunchcontrol.try_cancel "
         "clusterlaunchcontrol.query_cancel st.async.release.gpu.global.b32 "
         "red.async.relaxed.gpu.global.add.u32 "
         "cp.async.bulk.global.shared::cta.bulk_group.cp_mask "
         "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes",
         "They require sm_100."),
    _row("tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.st "
         "tcgen05.wait tcgen05.cp tcgen05.shift tcgen05.mma tcgen05.mma.sp tcgen05.mma.ws "
         "tcgen05.mma.ws.sp tcgen05.fence tcgen05.commit",
         "They require sm_100a."),
    _row("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32 "
         "mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16",
         "They require sm_120."),
)  # fmt: skip
"""Forms that ptxas refuses for sm_90."""

REFUSED_FORMS = tuple(
    form for rows in (REFUSED_FOR_SM_90, REFUSED_FOR_LATER) for row in rows for form in row.forms
)
