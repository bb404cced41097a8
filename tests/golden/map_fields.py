"""``tensormap.replace`` as golden data: the bytes of maps before, and after each field is replaced.

A kernel replaces one field in many maps, one thread a map, each with a value of its own.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden import tensor_maps
from tests.golden.tensor_maps import Im2col, Tiled

Array = npt.NDArray[Any]

BYTES = 128
_ORDINALS = {"box_dim": 5, "global_dim": 5, "global_stride": 5, "element_stride": 5}
_WIDE = ("global_address", "global_stride")
_CONSTANTS = {"elemtype": 13, "interleave_layout": 3, "swizzle_mode": 4, "fill_mode": 2}
_SPACES = {"global": ".global", "shared": ".shared::cta", "generic": ""}

_KERNEL = """
.visible .entry {name}(.param .u64 maps, .param .u64 values)
{{
    .reg .b32 %t, %s, %v, %x;
    .reg .b64 %map, %value, %w, %l;
    mov.u32 %t, %tid.x;
    ld.param.u64 %map, [maps];
    ld.param.u64 %value, [values];
    mad.wide.u32 %map, %t, 128, %map;
    mad.wide.u32 %value, %t, 8, %value;
    ld.global.b64 %w, [%value];
    cvt.u32.u64 %v, %w;
    {replace}
    ret;
}}
"""
_THROUGH_SHARED = """
    mov.u32 %s, data;
    mad.lo.u32 %s, %t, 128, %s;
    {loads}
    {replace}
    {stores}
"""


@dataclass(frozen=True)
class Field:
    """A field with its ordinal, or a constant as its value."""

    name: str
    ordinal: int | None = None
    constant: int | None = None
    space: str = "global"

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        parts = (self.name, self.ordinal, self.constant, self.space)
        return "_".join(str(part) for part in parts if part is not None)

    def instruction(self, address: str) -> str:
        """Return the instruction on a map at an address."""
        wide = self.name in _WIDE
        value = self.constant if self.constant is not None else "%w" if wide else "%v"
        ordinal = "" if self.ordinal is None else f"{self.ordinal}, "
        text = f"tensormap.replace.tile.{self.name}{_SPACES[self.space]}.b1024"
        return f"{text}.b{64 if wide else 32} [{address}], {ordinal}{value};"

    def text(self) -> str:
        """Return the PTX of its kernel."""
        text = self.instruction("%s" if self.space == "shared" else "%map")
        if self.space == "shared":
            loads = (f"ld.global.b64 %l, [%map+{at}]; st.shared.b64 [%s+{at}], %l;"
                     for at in range(0, BYTES, 8))  # fmt: skip
            stores = (f"ld.shared.b64 %l, [%s+{at}]; st.global.b64 [%map+{at}], %l;"
                      for at in range(0, BYTES, 8))  # fmt: skip
            text = _THROUGH_SHARED.format(
                loads="\n".join(loads), replace=text, stores="\n".join(stores)
            )
        return _KERNEL.format(name=self.kernel, replace=text)


def fields() -> list[Field]:
    """All fields."""
    made = [Field("global_address"), Field("rank")]
    for name, count in _ORDINALS.items():
        made += [Field(name, place) for place in range(count)]
    for name, count in _CONSTANTS.items():
        made += [Field(name, constant=value) for value in range(count)]
    made += [replace(field, space=space) for field in made for space in ("shared", "generic")
             if field.ordinal in (None, 1) and field.constant in (None, 1)]  # fmt: skip
    return made


def module() -> str:
    """Return the PTX of all kernels."""
    head = ".version 8.6\n.target sm_90a\n.address_size 64\n"
    head += f".shared .align 128 .b8 data[{BYTES * 256}];\n"
    return head + "".join(field.text() for field in fields())


# --- cases ---------------------------------------------------------------------------------------


def maps() -> list[Tiled | Im2col]:
    """The maps that fields are replaced in."""
    some: list[Tiled | Im2col] = []
    for rank in range(1, 6):
        some.append(tensor_maps.tile(rank, kind=(0, 2, 6, 9, 4)[rank - 1]))
    some.append(
        replace(tensor_maps.tile(4), interleave=1, swizzle=2, promotion=3, box=(4, 9, 7, 1))
    )
    some.append(replace(tensor_maps.tile(3, 7), interleave=2, swizzle=1, fill=1, box=(8, 8, 4)))
    some.append(tensor_maps.columns(4))
    some.append(tensor_maps.tile(3, 11))
    some.append(tensor_maps.tile(3, 12))
    return some


def values(field: Field) -> list[int]:
    """The values that a field gets, one to a map."""
    if field.constant is not None:
        return [0]
    if field.name in _WIDE:
        bits = [1 << bit for bit in range(64)]
        return [*bits, *(bit - 1 for bit in bits[::3]), 0x1234_5678_9ABC_DEF0, (1 << 64) - 1]
    bits = [1 << bit for bit in range(32)]
    return [*range(8), *bits, *(bit - 1 for bit in bits), 255, 256, 257, 0xFFFF_FFFF, 0x1234_5678]


# --- running -------------------------------------------------------------------------------------


def run(driver: Any, context: bool = True) -> dict[str, Array]:
    """Return, by kernel, the maps after: an array of maps × values × 128 bytes."""

    def ask(name: str, *arguments: Any) -> Any:
        result, *found = getattr(driver, name)(*arguments)
        if int(result) != 0:
            raise RuntimeError(f"{name}: {result.name}")
        return found[0] if found else None

    if context:
        ask("cuInit", 0)
        device = ask("cuDeviceGet", 0)
        ask("cuCtxSetCurrent", ask("cuDevicePrimaryCtxRetain", device))
    loaded = ask("cuModuleLoadData", module().encode() + b"\0")
    before = []
    for tensor in maps():
        result, data = tensor_maps.encoded(driver, tensor)
        if result != 0:
            raise ValueError(f"{result} for {tensor}")
        before.append(np.frombuffer(data, np.uint8))
    found: dict[str, Array] = {}
    buffer, given = ask("cuMemAlloc", 256 * BYTES), ask("cuMemAlloc", 256 * 8)
    for field in fields():
        function = ask("cuModuleGetFunction", loaded, field.kernel.encode())
        wanted = np.array(values(field), np.uint64)
        ask("cuMemcpyHtoD", given, wanted, wanted.nbytes)
        after = np.zeros((len(before), len(wanted), BYTES), np.uint8)
        for place, tensor in enumerate(before):
            data = np.tile(tensor, (len(wanted), 1))
            ask("cuMemcpyHtoD", buffer, data, data.nbytes)
            parameters = ((int(buffer), int(given)), (ctypes.c_void_p, ctypes.c_void_p))
            ask("cuLaunchKernel", function, 1, 1, 1, len(wanted), 1, 1, 0, 0, parameters, 0)
            ask("cuCtxSynchronize")
            ask("cuMemcpyDtoH", data, buffer, data.nbytes)
            after[place] = data
        found[field.kernel] = after
    ask("cuMemFree", buffer)
    ask("cuMemFree", given)
    return found


# --- the file ------------------------------------------------------------------------------------


def digest() -> str:
    """A digest of all kernels, maps and values."""
    given = (module(), maps(), [values(field) for field in fields()])
    return hashlib.sha256(repr(given).encode()).hexdigest()


def write(path: Path, device: str, found: Mapping[str, Array]) -> int:
    """Write the maps after; return the size of the file in bytes."""
    head = json.dumps({"device": device, "inputs": digest()}).encode()
    data = b"".join(found[field.kernel].tobytes() for field in fields())
    packed = lzma.compress(head + b"\n" + data, preset=9)
    path.write_bytes(packed)
    return len(packed)


def read(path: Path) -> dict[str, Array]:
    """Return the recorded maps, by kernel.

    Raises:
        ValueError: The kernels, maps or values have changed since.
    """
    text, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    if json.loads(text)["inputs"] != digest():
        raise ValueError(f"{path}: recorded with other inputs; record again")
    found, at = {}, 0
    for field in fields():
        shape = (len(maps()), len(values(field)), BYTES)
        size = shape[0] * shape[1] * shape[2]
        found[field.kernel] = np.frombuffer(data, np.uint8, size, at).reshape(shape)
        at += size
    return found


def differences(recorded: Mapping[str, Array], found: Mapping[str, Array]) -> Iterator[str]:
    """Where maps have other bytes than were recorded, in words."""
    for field in fields():
        apart = np.argwhere((recorded[field.kernel] != found[field.kernel]).any(axis=2))
        if len(apart):
            place, value = apart[0]
            yield (
                f"{field.kernel}: {len(apart)} maps differ; of {maps()[place]} with "
                f"{values(field)[value]:#x} recorded "
                f"{recorded[field.kernel][place, value].tobytes().hex()}, found "
                f"{found[field.kernel][place, value].tobytes().hex()}"
            )
