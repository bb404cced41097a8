"""Cases of what lanes do together: warps, barriers, atomics, branches, special registers."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case

_ALL = "0xFFFFFFFF"


def warp() -> Iterator[Case]:
    """``shfl``, ``vote``, ``match``, ``redux`` and their like, in full and in parts of warps."""
    for mode in ("up", "down", "bfly", "idx"):
        for segment in (0x00, 0x1F, 0x0F, 0x1000, 0x181F, 0x1C07, 0x101F, 0x0A05):
            text = f"shfl.sync.{mode}.b32 %d0|%d1, %a0, %a1, {segment:#x}, {_ALL};"
            yield Case(f"shfl.sync.{mode}.b32 {segment:#x}", text, ("u32", "amount"),
                       ("b32", "pred"), lanes=64)  # fmt: skip
        text = f"shfl.sync.{mode}.b32 %d0, %a0, %a1, %a2, {_ALL};"
        yield Case(f"shfl.sync.{mode}.b32", text, ("u32", "amount", "u32"), ("b32",))
    halves = (
        "and.b32 %t0, %lane, 1; setp.eq.u32 %p0, %t0, 0; mov.u32 %t1, 0x55555555; "
        "@!%p0 mov.u32 %t1, 0xAAAAAAAA; mov.u32 %d0, 0;"
    )
    both = (
        "@%p0 shfl.sync.bfly.b32 %d0, %a0, 2, 31, 0x55555555; "
        "@!%p0 shfl.sync.bfly.b32 %d0, %a0, 4, 31, 0xAAAAAAAA;"
    )
    yield Case("shfl.sync.bfly.b32 halves", f"{halves} {both}", ("u32",), ("b32",), lanes=64)
    yield from _votes(halves)
    yield from _matches(halves)
    yield from _reductions(halves)
    yield Case("activemask.b32", "activemask.b32 %d0;", (), ("b32",), lanes=32)
    yield Case("elect.sync", f"elect.sync %d0|%d1, {_ALL};", (), ("b32", "pred"), lanes=64)
    text = "@%p0 elect.sync %d0|%p1, 0x55555555; @!%p0 elect.sync %d0|%p1, 0xAAAAAAAA;"
    yield Case("elect.sync halves", f"{halves} {text} selp.u32 %d1, 1, 0, %p1;", (),
               ("b32", "u32"), lanes=64)  # fmt: skip
    text = f"bar.warp.sync {_ALL}; mov.u32 %d0, %lane;"
    yield Case("bar.warp.sync", text, (), ("u32",), lanes=32)


def _votes(halves: str) -> Iterator[Case]:
    # Warp 0 votes for, warp 1 against, the others are of two minds.
    decide = (
        "shr.u32 %t2, %thread, 5; setp.ne.u32 %p2, %a0, 0; setp.eq.or.u32 %p2, %t2, 0, %p2; "
        "setp.ne.and.u32 %p2, %t2, 1, %p2;"
    )
    for mode in ("all", "any", "uni"):
        text = f"{decide} vote.sync.{mode}.pred %d0, %p2, {_ALL};"
        yield Case(f"vote.sync.{mode}.pred", text, ("u32",), ("pred",))
        text = f"{decide} vote.sync.{mode}.pred %d0, !%p2, {_ALL};"
        yield Case(f"vote.sync.{mode}.pred of the opposite", text, ("u32",), ("pred",))
        text = (
            f"{decide} {halves} setp.ne.u32 %p3, %t0, %t0; "
            f"@%p0 vote.sync.{mode}.pred %p3, %p2, 0x55555555; "
            f"@!%p0 vote.sync.{mode}.pred %p3, %p2, 0xAAAAAAAA; selp.u32 %d0, 1, 0, %p3;"
        )
        yield Case(f"vote.sync.{mode}.pred halves", text, ("u32",), ("u32",))
    for name in ("vote.sync.ballot.b32", "vote.ballot.sync.b32"):
        text = f"{decide} {name} %d0, %p2, {_ALL};"
        yield Case(name, text, ("u32",), ("b32",))
    text = (
        f"{decide} {halves} @%p0 vote.sync.ballot.b32 %d0, %p2, 0x55555555; "
        "@!%p0 vote.sync.ballot.b32 %d0, %p2, 0xAAAAAAAA;"
    )
    yield Case("vote.sync.ballot.b32 halves", text, ("u32",), ("b32",))


def _matches(halves: str) -> Iterator[Case]:
    for bits in (32, 64):
        few = f"and.b{bits} %a0, %a0, 3; shr.u32 %t2, %thread, 5; setp.eq.u32 %p2, %t2, 1; "
        few += f"@%p2 mov.b{bits} %a0, 7;"  # warp 1: all the same
        text = f"{few} match.any.sync.b{bits} %d0, %a0, {_ALL};"
        yield Case(f"match.any.sync.b{bits}", text, (f"u{bits}",), ("b32",))
        text = f"{few} match.all.sync.b{bits} %d0|%d1, %a0, {_ALL};"
        yield Case(f"match.all.sync.b{bits}", text, (f"u{bits}",), ("b32", "pred"))
        text = f"{few} match.all.sync.b{bits} %d0, %a0, {_ALL};"
        yield Case(f"match.all.sync.b{bits} alone", text, (f"u{bits}",), ("b32",))
        text = (
            f"{few} {halves} @%p0 match.any.sync.b{bits} %d0, %a0, 0x55555555; "
            f"@!%p0 match.any.sync.b{bits} %d0, %a0, 0xAAAAAAAA;"
        )
        yield Case(f"match.any.sync.b{bits} halves", text, (f"u{bits}",), ("b32",))


def _reductions(halves: str) -> Iterator[Case]:
    names = [f"{op}.{kind}" for op in ("add", "min", "max") for kind in ("u32", "s32")]
    for name in [*names, "and.b32", "or.b32", "xor.b32"]:
        yield Case(f"redux.sync.{name}", f"redux.sync.{name} %d0, %a0, {_ALL};", ("u32",),
                   (name[-3:],))  # fmt: skip
        text = (
            f"{halves} @%p0 redux.sync.{name} %d0, %a0, 0x55555555; "
            f"@!%p0 redux.sync.{name} %d0, %a0, 0xAAAAAAAA;"
        )
        yield Case(f"redux.sync.{name} halves", text, ("u32",), (name[-3:],))


# --- atomics -------------------------------------------------------------------------------------

_OPERATIONS = {
    "and": "b32 b64", "or": "b32 b64", "xor": "b32 b64",
    "add": "u32 s32 u64 f32 f64", "inc": "u32", "dec": "u32",
    "min": "u32 s32 u64 s64", "max": "u32 s32 u64 s64",
    "add.noftz": "f16 f16x2 bf16 bf16x2",
    "exch": "b32 b64",
    "cas": "b16 b32 b64",
}  # fmt: skip
_SPACES = {"global": "%g", "shared": "%s", "": "%g", "shared::cta": "%s", "shared::cluster": "%s"}


def atomics() -> Iterator[Case]:
    """Each thread at a place of its own, then all at one place with operations in any order."""
    for op, types in _OPERATIONS.items():
        for name in types.split():
            for space in _SPACES:
                yield from _alone(op, name, space)
    yield from _together()
    yield from _wide()
    for sem in ("relaxed", "acquire", "release", "acq_rel"):
        for scope in ("cta", "cluster", "gpu", "sys"):
            where = f"{sem}.{scope}"
            reduced = sem if sem in ("relaxed", "release") else "relaxed"
            text = (
                f"st.global.u32 [%g], %a0; atom.{where}.global.add.u32 %d0, [%g], %a1; "
                f"red.{reduced}.{scope}.global.add.u32 [%g], 1; ld.global.u32 %d1, [%g];"
            )
            yield Case(f"atom.{where}.global.add.u32", text, ("u32", "u32"), ("u32", "u32"),
                       lanes=32)  # fmt: skip
    policy = "createpolicy.fractional.L2::evict_last.b64 %w0;"
    text = (
        f"st.global.u32 [%g], %a0; {policy} "
        "atom.global.add.L2::cache_hint.u32 %d0, [%g], %a1, %w0; ld.global.u32 %d1, [%g];"
    )
    yield Case("atom.global.add.L2::cache_hint.u32", text, ("u32", "u32"), ("u32", "u32"), lanes=32)


def _alone(op: str, name: str, space: str) -> Iterator[Case]:
    dot, at = f".{space}" if space else "", _SPACES[space]
    bits = {"f16x2": 32, "bf16x2": 32, "bf16": 16}.get(name) or int(name[1:])
    store, load = f"st{dot}.b{bits} [{at}], %a0;", f"ld{dot}.b{bits} %d1, [{at}];"
    compared = op == "cas"
    # Every other thread compares with what is there.
    prepare = f"@%even mov.b{bits} %a1, %a0;" if compared else ""
    operands = "%a1, %a2" if compared else "%a1"
    count = 3 if compared else 2
    lanes = 256 if space in ("global", "shared") and name[0] in "fb" else 64
    text = f"{store} {prepare} atom{dot}.{op}.{name} %d0, [{at}], {operands}; {load}"
    pools, results = (name,) * count, (name, name)
    yield Case(f"atom{dot}.{op}.{name}", text, pools, results, lanes=lanes)
    if op not in ("exch", "cas"):
        load = load.replace("%d1", "%d0")
        text = f"{store} red{dot}.{op}.{name} [{at}], %a1; {load}"
        yield Case(f"red{dot}.{op}.{name}", text, pools, (name,), lanes=min(lanes, 128))


def _wide() -> Iterator[Case]:
    first = "mov.b128 %q0, {%a0, %a1}; mov.b128 %q1, {%a2, %a3};"
    words = ("u64",) * 4
    for space, at in (("global", "%g"), ("shared", "%s")):
        fill = f"st.{space}.v2.b64 [{at}], {{%a0, %a1}}; {first}"
        back = f"mov.b128 {{%d0, %d1}}, %q0; ld.{space}.v2.b64 {{%d2, %d3}}, [{at}];"
        text = f"{fill} atom.{space}.exch.b128 %q0, [{at}], %q1; {back}"
        yield Case(f"atom.{space}.exch.b128", text, words, ("b64",) * 4, lanes=32)
        text = (
            f"@!%even mov.u64 %a3, %a1; {fill} mov.b128 %q0, {{%a0, %a3}}; "
            f"atom.{space}.cas.b128 %q0, [{at}], %q0, %q1; {back}"
        )
        yield Case(f"atom.{space}.cas.b128", text, words, ("b64",) * 4, lanes=32)
    for name, counts in (("f32", (2, 4)), ("f16x2", (2, 4)), ("bf16x2", (2, 4))):
        for count in counts:
            for op in ("add",) if name == "f32" else ("add.noftz", "min.noftz", "max.noftz"):
                old = ", ".join(f"%d{n}" for n in range(count))
                given = ", ".join(f"%a{4 + n % 2}" for n in range(count))
                text = (
                    "st.global.v4.b32 [%g], {%a0, %a1, %a2, %a3}; "
                    f"atom.global.v{count}.{name}.{op} {{{old}}}, [%g], {{{given}}}; "
                    f"ld.global.v4.b32 {{%d{count}, %d{count + 1}, %d{count + 2}, "
                    f"%d{count + 3}}}, [%g];"
                )
                yield Case(f"atom.global.v{count}.{name}.{op}", text, (name,) * 6,
                           (name,) * (count + 4), lanes=64)  # fmt: skip


def _together() -> Iterator[Case]:
    names = [
        "add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32",
        "xor.b32", "inc.u32", "dec.u32", "add.u64", "min.u64", "max.s64", "and.b64", "or.b64",
        "xor.b64",
    ]  # fmt: skip
    for name in names:
        bits = name[-2:]
        value = "%a0" if name[:3] not in ("inc", "dec") else "100"
        for space, at in (("shared", "counter"), ("global", "line")):
            text = (
                f"bar.sync 0; setp.eq.u32 %p0, %thread, 0; @%p0 st.{space}.b{bits} [{at}], %a1; "
                f"bar.sync 0; red.{space}.{name} [{at}], {value}; bar.sync 0; "
                f"ld.{space}.b{bits} %d0, [{at}]; bar.sync 0;"
            )
            yield Case(f"red.{space}.{name} together", text, (f"u{bits}", f"u{bits}"),
                       (name[-3:],), lanes=32)  # fmt: skip


# --- control flow, clusters, special registers ---------------------------------------------------


def control() -> Iterator[Case]:
    """Barriers with results, branches by index, calls; what they leave in registers."""
    for kind in ("bar", "bar.cta", "barrier", "barrier.cta"):
        aligned = ["", ".aligned"] if kind.startswith("barrier") else [""]
        for word in aligned:
            text = f"setp.gt.s32 %p0, %a0, 0; {kind}.red.popc{word}.u32 %d0, 0, %p0; "
            yield Case(f"{kind}.red.popc{word}", text, ("u32",), ("u32",), lanes=64)
            for op in ("and", "or"):
                text = f"setp.gt.s32 %p0, %a0, 0; {kind}.red.{op}{word}.pred %d0, 0, %p0; "
                yield Case(f"{kind}.red.{op}{word}", text, ("u32",), ("pred",), lanes=64)
                text = f"{kind}.red.{op}{word}.pred %d0, 1, 256, !%never; "
                yield Case(f"{kind}.red.{op}{word} of one mind", text, (), ("pred",), lanes=32)
            swap = (
                f"{kind}.sync{word} 0; st.shared.u32 [%s], %a0; {kind}.sync{word} 2, 256; "
                "xor.b32 %t0, %thread, 77; sub.u32 %t0, %t0, %thread; "
                "mad.lo.s32 %t0, %t0, 128, %s; "
                f"ld.shared.u32 %d0, [%t0]; {kind}.sync{word} 0;"
            )
            yield Case(f"{kind}.sync{word}", swap, ("u32",), ("u32",), lanes=64)
    branches = (
        "and.b32 %t0, %lane, 3; targets: .branchtargets one, two, three, four; "
        "brx.idx %t0, targets; one: mov.u32 %d0, 10; bra.uni done; two: mov.u32 %d0, 20; bra done; "
        "three: mov.u32 %d0, 30; bra done; four: mov.u32 %d0, 40; done: add.u32 %d0, %d0, %a0;"
    )
    yield Case("brx.idx", branches, ("u32",), ("u32",), lanes=64)
    loop = (
        "and.b32 %t0, %a0, 15; mov.u32 %d0, 0; again: add.u32 %d0, %d0, %t0; sub.u32 %t0, %t0, 1; "
        "setp.ge.s32 %p0, %t0, 0; @%p0 bra again;"
    )
    yield Case("bra", loop, ("u32",), ("u32",), lanes=64)
    call = (
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a0; call.uni (y), twice, (x); "
        "ld.param.b32 %d0, [y]; }"
    )
    yield Case("call.uni", call, ("u32",), ("u32",), lanes=64)
    divergent = f"setp.gt.s32 %p0, %a0, 0; mov.u32 %d0, 0; @!%p0 bra over; {call} over:"
    yield Case("call of some", divergent.replace("call.uni", "call"), ("u32",), ("u32",), lanes=64)
    indirect = (
        "mov.u64 %w0, twice; setp.gt.s32 %p0, %a0, 0; @%p0 mov.u64 %w0, thrice; "
        "{ .param .b32 x; .param .b32 y; kind: .callprototype (.param .b32 _) _ (.param .b32 _); "
        "st.param.b32 [x], %a0; call (y), %w0, (x), kind; ld.param.b32 %d0, [y]; }"
    )
    yield Case("call indirect", indirect, ("u32",), ("u32",), lanes=64)


def cluster() -> Iterator[Case]:
    """A launch without clusters: one block to a cluster."""
    text = "mapa.shared::cluster.u32 %t0, %s, 0; st.shared::cluster.u32 [%t0], %a0; "
    text += "ld.shared.u32 %d0, [%s];"
    yield Case("mapa.shared::cluster.u32", text, ("u32",), ("u32",), lanes=32)
    text = "mapa.shared::cluster.u32 %t0, %s, 0; getctarank.shared::cluster.u32 %d0, %t0;"
    yield Case("getctarank.shared::cluster.u32", text, (), ("u32",), lanes=32)
    wide = "cvt.u64.u32 %w0, %s; cvta.shared.u64 %w0, %w0;"
    text = f"{wide} mapa.u64 %w1, %w0, 0; st.u32 [%w1], %a0; ld.shared.u32 %d0, [%s];"
    yield Case("mapa.u64", text, ("u32",), ("u32",), lanes=32)
    text = f"{wide} mapa.u64 %w1, %w0, 0; getctarank.u64 %d0, %w1;"
    yield Case("getctarank.u64", text, (), ("u32",), lanes=32)
    for arrive in ("", ".release", ".relaxed"):
        for aligned in ("", ".aligned"):
            text = (
                f"st.shared.u32 [%s], %a0; barrier.cluster.arrive{arrive}{aligned}; "
                f"barrier.cluster.wait.acquire{aligned}; ld.shared.u32 %d0, [%s];"
            )
            yield Case(f"barrier.cluster.arrive{arrive}{aligned}", text, ("u32",), ("u32",),
                       lanes=32)  # fmt: skip


def special() -> Iterator[Case]:
    """The special registers that have one value wherever this runs."""
    axes = [f"{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"]
    axes += [
        f"{name}.{axis}"
        for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
        for axis in "xyz"
    ]
    words = [
        "laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",
        "cluster_ctarank", "cluster_nctarank", "dynamic_smem_size",
        "nwarpid", "nsmid", "warpid",
        *(f"envreg{number}" for number in (1, 2, 3, 31)),  # 0: an address of the driver's
    ]  # fmt: skip
    for name in [*axes, *words]:
        yield Case(f"%{name}", f"mov.u32 %d0, %{name};", (), ("u32",))
    for kind, name in (("pred", "is_explicit_cluster"), ("u64", "current_graph_exec")):
        yield Case(f"%{name}", f"mov.{kind} %d0, %{name};", (), (kind,), lanes=32)
    yield Case("%tid.x as 16 bits", "mov.u16 %h0, %tid.x; cvt.u32.u16 %d0, %h0;", (), ("u32",))
    later = "mov.u32 %t0, %clock; mov.u32 %t1, %clock; sub.u32 %t1, %t1, %t0; "
    yield Case("%clock", f"{later} setp.lt.u32 %d0, %t1, 1000000000;", (), ("pred",), lanes=32)
    for name in ("clock64", "globaltimer"):
        later = f"mov.u64 %w0, %{name}; mov.u64 %w1, %{name}; setp.ge.u64 %d0, %w1, %w0;"
        yield Case(f"%{name}", later, (), ("pred",), lanes=32)
