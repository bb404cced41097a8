"""Several copies, prefetches or discards by one call: driver API, sections 6.13 and 6.17."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from cuda.bindings import driver as cuda

from cudarun.emulator.api.addressing import managed, prefetched
from cudarun.emulator.api.boxes import submit_box
from cudarun.emulator.api.calls import enqueue, generated
from cudarun.emulator.api.copies import copy_in_stream
from cudarun.emulator.api.handles import StreamHandle, array_of
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, enum_field, refuse_if
from cudarun.emulator.host.streams import PER_THREAD, Stream

# The bindings of CUDA 12 return the place of a copy that fails.
if TYPE_CHECKING or cuda.CUDA_VERSION >= 13000:
    FailIndex: TypeAlias = None
else:
    FailIndex = int

_ORDERS = (1, 2, 3)  # CUmemcpySrcAccessOrder
_DURING_CALL = 2  # CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL
_POINTER, _ARRAY = 1, 2  # CUmemcpy3DOperandType


@enqueue()
def cuMemcpyBatchAsync(
    dsts: Sequence[Handle],
    srcs: Sequence[Handle],
    sizes: Sequence[int],
    count: int,
    attrs: Sequence[object],
    attrsIdxs: Sequence[int],
    numAttrs: int,
    hStream: StreamHandle,
) -> FailIndex:
    """Copy several ranges of bytes."""
    _check_stream(hStream)
    refuse_if(not (dsts and srcs and sizes), "an array is missing")
    given = _per_item(attrs, attrsIdxs, numAttrs, count)
    waits = _wait_after(int(enum_field(each, "srcAccessOrder")) for each in given)
    stream = hStream.handle or PER_THREAD  # the legacy default stream has been refused
    for dst, src, size, _ in zip(dsts, srcs, sizes, given, strict=False):
        copy_in_stream(("memory", "memory"), dst, src, int(size), stream)
    if waits:
        process.finish(hStream)


@enqueue()
def cuMemcpy3DBatchAsync(
    numOps: int, opList: Sequence[Any], flags: int, hStream: StreamHandle
) -> FailIndex:
    """Copy several boxes."""
    _check_stream(hStream)
    refuse_if(flags or not numOps or not opList, "flags must be 0, numOps must not")
    waits = _wait_after(int(enum_field(each, "srcAccessOrder")) for each in opList[:numOps])
    for each in opList[:numOps]:
        submit_box(_box(each), hStream)
    if waits:
        process.finish(hStream)


@enqueue()
def cuMemDiscardBatchAsync(
    dptrs: Sequence[Handle], sizes: Sequence[int], count: int, flags: int, hStream: StreamHandle
) -> None:
    """Declare that the contents of managed memory are not needed; no effect here."""
    _check_ranges(dptrs, count, sizes, flags, hStream)


def _prefetch(
    addresses: Sequence[Handle],
    sizes: Sequence[int],
    count: int,
    places: Sequence[object],
    firsts: Sequence[int],
    number: int,
    flags: int,
    stream: Stream,
) -> None:
    _check_ranges(addresses, count, sizes, flags, stream)
    given = _per_item(places, firsts, number, count)
    for address, size, place in zip(addresses, sizes, given, strict=False):
        prefetched(address, int(size), place)


_PREFETCH = {
    **dict.fromkeys(("dptrs", "sizes"), "Any"),
    "count": "int",
    **dict.fromkeys(("prefetchLocs", "prefetchLocIdxs"), "Any"),
    **dict.fromkeys(("numPrefetchLocs", "flags"), "int"),
    "hStream": StreamHandle,
}
for _name, _text in (
    ("Prefetch", "Prefetch several ranges of managed memory; no effect here, but noted."),
    ("DiscardAndPrefetch", "`cuMemDiscardBatchAsync`, and then `cuMemPrefetchBatchAsync`."),
):
    enqueue()(generated(__name__, f"cuMem{_name}BatchAsync", _PREFETCH, _text, _prefetch))


def _check_ranges(
    addresses: Sequence[Handle], count: int, sizes: Sequence[int], flags: int, stream: Stream
) -> None:
    """Raise `Refusal` if a range is not managed memory."""
    _check_stream(stream)
    if flags or not count or not addresses or not sizes:
        raise Refusal("INVALID_VALUE", "flags must be 0, the number of ranges must not")
    for address, size in zip(addresses[:count], sizes, strict=False):
        managed(address, int(size))


def _check_stream(stream: Stream) -> None:
    refuse_if(stream.is_legacy, "a batch is not executed in the legacy default stream")
    stream.check_not_capturing()


def _per_item(
    given: Sequence[object], firsts: Sequence[int], number: int, count: int
) -> list[object]:
    """Return an item for each operation: each is for those from its first one on.

    Raises:
        Refusal: There is none for the first operation, or they are not in order.
    """
    starts = [int(first) for first in (firsts or ())[:number]]
    in_order = starts[:1] == [0] and starts == sorted({*starts})
    if not count or not given or not in_order or starts[-1] >= count:
        raise Refusal("INVALID_VALUE", "the indices do not begin with 0 or do not increase")
    ends = [*starts[1:], count]
    pairs = zip(given, starts, ends, strict=False)
    return [each for each, start, end in pairs for _ in range(end - start)]


def _wait_after(given: Iterable[int]) -> bool:
    """Return whether sources are read during the call; `Refusal` if an order is not set."""
    orders = {*given}
    refuse_if(not orders.issubset(_ORDERS), "srcAccessOrder is not set")
    return _DURING_CALL in orders


# --- boxes ---------------------------------------------------------------------------------------


def _box(given: Any) -> cuda.CUDA_MEMCPY3D:
    """Return the copy that a ``CUDA_MEMCPY3D_BATCH_OP`` describes, whose units are elements."""
    copy, kinds = cuda.CUDA_MEMCPY3D(), cuda.CUmemorytype
    sides = (("src", given.src), ("dst", given.dst))
    arrays = [
        array_of(each.op.array.array) for _, each in sides if enum_field(each, "type") == _ARRAY
    ]
    size = arrays[0].texel.bytes if arrays else 1
    fields: dict[str, object] = {}
    for side, operand in sides:
        if enum_field(operand, "type") == _ARRAY:
            part = operand.op.array
            fields[f"{side}MemoryType"] = kinds.CU_MEMORYTYPE_ARRAY
            fields[f"{side}Array"] = cuda.CUarray(int(part.array))
            fields[f"{side}XInBytes"] = part.offset.x * size
            fields |= {f"{side}Y": part.offset.y, f"{side}Z": part.offset.z}
        elif operand.type == _POINTER:
            memory = operand.op.ptr
            fields[f"{side}MemoryType"] = kinds.CU_MEMORYTYPE_UNIFIED
            fields[f"{side}Device"] = cuda.CUdeviceptr(int(memory.ptr))
            fields[f"{side}Pitch"] = memory.rowLength * size
            fields[f"{side}Height"] = memory.layerHeight
        else:
            raise Refusal("INVALID_VALUE", f"the type of {side} is not set")
    for name, value in fields.items():
        setattr(copy, name, value)
    copy.WidthInBytes = given.extent.width * size
    copy.Height, copy.Depth = given.extent.height, given.extent.depth
    return copy
