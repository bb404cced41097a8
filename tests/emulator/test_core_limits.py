"""Sizes that a text can ask for: no host memory for what is not used, and an error for too much."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from cudarun.emulator import driver
from cudarun.emulator.host.devices import memory_size
from cudarun.emulator.host.jit import compile_text
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.memory import Memory, OutOfMemory
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import SHORT, parse
from tests.emulator.device import Device

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(body: str, before: str = "", parameters: str = "", directives: str = "") -> str:
    return f"{HEADER}{before}\n.visible .entry k({parameters}) {directives} {{\n{body}\nret;\n}}\n"


def load(text: str) -> str:
    """Load a text as a library; return the name of the result."""
    driver.cuInit(0)
    _, context = driver.cuCtxCreate(None, 0, 0)
    result, library = driver.cuLibraryLoadData(text.encode() + b"\0", [], [], 0, [], [], 0)
    if result == 0:
        result, function = driver.cuLibraryGetKernel(library, b"k")
    if result == 0:
        result, _ = driver.cuKernelGetFunction(function)
    driver.cuCtxDestroy(context)
    return result.name.removeprefix("CUDA_ERROR_")


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        (".maxntid 0,0,0", "Positive non-zero value expected for maxntid"),
        (".maxntid 32, 0", "Positive non-zero value expected for maxntid"),
        (".maxntid 4294967296", "Positive non-zero value expected for maxntid"),
        (".reqntid 0", "Positive non-zero value expected for reqntid"),
        (".maxntid", "Parsing error near '{'"),
        (".maxntid 1, 1, 1, 1", "Parsing error near ','"),
        (".maxnreg 0", "Positive non-zero value expected for maxnreg"),
        (".maxntid 64 .minnctapersm 0", "Positive non-zero value expected for minnctapersm"),
        (".reqntid 8 .maxntid 8", "Conflicting directives: .maxntid and .reqntid cannot both"),
        (".maxclusterrank 2 .reqnctapercluster 2", "Conflicting directives: .reqnctapercluster"),
    ],
)
def test_directives_that_ptxas_refuses(directive: str, message: str) -> None:
    with pytest.raises(PtxError, match=message):
        parse(kernel("", directives=directive))


@pytest.mark.parametrize("declaration", [".global .b8 x[0];", ".shared .b32 x[4][0];"])
def test_an_array_without_elements(declaration: str) -> None:
    with pytest.raises(PtxError, match="Non-external variable 'x' has incomplete type"):
        parse(kernel("", declaration))
    parse(kernel("", ".extern .shared .b8 x[0];"))


# ptxas 13.0 places constants in the order of the text; "too much" is what it states.
@pytest.mark.parametrize(
    ("declarations", "body", "size"),
    [
        (".const .b8 a[65536];", "", None),
        (".const .b32 a[16385];", "", 0x10004),
        (".visible .const .b64 a[5000]; .const .b32 b[6400];", "", 0x10040),
        (".const .b8 a; .const .b64 b; .const .b8 c[65520];", "", None),
        (".const .b8 a[65529]; .const .b64 b;", "", 0x10008),
        (".extern .const .b8 a[65537];", "", 0x10001),
        (".const .b8 a[40000];", ".const .b8 inside[30000];", 0x11170),
    ],
)
@pytest.mark.parametrize("long", [False, True])  # compiled at once, or on demand
def test_constants(declarations: str, body: str, size: int | None, long: bool) -> None:
    comment = "// " + "x" * SHORT if long else ""
    text = kernel(body, f"{declarations}\n{comment}")
    assert load(text) == ("CUDA_SUCCESS" if size is None else "INVALID_PTX")
    if size is not None and not long:
        with pytest.raises(PtxError) as caught:
            compile_text(text)
        what = f"File uses too much global constant data ({size:#x} bytes, 0x10000 max)"
        assert caught.value.log == f"ptxas error   : {what}"


@pytest.mark.parametrize("space", ["global", "const"])
@pytest.mark.parametrize(
    "extents", ["[4294967296][4294967296]", "[0xffffffffffffffff]", "[2]" * 3000]
)
def test_variables_beyond_all_addresses(space: str, extents: str) -> None:
    with pytest.raises(PtxError, match="Variable 'x' is too large"):
        parse(kernel("", f".{space} .b8 x{extents};"))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (kernel("", ".global .b8 x[4611686018427387904];"), "OUT_OF_MEMORY"),
        (kernel("", ".global .b8 x[4611686018427387904] = {1};"), "OUT_OF_MEMORY"),
        (kernel("", ".global .align 1073741824 .b8 x[4];"), "CUDA_SUCCESS"),
        (kernel("", ".global .align 4611686018427387904 .b8 x[4];"), "INVALID_PTX"),
        (kernel("", ".global .align 0 .b8 x[4];"), "INVALID_PTX"),
        (kernel(".local .b8 x[4611686018427387904];"), "CUDA_SUCCESS"),
        (kernel(".shared .b8 x[300000]; .reg .b64 %r; mov.u64 %r, x;"), "INVALID_PTX"),
        (kernel("", parameters=".param .b8 x[4352]"), "CUDA_SUCCESS"),
        (kernel("", parameters=".param .b8 x[4353]"), "INVALID_PTX"),
        (kernel("", parameters=".param .b8 x[4611686018427387904]"), "INVALID_PTX"),
        (kernel("").replace("8.0", "8" * 5000 + ".0"), "INVALID_PTX"),
        (kernel("").replace("8.0", "12345.0"), "UNSUPPORTED_PTX_VERSION"),
        (kernel("").replace("sm_80", "sm_" + "8" * 5000), "INVALID_PTX"),
    ],
)
def test_loading(fresh_process: object, text: str, result: str) -> None:
    assert load(text) == result


def test_parameters_of_newer_ptx(fresh_process: object) -> None:
    text = kernel("", parameters=".param .b8 x[{}]").replace("8.0", "8.1")
    assert load(text.replace("{}", "32764")) == "CUDA_SUCCESS"
    assert load(text.replace("{}", "32765")) == "INVALID_PTX"


def test_a_long_chain_of_calls_runs() -> None:
    """A kernel calls a chain of 1,000 functions, the last of which stores."""
    functions = [".func f0(.reg .u64 %p) { st.global.u32 [%p], 7; ret; }"]
    functions += [
        f".func f{i}(.reg .u64 %p) {{ call f{i - 1}, (%p); ret; }}" for i in range(1, 1000)
    ]
    body = ".reg .u64 %p; ld.param.u64 %p, [p]; call f999, (%p);"
    device = Device(kernel(body, "\n".join(functions), ".param .u64 p"))
    assert device.program.kernels["k"].local_bytes >= 16 * 1000
    out = device.buffer(np.zeros(1, np.uint32))
    device.launch("k", (1, 1, 1), (1, 1, 1), out, stack_limit=64 << 10)
    assert device.read(out, np.uint32, 1) == 7


def test_blocks_with_much_local_memory_run_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The local memory of all threads at once would be 32 GiB."""
    batches: list[Batch] = []
    make = Batch.__init__

    def recorded(batch: Batch, *arguments: object) -> None:
        batches.append(batch)
        make(batch, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Batch, "__init__", recorded)
    body = """
        .local .align 4 .b8 x[524288]; .reg .u64 %p; .reg .u32 %t, %v; .reg .pred %first;
        mov.u64 %p, x; mov.u32 %t, %ctaid.x; st.local.u32 [%p+524000], %t;
        ld.param.u64 %p, [p]; ld.local.u32 %v, [x+524000]; red.global.add.u32 [%p], %v;
    """
    device = Device(kernel(body, parameters=".param .u64 p"))
    out = device.buffer(np.zeros(1, np.uint32))
    device.launch("k", (64, 1, 1), (1024, 1, 1), out)
    assert device.read(out, np.uint32, 1) == 1024 * sum(range(64))
    assert sum(batch.section("local").bytes.nbytes for batch in batches) <= 1 << 30


# --- limited addresses ---------------------------------------------------------------------------


@pytest.fixture
def few_addresses(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit of addresses, as ``ulimit -v`` and batch systems set one."""
    limit = 8 << 30
    real = resource.getrlimit

    def limited(which: int) -> tuple[int, int]:
        return (limit, limit) if which == resource.RLIMIT_AS else real(which)

    monkeypatch.setattr(resource, "getrlimit", limited)
    return limit


def test_reservations_leave_half_of_the_addresses(few_addresses: int) -> None:
    assert 4 * memory_size() <= few_addresses // 2


def test_nothing_is_reserved_before_the_first_allocation() -> None:
    memory = Memory(1 << 30, 1 << 60)
    assert not memory.reserves(np.array([1 << 30, 1 << 31], dtype=np.uint64)).any()
    with pytest.raises(OutOfMemory, match="ulimit -v"):
        memory.allocate(16)
