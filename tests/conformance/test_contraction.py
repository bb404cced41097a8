"""Which products and sums become one fused operation: 1 + 2u squared, less 1 + 4u, is 0 or 4u².

The product is 1 + 4u + 4u²; rounded, it has no last term.
"""

import ctypes
import re
from typing import Any

import numpy as np
import pytest

CONSTANTS = {  # 1 + 2u and -(1 + 4u)
    "f32": (0x3F800001, 0xBF800002), "f64": (0x3FF0000000000001, 0xBFF0000000000002),
    "f16": (0x3C01, 0xBC02), "bf16": (0x3F81, 0xBF82),
    "f16x2": (0x3C013C01, 0xBC02BC02), "bf16x2": (0x3F813F81, 0xBF82BF82),
}  # fmt: skip
BITS = {"f64": 64, "f16": 16, "bf16": 16}
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry test(.param .u64 out, .param .u32 five, .param .b64 factor, .param .b64 addend) {{
 .reg .b{bits} a, c, t, u, d, e; .reg .u64 %out; .reg .u32 %five; .reg .pred p;
 ld.param.u64 %out, [out]; ld.param.u32 %five, [five]; setp.gt.u32 p, %five, 3;
 ld.param.b{bits} a, [factor]; ld.param.b{bits} c, [addend];
 mov.b{bits} d, c; mov.b{bits} e, c; {body}
 st.global.b{bits} [%out], d; st.global.b{bits} [%out+8], e; ret; }}
"""


@pytest.mark.parametrize("kind", CONSTANTS)
@pytest.mark.parametrize(
    ("body", "fused"),
    [
        ("mul t, a, a; add d, t, c; add e, c, t;", (True, True)),
        ("mul t, a, a; add d, t, c; mul u, t, a; add.rn e, u, c;", (False, None)),
        ("mul.rn t, a, a; add d, t, c;", (False, None)),
        ("mul t, a, a; add.rn d, t, c;", (False, None)),
        ("mul t, a, a; bar.sync 0; add d, t, c;", (True, None)),
        ("mul t, a, a; @p add d, t, c;", (True, None)),
        ("mov t, a; @p mul t, a, a; @p add d, t, c;", (False, None)),
    ],
)
def test_fused(
    cuda: Any, context: Any, kind: str, body: str, fused: tuple[bool | None, ...]
) -> None:
    bits = BITS.get(kind, 32)
    for word in ("mul", "add"):
        body = re.sub(rf"{word}(\.rn)? ", rf"{word}\1.{kind} ", body)
    body = re.sub(r"(mov|st\.global) ", rf"\1.b{bits} ", body)
    module = cuda.cuModuleLoadData(PTX.format(bits=bits, body=body).encode() + b"\0")
    out = cuda.cuMemAlloc(64)
    factor, addend = CONSTANTS[kind]
    types = (ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)
    function = cuda.cuModuleGetFunction(module, b"test")
    cuda.launch(function, (int(out), 5, factor, addend), types)
    found = np.zeros(2, np.uint64)
    cuda.cuCtxSynchronize()
    cuda.cuMemcpyDtoH(found, out, found.nbytes)
    mask = np.uint64((1 << bits) - 1)
    for value, expected in zip(found & mask, fused, strict=True):
        assert expected is None or (value != 0) == expected
