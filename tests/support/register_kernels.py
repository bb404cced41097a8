"""Kernels that need a given number of registers."""

from __future__ import annotations


def kernel(live: int, directives: str = "", unused: int = 0) -> str:
    """A kernel with so many registers alive at a barrier, and registers that it does not use."""
    loads = "".join(f"ld.global.f32 %f{i}, [%rd1+{4 * i}];\n" for i in range(live))
    stores = "".join(f"st.global.f32 [%rd1+{4 * i}], %f{live - 1 - i};\n" for i in range(live))
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        f".visible .entry k(.param .u64 p) {directives} {{\n"
        f".reg .f32 %f<{live}>; .reg .b64 %rd<2>; .reg .b32 %unused<{unused + 1}>;\n"
        f"ld.param.u64 %rd1, [p];\n{loads}bar.sync 0;\n{stores}ret;\n}}\n"
    )
