"""Cases of loads, stores, copies, addresses and the stack."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case

_SPACES = {
    "global": "%g", "": "%g", "shared": "%s", "shared::cta": "%s", "shared::cluster": "%s",
    "local": "%l",
}  # fmt: skip
_INTEGERS = [f"{kind}{bits}" for bits in (8, 16, 32, 64) for kind in "bus"]
_SCALARS = [*_INTEGERS, "f32", "f64"]
_WORDS = ("u32",) * 4


def _fill(space: str) -> str:
    """Put the four words given into the thread's scratch."""
    dot = f".{space}" if space else ""
    return f"st{dot}.v4.b32 [{_SPACES[space]}], {{%a0, %a1, %a2, %a3}};"


def _registers(ptx_type: str, count: int) -> str:
    names = [f"%d{number}" for number in range(count)]
    return names[0] if count == 1 else f"{{{', '.join(names)}}}"


def memory() -> Iterator[Case]:
    """``ld`` and ``st`` of every type, vector and space, and what else moves bytes."""
    yield from _loads()
    yield from _stores()
    yield from _modifiers()
    yield from _constants()
    yield from _copies()
    for name in (
        "prefetch.global.L1", "prefetch.global.L2", "prefetch.L1", "prefetch.L2",
        "prefetch.local.L1", "prefetch.local.L2",
        "prefetch.global.L2::evict_last", "prefetch.global.L2::evict_normal", "prefetchu.L1",
    ):  # fmt: skip
        where = "%l" if ".local" in name else "%g"
        text = f"{_fill('global')} {name} [{where}]; ld.global.b32 %d0, [%g+4];"
        yield Case(name, text, _WORDS, ("b32",), lanes=32)


def _loads() -> Iterator[Case]:
    for space in _SPACES:
        dot, at = f".{space}" if space else "", _SPACES[space]
        lanes = 256 if space == "global" else 32
        for name in _SCALARS:
            bits = int(name[1:])
            wide = {"s": "s64", "u": "u64", "b": "b64"}.get(name[0], name)
            text = f"{_fill(space)} ld{dot}.{name} %d0, [{at}+{8 if bits < 64 else 0}];"
            yield Case(f"ld{dot}.{name}", text, _WORDS, (wide,), lanes=lanes)
            for count in (2, 4):
                if count * bits <= 128:
                    instruction = f"ld{dot}.v{count}.{name}"
                    text = f"{_fill(space)} {_fill_more(space)} {instruction} "
                    text += f"{_registers(name, count)}, [{at}];"
                    kept = name if bits >= 16 else f"{name[0]}16"
                    yield Case(instruction, text, _WORDS, (kept,) * count, lanes=min(lanes, 64))
        text = f"{_fill(space)} ld{dot}.b128 %q0, [{at}]; mov.b128 {{%d0, %d1}}, %q0;"
        yield Case(f"ld{dot}.b128", text, _WORDS, ("b64", "b64"), lanes=lanes)


def _fill_more(space: str) -> str:
    dot = f".{space}" if space else ""
    return f"st{dot}.v4.b32 [{_SPACES[space]}+16], {{%a3, %a2, %a0, %a1}};"


def _stores() -> Iterator[Case]:
    for space in _SPACES:
        dot, at = f".{space}" if space else "", _SPACES[space]
        back = f"ld{dot}.v4.b32 {{%d0, %d1, %d2, %d3}}, [{at}];"
        for name in _SCALARS:
            bits = int(name[1:])
            for count in (1, 2, 4):
                if count * bits > 128:
                    continue
                vector = f".v{count}" if count > 1 else ""
                names = [f"%a{4 + n % 2}" for n in range(count)]
                given = names[0] if count == 1 else f"{{{', '.join(names)}}}"
                pool = "u64" if name[0] in "bus" else name
                text = f"{_fill(space)} st{dot}{vector}.{name} [{at}], {given}; {back}"
                yield Case(f"st{dot}{vector}.{name}", text, (*_WORDS, pool, pool), ("b32",) * 4,
                           lanes=64 if space == "global" and count == 1 else 32)  # fmt: skip
        text = f"{_fill(space)} mov.b128 %q0, {{%a4, %a5}}; st{dot}.b128 [{at}], %q0; {back}"
        yield Case(f"st{dot}.b128", text, (*_WORDS, "u64", "u64"), ("b32",) * 4, lanes=32)


def _modifiers() -> Iterator[Case]:
    """Each modifier once: they change nothing of what a single thread sees."""
    loads = [
        "ld.volatile.global", "ld.volatile", "ld.weak.global", "ld.relaxed.gpu.global",
        "ld.relaxed.cta.global", "ld.relaxed.sys.global", "ld.relaxed.cluster.global",
        "ld.acquire.gpu.global", "ld.acquire.cta.global", "ld.acquire.sys.global",
        "ld.acquire.cluster.global", "ld.mmio.relaxed.sys.global",
        "ld.global.ca", "ld.global.cg", "ld.global.cs", "ld.global.lu", "ld.global.cv", "ld.ca",
        "ld.global.nc", "ld.global.ca.nc", "ld.global.cg.nc", "ld.global.cs.nc",
        "ld.global.L1::evict_normal", "ld.global.L1::evict_unchanged", "ld.global.L1::evict_first",
        "ld.global.L1::evict_last", "ld.global.L1::no_allocate", "ld.global.L2::64B",
        "ld.global.L2::128B", "ld.global.L2::256B", "ld.global.nc.L1::no_allocate.L2::256B",
        "ld.global.L1::evict_last.L2::128B", "ldu.global", "ldu",
        "ld.global.nc.L1::evict_first", "ld.global.nc.L2::64B",
    ]  # fmt: skip
    for name in loads:
        for vector, count in (("", 1), (".v2", 2), (".v4", 4))[: 1 if ".mmio" in name else 3]:
            text = f"{_fill('global')} {name}{vector}.u32 {_registers('u32', count)}, [%g];"
            yield Case(f"{name}{vector}.u32", text, _WORDS, ("u32",) * count, lanes=32)
    stores = [
        "st.volatile.global", "st.volatile", "st.weak.global", "st.relaxed.gpu.global",
        "st.relaxed.cta.global", "st.relaxed.sys.global", "st.relaxed.cluster.global",
        "st.release.gpu.global", "st.release.cta.global", "st.release.sys.global",
        "st.release.cluster.global", "st.mmio.relaxed.sys.global",
        "st.global.wb", "st.global.cg", "st.global.cs", "st.global.wt", "st.wb",
        "st.global.L1::evict_normal", "st.global.L1::evict_unchanged", "st.global.L1::evict_first",
        "st.global.L1::evict_last", "st.global.L1::no_allocate",
    ]  # fmt: skip
    for name in stores:
        vectors = (("", "%a4"), (".v2", "{%a4, %a5}"), (".v4", "{%a4, %a5, %a4, %a5}"))
        for vector, given in vectors[: 1 if ".mmio" in name else 3]:
            text = f"{_fill('global')} {name}{vector}.u32 [%g], {given}; "
            text += "ld.global.v4.b32 {%d0, %d1, %d2, %d3}, [%g];"
            yield Case(f"{name}{vector}.u32", text, (*_WORDS, "u32", "u32"), ("b32",) * 4, lanes=32)
    policy = "createpolicy.fractional.L2::evict_last.b64 %w0;"
    text = f"{_fill('global')} {policy} ld.global.L2::cache_hint.u32 %d0, [%g], %w0;"
    yield Case("ld.global.L2::cache_hint.u32", text, _WORDS, ("u32",), lanes=32)
    text = f"{_fill('global')} {policy} st.global.L2::cache_hint.u32 [%g], %a3, %w0; "
    text += "ld.global.u32 %d0, [%g];"
    yield Case("st.global.L2::cache_hint.u32", text, _WORDS, ("u32",), lanes=32)


def _constants() -> Iterator[Case]:
    """From the ``.const`` bank and the parameters, at a place that each thread chooses."""
    choose = "and.b32 %t0, %lane, 7; mul.lo.u32 %t0, %t0, 8; cvt.u64.u32 %w0, %t0;"
    for name in _SCALARS:
        wide = {"s": "s64", "u": "u64", "b": "b64"}.get(name[0], name)
        text = f"{choose} mov.u64 %w1, table; add.u64 %w1, %w1, %w0; ld.const.{name} %d0, [%w1];"
        yield Case(f"ld.const.{name}", text, (), (wide,), lanes=32)
    text = "ld.const.v2.u32 {%d0, %d1}, [table+16];"
    yield Case("ld.const.v2.u32", text, (), ("u32", "u32"), lanes=32)
    text = (
        f"{choose} mov.u64 %w1, table; cvta.const.u64 %w1, %w1; add.u64 %w1, %w1, %w0; "
        "ld.u64 %d0, [%w1];"
    )
    yield Case("cvta.const ld.u64", text, (), ("u64",), lanes=32)
    for name in ("u8", "s8", "u16", "s16", "u32", "s32", "b32", "f32"):
        text = f"ld.param.{name} %d0, [marker];"
        wide = {"s": "s64", "u": "u64", "b": "b64"}.get(name[0], name)
        yield Case(f"ld.param.{name}", text, (), (wide,), lanes=32)
    yield Case("ld.param.v2.u16", "ld.param.v2.u16 {%d0, %d1}, [marker];", (), ("u16", "u16"),
               lanes=32)  # fmt: skip
    text = f"{choose} and.b64 %w0, %w0, 0; mov.u64 %w1, marker; add.u64 %w1, %w1, %w0; "
    yield Case("ld.param at a register", f"{text} ld.param.u64 %d0, [%w1];", (), ("u64",), lanes=32)


def _copies() -> Iterator[Case]:
    wait = {
        "wait_all": "cp.async.wait_all;",
        "wait_group": "cp.async.commit_group; cp.async.wait_group 0;",
    }
    back = "ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%s];"
    clear = "st.shared.v4.b32 [%s], {%a4, %a4, %a4, %a4};"
    sources = (*_WORDS, "u32")
    for how, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        for word, waiting in wait.items():
            for space in ("shared", "shared::cta"):
                name = f"cp.async.{how}.{space}.global"
                text = f"{_fill('global')} {clear} {name} [%s], [%g], {size}; {waiting} {back}"
                yield Case(f"{name} {size} {word}", text, sources, ("b32",) * 4, lanes=32)
        for prefetch in ("L2::64B", "L2::128B", "L2::256B"):
            name = f"cp.async.{how}.shared.global.{prefetch}"
            text = f"{_fill('global')} {clear} {name} [%s], [%g], {size}; {wait['wait_all']} {back}"
            yield Case(f"{name} {size}", text, sources, ("b32",) * 4, lanes=32)
        for count in ("0", "3", "%t0"):
            name = f"cp.async.{how}.shared.global"
            text = (
                f"{_fill('global')} {clear} and.b32 %t0, %lane, {min(size, 8) - 1}; "
                f"{name} [%s], [%g], {size}, {count}; {wait['wait_all']} {back}"
            )
            yield Case(f"{name} {size}, {count}", text, sources, ("b32",) * 4, lanes=32)
        text = (
            f"{_fill('global')} {clear} setp.gt.s32 %p0, %a4, 0; "
            f"cp.async.{how}.shared.global [%s], [%g], {size}, %p0; {wait['wait_all']} {back}"
        )
        yield Case(f"cp.async.{how} {size}, ignore-src", text, sources, ("b32",) * 4, lanes=32)
    policy = "createpolicy.fractional.L2::evict_first.b64 %w0;"
    for how in ("ca", "cg"):
        text = (
            f"{_fill('global')} {clear} {policy} cp.async.{how}.shared.global.L2::cache_hint "
            f"[%s], [%g], 16, %w0; {wait['wait_all']} {back}"
        )
        yield Case(f"cp.async.{how} policy", text, sources, ("b32",) * 4, lanes=32)


def move() -> Iterator[Case]:
    """``mov`` of vectors and names, and addresses between the spaces."""
    widths = {32: (16,), 64: (16, 32), 128: (32, 64)}
    for bits, parts in widths.items():
        for part in parts:
            count = bits // part
            if count not in (2, 4):
                continue
            kept = max(part, 16)
            names = [f"%a{number}" for number in range(count)]
            results = ("b64", "b64") if bits == 128 else (f"b{bits}",)
            target = "%q0" if bits == 128 else "%d0"
            text = f"mov.b{bits} {target}, {{{', '.join(names)}}};"
            if bits == 128:
                text += " mov.b128 {%d0, %d1}, %q0;"
            yield Case(f"mov.b{bits} from {count}", text, (f"u{kept}",) * count, results)
            names = [f"%d{number}" for number in range(count)]
            given = ("u64", "u64") if bits == 128 else (f"u{bits}",)
            text = f"mov.b{bits} {{{', '.join(names)}}}, {'%q0' if bits == 128 else '%a0'};"
            if bits == 128:
                text = f"mov.b128 %q0, {{%a0, %a1}}; {text}"
            yield Case(f"mov.b{bits} to {count}", text, given, (f"b{kept}",) * count)
    yield Case("mov.b32 one unwanted", "mov.b32 {_, %d0}, %a0;", ("u32",), ("b16",))
    yield Case("mov.b128", "mov.b128 %q0, {%a0, %a1}; mov.b128 %q1, %q0; mov.b128 {%d0, %d1}, %q1;",
               ("u64", "u64"), ("b64", "b64"))  # fmt: skip
    fill = "st.global.u32 [%g], %a0; st.shared.u32 [%s], %a1; st.local.u32 [%l], %a2;"
    cast = "cvt.u64.u32 %w2, %s;"
    generic = {"global": "%g", "shared": "%w2", "local": "%l"}
    for space, at in generic.items():
        for name in (space, *([f"{space}::cta", f"{space}::cluster"] if space == "shared" else ())):
            text = f"{fill} {cast} cvta.{name}.u64 %w0, {at}; ld.u32 %d0, [%w0];"
            yield Case(f"cvta.{name}.u64", text, ("u32",) * 3, ("u32",), lanes=32)
            text = (
                f"{fill} {cast} cvta.{space}.u64 %w0, {at}; cvta.to.{name}.u64 %w1, %w0; "
                f"ld.{name}.u32 %d0, [%w1]; sub.u64 %d1, %w1, {at};"
            )
            yield Case(f"cvta.to.{name}.u64", text, ("u32",) * 3, ("u32", "u64"), lanes=32)
            for other in generic:
                text = (
                    f"{fill} {cast} cvta.{other}.u64 %w0, {generic[other]}; "
                    f"isspacep.{name} %d0, %w0;"
                )
                yield Case(f"isspacep.{name} of {other}", text, ("u32",) * 3, ("pred",), lanes=32)
    for name in ("param", "param::entry"):
        for at in ("%g", "%l"):
            text = f"{fill} cvta.{'global' if at == '%g' else 'local'}.u64 %w0, {at}; "
            yield Case(f"isspacep.{name} of {at}", f"{text} isspacep.{name} %d0, %w0;",
                       ("u32",) * 3, ("pred",), lanes=32)  # fmt: skip
    text = "mov.u64 %w0, marker; cvta.param.u64 %w0, %w0; ld.u32 %d0, [%w0];"
    yield Case("cvta.param.u64", text, (), ("u32",), lanes=32)
    fill = "st.global.u32 [%g], %a0;"
    for name, at in (("table", "%w1"), ("%g", "%g"), ("%l", "%l")):
        text = f"{fill} mov.u64 %w1, table; cvta.const.u64 %w1, %w1; isspacep.const %d0, {at};"
        yield Case(f"isspacep.const of {name}", text, ("u32",), ("pred",), lanes=32)


def stack() -> Iterator[Case]:
    """``alloca`` and its like."""
    write = "st.local.u32 [%w0], %a0; st.local.u32 [%w0+12], %a1;"
    read = "ld.local.u32 %d0, [%w0]; ld.local.u32 %d1, [%w0+12];"
    sources, results = ("u32", "u32"), ("u32", "u32")
    for align in ("", ", 16"):
        text = f"alloca.u64 %w0, 64{align}; {write} {read}"
        yield Case(f"alloca.u64{align}", text, sources, results, lanes=32)
    text = f"stacksave.u64 %w1; alloca.u64 %w0, 64; {write} {read} stackrestore.u64 %w1;"
    yield Case("stacksave.u64", text, sources, results, lanes=32)


def hints() -> Iterator[Case]:
    """What has no result: that it is taken, and disturbs nothing."""
    statements = [
        "nanosleep.u32 20;", "nanosleep.u32 %lane;", "pmevent 3;", "pmevent.mask 5;",
        "griddepcontrol.launch_dependents;", "griddepcontrol.wait;", "fence.sc.cta;",
        "applypriority.global.L2::evict_normal [line], 128;",
        "applypriority.L2::evict_normal [line], 128;",
        "discard.global.L2 [line], 128;", "discard.L2 [line], 128;",
        "createpolicy.fractional.L2::evict_last.b64 %w0, 0.5;",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %w0;",
        "createpolicy.fractional.L2::evict_normal.L2::evict_unchanged.b64 %w0, 1.0;",
        "createpolicy.fractional.L2::evict_unchanged.b64 %w0;",
        *(f"fence.{sem}.{scope};" for sem in ("sc", "acq_rel", "acquire", "release")
          for scope in ("cta", "cluster", "gpu", "sys")),
        "membar.cta;", "membar.gl;", "membar.sys;", "fence.cta;", "fence.gpu;",
        "fence.proxy.alias;", "fence.proxy.async;", "fence.proxy.async.global;",
        "fence.proxy.async.shared::cta;", "fence.proxy.async.shared::cluster;",
    ]  # fmt: skip
    for statement in statements:
        text = f"st.global.u32 [%g], %a0; {statement} ld.global.u32 %d0, [%g];"
        yield Case(statement.rstrip(";"), text, ("u32",), ("u32",), lanes=32)
