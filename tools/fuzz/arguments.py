"""Hostile arguments of `launch`: values, types, initializers, dimensions and geometry."""

from __future__ import annotations

import random

from tests.support.processes import ROOT
from tools.fuzz import expressions, text
from tools.fuzz.fuzzer import Fuzzer, command

_SAXPY = str(ROOT / "samples" / "saxpy.ptx")
_PARAMETERS = str(ROOT / "samples" / "parameters.ptx")
_TYPES = (
    *("f32", "f64", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32", "i64", "u8", "u16"),
    *("u32", "u64", "bool", "float4", "int2", "double2", "char3", "float", "unsigned", "f32*4"),
    *("f32*3*2", "{i32, f32}", "{n=i8, v=float4, f64}", "{i32, {f32*2, i8}}*2", "f33", "*", "{"),
)
_INITIALS = (
    *("zeros", "ones", "iota", "iota(1)", "iota(1,2)", "rand", "rand(-1,1)", "randn", "eye"),
    *("randint(0,9)", "[1,2,3]", "[[1,2],[3,4]]", "[]", "@missing.npy", "cast(@x.npy)", "3.5"),
    *("corder(@x)", "asis(@x)", "nan", "-inf", "true", "linspace", "rand(1e308,-1e308)"),
    *("randint(-9223372036854775808,9223372036854775807)", "iota(nan)", "0f7fc00001"),
)
_DIMENSIONS = (
    *(
        "n",
        "4",
        "0",
        "-1",
        "2*n+1",
        "(n+255)//256",
        "n**n",
        "1<<40",
        "2**62",
        "1<<n",
        "n%0",
        "",
        ",",
    ),
    *("4294967296,4294967296", "n,n,n,n", "1M", "n//0", "m", "1.5", "9" * 40),
)
_WORDS = (
    *_TYPES, *_INITIALS, *_DIMENSIONS, *text.NUMBERS, "x=", "=", ":", "[", "]", "{", "}", "(", ")",
    ",", "@", "&", "null", "bytes:", "bytes:00ff", "&counter", '"a b"', "*",
    "numba(", "warp(", "bounds(n,", "texture(", "surface(",
    ",", "@", "&", "null", "bytes:", "bytes:00ff", "&counter", '"a b"', "*", "texture(", "surface(",
    "tensormap(", "box=", "64x64", "swizzle=128B", "interleave=32B", "im2col(", "type=u4_align8B",
)  # fmt: skip
_TENSOR_MAPS = (
    "tensormap(x, box=8)", "tensormap(&x[n], box=4x4, shape=[4, n//8], strides=8x1, oob=nan)",
    "tensormap(f32[4,8,8,16]:iota, im2col(lower=-1x-1, upper=1x1, channels=16, pixels=n))",
)  # fmt: skip
_OPTIONS = (
    *("linear", "layered", "cube", "gather", "levels=all", "levels=3", "levels=99", "normalized"),
    *("filter=linear", "filter=cubic", "address=[wrap,clamp]", "address=border", "border=1"),
    *("border=[1,2,inf]", "read=normalized", "srgb", "seamless", "mip_clamp=[0,1]", "mip_bias=1"),
    *("mip_filter=linear", "anisotropy=16", "anisotropy=0", "=", ""),
)
_GEOMETRY = (
    ("--threads", "n"), ("--threads", "2**40"), ("--threads", "8,8,8,8"), ("--grid", "0"),
    ("--block", "n*n"), ("--block", "-1"), ("--smem", "1G"), ("--cluster", "99"),
    ("--threads", "4x2"), ("--threads", "1"), ("--threads", "9" * 400), ("--grid", "n//0"),
)  # fmt: skip


class Arguments(Fuzzer[tuple[str, ...]]):
    """Command lines of ``launch --dry-run``."""

    name = "arguments"

    def case(self, chance: random.Random) -> tuple[str, ...]:
        """Return the words after the image, which damaged arguments are among."""
        words = ["2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:64"]
        for _ in range(chance.randint(0, 3)):
            at = chance.randrange(len(words) + 1)
            words[at : at + chance.choice((1, 1, 1, 0))] = [_argument(chance)]
        words += ("--threads", "n")
        for _ in range(chance.randrange(3)):
            words += chance.choice(_GEOMETRY)
        if chance.randrange(3) == 0:
            words += [chance.choice(("--check", "--print", "--let")), _expression(chance)]
        if chance.randrange(8) == 0:
            words.insert(0, chance.choice(("--json", "--block", "-v", "--show", "--frob", "--")))
        image = chance.choice((_SAXPY,) * 4 + (_PARAMETERS,))
        return (image, *words)

    def exit_code(self, case: tuple[str, ...]) -> int:
        """Plan the launch."""
        if any("\0" in word for word in case):
            return 0  # no process gets such an argument
        return command(["launch", "--dry-run", "-d", "cpu", *case])


def _argument(chance: random.Random) -> str:
    kind, name = chance.choice(_TYPES), chance.choice(("", "", "x=", "y=", "n=", "a=", "é="))
    match chance.randrange(7):
        case 0:
            made = chance.choice(text.NUMBERS)
        case 1:
            made = f"{kind}:{chance.choice((*text.NUMBERS, '1,2', '1,2,3,4', '{1,2}'))}"
        case 2:
            made = f"{kind}[{chance.choice(_DIMENSIONS)}]"
        case 3:
            made = chance.choice(
                ("null", "bytes:00ff", "bytes:0", "&counter", "i32:8", "f32:2", *_TENSOR_MAPS)
            )
        case 4:
            made = f"{kind}[{chance.choice(_DIMENSIONS)}]:{chance.choice(_INITIALS)}"
            sources = (made, made, "x", "y", f"[{made},{made}]", "f32[8,n]:iota", "u8[n]:7")
            options = (f", {chance.choice(_OPTIONS)}" for _ in range(chance.randrange(4)))
            word = chance.choice(("texture", "texture", "surface"))
            made = f"{word}({chance.choice(sources)}{''.join(options)})"
        case _:
            made = f"{kind}[{chance.choice(_DIMENSIONS)}]:{chance.choice(_INITIALS)}"
    if chance.randrange(8) == 0:
        made = f"{chance.choice(('numba', 'warp', 'bounds'))}({made})"
    if chance.randrange(3) == 0:
        made = text.damaged(made, chance, _WORDS, most=3)
    return name + made


def _expression(chance: random.Random) -> str:
    made = expressions.expression(chance, 3)
    return f"r={made}" if chance.randrange(3) == 0 else made
