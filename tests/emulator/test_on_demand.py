"""Kernels that are compiled one by one are those of the whole module; nothing else is compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudarun.emulator import driver
from cudarun.emulator.code import FunctionCode
from cudarun.emulator.decode.module import ModuleDecoder, compile_module
from cudarun.emulator.host import jit
from cudarun.emulator.program import ModuleCode
from cudarun.ptx import tree
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import SHORT, LazyModule, parse

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
TEXTS = [
    *(PROGRAMS / f"{name}.ptx" for name in ("calls", "heap", "geometry", "mma", "bits", "fft")),
    *sorted((ROOT / "tests" / "emulator" / "nvcc").glob("*.ptx")),
    *sorted((ROOT / "tests" / "emulator" / "triton").glob("*.ptx")),
    ROOT / "tests" / "conformance" / "ptx" / "children.ptx",
]

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
DECLARATIONS = """
.func (.reg .u32 r) leaf() { mov.u32 r, 1; ret; }
.func (.reg .u32 r) inner() { call (r), leaf; ret; }
.func pointed() { ret; }
.func unused() { ret; }
.alias second, inner;
"""
KERNELS = """
.visible .entry direct() { .reg .u32 %r<2>; call (%r1), inner; ret; }
.visible .entry through_an_alias() { .reg .u32 %r<2>; call (%r1), second; ret; }
.visible .entry taking_an_address() { .reg .b64 %rd<2>; mov.u64 %rd1, pointed; ret; }
.visible .entry indirect(.param .u64 p) {
    .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];
    any: .callprototype _ ();
    call %rd1, any; ret;
}
.visible .entry empty() { ret; }
"""
ALL = {"leaf", "inner", "pointed", "unused"}
REACHED = {
    "direct": {"inner", "leaf"},
    "through_an_alias": {"inner", "leaf"},
    "taking_an_address": {"pointed"},
    "indirect": ALL,
    "empty": set(),
}


class Reader:
    """A lazily parsed text that records which bodies are read."""

    def __init__(self, text: str) -> None:
        self.lazy = LazyModule(text)
        self.names: list[str] = []
        self.decoder = ModuleDecoder(self.lazy.module, self.read)

    def read(self, function: tree.Function) -> tree.Function:
        self.names.append(function.name)
        return self.lazy.read(function)


def code_of(function: FunctionCode) -> tuple[object, ...]:
    """What a function is decoded to, without its place in the program and Python's functions."""
    blocks = [
        (
            [_operation(operation) for operation in block.operations],
            type(block.terminator), block.terminator.successors, repr(block.terminator.reads),
            repr(block.sync_mask), block.reads, block.writes, block.live_in, block.live_out,
            block.polls, block.instructions,
        )
        for block in function.blocks
    ]  # fmt: skip
    prologue = [_operation(operation) for operation in function.prologue]
    return blocks, prologue, function.slots, function.symbols, function.calls, function.local_bytes


def _operation(operation: Any) -> tuple[object, ...]:
    does = operation.name if hasattr(operation, "name") else attributes(operation.action)
    return does, repr(operation.sources), repr(operation.destinations), operation.site


def attributes(value: Any) -> object:
    """Return an action with everything that it keeps, of a function only its name."""
    if isinstance(value, dict):
        return {key: attributes(each) for key, each in value.items()} | {
            f"{key} of {type(value).__name__}": attributes(each)
            for key, each in getattr(value, "__dict__", {}).items()
        }
    if isinstance(value, list | tuple):
        return [attributes(each) for each in value]
    if type(value).__module__.startswith("cudarun.emulator.machine") and hasattr(value, "__dict__"):
        return type(value), attributes(vars(value))
    return getattr(value, "__qualname__", None) or repr(value)


def same_kernels(one: ModuleCode, other: ModuleCode) -> bool:
    return dict(one.kernels) == dict(other.kernels) and all(
        code_of(one.code[name]) == code_of(code) for name, code in other.code.items()
    )


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_kernels_are_the_same_one_by_one(path: Path) -> None:
    text = path.read_text(encoding="ascii")
    whole = compile_module(parse(text))
    reader = Reader(text)
    for name in reversed(whole.kernels):
        reader.decoder.kernel(name)
    assert same_kernels(whole, reader.decoder.program)


def test_equal_instructions_share_their_function() -> None:
    """Compiled code has one function for all of them."""
    text = """.visible .entry k() {
        .reg .b32 %r<4>;
        lop3.b32 %r1, %r0, %r0, %r0, 0x11; lop3.b32 %r2, %r1, %r0, %r0, 0x11;
        lop3.b32 %r3, %r1, %r2, %r0, 0x12; ret; }"""
    operations: list[Any] = compile_module(parse(HEADER + text)).code["k"].operations
    first, second, third = [each for each in operations if each.name.startswith("lop3")]
    assert first.function is second.function is not third.function


def test_a_register_is_of_the_family_with_the_shortest_number() -> None:
    text = """.visible .entry k() {
        .reg .b64 %x<30>;
        { .reg .b32 %x1<3>; mov.b32 %x12, 1; mov.b64 %x13, 2; }
        mov.b64 %x12, 3; ret; }"""
    code = compile_module(parse(HEADER + text)).code["k"]
    assert [(slot.name, slot.type.name) for slot in code.slots] == [
        ("%x12", "b32"), ("%x13", "b64"), ("%x12", "b64"),
    ]  # fmt: skip
    for name in ("%x012", "%x30", "%x", "%x00000000001"):
        with pytest.raises(PtxError, match=f"Unknown symbol '{name}'"):
            compile_module(parse(HEADER + text.replace("mov.b64 %x12", f"mov.b64 {name}")))


@pytest.mark.parametrize("name", REACHED)
def test_only_what_a_kernel_can_call_is_read(name: str) -> None:
    reader = Reader(HEADER + DECLARATIONS + KERNELS)
    kernel = reader.decoder.kernel(name)
    assert sorted(reader.names) == sorted({name} | REACHED[name])
    reader.decoder.kernel(name)
    assert len(reader.names) == len(set(reader.names))
    assert kernel == compile_module(parse(HEADER + DECLARATIONS + KERNELS)).kernels[name]


def test_a_pointer_calls_functions_and_no_kernel() -> None:
    using = ".visible .entry using() { .shared .b8 s[64]; .reg .b32 %r<2>; mov.u32 %r1, s; ret; }"
    kernels = compile_module(parse(HEADER + DECLARATIONS + KERNELS + using)).kernels
    assert kernels["using"].static_shared == 64
    assert kernels["indirect"].static_shared == 0
    assert kernels["indirect"].recursive


LAUNCHING = """
.extern .func (.param .b64 r) cudaGetParameterBufferV2 (
    .param .b64 k, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.global .u64 table[1] = { in_a_variable };
.visible .entry in_a_variable() { ret; }
.visible .entry named() { ret; }
.visible .entry naming() { .reg .b64 %rd<2>; mov.u64 %rd1, named; ret; }
"""


def test_kernels_that_can_be_launched_are_compiled() -> None:
    reader = Reader(HEADER + DECLARATIONS + KERNELS + LAUNCHING)
    reader.decoder.kernel("naming")
    assert set(reader.decoder.program.kernels) == {"naming", "named", "in_a_variable"}
    assert sorted(reader.names) == ["in_a_variable", "named", "naming"]


def test_an_invalid_function_concerns_those_that_call_it() -> None:
    damaged = DECLARATIONS.replace("mov.u32 r, 1", "mov.u32 r, q")
    decoder = Reader(HEADER + damaged + KERNELS).decoder
    decoder.kernel("empty")
    for name in ("direct", "direct", "indirect"):
        with pytest.raises(PtxError, match="PTX line 5: Unknown symbol 'q'"):
            decoder.kernel(name)
    decoder.kernel("taking_an_address")


# --- the driver ----------------------------------------------------------------------------------

BAD = ".visible .entry bad() {{ .reg .u32 %r<2>; {} ret; }}\n"
FILLER = f"/*{' ' * SHORT}*/\n"


@pytest.fixture(autouse=True)
def context(fresh_process: None) -> None:
    driver.cuInit(0)
    driver.cuCtxCreate(None, 0, 0)


@pytest.fixture
def on_demand(context: None) -> None:
    jit._compiled.cache_clear()
    driver.compile_on_demand()


def value(answer: tuple[Any, ...]) -> Any:
    result, *values = answer
    assert int(result) == 0, result
    return values[0] if len(values) == 1 else values


def load(text: str, log: bytearray | None = None) -> Any:
    option = driver.CUjit_option
    options = {} if log is None else {
        option.CU_JIT_ERROR_LOG_BUFFER: log,
        option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: len(log),
    }  # fmt: skip
    return value(
        driver.cuLibraryLoadData(
            text.encode() + b"\0", [*options], [*options.values()], len(options), [], [], 0
        )
    )


def result_of(library: Any, name: str) -> int:
    result, _ = driver.cuLibraryGetKernel(library, name.encode())
    return int(result)


def partly_invalid(instruction: str = "add.u32 %r1, %r9x, %r1;") -> str:
    return HEADER + FILLER + DECLARATIONS + KERNELS + BAD.format(instruction)


def test_a_driver_refuses_a_partly_invalid_text_as_a_whole() -> None:
    library = load(partly_invalid())
    assert value(driver.cuLibraryGetKernelCount(library)) == 0
    assert result_of(library, "empty") == 218


@pytest.mark.usefixtures("on_demand")
def test_a_short_text_is_compiled_as_a_whole() -> None:
    library = load(partly_invalid().replace(FILLER, ""))
    assert result_of(library, "empty") == 218


@pytest.mark.usefixtures("on_demand")
@pytest.mark.parametrize(
    "instruction", ["add.u32 %r1, %r9x, %r1;", "add.u32 %r1 %r1;", "frobnicate.u32 %r1;", "`"]
)
def test_each_kernel_of_a_long_text_has_its_own_verdict(instruction: str) -> None:
    log = bytearray(1000)
    library = load(partly_invalid(instruction), log)
    count = value(driver.cuLibraryGetKernelCount(library))
    kernels = value(driver.cuLibraryEnumerateKernels(count, library))
    names = [value(driver.cuKernelGetName(kernel)) for kernel in kernels]
    assert names == [b"direct", b"through_an_alias", b"taking_an_address", b"indirect", b"empty",
                     b"bad"]  # fmt: skip
    assert driver.unchecked_kernels(library) == count
    assert result_of(library, "direct") == 0
    assert driver.unchecked_kernels(library) == count - 1
    assert not log.rstrip(b"\0")
    assert result_of(library, "bad") == 218
    line = partly_invalid(instruction).count("\n")
    assert f"line {line};".encode() in log
    kernel = value(driver.cuLibraryGetKernel(library, b"direct"))
    function = value(driver.cuKernelGetFunction(kernel))
    value(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, None, 0))
    value(driver.cuCtxSynchronize())


@pytest.mark.usefixtures("on_demand")
def test_a_module_is_compiled_as_a_whole() -> None:
    result, _ = driver.cuModuleLoadData(partly_invalid().encode())
    assert int(result) == 218


@pytest.mark.usefixtures("on_demand")
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (".visible .entry empty() { ret; }\n", "Duplicate definition of function 'empty'"),
        (".global .f16 x = 1;\n", "No initial value is allowed for .f16 type"),
        (".extern .func nobody();\n.entry k() { call nobody; ret; }\n", "extern function 'nobody'"),
        (".global .u32 x = ;\n", "Parsing error near ';': syntax error"),
        ("}\n", "Parsing error near '}': syntax error"),
    ],
)
def test_declarations_are_checked_as_a_whole(damage: str, message: str) -> None:
    log = bytearray(1000)
    library = load(HEADER + FILLER + KERNELS + DECLARATIONS + damage, log)
    assert result_of(library, "empty") == 218
    assert message.encode() in log


@pytest.mark.usefixtures("on_demand")
@pytest.mark.parametrize("comment", ["", "// call nobody;\n", "/* call\nnobody; */\n"])
def test_a_function_that_is_declared_and_not_called_is_no_error(comment: str) -> None:
    library = load(f"{HEADER}{FILLER}.extern .func nobody();\n{comment}{DECLARATIONS}{KERNELS}")
    assert result_of(library, "empty") == 0


@pytest.mark.usefixtures("on_demand")
def test_variables_of_functions_are_placed_when_their_kernel_is_compiled() -> None:
    storing = (
        ".visible .entry {0}(.param .u64 p) {{\n.global .u32 {0}_value = {1};\n"
        ".reg .u64 %rd<3>; .reg .u32 %r<2>;\n"
        "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [{0}_value]; st.global.u32 [%rd1], %r1; ret;\n"
        "}}\n"
    )
    library = load(HEADER + FILLER + storing.format("one", 11) + storing.format("two", 22))
    memory = value(driver.cuMemAlloc(4))
    for name, expected in (("one", 11), ("two", 22), ("one", 11)):
        kernel = value(driver.cuLibraryGetKernel(library, name.encode()))
        function = value(driver.cuKernelGetFunction(kernel))
        parameters = ((int(memory),), (ctypes.c_uint64,))
        value(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0))
        data = bytearray(4)
        value(driver.cuMemcpyDtoH(data, memory, 4))
        assert int.from_bytes(data, "little") == expected


@pytest.mark.usefixtures("on_demand")
@pytest.mark.parametrize("ask", [driver.cuLibraryGetKernelCount, driver.cuLibraryGetModule])
def test_queries_of_the_whole_do_not_compile(ask: Callable[[Any], Any]) -> None:
    library = load(partly_invalid())
    value(ask(library))
    assert driver.unchecked_kernels(library) == 6
