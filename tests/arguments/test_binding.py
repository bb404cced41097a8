"""Arguments bound to parameters: what fits, what does not, and what is said then."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from cudarun.arguments.binding import bind
from cudarun.arguments.grammar import parse_arguments
from cudarun.arguments.initial_values import DEFAULT_NUMBERS, FileInitial, Generated
from cudarun.arguments.packing import BufferSpec, VariableElement
from cudarun.arguments.types import SCALARS
from cudarun.base.errors import RequestError
from cudarun.images.parameters import Parameter
from cudarun.model.launch import LayoutRow


def parameters(*types: str | None, names: tuple[str | None, ...] = ()) -> list[Parameter]:
    """A parameter list of C++ or PTX types; what has no known size is a pointer."""
    sizes = {"float": 4, "int": 4, "unsigned int": 4, "double": 8, "long": 8, "char": 1, "bool": 1}
    sizes |= {"float4": 16, "int4": 16, "float2": 8, "__half": 2, "short": 2, "unsigned char": 1}
    sizes |= {f"{letter}{bits}": bits // 8 for letter in "usbf" for bits in (8, 16, 32, 64)}
    listed, end = [], 0
    for index, each in enumerate(types):
        size = sizes.get(each or "", 8)
        offset = -(-end // size) * size
        name = names[index] if index < len(names) else None
        listed.append(Parameter(index, offset, size, size, each, name))
        end = offset + size
    return listed


SAXPY = parameters("float", "float const*", "float*", "int", names=("a", "x", "y", "n"))


def bound(*texts: str, to=SAXPY, **options):
    return bind(parse_arguments(texts), to, kernel="saxpy", **options)


def refusal(*texts: str, to=SAXPY, **options) -> RequestError:
    with pytest.raises(RequestError) as refused:
        bound(*texts, to=to, **options)
    return refused.value


# --- what fits -----------------------------------------------------------------------------------


def test_saxpy():
    binding = bound("a=f32:2", "x=f32[n]:iota", "y=f32[n]", "n=i32:1000")
    assert binding.buffers == (
        BufferSpec("x", SCALARS["f32"], (1000,), Generated("iota", DEFAULT_NUMBERS["iota"])),
        BufferSpec("y", SCALARS["f32"], (1000,), None),
    )
    assert binding.size == 28
    assert binding.scalars.keys() == {"a", "n"}
    assert binding.integers == {"n": 1000}
    assert binding.variables == ()
    assert binding.rows == (
        LayoutRow("a", "f32", 0, 4, 4, 0, "2"),
        LayoutRow("x", "f32*", 8, 8, 8, 4, "f32[1000]:iota"),
        LayoutRow("y", "f32*", 16, 8, 8, 0, "f32[1000]"),
        LayoutRow("n", "i32", 24, 4, 4, 0, "1000"),
    )
    assert [slot.name for slot in binding.slots] == ["a", "x", "y", "n"]
    whole = binding.pack({"x": 0x1111, "y": 0x2222}, {})
    assert whole == (
        np.float32(2).tobytes()
        + bytes(4)
        + (0x1111).to_bytes(8, "little")
        + (0x2222).to_bytes(8, "little")
        + np.int32(1000).tobytes()
    )


def test_a_binding_crosses_processes():
    binding = bound("a=f32:2", "x=f32[n]:iota", "y=f32[n]", "n=i32:1000")
    assert pickle.loads(pickle.dumps(binding)) == binding


def test_no_arguments():
    binding = bound(to=[])
    assert (binding.size, binding.rows, binding.pack({}, {})) == (0, (), b"")


def test_scalars_as_expressions_see_them():
    to = parameters("float", "float4", None, "int", "char", "float*")
    texts = ("a=2.5", "v=float4:1,2,3,4", "s={n=i32:7, p=f32:0.5}", "5", "i8:-1", "p=null")
    binding = bound(*texts, to=to)
    scalars = binding.scalars
    assert scalars.keys() == {"a", "v", "s", "s.n", "s.p", "p3", "p4"}
    assert (scalars["s.n"], scalars["s.p"]) == (7, 0.5)
    assert scalars["a"] == np.float32(2.5)
    assert scalars["a"].dtype == np.float32
    np.testing.assert_array_equal(scalars["v"], np.float32([1, 2, 3, 4]))
    assert scalars["s"]["n"] == 7
    assert scalars["p4"] == np.int8(-1)


def test_bare_numbers_take_the_type_of_the_parameter():
    to = parameters("float", "int", "unsigned char", "__half", "bool", "double", "long", "short")
    binding = bound("2.5", "-3", "255", "0.5", "true", "1e300", "-4Gi", "-1", to=to)
    assert [str(slot.value) for slot in binding.slots] == [
        *("f32:2.5", "i32:-3", "u8:255", "f16:0.5", "bool:true"),
        *("f64:1e+300", "i64:-4294967296", "i16:-1"),
    ]


def test_bare_numbers_take_the_type_that_ptx_tells():
    to = parameters("f32", "f64", "u32", "u32", "s64", "f16")
    binding = bound("2", "2.5", "7", "-7", "7", "1", to=to)
    assert [str(slot.value) for slot in binding.slots] == [
        *("f32:2", "f64:2.5", "u32:7", "i32:-7", "i64:7", "f16:1")
    ]


def test_dimensions_use_integers_whatever_gave_them():
    to = parameters("float*", "int", "int", "float*")
    binding = bound("x=f32[n,p2+1]", "n=3", "4", "y=float4[2*n]", to=to)
    assert [spec.shape for spec in binding.buffers] == [(3, 5), (6,)]
    named = parameters("float*", "int", names=("x", "count"))
    assert bound("f32[count]", "9", to=named).buffers[0].shape == (9,)


def test_names_of_unnamed_arguments():
    to = parameters("int", "int", "int", "int", names=("n", "n$1", None, "not"))
    assert [s.name for s in bound("1", "2", "3", "4", to=to).slots] == ["n", "p1", "p2", "p3"]
    assert [s.name for s in bound("1", "m=2", "3", "4", to=to).slots] == ["n", "m", "p2", "p3"]


def test_symbols_and_null():
    to = parameters("float*", "int*", "int*")
    binding = bound("&data", "null", "&data", to=to)
    assert binding.variables == (VariableElement("data"),)
    assert binding.buffers == ()
    expected = (5).to_bytes(8, "little") + bytes(8) + (5).to_bytes(8, "little")
    assert binding.pack({}, {VariableElement("data"): 5}) == expected


def test_buffers_within_structs():
    to = [Parameter(0, 0, 24), Parameter(1, 24, 4, type="int")]
    binding = bound("s={f32[n]:ones, k=i32:3, data=i32[n]}", "n=2", to=to)
    assert [spec.name for spec in binding.buffers] == ["s.0", "s.data"]
    packed = binding.pack({"s.0": 1, "s.data": 2}, {})
    assert packed[0] == 1
    assert packed[8] == 3
    assert packed[16] == 2
    assert binding.rows[3].name == "s.data"
    assert binding.rows[3].offset == 16


def test_empty_buffers_need_no_address():
    binding = bound("x=f32[n]", "n=0", to=parameters("float*", "int"))
    assert binding.buffers[0].nbytes == 0
    assert binding.pack({}, {}) == bytes(12)
    assert binding.pack({"x": 7}, {})[0] == 7


def test_buffers_beyond_four_gibibytes():
    binding = bound("x=f32[n, 4Gi]", "n=3", to=parameters("float*", "int"))
    assert binding.buffers[0].nbytes == 3 * (4 << 30) * 4


def test_a_missing_address_is_an_error():
    binding = bound("x=f32[1]", to=parameters("float*"))
    with pytest.raises(KeyError, match="x"):
        binding.pack({}, {})


def test_layout_of_our_own_where_nothing_tells_it():
    texts = ("c=i8:1", "v=float4:1,2,3,4", "x=f32[2]", "{i8:1, f64:2}", "bytes:ff")
    binding = bound(*texts, to=None)
    assert [(s.parameter.offset, s.parameter.size) for s in binding.slots] == [
        *((0, 1), (16, 16), (32, 8), (40, 16), (56, 1))
    ]
    assert [row.padding_before for row in binding.rows if "." not in row.name] == [0, 15, 0, 0, 0]
    error = refusal("n=5", to=None)
    assert error.message == (
        "saxpy: the parameter types of this kernel are unknown, so n=5 requires a type, such as "
        "i32:5"
    )


@pytest.mark.parametrize(
    ("text", "type_", "size"),
    [
        ("u32:1", "int", 4),
        ("i32:1", "unsigned int", 4),
        ("bool:true", "unsigned char", 1),
        ("u8:1", "bool", 1),
        ("f32:1", "f32", 4),
        ("f32:1", "b32", 4),
        ("i32:1", "b32", 4),
        ("i32:1", "u32", 4),
        ("i32:1", None, 4),
        ("f32:1", None, 4),
        ("u64:0x1000", "float*", 8),
        ("u64:1", "u64", 8),
        ("f32[1]", "u64", 8),
        ("f32[1]", "b64", 8),
        ("f32[1]", "u64.ptr", 8),
        ("f32[1]", "unsigned long long", 8),
        ("f32[1]", "CUdeviceptr", 8),
        ("f32[1]", "Wrapper", 8),
        ("f32[1]", "float const* __restrict__", 8),
        ("f32[1]", "void (*)(int)", 8),
        ("null", "std::vector<int>&", 8),
        ("float4:1,2,3,4", "float4", 16),
        ("float4:1,2,3,4", "float4 const", 16),
        ("uint4:1,2,3,4", "int4", 16),
        ("f32*4:1,2,3,4", "float4", 16),
        ("{f32:1,f32:2}", "float2", 8),
        ("bytes:01020304", "float", 4),
        ("{i64:1,i64:2,i64:3}", "b8[24]", 24),
        ("bytes:0102", "MyStruct", 2),
    ],
)
def test_what_may_be_passed(text, type_, size):
    assert bound(text, to=[Parameter(0, 0, size, None, type_)]).slots[0].parameter.size == size


# --- what does not fit ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "type_", "size", "problem"),
    [
        ("f64:1", "float", 4, "it is f32, not f64"),
        ("i32:1", "float", 4, "it is f32, not i32"),
        ("f32:1", "int", 4, "it is i32, not f32"),
        ("bf16:1", "__half", 2, "it is f16, not bf16"),
        ("f32:1", "u32", 4, "it is .u32, not f32"),
        ("i32:1", "f32", 4, "it is .f32, not i32"),
        ("i64:1", None, 4, "i64 is 8 bytes, not 4"),
        ("f32:1", "float*", 8, "it is a pointer: pass a buffer, &symbol or null"),
        ("i64:1", "float*", 8, "it is a pointer: pass a buffer, &symbol or null"),
        ("5", "float*", 8, "it is a pointer: pass a buffer, &symbol or null"),
        ("{x=f32:1}", "P*", 8, "it is a pointer: a buffer of structs is {…}[n]"),
        ("{x=f32[2]:0, y=i32:1}", "P*", 8, "it is a pointer: a buffer of structs is {…}[n]"),
        ("f32[1]", "double", 8, "it is f64 by value, not a pointer"),
        ("f32[1]", "long", 8, "it is i64 by value, not a pointer"),
        ("null", "float2", 8, "it is float2 by value, not a pointer"),
        ("f32[1]", "f64", 8, "it is a float by value, not a pointer"),
        ("f32[1]", None, 4, "an address is 8 bytes, not 4"),
        ("int4:1,2,3,4", "float4", 16, "it is float4, not int4"),
        ("float3:1,2,3", "float4", 16, "it is float4, not float3"),
        ("{f32:1}", "Pair", 8, "{f32} is 4 bytes, not 8"),
        ("bytes:0102", "float", 4, "u8*2 is 2 bytes, not 4"),
        ("1.5", "int", 4, "'1.5' is not an integer, but i32 requires one"),
        ("300", "unsigned char", 1, "300 is out of range for u8, 0 to 255"),
        ("5", "float4", 16, "it is float4: float4:…"),
        ("5", None, 4, "its type is unknown: add a type to 5, such as i32:5"),
        ("5", "b32", 4, "its type is unknown: add a type to 5, such as i32:5"),
        ("2.5", "b64", 8, "its type is unknown: add a type to 2.5, such as f64:2.5"),
        ("true", "Flag", 1, "its type is unknown: add a type to true, such as bool:true"),
    ],
)
def test_misfits(text, type_, size, problem):
    error = refusal(text, to=[Parameter(0, 0, size, None, type_)])
    lines = error.message.splitlines()
    assert lines[0] == "saxpy: argument 0 does not match its parameter"
    assert lines[2].startswith("  !  0")
    assert lines[3] == f"{'':{lines[1].index('parameter')}}^ {problem}"


def test_an_offset_that_the_type_cannot_have():
    error = refusal("float4:1,2,3,4", to=[Parameter(0, 8, 16)])
    assert error.message.endswith("float4 is aligned to 16 bytes, the offset 8 is not")


def test_both_lists_side_by_side():
    error = refusal("a=f64:2", "x=f32[n]:iota", "f32:1", "1000")
    assert error.message == (
        "saxpy: arguments 0 and 2 do not match their parameters\n"
        "        offset  size  parameter       argument       size\n"
        "  !  0       0     4  float a         a=f64:2           8\n"
        "                      ^ it is f32, not f64\n"
        "     1       8     8  float const* x  x=f32[n]:iota     8\n"
        "  !  2      16     8  float* y        f32:1             4\n"
        "                      ^ it is a pointer: pass a buffer, &symbol or null\n"
        "     3      24     4  int n           1000              ?"
    )
    assert error.context == {"kernel": "saxpy"}


def test_arguments_in_another_order_can_be_named():
    error = refusal("f32[4]", "f32:1", "f32[4]", "f32[4]")
    assert error.message.startswith("saxpy: arguments 0, 1 and 3 d")
    assert error.hint == "name the arguments to pass them in any order: a=… x=… y=… n=…"
    in_order = ("f64:1", "x=f32[4]", "f32[4]", "i32:4")
    assert refusal(*in_order).hint is None
    unnamed = parameters("float", "float*")
    assert refusal("f32[4]", "f32:1", to=unnamed).hint is None


def test_an_unknown_dimension_can_be_a_number():
    assert refusal("f32:1", "f32[rows]", "f32[4]", "n=4").hint == "replace rows by a number"
    assert refusal("f32:1", "f32[nn]", "f32[4]", "n=4").hint == "did you mean n?"


def test_too_few_and_too_many():
    assert refusal("f32:1", to=parameters("float", "int")).message == (
        "saxpy: takes 2 parameters, got 1\n"
        "        offset  size  parameter  argument  size\n"
        "     0       0     4  float      f32:1        4\n"
        "  !  1       4     4  int        –\n"
        "                      ^ missing argument"
    )
    assert refusal("f32:1", "5", "null", to=parameters("float")).message == (
        "saxpy: takes 1 parameter, got 3\n"
        "        offset  size  parameter  argument  size\n"
        "     0       0     4  float      f32:1        4\n"
        "  !  1                –          5            ?\n"
        "                      ^ unexpected argument\n"
        "  !  2                –          null         8\n"
        "                      ^ unexpected argument"
    )


def test_long_arguments_are_cut_in_the_table():
    text = "x=i32[100]:[" + ",".join(["1"] * 100) + "]"
    _, header, line, _ = refusal(text, to=parameters("int")).message.splitlines()
    assert text[:30] in line
    assert "…  " in line
    assert len(header) == len(line) == 78
    both = refusal(text, to=[Parameter(0, 0, 4, None, "several::long<names>" * 9)])
    assert all(len(row) <= 78 for row in both.message.splitlines()[1:3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x=f32[m]",
            "the dimension 'm': unknown integer argument 'm'; the integer arguments are: n",
        ),
        ("x=f32[n-11]", "the dimension 'n-11' is -1, which is negative"),
        ("x=f32[n//(n-10)]", "the dimension 'n//(n-10)': 10 // 0: division by zero"),
        ("x=f32[2**62]", f"f32[2**62] is f32[{2**62}] of {2**64} bytes, more than any memory"),
        (
            "x=f32[2**32,2**32]",
            f"f32[2**32,2**32] is f32[{2**32},{2**32}] of {2**66} bytes, more than any memory",
        ),
        ("x=f32[n]:[1,2]", "a list of shape 2 does not match f32[10]"),
        (
            "x=float2[2]:[[1,2],[3,4],[5,6]]",
            "a list of shape 3×2 does not match float2[2], which has 2×2 values",
        ),
        ("x=@nowhere.npy", "cannot read nowhere.npy: No such file or directory"),
        ("x=f32[n]:@nowhere", "cannot read nowhere: No such file or directory"),
        ("x=f32[n]:@.", "cannot read .: Is a directory"),
    ],
)
def test_buffers_that_cannot_be(text, message):
    error = refusal(text, "n=10", to=parameters("float*", "int"))
    assert error.message == message
    assert error.context["argument"] == text
    assert error.context["kernel"] == "saxpy"


def test_a_float_is_no_dimension():
    error = refusal(
        "x=f32[a]", "a=f32:2", "flag=bool:true", to=parameters("float*", "float", "bool")
    )
    assert error.message.endswith("the integer arguments are: none")


def test_names_that_meet():
    to = parameters("float*", "int", None, names=("x", None, None))
    error = refusal("f32[2]", "p2=1", "u64:5", to=to)
    assert error.message == (
        "argument 2 (u64:5) has no name, and its default name p2 is already in use: name it, "
        "NAME=VALUE"
    )
    error = refusal(
        "p2=f32[2]", "x=f32[1]", "1", to=parameters("float*", "float*", "int", names=("x",))
    )
    assert error.message == "argument 1 is named x, which is parameter 0 of the kernel"
    assert error.hint == "pass arguments in the order of the parameters"


# --- names of parameters -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        ("y=f32[3]", "n=7", "x=f32[2]", "a=2"),
        ("2", "n=7", "y=f32[3]", "x=f32[2]"),
        ("a=2", "f32[2]", "y=f32[3]", "7"),
        ("2", "f32[2]", "f32[3]", "7"),
    ],
)
def test_names_bind_in_any_order(texts):
    binding = bound(*texts)
    assert [slot.name for slot in binding.slots] == ["a", "x", "y", "n"]
    assert [str(spec) for spec in binding.buffers] == ["f32[2]", "f32[3]"]
    assert (binding.scalars["a"], binding.integers) == (2.0, {"n": 7})
    assert binding.warnings == ()


def test_names_that_no_parameter_has():
    error = refusal("a=2", "x=f32[1]", "yy=f32[1]", "n=1")
    assert error.message == "saxpy has no parameter 'yy'"
    assert error.hint == "did you mean y? its parameters are a, x, y, n"
    assert error.exit_code == 2
    assert refusal("count=1").hint == "its parameters are a, x, y, n"


def test_arguments_without_names_stand_in_their_place():
    error = refusal("x=f32[1]", "2", "y=f32[1]", "1")
    assert error.message == "saxpy: argument 1 (2) has no name and follows x, which is out of order"
    assert error.hint == "name it (NAME=VALUE), or put the arguments without names first"
    error = refusal("2", "f32[1]", "a=3", "1")
    assert error.message == "saxpy: two arguments for parameter a: 2 and a=3"


def test_arguments_that_are_missing_or_too_many_are_shown_in_their_place():
    error = refusal("n=1", "a=2", "y=f32[1]")
    lines = error.message.splitlines()
    assert lines[0] == "saxpy: takes 4 parameters, got 3"
    assert re.search(r"! +1 .* float const\* x +–", lines[3])
    assert lines[4].endswith("^ missing argument")
    assert "unexpected argument" in refusal("2", "f32[1]", "f32[1]", "1", "5").message


BY_ORDER = "bound by order: the image has no parameter names"


def test_labels_of_a_kernel_without_names():
    to = parameters("float", "float const*", "float*", "int")
    assert bound("y=2", "a=f32[1]", "f32[1]", "n=1", to=to).warnings == (BY_ORDER,)
    assert bound("2", "f32[1]", "f32[1]", "1", to=to).warnings == ()
    assert bound("x=f32[1]", to=parameters("float*")).warnings == ()
    assert bound("x=f32[1]", "y=f32[1]", to=None).warnings == (BY_ORDER,)
    to = parameters(
        "float", "int", names=("a b", "n")
    )  # PTX allows names that no argument can have
    assert bound("x=2", "n=1", to=to).warnings == (BY_ORDER,)


# --- files ---------------------------------------------------------------------------------------


def test_files_start_from_the_directory(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 3), np.float16))
    (tmp_path / "raw.bin").write_bytes(bytes(40))
    texts = ("x=@x.npy", "y=f32[n]:@raw.bin", "z=f16[6]:@x.npy", "n=10")
    to = parameters("void*", "float*", "void*", "int")
    binding = bound(*texts, to=to, directory=tmp_path)
    assert binding.buffers == (
        BufferSpec("x", SCALARS["f16"], (2, 3), FileInitial(str(tmp_path / "x.npy"))),
        BufferSpec("y", SCALARS["f32"], (10,), FileInitial(str(tmp_path / "raw.bin"))),
        BufferSpec("z", SCALARS["f16"], (6,), FileInitial(str(tmp_path / "x.npy"))),
    )
    assert binding.rows[0].type == "f16*"
    error = refusal("y=f32[n]:@raw.bin", "n=9", to=parameters("float*", "int"), directory=tmp_path)
    assert error.message == f"{tmp_path / 'raw.bin'} has 40 bytes; f32[9] has 36"
