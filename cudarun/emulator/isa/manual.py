"""The instructions of PTX ISA 9.0 by the manual's chapters, to name what is not implemented.

The tables define what the emulated device implements; this module lists every instruction of the
manual, and the modifiers of those without a table. An error can thus distinguish invalid PTX from
PTX that is not implemented, and ``docs/reference/ptx-support.md`` lists both.
"""

from __future__ import annotations

from functools import cache

from cudarun.base.records import dataclass
from cudarun.emulator.isa import table
from cudarun.emulator.isa.modifiers import misplaced

VERSION = (9, 0)
"""The version of the manual."""


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


def _words(text: str) -> list[str]:
    return text.split()


def _chapter(section: str, title: str, tables: str, instructions: str) -> Chapter:
    return Chapter(section, title, tuple(tables.split()), tuple(instructions.split()))


CHAPTERS = (
    _chapter("9.7.1", "Integer arithmetic", "integer", """
        add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi
        szext bmsk dp4a dp2a"""),
    _chapter("9.7.2", "Extended-precision integer arithmetic", "integer", """
        add.cc addc sub.cc subc mad.cc madc"""),
    _chapter("9.7.3", "Floating point", "floating", """
        testp copysign add sub mul fma mad div abs neg min max rcp sqrt rsqrt sin cos lg2 ex2
        tanh"""),
    _chapter("9.7.4", "Half-precision floating point", "half", """
        add sub mul fma neg abs min max tanh ex2"""),
    _chapter("9.7.5", "Mixed-precision floating point", "", "add sub fma"),
    _chapter("9.7.6, 9.7.7", "Comparison and selection", "compare", "set setp selp slct"),
    _chapter("9.7.8", "Logic and shifts", "logic", "and or xor not cnot lop3 shf shl shr"),
    _chapter("9.7.9", "Data movement and conversion",
        "move logic convert memory cluster hints mbarrier bulk tensor warp", """
        mov shfl prmt ld ld.global.nc ldu st st.async st.bulk multimem.ld_reduce multimem.st
        multimem.red prefetch prefetchu applypriority discard createpolicy isspacep cvta cvt
        cvt.pack mapa getctarank cp.async cp.async.commit_group cp.async.wait_group
        cp.async.wait_all
        cp.async.bulk cp.reduce.async.bulk cp.async.bulk.prefetch cp.async.bulk.tensor
        cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor cp.async.bulk.commit_group
        cp.async.bulk.wait_group tensormap.replace"""),
    _chapter("9.7.10", "Texture", "texture", "tex tld4 txq istypep"),
    _chapter("9.7.11", "Surface", "surface", "suld sust sured suq"),
    _chapter("9.7.12", "Control flow", "control", "bra brx.idx call ret exit"),
    _chapter("9.7.13", "Parallel synchronization and communication",
        "control atomics warp hints mbarrier bulk tensor", """
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
    _chapter("9.7.16", "Tensor cores of the fifth generation", "", """
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

# Opcodes with every form that ptxas of CUDA 13.0 accepts for sm_90.
WHOLE = (
    frozenset(
        _words("""
    add sub mul mad div rem abs neg min max sad popc clz brev cnot not and or xor sqrt rsqrt
    sin cos lg2 ex2 tanh copysign testp selp slct setp mul24 mad24 bfind fns bfe bfi szext
    bmsk dp4a dp2a addc subc madc lop3 shf shl shr prmt mov cvta isspacep prefetchu
    createpolicy discard applypriority nanosleep pmevent vote shfl match activemask elect redux
""")
    )
    | table.opcodes("scalar_video")
    | table.opcodes("video")
)

# Modifiers without a row, of instructions and forms that are not implemented.
_OTHER_WORDS = frozenset(
    _words("""
    oob rs e2m1 e2m3 e3m2 ue8m0 ue4m3 e2m1x2 e2m3x2 e3m2x2 ue8m0x2 ue4m3x2 e2m1x4 e4m3x4
    e5m2x4 e2m3x4 e3m2x4 s4 u4 s2 u2 b1 f32x2 unified v8 scale_vec::1X scale_vec::2X
    scale_vec::4X block_scale block16 block32 kind::f8f6f4 kind::mxf4 kind::mxf8f6f4
    kind::mxf4nvf4 kind::f16 kind::tf32 kind::i8 sp sp::ordered_metadata m8n8k32 m8n8k128
    m16n8k64 m16n8k128 m16n8k256 m16n16 m16n8 m8n16 b8x16 b6x16_p32 b4x16_p64 x8 x16 x32 x64
    x128 async uni idx popc arrive noinc L2::evict_first L2::evict_last L2::evict_normal
    mbarrier::complete_tx::bytes multicast::cluster multicast::cluster::all bulk_group read
    tile im2col im2col::w im2col::w::128 tile::gather4 tile::scatter4 im2col_no_offs cp_mask
    noComplete tensormap::generic mbarrier_init async::generic sync_restrict::shared::cta
    sync_restrict::shared::cluster global_address rank box_dim global_dim global_stride
    element_stride elemtype interleave_layout swizzle_mode swizzle_atomicity fill_mode
    cta_group::1 cta_group::2 16x64b 16x128b 16x256b 32x32b 16x32bx2 pack::16b unpack::16b
    128x256b 4x256b 128x128b 64x128b 32x128b warpx2::02_13 warpx2::01_23 warpx4
    collector::a::fill collector::a::use collector::a::lastuse collector::a::discard shift
    down 1d a1d 2d a2d 3d cube acube 2dms a2dms 4d 5d r g b a v4 width height depth
    channel_data_type channel_order normalized_coords force_unnormalized_coords filter_mode
    addr_mode_0 addr_mode_1 addr_mode_2 array_size num_mipmap_levels num_samples memory_layout
    clamp zero trap shr7 shr15 po acc::f16 acc::f32 acquire relaxed release aligned warp cta b1024
    p texref samplerref surfref tensormap
    range cvt is_canceled get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z
    get_first_ctaid b128
""")
    + [f"m64n{n}k{k}" for n in range(8, 257, 8) for k in (64, 256)]
)
# Words that ptxas knows only as parts of the names of certain instructions.
_NAME_WORDS = frozenset(
    _words("""
    after_thread_sync arrive arrive_drop base before_thread_sync bulk commit commit_group
    complete_tx cp_fenceproxy expect_tx fence fractional full grad group hi init inval
    ld_reduce level lo load mask mma_async parity pending_count prefetch proxy query_cancel
    red reduce relinquish_alloc_permit replace store tensor test_wait to try_cancel try_wait
    wait_all wait_group warp wide ws
""")
)


@cache
def opcodes() -> frozenset[str]:
    """Return every opcode of PTX."""
    names = (name for chapter in CHAPTERS for name in chapter.instructions)
    return frozenset({name.split(".")[0] for name in names} | table.opcodes())


@cache
def modifiers() -> frozenset[str]:
    """Return every word that modifies an instruction of PTX, or is part of its name."""
    found = set(_OTHER_WORDS | _NAME_WORDS)
    for opcode in opcodes():
        found |= _own_words(opcode)
    return frozenset(found)


def is_known(opcode: str, words: tuple[str, ...]) -> bool:
    """Return whether the opcode and all words of an instruction are in PTX of `VERSION`."""
    return opcode in opcodes() and modifiers().issuperset(words)


@cache
def _own_words(opcode: str) -> frozenset[str]:
    """Return the words of an opcode's rows and names."""
    found: set[str] = set()
    for row in table.forms(opcode):
        for word, _ in row.words:
            found.update(row.classes.get(word) or word.split("."))
    for chapter in CHAPTERS:
        for name in chapter.instructions:
            first, *rest = name.split(".")
            if first == opcode:
                found.update(rest)
    return frozenset(found)


def missing(opcode: str, words: tuple[str, ...]) -> tuple[str, str]:
    """Return the name of an instruction that no form matches, and the details of a form of one."""
    name = ".".join((opcode, *words))
    if opcode not in table.opcodes():
        return f"instruction '{name}'", ""
    return f"this form of '{opcode}'", f": '{name}'"


def illegal(opcode: str, words: tuple[str, ...]) -> str | None:
    """Return ptxas's error for an instruction that no form matches, unless PTX defines it."""
    if opcode not in opcodes():
        return f"Not a name of any known instruction: '{opcode}'"
    for word in words:
        elsewhere = opcode in table.opcodes() and word in _NAME_WORDS - _own_words(opcode)
        if elsewhere or word not in modifiers():
            return f"Unknown modifier '.{word}'"
    displaced = misplaced(opcode, words)
    if displaced is not None:
        return f"Unknown modifier '.{displaced}'"
    wrong = _undefined(opcode, words)
    if wrong is not None:
        return wrong
    if opcode == "isspacep" and words == ("param::func",):
        return "Illegal modifier '::func' for instruction 'isspacep'"
    if opcode in WHOLE:
        return f"'{'.'.join((opcode, *words))}' is not a form of instruction '{opcode}' for sm_90"
    return None


def _undefined(opcode: str, words: tuple[str, ...]) -> str | None:
    """Return ptxas's error for forms of some opcodes that PTX does not define."""
    if opcode in ("atom", "red"):
        from cudarun.emulator.isa.atomics import illegal_atomic  # see `table`

        return illegal_atomic(opcode, words)
    if opcode in table.opcodes("scalar_video"):
        from cudarun.emulator.isa.scalar_video import illegal_video

        return illegal_video(opcode, words)
    return None
