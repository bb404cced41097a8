"""Constant expressions, against ptxas 13.0.

It compiled each as ``.visible .global .u64 v = <expression>;`` (or ``.f64``); the values are what
lay in the cubin then.
"""

import struct

import pytest

from cudarun.ptx.constants import constant
from cudarun.ptx.errors import PtxError
from cudarun.ptx.lexer import Cursor
from cudarun.ptx.tree import Float, Integer

AS_PTXAS = {
    "-7 % 3": 0,
    "-7 / 2": -3,
    "-7 / 2U": 9223372036854775804,
    "7 % -3": 7,
    "(-7)>>1": -4,
    "(-7)>>1U": -4,
    "0xFFFFFFFFFFFFFFFF>>4": 1152921504606846975,
    "1<<63": -9223372036854775808,
    "(1<<63)>>63": -1,
    "1<<64": 1,
    "1<<-1": -9223372036854775808,
    "(-1<<1)>>60": -1,
    "~0": -1,
    "~0>>60": 15,
    "-1U": -1,
    "(-(1U))>>60": 15,
    "(+(1U-2))>>60": 15,
    "-1<0U": 0,
    "-1<1U": 0,
    "-1<0": 1,
    "!5": 0,
    "!!5": 1,
    "!0+1": 2,
    "(!0-2)>>60": -1,
    "1?2:3": 2,
    "0?1:0?2:3": 3,
    "(0?1U:-1)>>60": -1,
    "(1?-1:1U)>>60": -1,
    "(1?1U-2:-1)>>60": 15,
    "(.u64)-1>>60": 15,
    "(.s64)0xFFFFFFFFFFFFFFFF>>60": -1,
    "3==3": 1,
    "1<2==1": 1,
    "2>1>0": 1,
    "((1U<2)-2)>>60": -1,
    "5&&0": 0,
    "5||0": 1,
    "(5U&&1)-2>>60": -1,
    "6^3": 5,
    "6|1": 7,
    "6&3": 2,
    "(-1|0)>>60": -1,
    "(-1|0U)>>60": 15,
    "(-1&-1)>>60": -1,
    "(-1^0)>>60": -1,
    "(-2 % -1)>>60": 15,
    "(-1+0U)>>60": 15,
    "-1*1U>>60": 15,
    "-4/2U>>60": 7,
    "-(-9223372036854775808)>>60": 8,
    "9223372036854775808>>63": 1,
    "9223372036854775807+1": -9223372036854775808,
    "4294967295U>>31": 1,
    "18446744073709551616": 0,
    "0x1FFFFFFFFFFFFFFFF": -1,
    "1+2*3-4": 3,
    "10-3-2": 5,
    "1<<2+1": 8,
    "1|2&0": 1,
    "0777": 511,
    "0b101": 5,
    "WARP_SZ": 32,
    "WARP_SZ+1": 33,
    "1.5<2.0": 1,
    "1.5==1.5": 1,
}
FLOATS_AS_PTXAS = {
    "1.5*2.0": 3.0,
    "1.0/3.0": 1 / 3,
    "-1.5+0.5": -1.0,
    "1.0-.25": 0.75,
    ".5": 0.5,
    "1e5": 1e5,
    "1E-3": 1e-3,
    "1.e-3": 1e-3,
    "-(1.5)": -1.5,
    "-.5": -0.5,
    "+1.5": 1.5,
    "-0.0": -0.0,
}


def evaluate(text):
    cursor = Cursor(text)
    value = constant(cursor)
    assert cursor.at(""), f"stopped at {cursor.token.text!r}"
    return value


@pytest.mark.parametrize(("text", "value"), AS_PTXAS.items())
def test_integers_have_the_bits_that_ptxas_gives_them(text, value):
    result = evaluate(text)
    assert isinstance(result, Integer)
    assert result.value % 2**64 == value % 2**64


@pytest.mark.parametrize(("text", "value"), FLOATS_AS_PTXAS.items())
def test_floats_are_doubles(text, value):
    assert evaluate(text) == Float(int.from_bytes(struct.pack("<d", value), "little"), 64)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Integer(3)),
        ("3U", Integer(3, unsigned=True)),
        ("-1", Integer(-1)),
        ("0x7fffffffffffffff", Integer(2**63 - 1)),
        ("0x8000000000000000", Integer(2**63, unsigned=True)),
        ("~0", Integer(2**64 - 1, unsigned=True)),
        ("0f3F800000", Float(0x3F800000, 32)),
        ("0F7fc00000", Float(0x7FC00000, 32)),
        ("0d3FF0000000000000", Float(0x3FF0000000000000, 64)),
    ],
)
def test_what_a_constant_says_of_itself(text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "message", "severity"),
    [
        ("5/0", "Constant expression has division by zero", "fatal"),
        ("5 % 0", "Constant expression has division by zero", "fatal"),
        ("1?1:0/0", "Constant expression has division by zero", "fatal"),
        ("0&&(1/0)", "Constant expression has division by zero", "fatal"),
        ("1.5/0.0", "Constant expression has division by zero", "fatal"),
        ("1.5+1", "Constant expression type mismatch", "error"),
        ("(1.5)==1", "Constant expression type mismatch", "error"),
        ("1<<1.0", "Constant expression type mismatch", "error"),
        ("1.5 % 2.0", "Integer constant expression expected", "error"),
        ("!1.5", "Integer constant expression expected", "error"),
        ("~1.5", "Integer constant expression expected", "error"),
        ("1.0?2:3", "Integer constant expression expected", "error"),
        ("1?2:3.0", "Integer constant expression expected", "error"),
        ("1?2.0:3.0", "Integer constant expression expected", "error"),
        ("(.s64)1.5", "Integer constant expression expected", "error"),
        ("(.u32)3", "Unsupported cast operation", "error"),
        ("-0f3F800000", "Parsing error near '0f3F800000': syntax error", "fatal"),
        ("(3", "Parsing error near '': syntax error", "fatal"),
        ("3+", "Parsing error near '': syntax error", "fatal"),
        ("1?2", "Parsing error near '': syntax error", "fatal"),
        ("+%r1", "Parsing error near '%r1': syntax error", "fatal"),
    ],
)
def test_what_ptxas_refuses(text, message, severity):
    with pytest.raises(PtxError) as caught:
        evaluate(text)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.message, diagnostic.severity) == (message, severity)
