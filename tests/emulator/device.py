"""A bare emulated device for tests of its core: only memory and launches, no driver."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.execution import execute
from cudarun.emulator.heap import DeviceHeap
from cudarun.emulator.machine.launch import DeviceTraits, LaunchConfig
from cudarun.emulator.machine.observer import NO_OBSERVER, Observer
from cudarun.emulator.memory import Memory
from cudarun.emulator.program import ModuleCode
from cudarun.ptx.parser import parse

Array = npt.NDArray[Any]
HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"


@lru_cache(maxsize=32)
def compiled(text: str) -> ModuleCode:
    """The program of a PTX text; tests of one file share it."""
    return compile_module(parse(text))


class Device:
    """One device with one program on it.

    Args:
        text: PTX, with or without the header lines.
        multiprocessors: How many it has; few make it wait for blocks early.
        observer: Is told of its launches.
        execute: Executes them.
    """

    def __init__(
        self,
        text: str,
        *,
        multiprocessors: int = 132,
        observer: Observer = NO_OBSERVER,
        execute: Callable[..., None] = execute,
    ) -> None:
        if not text.lstrip().startswith((".version", "//")):
            text = HEADER + text
        self.memory = Memory(0x7F00_0000_0000, 1 << 30)
        self.others: list[Memory] = []  # that it can access, too
        self.heap = DeviceHeap(self.memory, 1 << 20)
        self.program = compiled(text)
        self.output = b""
        self.observer = observer
        self.execute = execute
        self.traits = DeviceTraits(multiprocessors=multiprocessors)
        self.symbols: dict[str, int] = {}
        variables = [v for v in self.program.variables.values() if v.linkage != "extern"]
        for variable in variables:
            address = self.memory.allocate(max(variable.size, 1), label=f"variable {variable.name}")
            self.symbols[variable.name] = address
            given = np.frombuffer(variable.initial, "u1")
            self.memory.bytes_at(address, len(given))[:] = given
        known = self.program.functions | self.symbols
        for variable in variables:
            for place in variable.relocations:
                value = (known[place.symbol] + place.addend).to_bytes(8, "little")
                at = self.symbols[variable.name] + place.offset
                self.memory.bytes_at(at, place.width)[:] = np.frombuffer(value, "u1")[: place.width]

    @classmethod
    def from_file(cls, path: Path, **options: Any) -> Device:
        """A device with the PTX of a file."""
        return cls(path.read_text(), **options)

    def buffer(self, values: Array) -> int:
        """Device memory with these values."""
        values = np.ascontiguousarray(values)
        address = self.memory.allocate(max(values.nbytes, 1), label="buffer")
        self.memory.bytes_at(address, values.nbytes)[:] = values.reshape(-1).view(np.uint8)
        return address

    def read(self, address: int, dtype: npt.DTypeLike, count: int) -> Array:
        """Values from device memory."""
        size = np.dtype(dtype).itemsize * count
        return self.memory.bytes_at(address, size).view(dtype).copy()

    def launch(
        self,
        kernel: str,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        *arguments: Any,
        **options: Any,
    ) -> None:
        """Run a kernel; arguments are numbers, numpy values or bytes."""
        code = self.program.kernels[kernel]
        buffer = bytearray(code.parameter_bytes)
        for (offset, size), argument in zip(code.parameters, arguments, strict=True):
            buffer[offset : offset + size] = _packed(argument, size)
        config = LaunchConfig(
            grid=(*grid, 1, 1)[:3],
            block=(*block, 1, 1)[:3],
            parameters=bytes(buffer),
            heap=self.heap,
            **options,
        )
        self.execute(
            self.program,
            code,
            config,
            memories=[self.memory, *self.others],
            symbols=self.symbols,
            printf=self._print,
            device=self.traits,
            begun=lambda launch: None,
            on_progress=lambda done: None,
            observer=self.observer,
        )

    def _print(self, text: bytes) -> None:
        self.output += text


def _packed(argument: Any, size: int) -> bytes:
    if isinstance(argument, bytes):
        return argument
    if isinstance(argument, np.ndarray | np.generic):
        return argument.tobytes()
    if isinstance(argument, float):
        return struct.pack("<f" if size == 4 else "<d", argument)
    return int(argument % (1 << 8 * size)).to_bytes(size, "little")


_BITS = {"u1": "b8", "u2": "b16", "u4": "b32", "u8": "b64"}


def run_lanes(
    instructions: str,
    sources: dict[str, Array],
    results: dict[str, str],
    *,
    header: str = HEADER,
    execute: Callable[..., None] = execute,
) -> list[Array]:
    """Run instructions over lanes, one per item of the sources.

    Args:
        instructions: PTX that names registers ``%a``, ``%b`` … as the dictionaries do; ``%t0`` …
            ``%t7`` are ``.b32`` registers to use, ``%w0`` … ``.b64``, ``%p0`` … ``%p3`` predicates.
        sources: Registers and the values that they begin with, arrays of unsigned integers.
        results: Registers that are wanted, with the dtype of their bits; ``"pred"`` gives 0 or 1.
        header: The first lines of the module.
        execute: Executes it.

    Returns:
        The results, in order.
    """
    count = len(next(iter(sources.values())))
    widths = {name: _BITS[values.dtype.str[1:]] for name, values in sources.items()}
    outputs = {name: _BITS.get(dtype, "pred") for name, dtype in results.items()}
    text = [".visible .entry test(", ",\n".join(f".param .u64 p{n}" for n in [*widths, *outputs])]
    text += [
        ") {",
        ".reg .pred %p<4>;",
        ".reg .b32 %t<8>, %lane;",
        ".reg .b64 %w<8>, %at, %scaled;",
    ]
    for name, width in (widths | outputs).items():
        text.append(f".reg .{'b16' if width == 'b8' else width} %{name};")
    text += ["mov.u32 %t0, %ctaid.x;", "mov.u32 %t1, %ntid.x;", "mov.u32 %t2, %tid.x;"]
    text += ["mad.lo.u32 %lane, %t0, %t1, %t2;", f"setp.ge.u32 %p0, %lane, {count};", "@%p0 ret;"]
    for name, width in widths.items():
        text += _place(name, width)
        text.append(f"ld.global.{width} %{name}, [%at];")
    text.append(instructions)
    for name, width in outputs.items():
        if width == "pred":
            text += [
                *_place(name, "b32"),
                f"selp.u32 %t0, 1, 0, %{name};",
                "st.global.u32 [%at], %t0;",
            ]
        else:
            text += [*_place(name, width), f"st.global.{width} [%at], %{name};"]
    text.append("}")
    device = Device("\n".join((header, *text)), execute=execute)
    given = [device.buffer(values) for values in sources.values()]
    dtypes = ["u4" if dtype == "pred" else dtype for dtype in results.values()]
    wanted = [device.buffer(np.zeros(count, dtype)) for dtype in dtypes]
    device.launch("test", (-(-count // 128),), (128,), *given, *wanted)
    return [device.read(at, dtype, count) for at, dtype in zip(wanted, dtypes, strict=True)]


def _place(name: str, width: str) -> list[str]:
    return [
        f"ld.param.u64 %at, [p{name}];",
        f"mul.wide.u32 %scaled, %lane, {int(width[1:]) // 8};",
        "add.u64 %at, %at, %scaled;",
    ]
