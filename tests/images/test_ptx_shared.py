"""Static shared memory of kernels and of the functions that they call."""

from __future__ import annotations

from cudarun.images.ptx_shared import static_use

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def test_the_padding_between_variables_of_functions_does_not_depend_on_hashes() -> None:
    functions = "".join(
        f".func f{i} () {{ .shared .align {size} .b8 s{i}[{size}]; .reg .b32 %r;"
        f" ld.shared.u8 %r, [s{i}]; ret; }}\n"
        for i, size in enumerate((1, 8) * 4)
    )
    calls = "".join(f"call f{i}; " for i in reversed(range(8)))
    found = static_use(f"{HEAD}{functions}.visible .entry k() {{ {calls}ret; }}".encode())
    assert found["k"][0] == 4 * 16  # in the order of names each pair has 7 bytes of padding
