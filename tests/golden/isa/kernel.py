"""Cases as kernels: the PTX of a group of cases, and its run on a driver.

One kernel has a group of cases, one after the other, each in a scope of its own. All get what they
need through three pointers: the input pools, the results, and scratch memory.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden.isa.case import Case, result_bytes
from tests.golden.isa.inputs import LANES, values, width

SCRATCH = 128
"""Bytes of each kind of memory that are a thread's own."""

MARKER = 0x8123_4567_89AB_CDEF
KERNEL = "cases"

HEAD = f"""\
.version {{version}}
.target {{target}}
.address_size 64
.const .align 16 .b64 table[8] = {{{{0x8182838485868788, 0x0102030405060708, 0xFFFFFFFFFFFFFFFF,
    0x7FF8000000000001, 0x3FF0000000000000, 0x7F800000FF800001, 0x0000000080000000, 42}}}};
.global .align 128 .b8 line[128];
.func (.param .b32 result) twice(.param .b32 given) {{{{
    .reg .b32 %r;
    ld.param.b32 %r, [given];
    shl.b32 %r, %r, 1;
    st.param.b32 [result], %r;
    ret;
}}}}
.func (.param .b32 result) thrice(.param .b32 given) {{{{
    .reg .b32 %r;
    ld.param.b32 %r, [given];
    mul.lo.u32 %r, %r, 3;
    st.param.b32 [result], %r;
    ret;
}}}}
.visible .entry {KERNEL}(.param .u64 pools, .param .u64 results, .param .u64 scratch,
    .param .u64 marker)
{{{{
    .shared .align 128 .b8 shared_scratch[{SCRATCH * LANES}];
    .shared .align 16 .b8 counter[16];
    .local .align 16 .b8 local_scratch[{SCRATCH}];
    .reg .pred %even, %never;
    .reg .b32 %thread, %lane, %s, %r;
    .reg .b64 %in<17>, %out<17>, %wide, %g, %l;
    mov.u32 %thread, %tid.x;
    mov.u32 %lane, %laneid;
    and.b32 %r, %thread, 1;
    setp.eq.u32 %even, %r, 0;
    setp.gt.u32 %never, %thread, {LANES};
    cvt.u64.u32 %wide, %thread;
    ld.param.u64 %g, [scratch];
    mad.lo.u64 %g, %wide, {SCRATCH}, %g;
    mov.u32 %s, shared_scratch;
    mad.lo.u32 %s, %thread, {SCRATCH}, %s;
    mov.u64 %l, local_scratch;
    ld.param.u64 %in0, [pools];
    ld.param.u64 %out0, [results];
"""
_STEPS = (1, 2, 4, 8)
_NEEDED = {
    "p": ".reg .pred %p<4>;", "h": ".reg .b16 %h<4>;", "t": ".reg .b32 %t<8>;",
    "w": ".reg .b64 %w<8>;", "q": ".reg .b128 %q<2>;",
}  # fmt: skip
_LINE = re.compile(r"line (\d+); (?:error|fatal)")


class Refused(Exception):
    """The driver does not take a module; ``log`` is its compiler's."""

    def __init__(self, result: str, log: str) -> None:
        super().__init__(f"{result}: {log}")
        self.result, self.log = result, log


@dataclass
class Group:
    """Cases of one module with one kernel.

    ``lines`` holds the case that each line of the text comes from.
    """

    cases: Sequence[Case]
    version: str = "9.0"

    def __post_init__(self) -> None:
        self.pools = sorted({pair for case in self.cases for pair in enumerate(case.sources)})
        self.offsets: dict[tuple[int, str], int] = {}
        at = 0
        for place, pool in self.pools:
            self.offsets[place, pool] = at
            at += LANES * 8
        self.pool_bytes = at
        self.result_bytes = LANES * sum(
            result_bytes(result) for case in self.cases for result in case.results
        )
        self.lines: dict[int, Case] = {}
        self.text = self._text()

    def _text(self) -> str:
        lines = HEAD.format(version=self.version, target=self.cases[0].target).splitlines()
        for step in _STEPS:
            for kind in ("in", "out"):
                lines.append(f"    mad.lo.u64 %{kind}{step}, %wide, {step}, %{kind}0;")
        at = 0
        for case in self.cases:
            for line in self._case(case, at):
                lines.append(line)
                self.lines[len(lines)] = case
            at += LANES * sum(map(result_bytes, case.results))
        return "\n".join([*lines, "    ret;", "}", ""])

    def _case(self, case: Case, at: int) -> Iterator[str]:
        yield "{"
        yield from declarations(case)
        for place, pool in enumerate(case.sources):
            yield from self._load(place, pool)
        yield case.text
        for place, result in enumerate(case.results):
            size = result_bytes(result)
            if width(result) == 1:
                yield f"{{ .reg .b16 %x; selp.u16 %x, 1, 0, %d{place};"
                yield f"st.global.u8 [%out1+{at}], %x; }}"
            else:
                yield f"st.global.b{8 * size} [%out{size}+{at}], %d{place};"
            at += LANES * size
        yield "}"

    def _load(self, place: int, pool: str) -> Iterator[str]:
        offset, bits = self.offsets[place, pool], width(pool)
        if bits == 1:
            yield f"{{ .reg .b16 %x; ld.global.u8 %x, [%in1+{offset}];"
            yield f"setp.ne.u16 %a{place}, %x, 0; }}"
        else:
            yield f"ld.global.b{bits} %a{place}, [%in{bits // 8}+{offset}];"

    def inputs(self) -> npt.NDArray[np.uint8]:
        """What the input pools hold."""
        memory = np.zeros(self.pool_bytes, np.uint8)
        for (place, pool), at in self.offsets.items():
            found = values(pool, place)
            memory[at : at + found.nbytes] = found.view(np.uint8)
        return memory

    def kept(self, memory: npt.NDArray[np.uint8]) -> dict[str, list[npt.NDArray[Any]]]:
        """The results by case, as unsigned integers, of the lanes that the case keeps."""
        found: dict[str, list[npt.NDArray[Any]]] = {}
        at = 0
        for case in self.cases:
            found[case.name] = []
            for result in case.results:
                size = result_bytes(result)
                part = memory[at : at + LANES * size].view(f"u{size}")[: case.lanes]
                found[case.name].append(part)
                at += LANES * size
        return found

    def blamed(self, log: str) -> list[Case]:
        """The cases that a compiler's log complains about."""
        numbers = map(int, _LINE.findall(log))
        return list(dict.fromkeys(self.lines[n] for n in numbers if n in self.lines))


def declarations(case: Case) -> Iterator[str]:
    """The registers that a case's text names."""
    for letter, text in _NEEDED.items():
        if re.search(rf"%{letter}\d", case.text):
            yield text
    for letter, operands in (("a", case.sources), ("d", case.results)):
        for place, operand in enumerate(operands):
            yield f".reg .{_register(width(operand))} %{letter}{place};"


def _register(bits: int) -> str:
    return "pred" if bits == 1 else f"b{max(bits, 16)}"


# --- running -------------------------------------------------------------------------------------


class Runner:
    """A context on device 0 of a driver with the functions of ``cuda.bindings.driver``."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self._ask("cuInit", 0)
        self.device = self._ask("cuDeviceGet", 0)
        self.context = self._ask("cuDevicePrimaryCtxRetain", self.device)
        self._ask("cuCtxSetCurrent", self.context)

    def close(self) -> None:
        """Give the context back."""
        self._ask("cuDevicePrimaryCtxRelease", self.device)

    def name(self) -> str:
        """What is tried, in words."""
        name = self._ask("cuDeviceGetName", 128, self.device).split(b"\0")[0].decode()
        return f"{name}, CUDA {self._ask('cuDriverGetVersion')}"

    def run(self, group: Group) -> dict[str, list[npt.NDArray[Any]]]:
        """The results of the cases of a group. Raises `Refused`."""
        module, kernel = self._load(group.text)
        given = group.inputs()
        found = np.zeros(max(group.result_bytes, 1), np.uint8)
        sizes = (max(given.nbytes, 16), found.nbytes, SCRATCH * LANES)
        buffers = [self._ask("cuMemAlloc", size) for size in sizes]
        if given.nbytes:
            self._ask("cuMemcpyHtoD", buffers[0], given, given.nbytes)
        self._ask("cuMemcpyHtoD", buffers[1], found, found.nbytes)
        arguments = (*map(int, buffers), MARKER)
        types = (ctypes.c_uint64,) * 4
        self._ask("cuLaunchKernel", kernel, 1, 1, 1, LANES, 1, 1, 0, 0, (arguments, types), 0)
        self._ask("cuCtxSynchronize")
        self._ask("cuMemcpyDtoH", found, buffers[1], found.nbytes)
        for buffer in buffers:
            self._ask("cuMemFree", buffer)
        self._ask("cuModuleUnload", module)
        return group.kept(found)

    def _load(self, text: str) -> tuple[Any, Any]:
        """The module and its kernel; where loading is lazy, only the second call compiles."""
        option = self.driver.CUjit_option
        self.log = log = bytearray(1 << 18)  # as long as the module: lazy loading writes later
        options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        result, module = self.driver.cuModuleLoadDataEx(
            text.encode() + b"\0", len(options), options, [log, len(log)]
        )
        kernel = None
        if int(result) == 0:
            result, kernel = self.driver.cuModuleGetFunction(module, KERNEL.encode())
        if int(result) != 0:
            raise Refused(result.name, log.split(b"\0")[0].decode(errors="replace"))
        return module, kernel

    def _ask(self, name: str, *arguments: Any) -> Any:
        result, *found = getattr(self.driver, name)(*arguments)
        if int(result) != 0:
            raise RuntimeError(f"{name}: {result.name}")
        return found[0] if found else None
