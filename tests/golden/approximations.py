"""Approximations over all their inputs: kernels that add up results by blocks, and recorded sums.

Block b of a form has the 65,536 inputs b << 16 | i. Its sum is that of result * (2 i + 1), modulo
2^64. For a form of two operands, or of f64, the inputs are hashed to random bits. ``.f16`` and
``.bf16`` have only block 0.
"""

from __future__ import annotations

import ctypes
import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.conformance.conftest import Driver

Array = npt.NDArray[Any]

INPUTS, THREADS = 1 << 16, 256
ALL_BLOCKS, RANDOM_BLOCKS = 1 << 16, 1526  # 2^32 inputs, and 10^8


@dataclass(frozen=True)
class Form:
    """An instruction and its inputs.

    Attributes:
        name: The instruction; of one with another operand distribution, ``tiny`` follows.
        sources: How many operands it has.
        blocks: How many blocks of inputs it has.
    """

    name: str
    sources: int = 1
    blocks: int = ALL_BLOCKS

    @property
    def instruction(self) -> str:
        """The opcode with its modifiers."""
        return self.name.partition(" ")[0]

    @property
    def type(self) -> str:
        """The type of the operands."""
        return self.instruction.rpartition(".")[2]

    @property
    def is_tiny(self) -> bool:
        """Whether results are about the smallest normal number."""
        return self.name.endswith(" tiny")


_SCALED = [f"{name}.approx" for name in ("rcp", "rsqrt", "sqrt", "lg2", "ex2", "sin", "cos")]
FUNCTIONS = [
    Form(f"{name}{ftz}.f32") for name in _SCALED for ftz in (".ftz", "")
] + [Form("tanh.approx.f32")]  # fmt: skip
HALVES = [
    Form(name, blocks=1)
    for name in ("tanh.approx.f16", "tanh.approx.bf16", "ex2.approx.f16", "ex2.approx.ftz.bf16")
]
_DIVISIONS = [f"div.{kind}{ftz}.f32" for kind in ("approx", "full") for ftz in (".ftz", "")]
RANDOM = [
    *(Form(name, 2, RANDOM_BLOCKS) for name in _DIVISIONS),
    *(
        Form(f"{name} tiny", 2, RANDOM_BLOCKS)
        for name in (
            *("mul.ftz.f32", "fma.rn.ftz.f32", "div.approx.ftz.f32", "div.full.ftz.f32"),
            *("mul.rm.ftz.f32", "mul.rp.ftz.f32", "fma.rm.ftz.f32", "fma.rp.ftz.f32"),
        )
    ),
    *(Form(name, 2, RANDOM_BLOCKS) for name in ("mul.ftz.f16", "fma.rn.ftz.f16")),
    *(
        Form(name, blocks=RANDOM_BLOCKS)
        for name in ("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64")
    ),
]
FORMS = {form.name: form for form in (*FUNCTIONS, *HALVES, *RANDOM)}

_HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
_REGISTERS = """
 .reg .b64 %rd<12>; .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .f64 %d<2>; .reg .b16 %h<4>;
 .reg .pred %p;
"""
_HASH = """
 add.u64 %rd0, %rd0, 1; mul.lo.u64 %rd0, %rd0, 0x9E3779B97F4A7C15;
 shr.u64 %rd1, %rd0, 30; xor.b64 %rd0, %rd0, %rd1; mul.lo.u64 %rd0, %rd0, 0xBF58476D1CE4E5B9;
 shr.u64 %rd1, %rd0, 27; xor.b64 %rd0, %rd0, %rd1; mul.lo.u64 %rd0, %rd0, 0x94D049BB133111EB;
 shr.u64 %rd1, %rd0, 31; xor.b64 %rd0, %rd0, %rd1;
"""
# The factor or dividend that makes a result of about 2^-126: up to 4 units from the nearest.
_TINY = """
 {nearest}
 mov.b32 %r4, %f0; shr.u32 %r5, %r3, 29; add.u32 %r4, %r4, %r5; sub.u32 %r4, %r4, 4;
"""


def _body(form: Form) -> str:
    """Compute a result in ``%rd2``, of the operands in ``%rd3`` and ``%rd4``, for ``%rd0``."""
    name = form.instruction
    if form.type == "f64":
        return f"{_HASH} mov.b64 %d0, %rd0; {name} %d1, %d0; mov.b64 %rd2, %d1; mov.u64 %rd3, %rd0;"
    if form.blocks == 1:
        return f"cvt.u16.u64 %h0, %rd0; {name} %h1, %h0; cvt.u64.u16 %rd2, %h1; mov.u64 %rd3, %rd0;"
    if form.type == "f16":
        given = "%h0, %h1, %h2" if name.startswith("fma") else "%h0, %h1"
        return (
            f"{_HASH} cvt.u16.u64 %h0, %rd0; shr.u64 %rd4, %rd0, 48; cvt.u16.u64 %h1, %rd4;"
            f" mov.b16 %h2, 0x8000; {name} %h3, {given}; cvt.u64.u16 %rd2, %h3;"
            " cvt.u64.u16 %rd3, %h0;"
        )
    if form.sources == 1:
        text = "cvt.u32.u64 %r2, %rd0;"
        given = "%f0"
    else:
        text, given = f"{_HASH} mov.b64 {{%r2, %r3}}, %rd0;", "%f0, %f1"
        if form.is_tiny:
            operation = "div" if name.startswith("div") else "mul"
            nearest = "mov.b32 %f1, %r2; "
            nearest += (
                "mul.rn.f32 %f0, %f1, 0f00800000;"
                if operation == "div"
                else "mov.b32 %f0, 0x00800000; div.rn.f32 %f0, %f0, %f1;"
            )
            text += _TINY.format(nearest=nearest) + "mov.b32 %r3, %r2; mov.b32 %r2, %r4;"
    if name.startswith("fma"):
        given += ", 0f80000000"
    return (
        f"{text} mov.b32 %f0, %r2; mov.b32 %f1, %r3; {name} %f2, {given}; mov.b32 %r4, %f2;"
        " cvt.u64.u32 %rd2, %r4; cvt.u64.u32 %rd3, %r2; cvt.u64.u32 %rd4, %r3;"
    )


def text(form: Form) -> str:
    """Return a module with kernels that add up blocks, and that list one."""
    body = f"mov.u32 %r3, 0; mov.u64 %rd4, 0; {_body(form)}"
    return f"""{_HEAD}
.visible .entry sums(.param .u64 out, .param .u32 first, .param .u32 step) {{ {_REGISTERS}
 mov.u32 %r0, %ctaid.x; ld.param.u32 %r1, [first]; ld.param.u32 %r7, [step];
 mad.lo.u32 %r1, %r0, %r7, %r1; cvt.u64.u32 %rd5, %r1;
 shl.b64 %rd5, %rd5, 16; mov.u32 %r6, %tid.x; mov.u64 %rd6, 0;
L: cvt.u64.u32 %rd7, %r6; or.b64 %rd0, %rd5, %rd7; {body}
 shl.b64 %rd7, %rd7, 1; or.b64 %rd7, %rd7, 1; mad.lo.u64 %rd6, %rd2, %rd7, %rd6;
 add.u32 %r6, %r6, {THREADS}; setp.lt.u32 %p, %r6, {INPUTS}; @%p bra L;
 ld.param.u64 %rd8, [out]; mul.wide.u32 %rd9, %r0, 8; add.u64 %rd8, %rd8, %rd9;
 red.global.add.u64 [%rd8], %rd6; ret; }}
.visible .entry list(.param .u64 out, .param .u32 first, .param .u32 step) {{ {_REGISTERS}
 mov.u32 %r0, %ctaid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r6, %r0, {THREADS}, %r6;
 ld.param.u32 %r1, [first]; cvt.u64.u32 %rd5, %r1; shl.b64 %rd5, %rd5, 16;
 cvt.u64.u32 %rd7, %r6; or.b64 %rd0, %rd5, %rd7; {body}
 ld.param.u64 %rd8, [out]; mul.wide.u32 %rd9, %r6, 24; add.u64 %rd8, %rd8, %rd9;
 st.global.u64 [%rd8], %rd3; st.global.u64 [%rd8+8], %rd4; st.global.u64 [%rd8+16], %rd2; ret; }}
"""


class Runner:
    """A context on a device of a driver with the functions of ``cuda.bindings.driver``."""

    def __init__(self, module: Any, ordinal: int = 0) -> None:
        self._cuda = Driver(module)
        self._cuda.cuInit(0)
        self._device = self._cuda.cuDeviceGet(ordinal)
        self._context = self._cuda.create_context(0, self._device)
        self._modules: dict[str, Any] = {}

    def close(self) -> None:
        """Destroy the context."""
        self._cuda.cuCtxDestroy(self._context)

    @property
    def device(self) -> str:
        """The device's name."""
        name: bytes = self._cuda.cuDeviceGetName(128, self._device)
        return name.split(b"\0")[0].decode()

    def sums(self, form: Form, step: int = 1) -> Array:
        """Return the sums of all blocks, or of one of so many."""
        found = np.zeros(-(-form.blocks // step), np.uint64)
        self._launch(form, b"sums", len(found), (0, step), found)
        return found

    def list(self, form: Form, block: int = 0) -> Array:
        """Return the operands and the result of each input of a block: rows of three words."""
        found = np.zeros((INPUTS, 3), np.uint64)
        self._launch(form, b"list", INPUTS // THREADS, (block, 0), found)
        return found

    def _launch(
        self, form: Form, kernel: bytes, grid: int, blocks: tuple[int, int], found: Array
    ) -> None:
        cuda = self._cuda
        if form.name not in self._modules:
            self._modules[form.name] = cuda.cuModuleLoadData(text(form).encode() + b"\0")
        function = cuda.cuModuleGetFunction(self._modules[form.name], kernel)
        out = cuda.cuMemAlloc(found.nbytes)
        cuda.cuMemcpyHtoD(out, found, found.nbytes)
        types, size = (ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32), (THREADS, 1, 1)
        cuda.launch(function, (int(out), *blocks), types, grid=(grid, 1, 1), block=size)
        cuda.cuCtxSynchronize()
        cuda.cuMemcpyDtoH(found, out, found.nbytes)
        cuda.cuMemFree(out)


# --- the file ------------------------------------------------------------------------------------


def write(path: Path, device: str, sums: Mapping[str, Array], halves: Mapping[str, Array]) -> None:
    """Write the lower words of the sums of all blocks, and the results of all halves."""
    head = {"device": device, "sums": list(sums), "halves": list(halves)}
    data = [json.dumps(head).encode(), b"\n"]
    data += [each.astype("<u4").tobytes() for each in sums.values()]
    data += [each.astype("<u2").tobytes() for each in halves.values()]
    path.write_bytes(lzma.compress(b"".join(data), preset=9))


def read(path: Path) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return what `write` wrote."""
    text, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    head, at = json.loads(text), 0
    found: tuple[dict[str, Array], dict[str, Array]] = {}, {}
    for names, dtype, into in zip(("sums", "halves"), ("<u4", "<u2"), found, strict=True):
        for name in head[names]:
            count = FORMS[name].blocks if names == "sums" else INPUTS
            into[name] = np.frombuffer(data, dtype, count, at)
            at += into[name].nbytes
    return found
