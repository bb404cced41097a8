"""Files that are refused, each for a reason of its own, and what `cudarun` says of them.

``tools/hardware/images.py`` provokes every one and records what came of it; the tests hold the
explanations of today against those records (``tests/data/refusals``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
GOLDEN = ROOT / "tests/images/golden"

MAIN, LIB = "samples/link/main.ptx", "samples/link/lib.ptx"


@dataclass(frozen=True)
class Refusal:
    """One command that must be refused with exit code 4.

    Attributes:
        name: What for, in a few words.
        files: Its files: names in the folder that `write` fills, or paths below the repository.
        says: What stands in the explanation or the complaints; a regular expression.
        link: Whether it is ``link`` rather than ``load``.
        gpu: Whether it takes a GPU; the emulated device loads it, or refuses it otherwise.
    """

    name: str
    files: tuple[str, ...]
    says: str
    link: bool = False
    gpu: bool = False


REFUSALS = (
    Refusal("PTX newer than the driver", ("new.ptx",), r"PTX 9\.9 requires CUDA 13\.9 or later"),
    Refusal("PTX older than its target", ("old.ptx",), r"does not support .target sm_90", gpu=True),
    Refusal("32-bit PTX", ("bits.ptx",), r"The PTX has 32-bit addresses"),
    Refusal("an unknown modifier", ("modifier.ptx",), r"modifier\.ptx:\d+:\d+: error: "),
    Refusal("a syntax error", ("syntax.ptx",), r"Parsing error near"),
    Refusal("PTX for a newer architecture", ("a100.ptx",), r"newer than sm_90"),
    Refusal("PTX for one that nobody knows", ("s999.ptx",), r"Unknown architecture sm_999"),
    Refusal("an instruction that came later", ("redux.ptx",), r"requires .target sm_80", gpu=True),
    Refusal("an unresolved function", (MAIN,), r"weighted\(float\)"),
    Refusal("too few registers", ("wide.ptx",), r"with 80 registers per thread", gpu=True),
    Refusal("too much shared memory", ("shared.ptx",), r"240000 bytes of static shared memory"),
    Refusal("a text cut off", ("cut.ptx",), r"the file is truncated"),
    Refusal("a text that is no PTX", ("letter.ptx",), r"The driver does not recognize the file"),
    Refusal("PTX without .version", ("headless.ptx",), r"does not begin with \.version"),
    Refusal("an empty file", ("empty.ptx",), r"the file is empty"),
    Refusal("a cubin cut off", ("cut.cubin",), r"The cubin is damaged"),
    Refusal("the first 64 bytes of a cubin", ("head.cubin",), r"The cubin is damaged"),
    Refusal("a fatbin cut off", ("cut.fatbin",), r"The fatbin is damaged"),
    Refusal("a cubin of another major version", ("tiny_sm80.cubin",), r"sm_80"),
    Refusal("a cubin for sm_100a", ("tiny_sm100a.cubin",), r"sm_100a"),
    Refusal("a fatbin without a match", ("sm80.fatbin",), r"sm_80"),
    Refusal("LTO-IR for the driver", ("tiny.ltoir",), r"LTO-IR contains no SASS or PTX"),
    Refusal("a cubin that wants others", ("wants.cubin",), r"is not linked", gpu=True),
    Refusal("an object without device code", ("host.o",), r"contains no device code"),
    Refusal("CUDA source with an error", ("wrong.cu",), r'identifier "x" is undefined'),
    Refusal("a header that is nowhere", ("header.cu",), r"NVRTC did not find none\.h"),
    Refusal("a link of what nobody defines", (MAIN,), r"weighted\(float\)", link=True),
    Refusal("a link of two definitions", (MAIN, LIB, LIB), r"multiple definition", link=True),
    Refusal("a link of LTO-IR", ("tiny.ltoir",), r"neither loads nor links it", link=True),
    Refusal("a link of broken PTX", (MAIN, "broken_lib.ptx"), r"broken_lib\.ptx:\d+:", link=True),
    Refusal("a link of PTX that is too new", ("new.ptx",), r"requires CUDA 13\.9", link=True),
    Refusal("a link of a cubin cut off", (LIB, "cut.cubin"), r"damaged", link=True),
    Refusal("a link of a fatbin cut off", (LIB, "cut.fatbin"), r"damaged", link=True),
    Refusal("a link of another architecture", (LIB, "tiny_sm80.cubin"), r"sm_80", link=True),
    Refusal(
        "a link of a call that needs more registers", ("light.ptx", "heavy.ptx"),
        r"light is limited to 24 registers", link=True, gpu=True,
    ),
)  # fmt: skip


def write(folder: Path) -> None:
    """Fill a folder with the files of `REFUSALS`."""
    for name, data in _files():
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def path_of(name: str, folder: Path) -> Path:
    """Where a file of a `Refusal` is."""
    return ROOT / name if "/" in name else folder / name


def _files() -> Iterator[tuple[str, str | bytes]]:
    saxpy = (SAMPLES / "saxpy.ptx").read_text()
    yield "new.ptx", saxpy.replace(".version 8.0", ".version 9.9")
    yield "old.ptx", re.sub(r"\.version 8\.0\n\.target \w+", ".version 7.0\n.target sm_90", saxpy)
    yield "bits.ptx", saxpy.replace(".address_size 64", ".address_size 32")
    yield "modifier.ptx", saxpy.replace("fma.rn.f32", "fma.rn.xx")
    yield "syntax.ptx", saxpy.replace("ret;", "ret")
    yield "a100.ptx", saxpy.replace(".version 8.0", ".version 8.6").replace("sm_75", "sm_100a")
    yield "s999.ptx", saxpy.replace("sm_75", "sm_999")
    yield "cut.ptx", saxpy[:900]
    yield "headless.ptx", saxpy[saxpy.index(".target") :]
    yield "redux.ptx", _kernel("redux.sync.add.s32 %r1, %r2, 0xffffffff;")
    yield "shared.ptx", _kernel("mov.u32 %r1, tile;", ".shared .align 4 .b8 tile[240000];")
    yield "wide.ptx", _wide()
    yield "letter.ptx", "Dear driver,\n\nthis is no kernel.\n"
    yield "empty.ptx", ""
    facts = (GOLDEN / "facts.cubin").read_bytes()
    yield "cut.cubin", facts[:2000]
    yield "head.cubin", facts[:64]
    fatbin = (GOLDEN / "tiny.fatbin").read_bytes()
    yield "cut.fatbin", fatbin[:4000]
    yield "sm80.fatbin", _first_entry(fatbin)
    for name in ("tiny_sm80.cubin", "tiny_sm100a.cubin", "tiny.ltoir", "wants.cubin"):
        yield name, (GOLDEN / name).read_bytes()
    yield "host.o", (GOLDEN / "tiny.o").read_bytes().replace(b".nv_fatbin", b".xx_fatbin")
    yield "wrong.cu", 'extern "C" __global__ void k(float *out) {\n    out[0] = x;\n}\n'
    yield "header.cu", '#include "none.h"\n__global__ void k() {}\n'
    yield "broken_lib.ptx", (ROOT / LIB).read_text().replace("mul.f32", "mul.xx.f32")
    yield "light.ptx", _LIGHT
    yield "heavy.ptx", _heavy()


def _kernel(statement: str, declaration: str = "") -> str:
    return (
        ".version 8.0\n.target sm_75\n.address_size 64\n\n"
        f".visible .entry k()\n{{\n\t.reg .b32 %r<3>;\n\t{declaration}\n\t{statement}\n\tret;\n}}\n"
    )


def _wide() -> str:
    """A matrix multiplication whose result alone takes 128 registers, in a kernel that has 80."""
    results = [f"%f{number}" for number in range(128)]
    stores = "".join(
        f"\tst.global.f32 [%rd2+{4 * number}], {name};\n" for number, name in enumerate(results)
    )
    return (
        ".version 8.0\n.target sm_90a\n.address_size 64\n\n"
        ".visible .entry wide(.param .u64 out)\n.maxntid 128\n.maxnreg 80\n{\n"
        "\t.reg .f32 %f<128>;\n\t.reg .b64 %rd<4>;\n\tmov.b64 %rd1, 0;\n"
        "\twgmma.fence.sync.aligned;\n"
        "\twgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
        f"{{{', '.join(results)}}}, %rd1, %rd1, 1, 1, 1, 0, 0;\n"
        "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n"
        f"\tld.param.u64 %rd2, [out];\n{stores}\tret;\n}}\n"
    )


_LIGHT = """\
.version 8.0
.target sm_75
.address_size 64

.extern .func (.param .b32 result) heavy (.param .b64 data);

.visible .entry light(.param .u64 out)
.maxnreg 24
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	{
	.param .b64 data;
	.param .b32 result;
	st.param.b64 [data], %rd1;
	call.uni (result), heavy, (data);
	ld.param.b32 %r1, [result];
	}
	st.global.u32 [%rd1], %r1;
	ret;
}
"""


def _heavy() -> str:
    """A function that needs about two hundred registers at once."""
    numbers = range(200)
    loads = "".join(f"\tld.volatile.global.u32 %r{n}, [%rd1+{4 * n}];\n" for n in numbers)
    sums = "".join(f"\txor.b32 %r200, %r200, %r{n};\n" for n in reversed(numbers))
    return (
        ".version 8.0\n.target sm_75\n.address_size 64\n\n"
        ".visible .func (.param .b32 result) heavy (.param .b64 data)\n{\n"
        "\t.reg .b32 %r<201>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [data];\n"
        f"{loads}\tmov.u32 %r200, 0;\n{sums}\tst.param.b32 [result], %r200;\n\tret;\n}}\n"
    )


def _first_entry(fatbin: bytes) -> bytes:
    """A fatbin with the first entry of another one alone."""
    header_bytes = int.from_bytes(fatbin[6:8], "little")
    entry = fatbin[header_bytes:]
    length = int.from_bytes(entry[4:8], "little") + int.from_bytes(entry[8:16], "little")
    return fatbin[:8] + length.to_bytes(8, "little") + entry[:length]
