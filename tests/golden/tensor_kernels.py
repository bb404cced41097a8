"""Kernels that execute one instruction of tensor memory access, or one like it, as golden data.

The kernel fills a region of shared memory, issues the instruction in one thread, waits for it, and
dumps the region.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

DATA = 1024
"""Offset of the region in shared memory; the barrier object is at 0."""

# --- instructions --------------------------------------------------------------------------------

_COMPLETE = "mbarrier::complete_tx::bytes"


def _coordinates(rank: int) -> str:
    return "[%map, {" + ", ".join(f"%c{n}" for n in range(rank)) + "}]"


def _offsets(rank: int) -> str:
    return ", {" + ", ".join(f"%o{n}" for n in range(rank - 2)) + "}"


@cache
def forms() -> dict[str, str]:
    """The instructions by name. A name that ends with ``c`` is run in a cluster."""
    made: dict[str, str] = {}
    for rank in range(1, 6):
        at, tail = _coordinates(rank), ""
        for mode, suffix in (("tile", ""), ("im2col", "i"))[: 2 if rank > 2 else 1]:
            tail = _offsets(rank) if suffix else ""
            load = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.{_COMPLETE}"
            made[f"load{rank}{suffix}"] = f"{load} [%dst], {at}, [%bar]{tail};"
            made[f"multi{rank}{suffix}c"] = (
                f"{load}.multicast::cluster [%dst], {at}, [%bar]{tail}, %m;"
            )
            made[f"prefetch{rank}{suffix}"] = (
                f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global.{mode} {at}{tail};"
            )
            storing = "im2col_no_offs" if suffix else "tile"
            made[f"store{rank}{suffix}"] = (
                f"cp.async.bulk.tensor.{rank}d.global.shared::cta.{storing}.bulk_group "
                f"{at}, [%dst];"
            )
            for op in ("add", "min", "max", "inc", "dec", "and", "or", "xor"):
                if rank in (2, 3):
                    made[f"reduce{rank}{suffix}.{op}"] = (
                        f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}.{storing}"
                        f".bulk_group {at}, [%dst];"
                    )
    made["cta2"] = made["load2"].replace("shared::cluster", "shared::cta")
    bulk = f"cp.async.bulk.shared::cluster.global.{_COMPLETE}"
    made["bulk"] = f"{bulk} [%dst], [%g], %size, [%bar];"
    made["multic"] = f"{bulk}.multicast::cluster [%dst], [%g], %size, [%bar], %m;"
    made["prefetch"] = "cp.async.bulk.prefetch.L2.global [%g], %size;"
    made["put"] = "cp.async.bulk.global.shared::cta.bulk_group [%g], [%dst], %size;"
    for op, types in REDUCTIONS.items():
        for kind in types.split():
            name = f"{op}.{kind}"
            made[f"into.{name}"] = (
                f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{name} [%g], [%dst], %size;"
            )
    for op, types in CLUSTER_REDUCTIONS.items():
        for kind in types.split():
            made[f"across.{op}.{kind}c"] = (
                f"cp.reduce.async.bulk.shared::cluster.shared::cta.{_COMPLETE}.{op}.{kind} "
                f"[%there], [%dst], %size, [%bart];"
            )
    made["copyc"] = (
        f"cp.async.bulk.shared::cluster.shared::cta.{_COMPLETE} [%there], [%dst], %size, [%bart];"
    )
    for vector in ("", ".v2", ".v4"):
        for kind, wide in (("b32", 4), ("b64", 8), ("s32", 4), ("f32", 4), ("f64", 8), ("u64", 8)):
            count = int(vector[2:] or 1)
            if count == 4 and wide == 8:
                continue
            letter = "x" if wide == 4 else "y"
            values = ", ".join(f"%{letter}{n}" for n in range(count))
            values = f"{{{values}}}" if vector else values
            made[f"st{vector}.{kind}c"] = (
                f"st.async.weak.shared::cluster.{_COMPLETE}{vector}.{kind} [%there], {values}, "
                "[%bart];"
            )
    for op, types in ASYNC_REDUCTIONS.items():
        for kind in types.split():
            value = "%y0" if kind.endswith("64") else "%x0"
            made[f"red.{op}.{kind}c"] = (
                f"red.async.relaxed.cluster.shared::cluster.{_COMPLETE}.{op}.{kind} "
                f"[%there], {value}, [%bart];"
            )
    return made


REDUCTIONS = {
    "add": "u32 s32 u64 f32 f64",
    "add.noftz": "f16 bf16",
    "min": "u32 s32 u64 s64 f16 bf16",
    "max": "u32 s32 u64 s64 f16 bf16",
    "inc": "u32",
    "dec": "u32",
    "and": "b32 b64",
    "or": "b32 b64",
    "xor": "b32 b64",
}
CLUSTER_REDUCTIONS = {
    "add": "u32 s32 u64",
    "min": "u32 s32",
    "max": "u32 s32",
    "inc": "u32",
    "dec": "u32",
    "and": "b32",
    "or": "b32",
    "xor": "b32",
}
ASYNC_REDUCTIONS = {
    "add": "u32 s32 u64",
    "min": "u32 s32",
    "max": "u32 s32",
    "inc": "u32",
    "dec": "u32",
    "and": "b32",
    "or": "b32",
    "xor": "b32",
}

_KERNEL = """
.visible .entry {name}(.param .align 128 .b8 map[128], .param .u64 given)
{{
    .reg .pred %p, %first;
    .reg .b16 %o<3>, %m;
    .reg .b32 %c<5>, %t, %n, %i, %s, %v, %dst, %bar, %there, %bart, %expected, %size, %rank, %k;
    .reg .b32 %x<4>, %issuer, %target, %done, %place;
    .reg .b64 %map, %args, %in, %out, %flags, %g, %w, %before, %after, %y<4>;
    ld.param.u64 %args, [given];
    mov.b64 %map, map;
    cvta.param.u64 %map, %map;
    ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%args];
    ld.global.v4.b32 {{%c4, %x0, %x1, %x2}}, [%args+16];
    cvt.u16.u32 %o0, %x0;
    cvt.u16.u32 %o1, %x1;
    cvt.u16.u32 %o2, %x2;
    ld.global.v4.b32 {{%place, %expected, %n, %x0}}, [%args+32];
    cvt.u16.u32 %m, %x0;
    ld.global.v4.b32 {{%size, %issuer, %target, %k}}, [%args+48];
    ld.global.v2.b64 {{%in, %out}}, [%args+64];
    ld.global.v2.b64 {{%flags, %g}}, [%args+80];
    mov.u32 %rank, %cluster_ctarank;
    mad.wide.u32 %out, %rank, %n, %out;
    mad.wide.u32 %flags, %rank, 32, %flags;
    mov.u32 %t, %tid.x;
    mov.u32 %bar, data;
    add.u32 %dst, %bar, %place;
    add.u32 %there, %dst, %k;
    {mapa}
    shl.b32 %i, %t, 2;
fill:
    setp.ge.u32 %p, %i, %n;
    @%p bra filled;
    cvt.u64.u32 %w, %i;
    add.u64 %w, %w, %in;
    ld.global.b32 %v, [%w];
    add.u32 %s, %bar, %i;
    st.shared.b32 [%s+{data}], %v;
    add.u32 %i, %i, 512;
    bra fill;
filled:
    setp.eq.u32 %first, %t, 0;
    @%first mbarrier.init.shared.b64 [%bar], 1;
    @%first fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    {barrier}
    @!%first bra end;
    ld.shared.v4.b32 {{%x0, %x1, %x2, %x3}}, [%dst];
    ld.shared.v2.b64 {{%y0, %y1}}, [%dst];
    ld.shared.b64 %before, [%bar];
    setp.eq.u32 %p, %rank, %issuer;
    @!%p bra issued;
    {text}
    {complete}
issued:
    mov.u32 %i, 0;
spin:
    nanosleep.u32 1000;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, {spins};
    @%p bra spin;
    ld.volatile.shared.b64 %after, [%bar];
    mbarrier.arrive.expect_tx.shared.b64 _, [%bar], %expected;
    mov.u32 %done, 0;
    mov.u32 %i, 0;
wait:
    mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0, 1000;
    @%p mov.u32 %done, 1;
    @%p bra waited;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 100;
    @%p bra wait;
waited:
    st.global.b32 [%flags], %done;
    st.global.v2.b64 [%flags+16], {{%before, %after}};
end:
    {barrier}
    shl.b32 %i, %t, 2;
dump:
    setp.ge.u32 %p, %i, %n;
    @%p bra dumped;
    add.u32 %s, %bar, %i;
    ld.shared.b32 %v, [%s+{data}];
    cvt.u64.u32 %w, %i;
    add.u64 %w, %w, %out;
    st.global.b32 [%w], %v;
    add.u32 %i, %i, 512;
    bra dump;
dumped:
    ret;
}}
"""
_HEAD = """\
.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 data[];
"""
_CLUSTER_BARRIER = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
_MAPA = """mapa.shared::cluster.u32 %there, %there, %target;
    mapa.shared::cluster.u32 %bart, %bar, %target;"""
_STORES = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"


def kernel(name: str, spins: int = 30) -> str:
    """Return the PTX of the kernel of a form."""
    text, cluster = forms()[name], name.endswith("c")
    return _KERNEL.format(
        name=identifier(name),
        text=text,
        data=DATA,
        spins=spins,
        barrier=_CLUSTER_BARRIER if cluster else "bar.sync 0;",
        mapa=_MAPA if cluster else "",
        complete=_STORES if "bulk_group" in text else "",
    )


def identifier(name: str) -> str:
    """Return the name of a form's kernel."""
    return "run_" + name.replace(".", "_")


def module(names: Sequence[str]) -> str:
    """Return the PTX of the kernels of some forms."""
    return _HEAD + "".join(map(kernel, names))
