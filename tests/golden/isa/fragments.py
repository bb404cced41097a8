"""Cases of the fragments of ``wmma``: which element of a matrix each register holds.

The manual leaves that open (9.7.14.4); programs that look into fragments go by what hardware does.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.isa.case import Case
from tests.golden.isa.matrix import (
    WORDS,
    declared,
    fragment_registers,
    numbers,
    packed,
    put_matrices,
    read_back,
)

_SHAPES = {
    "m16n16k16": ("f16", "bf16", "s8", "u8"),
    "m32n8k16": ("f16", "bf16", "s8", "u8"),
    "m8n32k16": ("f16", "bf16", "s8", "u8"),
    "m16n16k8": ("tf32",),
    "m8n8k4": ("f64",),
}
_SUMS = {"f16": ("f16", "f32"), "s8": ("s32",), "u8": ("s32",), "f64": ("f64",)}


def fragments() -> Iterator[Case]:
    """Matrices loaded, stored, and multiplied as registers."""
    for shape, names in _SHAPES.items():
        for name in names:
            for which in "ab":
                for layout in ("row", "col"):
                    yield _load(which, layout, shape, name)
        for total in dict.fromkeys(each for name in names for each in _sums(name)):
            for layout in ("row", "col"):
                yield _load("c", layout, shape, total)
                yield _store(layout, shape, total)
        for name in names:
            for total in _sums(name):
                yield _product(shape, (total, name, name, total))


def _sums(name: str) -> tuple[str, ...]:
    return _SUMS.get(name, ("f32",))


def _registers(which: str, shape: str, name: str) -> list[str]:
    return [f"%{which}f{number}" for number in range(fragment_registers(which, shape, name))]


def _bits(name: str) -> str:
    return "b64" if name == "f64" else "b32"


def _load(which: str, layout: str, shape: str, name: str) -> Case:
    registers = _registers(which, shape, name)
    load = f"wmma.load.{which}.sync.aligned.{layout}.{shape}.shared.{name}"
    lines = [declared(which, registers, name), put_matrices("shared", name)]
    lines.append(f"{load} {{{', '.join(registers)}}}, [%t4];")
    lines += [f"mov.{_bits(name)} %d{n}, {register};" for n, register in enumerate(registers)]
    sources = ("f64",) * WORDS if name == "f64" else ("u32",) * (2 * WORDS)
    return Case(load, " ".join(lines), sources, (_bits(name),) * len(registers), lanes=32)


def _store(layout: str, shape: str, name: str) -> Case:
    registers = _registers("d", shape, name)
    store = f"wmma.store.d.sync.aligned.{layout}.{shape}.shared.{name}"
    lines = [declared("d", registers, name), put_matrices("shared", name)]
    lines += [f"mov.{_bits(name)} {register}, %a{n};" for n, register in enumerate(registers)]
    lines.append(f"{store} [%t4], {{{', '.join(registers)}}}; bar.warp.sync 0xFFFFFFFF;")
    m, n, _ = numbers(shape)
    size = m * n * {"f16": 2, "f64": 8}.get(name, 4) // 32
    results = read_back("shared", "f64" if name == "f64" else "u32", size, lines)
    sources = ("f64",) * WORDS if name == "f64" else ("u32",) * (2 * WORDS)
    return Case(store, " ".join(lines), sources, results, lanes=32)


def _product(shape: str, types: tuple[str, str, str, str]) -> Case:
    """Registers as they come; where a matrix is held twice, its copies differ."""
    d, a, _, c = types
    named = f".{d}.{c}" if a == "f16" else "." + ".".join(types)
    product = f"wmma.mma.sync.aligned.row.col.{shape}{named}"
    registers = {
        which: _registers(which, shape, name) for which, name in zip("dabc", types, strict=True)
    }
    lines = [
        declared(which, registers[which], name) for which, name in zip("dabc", types, strict=True)
    ]
    sources: list[str] = []
    for which, name in (("a", a), ("b", a), ("c", c)):
        for register in registers[which]:
            lines.append(f"mov.{_bits(name)} {register}, %a{len(sources)};")
            sources.append(packed(name) + ("" if a in ("s8", "u8") else ":whole"))
    given = ", ".join(f"{{{', '.join(registers[which])}}}" for which in "dabc")
    lines.append(f"{product} {given};")
    lines += [f"mov.{_bits(d)} %d{n}, {register};" for n, register in enumerate(registers["d"])]
    results = (packed(d),) * len(registers["d"])
    return Case(f"{product} of registers", " ".join(lines), tuple(sources), results, lanes=32)
