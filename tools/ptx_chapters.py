"""The chapters of the PTX manual, and the forms that the emulated device refuses, with the reasons.

``docs/reference/ptx-support.md`` has them as tables. A refused form that is implemented is removed
here; `tests/test_ptx_support.py` shows that all are refused, and that every refused instruction is
here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chapter:
    """One section of the manual's chapter 9.7.

    Attributes:
        section: The section number.
        title: The title.
        tables: The modules of ``cudarun.emulator.isa`` that hold its rows.
        instructions: Names as the manual has them, by opcode and the words that tell them apart.
    """

    section: str
    title: str
    tables: tuple[str, ...]
    instructions: tuple[str, ...]


def _chapter(section: str, title: str, tables: str, instructions: str) -> Chapter:
    return Chapter(section, title, tuple(tables.split()), tuple(instructions.split()))


CHAPTERS = (
    _chapter("9.7.1", "Integer arithmetic", "integer later_integer", """
        add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi
        szext bmsk dp4a dp2a clmad"""),
    _chapter("9.7.2", "Extended-precision integer arithmetic", "integer", """
        add.cc addc sub.cc subc mad.cc madc"""),
    _chapter("9.7.3", "Floating point", "floating later_floating", """
        testp copysign add sub mul fma mad div abs neg min max rcp sqrt rsqrt sin cos lg2 ex2
        tanh"""),
    _chapter("9.7.4", "Half-precision floating point", "half", """
        add sub mul fma neg abs min max tanh ex2"""),
    _chapter("9.7.5", "Mixed-precision floating point", "mixed_precision", "add sub fma"),
    _chapter("9.7.6, 9.7.7", "Comparison and selection", "compare", "set setp selp slct"),
    _chapter("9.7.8", "Logic and shifts", "logic", "and or xor not cnot lop3 shf shl shr"),
    _chapter("9.7.9", "Data movement and conversion",
        "move logic convert narrow memory cluster hints mbarrier bulk tensor warp", """
        mov shfl prmt ld ld.global.nc ldu st st.async st.bulk multimem.ld_reduce multimem.st
        multimem.red prefetch prefetchu applypriority discard createpolicy isspacep cvta cvt
        cvt.pack mapa getctarank cp.async cp.async.commit_group cp.async.wait_group
        cp.async.wait_all
        cp.async.bulk cp.reduce.async.bulk cp.async.bulk.prefetch cp.async.bulk.tensor
        cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor cp.async.bulk.commit_group
        cp.async.bulk.wait_group tensormap.replace"""),
    _chapter("9.7.10", "Texture", "texture", "tex tld4 txq istypep"),
    _chapter("9.7.11", "Surface", "texture", "suld sust sured suq"),
    _chapter("9.7.12", "Control flow", "control", "bra brx.idx call ret exit"),
    _chapter("9.7.13", "Parallel synchronization and communication",
        "control atomics warp hints mbarrier bulk tensor cluster", """
        bar barrier bar.warp.sync barrier.cluster membar fence atom red red.async vote vote.sync
        shfl.sync match.sync activemask redux.sync griddepcontrol elect.sync mbarrier.init
        mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx mbarrier.arrive mbarrier.arrive_drop
        cp.async.mbarrier.arrive mbarrier.test_wait mbarrier.try_wait mbarrier.pending_count
        tensormap.cp_fenceproxy clusterlaunchcontrol.try_cancel
        clusterlaunchcontrol.query_cancel"""),
    _chapter("9.7.14", "Warp-level matrices", "matrix", """
        wmma.load wmma.store wmma.mma mma mma.sp ldmatrix stmatrix movmatrix"""),
    _chapter("9.7.15", "Warpgroup-level matrices", "warpgroup", """
        wgmma.mma_async wgmma.mma_async.sp wgmma.fence wgmma.commit_group wgmma.wait_group"""),
    _chapter("9.7.16", "Tensor cores of the fifth generation", "tensor_memory", """
        tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.st
        tcgen05.wait tcgen05.cp tcgen05.shift tcgen05.mma tcgen05.mma.sp tcgen05.mma.ws
        tcgen05.mma.ws.sp tcgen05.fence tcgen05.commit"""),
    _chapter("9.7.17", "Stack", "stack", "stacksave stackrestore alloca"),
    _chapter("9.7.18", "Video", "scalar_video video", """
        vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2
        vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4"""),
    _chapter("9.7.19", "Miscellaneous", "control hints", "brkpt nanosleep pmevent trap setmaxnreg"),
)  # fmt: skip

# Control flow has no rows: it is decoded to blocks and edges, not to operations on lanes.
CONTROL_FORMS = (
    "bra{.uni}  label",
    "brx.idx{.uni}  a, targets",
    "call{.uni}  {(results),} function{, (arguments)}",
    "call{.uni}  {(results),} a{, (arguments)}, prototype",
    "ret{.uni}",
    "exit",
    "trap",
    "brkpt",
    "bar{.cta}.sync  a{, b}",
    "bar{.cta}.arrive  a, b",
    "bar{.cta}.red.popc.u32  d, a{, b}, {!}c",
    "bar{.cta}.red.op.pred  p, a{, b}, {!}c",
    "barrier{.cta}.sync{.aligned}  a{, b}",
    "barrier{.cta}.arrive{.aligned}  a, b",
    "barrier{.cta}.red.popc{.aligned}.u32  d, a{, b}, {!}c",
    "barrier{.cta}.red.op{.aligned}.pred  p, a{, b}, {!}c",
    "bar.warp.sync  mask",
    "barrier.cluster.arrive{.sem}{.aligned}",
    "barrier.cluster.wait{.acquire}{.aligned}",
)


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
    _row("cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes "
         "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes",
         "They need tensor maps of `cuTensorMapEncodeIm2colWide`, which the emulated driver does "
         "not encode. The manual shows the order of their pixels in figures only."),
)  # fmt: skip
"""Forms that ptxas refuses for sm_90."""

REFUSED_FOR_VERSIONS: tuple[RefusedForms, ...] = (
    _row("multimem.cp.async.bulk multimem.cp.reduce.async.bulk multimem.st.async "
         "multimem.red.async",
         "PTX 9.1 and 9.3 have them. They need memory that NVLink multicast maps."),
    _row("fabric.submit fabric.submit.commit_group fabric.wait",
         "PTX 9.3 and 9.5 have them. They need several GPUs that NVLink connects."),
    _row("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob "
         "cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.b128 "
         "mbarrier.init.layout::v1.shared.b64 mbarrier.check_layout.layout::v1.shared.b64 "
         "ld.proxy::readonly.global.b32 prefetch.L1::32B.valid_addr "
         "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 "
         "cp.async.bulk.wait_group.sync_restrict::proxy::async "
         "fence.alias.sync_restrict::read.release.sys "
         "tensormap.query.alloc_class_large.global.b1024",
         "PTX 9.2 has `.ignore_oob`, 9.3 `.b128` with an order of memory and `.layout`, 9.4 "
         "`.proxy::readonly`, `.valid_addr` and `.exclusive`, 9.5 the others. Their sections of "
         "the manual were not available. `%locality_domain_id` (9.5) is refused, too."),
)  # fmt: skip
"""Forms of versions after `cudarun.emulator.isa.manual.VERSION`, which ptxas 13.5 accepts."""

REFUSED_FORMS = tuple(
    form
    for rows in (REFUSED_FOR_SM_90, REFUSED_FOR_LATER, REFUSED_FOR_VERSIONS)
    for row in rows
    for form in row.forms
)
