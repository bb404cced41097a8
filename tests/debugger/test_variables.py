"""C++ variables of stopped lanes have the values that `printf` prints at the same place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.debugger.variables import VariableScope
from cudarun.images.debug_variables import DebugVariables
from tests.debugger.debugged_kernel import Stopped, Stops, compiled_with_debug_information
from tests.emulator.device import Device
from tests.support.toolkit import needs_nvrtc

pytestmark = needs_nvrtc
FOLDER = Path(__file__).parents[1] / "data" / "debugger"

# NVVM writes debug information for Blackwell in another way than before.
ARCHITECTURES = ("compute_80", "compute_100")

SOURCE = r"""
struct Base { int id; virtual int get() const { return id; } };
struct Derived : Base { double weight; int get() const override { return id * 2; } };
union Word { float f; unsigned u; };
struct Bits { unsigned a : 3; int b : 5; unsigned c : 24; unsigned d : 9, e : 7; };
enum class Mode : unsigned char { SLOW, FAST = 200 };
enum Sign { MINUS = -2, PLUS = 2 };
struct Tagged { int kind; union { float f; int i; }; };
struct Node { int value; Node *next; };
typedef struct { short q; } Alias;
namespace ns { __device__ int shared_by_all = 3; template <int N> struct Row { Alias a[N]; }; }
__constant__ float coefficients[3] = {1, 2, 4};
struct Big { int v[20]; };

template <typename T> T twice(T v) { T result = v + v; return result; }
int factorial(int n) { if (n < 2) return 1; int rest = factorial(n - 1); return n * rest; }
__noinline__ int pick(Big big, int i) { int found = big.v[i]; return found + 1; }

extern __shared__ float tile[];

extern "C" __global__ void kernel(int *out, const float *x, int n, Big given)
{
    int i = threadIdx.x;
    Derived derived; derived.id = i; derived.weight = 0.5 * i;
    Word word; word.f = 1.0f + i;
    Bits bits; bits.a = 5; bits.b = -3; bits.c = 0xABCDE; bits.d = 300; bits.e = 100;
    Mode mode = Mode::FAST; Sign sign = i % 2 ? MINUS : PLUS;
    Tagged tagged; tagged.kind = 1; tagged.f = 2.5f;
    Node last = {7, nullptr}, first = {i, &last};
    ns::Row<2> row; row.a[0].q = -4; row.a[1].q = 9;
    float matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
    char text[8] = "hello";
    int4 vector = make_int4(1, 2, 3, i);
    long long wide = -(1ll << 40); bool odd = i % 2; unsigned char byte = 250;
    int &reference = out[i];
    reference = 10 * i;
    auto lambda = [&](int k) { int inside = k + i; return inside + vector.x; };
    tile[i] = twice(x[i]);
    __syncthreads();
    int sum = lambda(3) + factorial(4) + pick(given, i);
    printf("%d %d %d %g %g %d %d %d %d\n", i, n, derived.id, derived.weight, word.f, bits.a, bits.b,
           bits.c, tagged.kind);
    printf("%g %d %d %d %d %g %d %lld %d %d\n", tagged.f, first.next->value, row.a[0].q,
           row.a[1].q, vector.w, matrix[1][2], reference, wide, byte, sum);
    printf("%g %g %g %d %d %d %d\n", tile[i], x[i], coefficients[2], ns::shared_by_all, given.v[i],
           bits.d, bits.e);
    out[i] = sum + mode + sign + odd + text[0];
}
"""
PRINTED = (
    "i", "n", "derived.id", "derived.weight", "word.f", "bits.a", "bits.b", "bits.c",
    "tagged.kind", "tagged.f", "first.next->value", "row.a[0].q", "row.a[1].q", "vector.w",
    "matrix[1][2]", "reference", "wide", "byte", "sum", "tile[i]", "x[i]",
    "coefficients[2]", "ns::shared_by_all", "given.v[i]", "bits.d", "bits.e",
)  # fmt: skip


SOURCE = SOURCE.replace("sum + mode + sign", "sum + (int)mode + sign")


def run(text: str, line: int, stopped: Callable[[Stopped], None], threads: int = 8) -> Device:
    """Launch the kernel, and call a function before an instruction on a line."""
    device = Device(text, observer=Stops(text, line, stopped))
    out = device.buffer(np.zeros(32, np.int32))
    x = device.buffer(np.arange(32, dtype=np.float32) / 4)
    given = np.arange(100, 120, dtype=np.int32)
    device.launch("kernel", (1,), (threads,), out, x, 32, given, dynamic_shared=128)
    return device


def lines_after(text: str, marked: str, function: str = "") -> Sequence[int]:
    """The lines of the PTX with an instruction of a source line, by the text in that."""
    number = next(n for n, each in enumerate(SOURCE.splitlines(), 1) if marked in each)
    found, here, is_inside = [], False, not function
    for index, line in enumerate(text.splitlines(), 1):
        if function and re.search(rf"\.(func|entry)\b.*{function}\($", line):
            is_inside = True
        loc = re.match(r"\s*\.loc\s+\d+ (\d+)", line)
        if loc:
            here = int(loc[1]) == number
        elif here and is_inside and re.match(r"\s+[a-z]\S*\s.*;$", line):
            found.append(index)
        is_inside &= not (function and line == "}" and found)
    return found


def stopped_at(text: str, line: int, examine: Callable[[Stopped], None], threads: int = 8) -> None:
    """Examine the lanes that are about to execute a line, at least once."""
    calls = []

    def stopped(lanes: Stopped) -> None:
        calls.append(lanes)
        examine(lanes)

    run(text, line, stopped, threads)
    assert calls


@pytest.fixture(params=ARCHITECTURES, scope="module")
def text(request):
    return compiled_with_debug_information(SOURCE, request.param)


@pytest.fixture
def last(text):
    """An instruction after all variables have their values."""
    return lines_after(text, "out[i] = sum")[-1]


def test_values_are_those_that_printf_prints(text, last):
    got: list[list[float]] = []

    def examine(lanes: Stopped) -> None:
        got.extend(
            [float(lanes.of(lane).text(each).partition(" ")[0]) for each in PRINTED]
            for lane in range(lanes.access.lanes)
        )

    device = run(text, last, examine)
    rows = [line.split() for line in device.output.decode().splitlines()]
    printed = [
        [float(each) for part in range(3) for each in rows[8 * part + lane]] for lane in range(8)
    ]
    assert got == printed
    assert len(got) == 8


TEXTS = {
    "derived": "{Base = {__vptr = *, id = 3}, weight = 1.5}",
    "derived.id": "3",
    "word": "{f = 4.0, u = 1082130432}",
    "mode": "Mode::FAST",
    "sign": "MINUS",
    "odd": "true",
    "text": "'hello'",
    "text[1]": "101 'e'",
    "row": "{a = {{q = -4}, {q = 9}}}",
    "row.a[1]": "{q = 9}",
    "matrix": "{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}",
    "matrix[1]": "{4.0, 5.0, 6.0}",
    "vector": "{x = 1, y = 2, z = 3, w = 3}",
    "*first.next": "{value = 7, next = 0x0}",
    "first.next->next": "0x0",
    "*first.next->next": "<invalid address 0x0>",
    "x[1:4]": "{0.25, 0.5, 0.75}",
    "*(x + 2)": "0.5",
    "(x + 2)[1]": "0.75",
    "*(2 + x)": "0.5",
    "(x + 5) - x": "5",
    "(x + 2)[-1:1]": "{0.25, 0.5}",
    "matrix[1][-1:1]": "{3.0, 4.0}",
    "sum(x[0:4])": "1.5",
    "tile[i] - x[i]": "0.75",
    "lambda.i": "3",
    "i == 3 and x[i] > 0.5": "True",
}


@pytest.mark.parametrize("expression", TEXTS)
def test_texts(text, last, expression):
    pattern = re.escape(TEXTS[expression]).replace(r"\*", "0x[0-9a-f]+")

    def examine(lanes: Stopped) -> None:
        assert re.fullmatch(pattern, lanes.of(3).text(expression))

    stopped_at(text, last, examine)


def test_types(text, last):
    variables = DebugVariables(text)
    types = {each.name: each.type.name for each in variables.local("kernel", last)}
    assert types["out"] == "int*"
    assert types["x"] == "float const*"
    assert types["row"] == "Row<2>"
    assert types["matrix"] == "float [2][3]"
    assert types["vector"] == "int4"
    assert types["reference"] == "int&"
    common = {each.name: each.type.name for each in variables.common("kernel")}
    assert common["coefficients"] == "float [3]"
    assert common["tile"] == "float []"
    assert common["ns::shared_by_all"] == "int"
    assert not [name for name in common if name.startswith("_Z")]


def test_a_condition_is_that_of_each_thread(text, last):
    def condition(lanes: Stopped, expression: str) -> list[int]:
        return np.flatnonzero(lanes.evaluator(expression).condition()).tolist()

    def examine(lanes: Stopped) -> None:
        assert condition(lanes, "i == 3 and x[i] > 0.5") == [3]
        assert condition(lanes, "derived.weight >= 2.5") == [5, 6, 7]
        assert condition(lanes, "tile[i] == 2*x[i]") == [*range(8)]
        assert condition(lanes, "out[i + 1] == 10*(i + 1)") == [*range(7)]
        # Memory that a lane cannot access makes no condition true.
        assert condition(lanes, "first.next->next->value == 0 or i == 2") == []
        assert condition(lanes, "x[(i - 4)*1000000] == 0") == [4]

    stopped_at(text, last, examine)


REFUSED = {
    "sun": "unknown name 'sun'; known names: coefficients, ",
    "row.b": ".b: Row<2> has no such member; members: a",
    "first->value": "Node has no elements",
    "x.y": ".y: float const* is not a struct",
    "row + 1": "Row<2> is a struct; select a member: a",
    "x[:]": "select elements as p[first:end]",
    "x[0.5]": "an index must be an integer",
    "x[0:1000000000000]": "too many elements",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(text, last, expression):
    def examine(lanes: Stopped) -> None:
        with pytest.raises((RequestError, ArgumentSyntaxError)) as error:
            lanes.of(0).text(expression)
        assert REFUSED[expression] in f"{error.value}{error.value.hint or ''}"

    stopped_at(text, last, examine)


@pytest.mark.parametrize("expression", ["matrix[0]", "sum(matrix)"])
def test_a_condition_needs_a_value_for_each_thread(text, last, expression):
    def examine(lanes: Stopped) -> None:
        with pytest.raises(RequestError, match="select an element"):
            lanes.evaluator(expression).condition()

    stopped_at(text, last, examine)


def test_a_function_has_variables_of_its_own(text):
    line = lines_after(text, "found = big.v[i]")[-1]

    def examine(lanes: Stopped) -> None:
        assert {"big", "i"} < lanes.variables.keys()
        assert "derived" not in lanes.variables
        assert [lanes.of(lane).text("found") for lane in (0, 7)] == ["100", "107"]
        assert lanes.of(7).text("i") == "7"

    stopped_at(text, line, examine)


def test_each_call_of_a_recursive_function_has_its_values(text):
    line = lines_after(text, "rest = factorial")[-1]
    seen = []

    def examine(lanes: Stopped) -> None:
        seen.append(lanes.of(0).text("n"))

    stopped_at(text, line, examine)
    assert list(dict.fromkeys(seen)) == ["1", "2", "3", "4"]


def test_an_instance_of_a_template(text):
    line = lines_after(text, "T result = v + v")[-1]

    def examine(lanes: Stopped) -> None:
        assert lanes.variables["result"].type_name == "float"
        assert lanes.of(4).text("result") == "2.0"

    stopped_at(text, line, examine)


def test_members_of_this_need_no_name_before_them(text):
    line = lines_after(text, "auto lambda")[-1]
    found = lines_after(text, "int inside = k + i", "")
    line = found[-1]

    def examine(lanes: Stopped) -> None:
        assert lanes.of(5).text("i") == "5"
        assert lanes.of(5).text("k") == "3"
        assert lanes.of(5).text("vector.w") == "5"

    stopped_at(text, line, examine)


def test_a_shared_variable_of_a_function():
    """Which nvcc describes, and NVRTC does not."""
    text = (FOLDER / "reverse.ptx").read_text()
    line = 1 + [i for i, each in enumerate(text.splitlines()) if "st.f32" in each][-1]
    seen = []

    def examine(lanes: Stopped) -> None:
        seen.append((lanes.of(2).text("tile[31 - i]"), lanes.variables["tile"].type_name))

    device = Device(text, observer=Stops(text, line, examine))
    [kernel] = device.program.kernels
    device.launch(kernel, (1,), (32,), device.buffer(np.arange(32, dtype=np.float32)))
    assert seen == [("29.0", "float [32]")]


PEERS = r"""
extern "C" __global__ void kernel(int *out)
{
    __shared__ int own[4];
    int *peer;
    own[threadIdx.x] = 10 * blockIdx.x + threadIdx.x;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(peer) : "l"(own), "r"(blockIdx.x % 2 ^ 1));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    out[4 * blockIdx.x + threadIdx.x] = *peer;
}
"""


def test_shared_memory_of_other_blocks():
    """Of the block that the address names; one beyond the cluster cannot be read."""
    text = compiled_with_debug_information(PEERS, "compute_90")
    line = 1 + [i for i, each in enumerate(text.splitlines()) if "st.u32" in each][-1]
    seen = []

    def examine(lanes: Stopped) -> None:
        for lane in range(lanes.access.lanes):
            one = lanes.of(lane)
            seen.append((one.text("peer[0]"), one.text("peer[3]")))
            assert "invalid address" in one.text("peer[8388608]")  # two ranks on

    device = Device(text, observer=Stops(text, line, examine))
    out = device.buffer(np.zeros(16, np.int32))
    device.launch("kernel", (4,), (4,), out, cluster=(2, 1, 1))
    assert device.read(out, np.int32, 16).tolist() == [10] * 4 + [0] * 4 + [30] * 4 + [20] * 4
    expected = [("10", "13"), ("0", "3"), ("30", "33"), ("20", "23")]
    assert sorted(seen) == sorted(4 * expected)


def test_what_is_not_there_yet_has_no_value(text):
    """NVVM for Blackwell describes where a value is from its assignment on."""
    if "NVVM 7" in text:
        pytest.skip("describes one place for the whole function")
    line = lines_after(text, "derived.id = i")[-1]

    def examine(lanes: Stopped) -> None:
        with pytest.raises(RequestError, match="sum is not available here"):
            lanes.of(0).text("sum")

    stopped_at(text, line, examine)


def test_text_without_debug_information_has_no_variables():
    assert DebugVariables(".version 8.0\n.target sm_80\n").local("kernel", 3) == []


DAMAGES = {"144": "255", "3": "253", "13": "15", "35": "10", "19": "28", "1": "0"}


def test_damaged_debug_information_is_one_error(text, last):
    """Operations, tags and numbers: no variable raises anything else, and no text is endless."""
    calls = []

    def examine(lanes: Stopped) -> None:
        calls.append(lanes)
        access = lanes.of(3).access
        for before, after in DAMAGES.items() if len(calls) == 1 else ():
            damaged = re.sub(rf"(\.b8 ){before}\b", rf"\g<1>{after}", text)
            scope = VariableScope(DebugVariables(damaged), "kernel", last, access)
            for name in scope:
                with suppress(RequestError):
                    assert len(scope[name].text()) < 100_000

    stopped_at(text, last, examine)
