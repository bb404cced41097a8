"""Scenarios: copies and fills with wrong kinds, sizes and places."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

from tests.golden.edges.probe import Probe, Scenario

SIZE = 1 << 16
MIB4 = 4 << 20
KINDS = ("HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice", "Default")


def kind(p: Probe, name: str) -> Any:
    return getattr(p.rt.cudaMemcpyKind, f"cudaMemcpy{name}")


def places(p: Probe) -> dict[str, int]:
    """One memory of every kind."""
    return {
        "host": p.host(SIZE),
        "pinned": p.pinned(SIZE),
        "device": p.device(SIZE),
        "managed": p.managed(SIZE),
    }


def fill(p: Probe, address: int, value: int) -> None:
    data = bytes([value]) * 64
    p.made(p.cu.cuMemcpy(address, _address(data), 64))


def begins_with(p: Probe, address: int, value: int) -> bool:
    back = ctypes.create_string_buffer(64)
    p.made(p.cu.cuMemcpy(ctypes.addressof(back), address, 64))
    return back.raw == bytes([value]) * 64


def _address(data: bytes) -> int:
    return ctypes.cast(data, ctypes.c_void_p).value or 0


def _kinds(p: Probe, call: str, *more: int) -> None:
    memory, other = places(p), {}
    for name, address in places(p).items():
        other[name] = p.name(f"{name}2", address, SIZE)
    numbers = itertools.count(1)
    for name in KINDS:
        for target, source in itertools.product(memory, other):
            value = next(numbers) % 250 + 1
            fill(p, other[source], value)
            p(call, memory[target], other[source], 64, kind(p, name), *more)
            p("cudaDeviceSynchronize")
            p.fact("copied", begins_with(p, memory[target], value))


def kinds_of_copies(p: Probe) -> None:
    _kinds(p, "cudaMemcpy")


def kinds_of_copies_in_a_stream(p: Probe) -> None:
    _kinds(p, "cudaMemcpyAsync", 0)


def sizes_of_copies(p: Probe) -> None:
    memory = p.device(MIB4)
    own = p.host(4 * MIB4)
    to_device, to_host = kind(p, "HostToDevice"), kind(p, "DeviceToHost")
    p("cudaMemcpy", 0, 0, 0, to_device)
    p("cudaMemcpy", memory, own, 0, to_device)
    p("cudaMemcpy", 0, own, 16, to_device)
    p("cudaMemcpy", memory, 0, 16, to_device)
    p("cudaMemcpy", 0, memory, 16, to_host)
    p("cudaMemcpy", own, memory, 2 * MIB4, to_host)
    p("cudaMemcpy", memory, own, 2 * MIB4, to_device)
    p("cudaMemcpy", memory + MIB4 - 8, own, 16, to_device)
    p("cudaMemcpy", memory + MIB4, own, 16, to_device)
    p("cudaMemcpy", memory, memory + 8, 16, kind(p, "DeviceToDevice"))
    p("cudaMemcpy", memory + 8, memory, 2 * MIB4, kind(p, "DeviceToDevice"))
    p("cudaMemcpyAsync", memory, own, 2 * MIB4, to_device, 0)
    p("cudaMemcpyPeer", memory, 0, memory + 64, 0, 16)
    p("cudaMemcpyPeer", memory, 0, own, 0, 16)
    p("cudaMemcpyPeer", memory, 1000, memory + 64, 0, 16)
    p("cudaMemcpyPeer", memory, 0, memory + 64, 0, 0)
    p("cudaFree", memory)
    p("cudaMemcpy", own, memory, 16, to_host)
    p("cudaMemcpy", memory, own, 16, to_device)
    p("cudaGetLastError")
    p("cudaDeviceSynchronize")


def fills(p: Probe) -> None:
    memory, own = p.device(MIB4), p.host(MIB4)
    p("cudaMemset", 0, 0, 0)
    p("cudaMemset", 0, 0, 1)
    p("cudaMemset", memory, 0, 0)
    p("cudaMemset", memory, -1, 16)
    p("cudaMemset", memory, 0x1FF, 16)
    p("cudaMemset", memory, 0, 2 * MIB4)
    p("cudaMemset", memory + MIB4, 0, 1)
    p("cudaMemset", own, 1, 16)
    p("cudaMemset", p.pinned(64), 1, 16)
    p("cudaMemset", p.managed(64), 1, 16)
    p("cudaMemsetAsync", own, 1, 16, 0)
    p("cudaMemset2D", memory, 64, 0, 65, 2)
    p("cudaMemset2D", memory, 64, 0, 64, 0)
    p("cudaMemset2D", memory, 64, 0, 0, 4)
    p("cudaMemset2D", memory, 0, 0, 64, 1)
    p("cudaMemset2D", memory, 0, 0, 64, 2)
    p("cudaMemset2D", memory, 63, 0, 17, 3)
    p("cudaMemset2D", memory, 1 << 20, 0, 64, 100)
    p("cudaMemset2D", 0, 64, 0, 64, 0)
    p("cudaMemset2D", 0, 64, 0, 64, 1)
    p("cudaMemset2D", own, 64, 0, 64, 1)
    p("cudaFree", memory)
    p("cudaMemset", memory, 0, 16)
    p("cudaDeviceSynchronize")


def rows(p: Probe) -> None:
    memory, own = p.device(MIB4), p.host(MIB4)
    to_device, to_host = kind(p, "HostToDevice"), kind(p, "DeviceToHost")
    for dpitch, spitch, width, height in (
        *((64, 64, 64, 4), (63, 64, 64, 2), (64, 63, 64, 2), (63, 64, 64, 1), (64, 63, 64, 1)),
        *((0, 0, 64, 1), (0, 0, 64, 2), (0, 0, 0, 0), (64, 64, 0, 4), (64, 64, 64, 0)),
        *((1 << 31, 1 << 31, 4, 1), (1 << 31, 1 << 31, 4, 2), (1 << 20, 64, 64, 100)),
        *((33, 65, 17, 3), (2, 2, 4, 0)),
    ):
        p("cudaMemcpy2D", memory, dpitch, own, spitch, width, height, to_device)
    p("cudaMemcpy2D", 0, 64, own, 64, 64, 1, to_device)
    p("cudaMemcpy2D", memory, 64, 0, 64, 64, 1, to_device)
    p("cudaMemcpy2D", 0, 64, 0, 64, 64, 0, to_device)
    p("cudaMemcpy2D", memory + MIB4, 64, own, 64, 64, 1, to_device)
    p("cudaMemcpy2D", memory, 64, memory + 4096, 64, 64, 1, to_device)
    p("cudaMemcpy2D", memory, 64, own, 64, 64, 1, to_host)
    p("cudaMemcpy2D", own, 64, memory, 64, 64, 1, to_device)
    p("cudaMemcpy2D", own, 64, own + 4096, 64, 64, 1, kind(p, "Default"))
    p("cudaMemcpy2D", own, 64, memory, 64, 64, 1, kind(p, "Default"))
    p("cudaMemcpy2DAsync", own, 63, memory, 64, 64, 2, to_host, 0)
    p("cudaGetLastError")


def box(p: Probe, memory: int, own: int, **changes: Any) -> Any:
    """Return the copy of 4 × 4 × 4 bytes from ``own`` to ``memory`` with changes."""
    made = p.rt.cudaMemcpy3DParms()
    made.srcPtr = p.rt.make_cudaPitchedPtr(own, 64, 64, 8)
    made.dstPtr = p.rt.make_cudaPitchedPtr(memory, 64, 64, 8)
    made.extent = p.rt.make_cudaExtent(4, 4, 4)
    made.kind = kind(p, "HostToDevice")
    for field, value in changes.items():
        setattr(made, field, value)
    return made


def boxes(p: Probe) -> None:
    memory, own = p.device(MIB4), p.host(MIB4)
    pitched, extent, pos = p.rt.make_cudaPitchedPtr, p.rt.make_cudaExtent, p.rt.make_cudaPos
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        ("as it should be", {}),
        ("no source", {"srcPtr": pitched(0, 0, 0, 0)}),
        ("no target", {"dstPtr": pitched(0, 0, 0, 0)}),
        ("empty", {"extent": extent(0, 0, 0)}),
        ("no rows", {"extent": extent(4, 0, 4)}),
        ("no slices", {"extent": extent(4, 4, 0)}),
        ("wider than the pitch", {"extent": extent(65, 2, 1)}),
        ("wider than xsize", {"dstPtr": pitched(memory, 64, 2, 8)}),
        ("higher than ysize", {"extent": extent(4, 9, 2)}),
        ("higher than ysize, one slice", {"extent": extent(4, 9, 1)}),
        ("ysize 0, one slice", {"dstPtr": pitched(memory, 64, 64, 0), "extent": extent(4, 4, 1)}),
        ("position past the pitch", {"dstPos": pos(64, 0, 0)}),
        ("position in the pitch", {"dstPos": pos(60, 4, 1)}),
        ("position past ysize", {"dstPos": pos(0, 8, 0)}),
        ("past the end", {"dstPos": pos(0, 0, 1 << 20)}),
        ("pitch 0, one row", {"dstPtr": pitched(memory, 0, 0, 0), "extent": extent(4, 1, 1)}),
        ("kind to host", {"kind": kind(p, "DeviceToHost")}),
        ("kind default", {"kind": kind(p, "Default")}),
        ("kind host to host", {"kind": kind(p, "HostToHost")}),
        ("kind device to device", {"kind": kind(p, "DeviceToDevice")}),
    )
    for name, changes in cases:
        p.fact("box", name)
        p("cudaMemcpy3D", box(p, memory, own, **changes))
    p("cudaMemcpy3D", None)
    p("cudaMemcpy3DAsync", box(p, memory, own, extent=extent(65, 2, 1)), 0)
    p("cudaGetLastError")


def driver_rectangles(p: Probe) -> None:
    """Rows and pitches of the driver's copies, below the runtime's."""
    memory, own = p.device(MIB4), p.host(MIB4)
    types = p.cu.CUmemorytype
    for dpitch, spitch, width, height in (
        *((64, 64, 64, 4), (63, 64, 64, 2), (64, 63, 64, 2), (63, 64, 64, 1), (0, 0, 64, 1)),
        *((0, 0, 64, 2), (0, 0, 0, 0), (2, 2, 4, 0), (1 << 31, 1 << 31, 4, 1)),
        *((1 << 31, 1 << 31, 4, 2), (64, 64, 0, 4), (64, 64, 64, 0)),
    ):
        copy = p.cu.CUDA_MEMCPY2D()
        copy.srcMemoryType, copy.srcHost, copy.srcPitch = types.CU_MEMORYTYPE_HOST, own, spitch
        copy.dstMemoryType, copy.dstDevice = types.CU_MEMORYTYPE_DEVICE, memory
        copy.dstPitch, copy.WidthInBytes, copy.Height = dpitch, width, height
        p.fact("rectangle", [dpitch, spitch, width, height])
        p("cuMemcpy2DUnaligned", copy)
    for source, target in itertools.product(("HOST", "DEVICE"), ("HOST", "DEVICE")):
        copy = p.cu.CUDA_MEMCPY2D()
        copy.srcMemoryType = getattr(types, f"CU_MEMORYTYPE_{source}")
        copy.dstMemoryType = getattr(types, f"CU_MEMORYTYPE_{target}")
        copy.srcHost = copy.srcDevice = memory
        copy.dstHost = copy.dstDevice = memory + SIZE
        copy.srcPitch = copy.dstPitch = copy.WidthInBytes = 64
        copy.Height = 1
        p.fact("device memory as", [source, target])
        p("cuMemcpy2DUnaligned", copy)


def channels(p: Probe, *bits: int) -> Any:
    form = p.rt.cudaChannelFormatKind.cudaChannelFormatKindFloat
    return p.made(p.rt.cudaCreateChannelDesc(*bits, form))


def arrays(p: Probe) -> None:
    one = channels(p, 32, 0, 0, 0)
    for sizes in (
        (0, 0),
        (4, 0),
        (0, 4),
        (4, 4),
        (1 << 17, 1),
        (1 << 17, 2),
        (131073, 0),
        (4, 65537),
    ):
        made = p("cudaMallocArray", one, *sizes, 0)
        if made is not None:
            p("cudaFreeArray", made)
    for flags in (1, 2, 4, 8, 64, 128):
        p("cudaMallocArray", one, 4, 4, flags)
    for bits in ((32, 32, 32, 0), (32, 16, 0, 0), (0, 0, 0, 0), (8, 0, 0, 0), (16, 0, 0, 0)):
        p("cudaMallocArray", channels(p, *bits), 4, 4, 0)
    p("cudaMallocArray", None, 4, 4, 0)
    for sizes in ((0, 0, 0), (4, 0, 4), (4, 4, 4), (0, 4, 4), (16385, 4, 4), (4, 4, 16385)):
        p("cudaMalloc3DArray", one, p.rt.make_cudaExtent(*sizes), 0)
    for levels in (0, 1, 3, 4):
        p("cudaMallocMipmappedArray", one, p.rt.make_cudaExtent(4, 4, 0), levels, 0)
    p("cudaFreeArray", 0)
    p("cudaFreeMipmappedArray", 0)
    p("cudaGetLastError")


def copies_with_arrays(p: Probe) -> None:
    memory, own = p.device(SIZE), p.host(SIZE)
    to_device, to_host = kind(p, "HostToDevice"), kind(p, "DeviceToHost")
    array = p.made(p.rt.cudaMallocArray(channels(p, 32, 0, 0, 0), 8, 4, 0))
    for x, y, width, height in (
        *((0, 0, 32, 4), (0, 0, 36, 1), (0, 0, 32, 5), (4, 0, 32, 1), (32, 0, 4, 1), (0, 4, 4, 1)),
        *((2, 0, 4, 1), (0, 0, 3, 1), (0, 0, 0, 1), (0, 0, 4, 0)),
    ):
        p("cudaMemcpy2DToArray", array, x, y, own, 64, width, height, to_device)
    p("cudaMemcpy2DToArray", array, 0, 0, own, 16, 32, 2, to_device)
    p("cudaMemcpy2DToArray", array, 0, 0, memory, 64, 32, 2, to_device)
    p("cudaMemcpy2DToArray", array, 0, 0, own, 64, 32, 2, to_host)
    p("cudaMemcpy2DToArray", array, 0, 0, own, 64, 32, 2, kind(p, "Default"))
    p("cudaMemcpy2DToArray", 0, 0, 0, own, 64, 32, 2, to_device)
    p("cudaMemcpy2DFromArray", own, 64, array, 0, 0, 32, 4, to_host)
    p("cudaMemcpy2DFromArray", own, 64, array, 4, 0, 32, 4, to_host)
    p("cudaMemcpy2DFromArray", own, 64, array, 0, 0, 32, 4, to_device)
    p("cudaMemcpy2DFromArray", memory, 64, array, 0, 0, 32, 4, to_host)
    extent, pos, none = (
        p.rt.make_cudaExtent,
        p.rt.make_cudaPos,
        p.rt.make_cudaPitchedPtr(0, 0, 0, 0),
    )
    target = {"dstArray": array, "dstPtr": none}
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        ("whole", target | {"extent": extent(8, 4, 1)}),
        ("too wide", target | {"extent": extent(9, 4, 1)}),
        ("too deep", target | {"extent": extent(8, 4, 2)}),
        ("no depth", target | {"extent": extent(8, 4, 0)}),
        ("moved", target | {"extent": extent(8, 4, 1), "dstPos": pos(1, 0, 0)}),
        ("array and pointer", {"dstArray": array, "extent": extent(8, 4, 1)}),
        ("both arrays", target | {"srcArray": array, "srcPtr": none, "extent": extent(4, 1, 1)}),
        ("to host", target | {"extent": extent(8, 4, 1), "kind": to_host}),
        ("default", target | {"extent": extent(8, 4, 1), "kind": kind(p, "Default")}),
    )
    for name, changes in cases:
        p.fact("box", name)
        p("cudaMemcpy3D", box(p, memory, own, **changes))
    p("cudaGetChannelDesc", array, fields=("x", "y", "z", "w", "f"))
    p("cudaGetChannelDesc", 0)
    mipmapped = p.made(
        p.rt.cudaMallocMipmappedArray(channels(p, 32, 0, 0, 0), extent(4, 4, 0), 3, 0)
    )
    for level in (0, 2, 3, 1000):
        p("cudaGetMipmappedArrayLevel", mipmapped, level)
    p("cudaFreeArray", array)
    p("cudaGetLastError")


SCENARIOS: tuple[Scenario, ...] = (
    *(kinds_of_copies, kinds_of_copies_in_a_stream, sizes_of_copies, fills, rows, boxes),
    *(arrays, copies_with_arrays, driver_rectangles),
)
