"""The text of arguments: what it means, what is refused and where."""

from __future__ import annotations

import pytest

from cudarun.arguments import initial_values, values
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.grammar import parse_argument, parse_arguments
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.types import SCALARS, VECTORS, ArrayType
from cudarun.base.errors import ArgumentSyntaxError, RequestError


def value_of(text: str) -> values.Value:
    return parse_argument(text).value


# --- what texts mean -----------------------------------------------------------------------------


def generated(word: str, *numbers: str) -> initial_values.Generated:
    return initial_values.Generated(word, tuple(map(UntypedNumber, numbers)))


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("f32:2.5", "f32", 2.5),
        ("i32:-1", "i32", -1),
        ("u64:0xff", "u64", 255),
        ("bool:true", "bool", True),
        ("f16:0.5", "f16", 0.5),
        ("float : 1", "f32", 1.0),
        ("unsigned int:7", "u32", 7),
        ("long long:-7", "i64", -7),
        ("n=i32:4Ki", "i32", 4096),
        ("bf16:1", "bf16", 1.0),
        ("f8e4m3:448", "f8e4m3", 448.0),
        ("f32:0f3f800000", "f32", 1.0),
        ("f32:-inf", "f32", float("-inf")),
    ],
)
def test_scalars(text, type_, value):
    found = value_of(text)
    assert isinstance(found, Scalar)
    assert (str(found.type), found.value) == (type_, value)


@pytest.mark.parametrize("text", ["2.5", "-1", "0x10", "true", "nan", "4Ki"])
def test_bare_numbers(text):
    assert value_of(text) == UntypedNumber(text)


def test_names():
    assert parse_argument("x=f32:1").name == "x"
    assert parse_argument(" in = f32:1").name == "in"
    assert parse_argument("f32:1").name is None
    assert parse_argument("f32=f32:1").name == "f32"
    assert parse_argument("x=f32:1").text == "x=f32:1"


def test_vectors_and_arrays():
    vector = value_of("float4:1,2,3,4")
    assert isinstance(vector, values.SequenceValue)
    assert [c.value for c in vector.elements] == [1, 2, 3, 4]
    array = value_of("float2*2:1,2,3,4")
    assert isinstance(array, values.SequenceValue)
    assert array.type == ArrayType(VECTORS["float2"], 2)
    assert [[c.value for c in e.elements] for e in array.elements] == [[1, 2], [3, 4]]


def test_structs():
    struct = value_of("{f32:1, v=float4:1,2,3,4, {i8:1, u8:2}, f32*2:5,6, data=f32[n], p=null}")
    assert isinstance(struct, values.StructValue)
    assert [m.name for m in struct.members] == [None, "v", None, None, "data", "p"]
    assert str(struct.type) == "{f32, v=float4, {i8, u8}, f32*2, data=f32*, p=void*}"


def test_struct_type_and_value_apart():
    assert value_of("{i32,f32}:{1,2.5}") == value_of("{i32:1, f32:2.5}")
    assert value_of("{n=i32,f32}:{1,2.5}") == value_of("{n=i32:1, f32:2.5}")
    assert isinstance(value_of("{i32,f32}[n]"), values.Buffer)
    assert isinstance(value_of("{i32,f32}*2:{1,2},{3,4}"), values.SequenceValue)


def test_bytes_symbols_null_and_files():
    assert value_of("bytes:00ff_10") == values.Bytes(b"\x00\xff\x10")
    assert value_of("&counter") == values.AddressOf("counter")
    assert value_of("&my::counter") == values.AddressOf("my::counter")
    assert value_of("&_ZN2my1cE$x") == values.AddressOf("_ZN2my1cE$x")
    assert value_of("null") == values.Null()
    assert value_of("@dir/x.npy") == values.FileBuffer("dir/x.npy")
    assert value_of("@with, comma} and space.npy ") == values.FileBuffer(
        "with, comma} and space.npy"
    )
    assert value_of(r'@"a \"b\" \\ c"') == values.FileBuffer(r'a "b" \ c')


def test_a_path_in_a_struct_ends_with_its_member():
    struct = value_of('{x=@a b.npy, y=f32[2]:@"c,d.bin"}')
    assert isinstance(struct, values.StructValue)
    assert struct.members[0].value == values.FileBuffer("a b.npy")
    assert struct.members[1].value == values.Buffer(
        SCALARS["f32"], (parse_expression("2"),), initial_values.FileInitial("c,d.bin")
    )


def test_files_in_parentheses():
    order = initial_values.FileOrder
    assert value_of("corder(@dir/x.npy)") == values.FileBuffer("dir/x.npy", order.C)
    assert value_of("asis( @a b.npy )") == values.FileBuffer("a b.npy", order.STORED)
    assert value_of('asis(@"a),b.npy")') == values.FileBuffer("a),b.npy", order.STORED)
    struct = value_of("{x=corder(@a}b.npy), y=f32[2]:cast(asis(@c.npy))}")
    assert isinstance(struct, values.StructValue)
    assert struct.members[0].value == values.FileBuffer("a}b.npy", order.C)
    assert struct.members[1].value == values.Buffer(
        SCALARS["f32"],
        (parse_expression("2"),),
        initial_values.FileInitial("c.npy", order.STORED, cast=True),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cast(@x.npy)", "cast requires the type of the buffer"),
        ("f32[n]:cast", "expected '(' after cast, found the end"),
        ("f32[n]:cast(x.npy)", "expected @path, corder(@path) or asis(@path), found 'x'"),
        ("f32[n]:cast(3)", "expected '@' before the path of a file, found '3'"),
        ("f32[n]:cast(@x.npy", "expected ')' after the file of cast, found the end"),
        ("f32[n]:cast(@)", "expected the path of a file after '@'"),
        ("f32[n]:cast(@x.npy, 3)", "expected ')' after the file of cast, found ','"),
        ("{f32}[n]:cast(@x.npy)", "cast converts to numbers, not to {f32}"),
        ("corder(asis(@x.npy))", "corder and asis cannot be combined"),
        ("corder", "unknown type 'corder'"),
    ],
)
def test_files_in_parentheses_that_do_not_parse(text, message):
    with pytest.raises(ArgumentSyntaxError) as refused:
        value_of(text)
    assert refused.value.message == message


@pytest.mark.parametrize(
    ("text", "initial"),
    [
        ("f32[n]", None),
        ("f32[n]:zeros", initial_values.Constant(UntypedNumber("0"))),
        ("f32[n]:ones", initial_values.Constant(UntypedNumber("1"))),
        ("f32[n]:3.5", initial_values.Constant(UntypedNumber("3.5"))),
        ("f32[n]:-inf", initial_values.Constant(UntypedNumber("-inf"))),
        ("bool[n]:true", initial_values.Constant(UntypedNumber("true"))),
        ("f32[n]:iota", generated("iota", "0", "1")),
        (
            "f32[n]:iota(5)",
            generated("iota", "5", "1"),
        ),
        (
            "f32[n]:iota(1, -0.5)",
            generated("iota", "1", "-0.5"),
        ),
        ("f32[n]:rand", generated("rand", "0", "1")),
        (
            "f32[n]:rand(-1,1)",
            generated("rand", "-1", "1"),
        ),
        ("f32[n]:randn", generated("randn")),
        (
            "u8[n]:randint(0,256)",
            generated("randint", "0", "256"),
        ),
        ("f32[n,n]:eye", generated("eye")),
        ("f32[n]:@raw.bin", initial_values.FileInitial("raw.bin")),
        ("f32[n]:cast(@x.npy)", initial_values.FileInitial("x.npy", cast=True)),
        ("f32[n]:corder(@x)", initial_values.FileInitial("x", initial_values.FileOrder.C)),
        ("f32[n]:asis(@x)", initial_values.FileInitial("x", initial_values.FileOrder.STORED)),
    ],
)
def test_initialisers(text, initial):
    buffer = value_of(text)
    assert isinstance(buffer, values.Buffer)
    assert buffer.initial == initial
    assert value_of(str(buffer)) == buffer


def test_dimensions_are_expressions():
    buffer = value_of("f32[2*n+1, 4Ki, (n+255)//256]")
    assert isinstance(buffer, values.Buffer)
    assert [str(each) for each in buffer.dimensions] == ["2*n+1", "4Ki", "(n+255)//256"]


def test_lists():
    buffer = value_of("float2[2]:[[1,2],[3,4]]")
    assert isinstance(buffer, values.Buffer)
    assert isinstance(buffer.initial, values.ListInitial)
    assert buffer.initial.shape == (2, 2)
    structs = value_of("{i32, float2}[2]:[{1, 2,3}, {4, 5,6}]")
    assert isinstance(structs, values.Buffer)
    assert str(structs.initial) == "[{1, 2,3}, {4, 5,6}]"
    assert value_of("i32[2,2]:[[1,2,],[3,4,],]") == value_of("i32[2,2]:[[1,2],[3,4]]")
    assert value_of("i32[0]:[]") == values.Buffer(
        SCALARS["i32"], (parse_expression("0"),), values.ListInitial(())
    )


# --- what is refused -----------------------------------------------------------------------------

ONLY = "only numbers, names and integer operators are allowed"

REFUSED = [
    ("", 0, "expected a value, found the end"),
    ("x=", 2, "expected a value, found the end"),
    ("f23:1", 0, "unknown type 'f23'"),
    ("x=nul:1", 2, "unknown type 'nul'"),
    ("f32", 0, "f32 requires a value or dimensions"),
    ("a==3", 0, "unknown type 'a'"),
    ("x=unsigned int", 2, "u32 requires a value or dimensions"),
    ("f32:", 4, "expected a number, found the end"),
    ("i32:", 4, "expected an integer, found the end"),
    ("bool:,", 5, "expected true or false, found ','"),
    ("f32:a b", 6, "unexpected 'b'"),
    ("f32:2.0f", 4, "'2.0f' is not a number"),
    ("2.5x", 0, "'2.5x' is not a number"),
    ("i8:300", 3, "300 is out of range for i8, -128 to 127"),
    ("u8:-1", 3, "-1 is out of range for u8, 0 to 255"),
    ("i32:1.5", 4, "'1.5' is not an integer, but i32 requires one"),
    ("bool:2", 5, "'2': bool must be true or false"),
    ("f16:1e6", 4, "out of range for f16, whose largest value is 65504"),
    ("f32:1 2", 6, "unexpected '2'"),
    ("null x", 5, "unexpected 'x'"),
    ("float4:1,2,3", 12, "float4 takes 4 values, got 3"),
    ("float4:1,2,3,", 13, "float4 takes 4 values, got 3"),
    ("float4:1,2,3,4,5", 14, "float4 accepts at most 4 values"),
    ("{float4:1,2,3, f32:1}", 15, "float4 takes 4 values, got 3"),
    ("f32*0:", 4, "an array has 1 to 1048576 elements"),
    ("f32*:1", 4, "expected the length of the array after 'f32*', found ':'"),
    ("f32*9999999999:1", 4, "an array has 1 to 1048576 elements"),
    ("{}", 0, "the struct has no members"),
    ("{f32:1", 6, "expected '}' or ',' after a member, found the end"),
    ("{f32:1,", 7, "expected a value, found the end"),
    ("{f32:1, i32}", 8, "i32 requires a value or dimensions"),
    ("{f32, i32:1}", 1, "f32 requires a value or dimensions"),
    ("{i32,f32}", 0, "{i32, f32} requires a value or dimensions"),
    ("{a=i8:1, a=i8:2}", 9, "two members are named 'a'"),
    ("{i32,f32}:1", 10, "expected '{' before the members of {i32, f32}, found '1'"),
    ("{i32,f32}:{1}", 12, "expected ',' before member 2 of {i32, f32}, found '}'"),
    ("{i32}:{1,2}", 8, "expected '}' after the 1 members of {i32}, found ','"),
    ("bytes:", 6, "bytes: requires hexadecimal digits, two per byte"),
    ("bytes:0", 6, "odd number of hexadecimal digits; each byte has two"),
    ("bytes:0g", 6, "odd number of hexadecimal digits; each byte has two"),
    ("bytes:00gg", 8, "unexpected 'gg'"),
    ("@", 1, "expected the path of a file after '@'"),
    ("f32[2]:@", 8, "expected the path of a file after '@'"),
    ("&", 1, "expected the name of a buffer or a variable after '&', found the end"),
    ("&3", 1, "expected the name of a buffer or a variable after '&', found '3'"),
    ("f32[]", 4, "a buffer requires dimensions: f32[n], or f32[1] for one element"),
    ("f32[n", 5, "expected ']' or ',' after a dimension, found the end"),
    ("f32[n,]", 6, "unexpected ']'"),
    ("f32[1.5]", 4, "1.5 is not an integer in the dimension '1.5'"),
    ("f32[n/2]", 4, "'/' does not produce an integer (use '//') in the dimension 'n/2'"),
    ("x=f32[4, n>1]", 9, f"{ONLY} in the dimension 'n>1'"),
    ("f32[sum(n)]", 4, f"{ONLY} in the dimension 'sum(n)'"),
    ("f32[n]:zeroes", 7, "unknown initializer 'zeroes'"),
    ("f32[n]:", 7, "expected an initializer, found the end"),
    ("u8[n]:256", 6, "256 is out of range for u8, 0 to 255"),
    ("{i32,u8}[n]:-1", 12, "-1 is out of range for u8, 0 to 255"),
    ("f32[n]:zeros(1)", 12, "unexpected '('"),
    ("f32[n]:iota(1,2,3)", 11, "iota takes 1 or 2 numbers, got 3"),
    ("f32[n]:iota()", 12, "expected a number, found ')'"),
    ("f32[n]:iota(1", 13, "expected ')' after the numbers of iota, found the end"),
    ("i32[n]:iota(0.5)", 12, "'0.5' is not an integer, but i32 requires one"),
    ("bool[n]:iota", 8, "iota requires a numeric type: not for bool"),
    ("f32[n]:rand(1)", 11, "rand takes 2 numbers, got 1"),
    ("f32[n]:rand(-inf,inf)", 12, "rand takes finite numbers"),
    ("f32[n]:rand(0,0f7fc00000)", 14, "rand takes finite numbers"),
    ("f64[n]:rand(-1e308,1e308)", 7, "rand(-1e308,1e308): the range is too wide for a double"),
    ("f16[n]:iota(0,nan)", 14, "iota takes finite numbers"),
    ("i32[n]:rand", 7, "rand produces fractions: not for i32"),
    ("{f32,i32}[n]:randn", 13, "randn produces fractions: not for i32"),
    ("i32[n]:randint", 14, "randint takes 2 numbers, got 0"),
    ("f32[n]:randint(0,1.5)", 7, "randint requires two integers"),
    ("i32[n]:randint(5,5)", 7, "randint(5,5) is an empty range"),
    ("i8[n]:randint(0,200)", 6, "199 is out of range for i8, -128 to 127"),
    ("f32[n]:eye", 7, "eye requires a buffer of scalars with two axes"),
    ("float4[n,n]:eye", 12, "eye requires a buffer of scalars with two axes"),
    ("i32[2]:[1,[2]]", 10, "a list is nested deeper than the axes of the buffer"),
    ("i32[2]:[1 2]", 10, "expected ']' or ',' in a list, found '2'"),
    ("i32[2,2]:[1,2]", 10, "expected a list for the next axis of the buffer, found '1'"),
    ("i32[2,2]:[[1,2],[3]]", 16, "a list of shape 1 follows one of shape 2"),
    ("i32[0,2]:[]", 9, "an empty list does not determine the axes within it"),
    ("i8[2]:[1,200]", 9, "200 is out of range for i8, -128 to 127"),
    ("and=f32:1", 0, "'and' is an operator of expressions and cannot name an argument"),
    ("{" * 60, 16, "nested more than 16 levels deep"),
    ("i32[2]:" + "[" * 60, 8, "a list is nested deeper than the axes of the buffer"),
    ("f32[" + "(" * 60, 54, "nested more than 50 levels deep"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), REFUSED, ids=[t[:30] for t, *_ in REFUSED])
def test_refused(text, column, message):
    with pytest.raises(ArgumentSyntaxError) as refused:
        parse_argument(text)
    assert (refused.value.message, refused.value.column) == (message, column)
    assert refused.value.text == text


SEVERAL = "several numbers are float4:1,2,3,4, f32*5:1,2,3,4,5 or in a buffer f32[3]:[1,2,3]"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("f23:1", "did you mean f32?"),
        ("f32[m][n]:rand", "separate dimensions by commas: f32[m,n]"),
        (
            "f32[n]:normal",
            "use zeros, ones, iota, rand, randn, randint, eye, a number, a list or @FILE",
        ),
        ("flot4:1,2,3,4", "did you mean float4 or float64 or float?"),
        ("nulll[1]", "did you mean null?"),
        ("k[1]", "examples of values: f32:2.5, f32[n]:zeros, @x.npy, texture(f32[n]:rand), null"),
        *((text, SEVERAL) for text in ("1,2,3", "f32:1,2,3", "f32[3]:1,2,3", "[1,2,3]")),
        ("f32[$n]", "write n; in a spec, a value of the matrix is ${n}"),
        ("f32[2*{count}]", "write count; in a spec, a value of the matrix is ${count}"),
        ("f32[${n}]", "write n; in a spec, a value of the matrix is ${n}"),
        ("$n", "write n; in a spec, a value of the matrix is ${n}"),
        ("f32[n]:zeroes", "did you mean zeros or ones?"),
        ("f32[n]:randit(0,1)", "did you mean randint or rand or randn?"),
        ("f32", "a value: f32:…   a buffer: f32[n]"),
        ("i32[n]:rand", "randint(lo,hi) for i32"),
    ],
)
def test_hints(text, hint):
    with pytest.raises(ArgumentSyntaxError) as refused:
        parse_argument(text)
    assert refused.value.hint == hint


def test_very_long_texts_are_refused():
    with pytest.raises(ArgumentSyntaxError, match="text of 200006 characters"):
        parse_argument("bytes:" + "0" * 200_000)


def test_two_arguments_of_one_name():
    assert len(parse_arguments(["a=f32:1", "f32:2", "f32:3"])) == 3
    with pytest.raises(RequestError) as refused:
        parse_arguments(["a=f32:1", "b=f32:2", "a=f32:3"])
    assert refused.value.message == "two arguments are named 'a': a=f32:1 and a=f32:3"
