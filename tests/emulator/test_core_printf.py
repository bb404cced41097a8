"""Formatting against the C library's own."""

from __future__ import annotations

import ctypes
import locale
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudarun.emulator.machine.printf import LONGEST_TEXT, Arguments, PrintBuffer, render
from tests.emulator.device import Device

LIBC = ctypes.CDLL(None)


def by_libc(template: bytes, *values: object) -> bytes:
    buffer = ctypes.create_string_buffer(4096)
    LIBC.snprintf(buffer, ctypes.c_size_t(4096), template, *values)
    return buffer.value


def no_strings(address: int) -> bytes:
    raise AssertionError(f"a string at {address:#x}")


FLAGS = st.lists(st.sampled_from("-+ #0"), unique=True, max_size=3).map("".join)
WIDTH = st.sampled_from(["", "1", "7", "20"])
PRECISION = st.sampled_from(["", ".", ".0", ".3", ".12"])


@given(FLAGS, WIDTH, PRECISION, st.sampled_from("diouxX"), st.integers(-(2**63), 2**63 - 1))
def test_integers(flags: str, width: str, precision: str, conversion: str, value: int) -> None:
    for length, bits, c_type in (("", 32, ctypes.c_int), ("ll", 64, ctypes.c_longlong)):
        template = f"<%{flags}{width}{precision}{length}{conversion}>".encode()
        low = value & ((1 << bits) - 1)
        data = low.to_bytes(bits // 8, "little")
        assert render(template, Arguments(data), no_strings) == by_libc(template, c_type(low))


@given(FLAGS, WIDTH, PRECISION, st.sampled_from("eEfFgGaA"), st.floats())
def test_floats(flags: str, width: str, precision: str, conversion: str, value: float) -> None:
    template = f"<%{flags}{width}{precision}{conversion}>".encode()
    if conversion in "fF" and abs(value) > 1e300:
        value = 1e300
    if conversion in "aA" and 0 < abs(value) < 2.3e-308:
        return  # how a subnormal number is normalised is left to the library
    data = struct.pack("<d", value)
    assert render(template, Arguments(data), no_strings) == by_libc(
        template, ctypes.c_double(value)
    )


@pytest.mark.parametrize(
    ("template", "data", "expected"),
    [
        (b"100%%", b"", b"100%"),
        (b"%c%c", struct.pack("<ii", 72, 105), b"Hi"),
        (b"%*d|%-*d", struct.pack("<iiii", 4, 7, 3, 8), b"   7|8  "),
        (b"%.*f", struct.pack("<i4xd", 2, 1.005), b"1.00"),
        (b"%hhd %hd", struct.pack("<ii", 0x1FF, 0x18000), b"-1 -32768"),
        (b"%p %p", struct.pack("<QQ", 0, 0xABC), b"(nil) 0xabc"),
        (b"%d %lld %d", struct.pack("<i4xqi", 1, -2, 3), b"1 -2 3"),
        (b"%d %d", struct.pack("<i", 1), b"1 0"),
        (b"%y %", b"", b"%y %"),
    ],
)
def test_rest(template: bytes, data: bytes, expected: bytes) -> None:
    assert render(template, Arguments(data), no_strings) == expected


@pytest.mark.parametrize(
    ("template", "start", "end"),
    [
        (b"%1000000000d", b"   ", b"  7"),
        (b"%" + 5000 * b"9" + b"d", b"   ", b"  7"),
        (b"%-1000000000d", b"7  ", b"   "),
        (b"%01000000000d", b"000", b"007"),
        (b"%.1000000000d", b"000", b"007"),
        (b"%.1000000000f", b"0.0", b"000"),
        (b"%.1000000000a", b"0x0", b"000"),
        (b"%1000000000s", b"   ", b"ord"),
        (b"%*d", b"   ", b"  0"),
        (b"%.*d", b"000", b"000"),
        (b"%1000000c" * 7000, b"   ", b"   "),
    ],
)
def test_the_longest_text(template: bytes, start: bytes, end: bytes) -> None:
    numbers = struct.pack("<iiii", 2**31 - 1 if b"*" in template else 7, 0, 0, 0)
    text = render(template, Arguments(numbers), lambda address: b"word")
    assert len(text) == LONGEST_TEXT
    assert (text[:3], text[-3:]) == (start, end)


def test_leading_zeros_of_a_precision() -> None:
    template = b"%." + 5000 * b"0" + b"3d"
    assert render(template, Arguments(struct.pack("<i", 7)), no_strings) == b"007"


def write_locale(folder: Path) -> None:
    """A locale of the C library whose decimal point is a comma."""
    texts = [b",\0", b"\0", b"\0", b"\0", struct.pack("=I", ord(",")), bytes(4), b"UTF-8\0"]
    offsets = [32, 34, 35, 36, 40, 44]  # the fourth text is padding
    head = struct.pack("=8I", 0x20031114, len(offsets), *offsets)
    (folder / "comma").mkdir()
    (folder / "comma/LC_NUMERIC").write_bytes(head + b"".join(texts))


def test_the_decimal_point_is_not_that_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_locale(tmp_path)
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    before = locale.setlocale(locale.LC_NUMERIC)
    locale.setlocale(locale.LC_NUMERIC, "comma")
    try:
        assert by_libc(b"%.2f", ctypes.c_double(1.5)) == b"1,50"
        arguments = Arguments(struct.pack("<dd", 1.5, 1.5))
        assert render(b"%6.2f %a", arguments, no_strings) == b"  1.50 0x1.8p+0"
        assert by_libc(b"%.2f", ctypes.c_double(1.5)) == b"1,50"
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def test_strings() -> None:
    def read(address: int) -> bytes:
        return {16: b"sixteen"}[address]

    data = struct.pack("<QQ", 16, 16)
    assert render(b"[%s|%.3s]", Arguments(data), read) == b"[sixteen|six]"


def test_a_full_buffer_loses_the_oldest_output() -> None:
    buffer = PrintBuffer(200)
    for number in range(10):
        buffer.add(b"%d\n" % number)
    text = buffer.take()
    assert text.endswith(b"8\n9\n")
    assert text.startswith((b"5\n", b"4\n"))
    assert buffer.take() == b""


PRINT = r"""
.extern .func (.param .b32 result) vprintf (.param .b64 template, .param .b64 arguments);
.global .align 1 .b8 template[8] = {37, 100, 44, 37, 115, 10, 0, 0};
.global .align 1 .b8 word[3] = {111, 107, 0};
.visible .entry show(.param .u64 answer)
{
    .local .align 8 .b8 pack[16];
    .reg .b64 %a, %t, %w, %r; .reg .b32 %i, %n; .reg .pred %p;
    mov.u32 %i, %tid.x;
    setp.eq.u32 %p, %i, 1;
    @%p ret;
    mov.u64 %a, pack;
    mov.u64 %w, word;
    st.local.u32 [%a], %i;
    st.local.u64 [%a+8], %w;
    cvta.local.u64 %a, %a;
    mov.u64 %t, template;
    {
        .param .b64 one; .param .b64 two; .param .b32 back;
        st.param.b64 [one], %t;
        st.param.b64 [two], %a;
        call.uni (back), vprintf, (one, two);
        ld.param.b32 %n, [back];
    }
    ld.param.u64 %r, [answer];
    st.global.u32 [%r], %n;
    ret;
}
"""


def test_lanes_print_in_order_and_learn_the_number_of_arguments() -> None:
    device = Device(PRINT)
    answer = device.buffer(np.zeros(1, "u4"))
    device.launch("show", (1,), (4,), answer)
    assert device.output == b"0,ok\n2,ok\n3,ok\n"
    assert device.read(answer, "u4", 1) == [2]
