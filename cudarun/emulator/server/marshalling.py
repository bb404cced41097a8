"""Calls of the program as calls of the emulated driver: from slots to arguments, and back.

A parameter of a function in C is an argument of the function of ``cuda.bindings`` with the same
name, or else a pointer to one of its results, in their order.
"""

from __future__ import annotations

import ctypes
import inspect
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from cuda.bindings import driver as cuda
from cuda.bindings import runtime as cudart

from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import read_numbers
from cudarun.emulator.host.refusal import Refusal, enum_member, refuse_if
from cudarun.emulator.server.connections import Outputs
from cudarun.programs.prototypes import CallParameter, Prototype, read_table

Slots = Sequence[int]
Handler = Callable[[Slots], tuple[int, Outputs]]
"""Performs a call: from its slots to its result and what it writes."""

# Parameters whose names differ: those of C, of which one that exists is meant, for one of Python.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "length": ("length", "len"),
    "from_": ("from",),
    "typename": ("type",),
    "location": ("location", "device", "dstDevice"),
    "stream": ("stream", "hStream"),
}
# Parameters of Python that stand for several of C, of which those that exist are passed.
_SEVERAL: Mapping[str, tuple[str, ...]] = {
    "edgeData_and_count": ("edgeData", "numDependencies"),
    "flags_and_stream": ("flags", "stream", "hStream"),
    "edgeData_count_and_flags": ("dependencyData", "numDependencies", "flags"),
    "edgeData_count_and_params": ("dependencyData", "numDependencies", "nodeParams"),
}
# Arrays, with the parameter that says how many items they have.
_ARRAYS: Mapping[str, str] = {
    **dict.fromkeys(("pDependencies", "dependencies", "from", "to"), "numDependencies"),
    **dict.fromkeys(("dsts", "srcs", "dptrs", "sizes", "map", "desc"), "count"),
    **dict.fromkeys(("attrs", "attrsIdxs"), "numAttrs"),
    **dict.fromkeys(("prefetchLocs", "prefetchLocIdxs"), "numPrefetchLocs"),
    "opList": "numOps",
}
_EDGES = ("edgeData", "dependencyData")  # edges have no data
# Arrays with an item for each dimension of a tensor, or fewer by so many.
_OF_DIMENSIONS: Mapping[str, int] = {
    **dict.fromkeys(("globalDim", "boxDim", "elementStrides"), 0),
    "globalStrides": 1,
    "pixelBoxLowerCorner": 2,
    "pixelBoxUpperCorner": 2,
}
_MOST_DIMENSIONS = 7
# Pointers to what is read and written.
_COUNTS = re.compile(r"(?:n|pN)um(?:Nodes|RootNodes|Edges|Dependencies|DependentNodes)")
_OPTION_VALUES = ("optionValues", "jitOptionsValues")  # those of `CUjit_option *`
_OPTION_COUNTS = ("numOptions", "numJitOptions")
_SWITCHES = (1, 2, 3)  # attributes of memory pools that are an int
_OLD_TYPES = re.compile(r"CUdeviceptr_v1|CUDA_(MEMCPY|ARRAY)\w*_v1(_st)?")  # of 32 bits
_MOST_NODES = 1 << 18  # of a list; a count can be uninitialized
# Calls with one result that the program need not take.
_OPTIONAL = ("cuCtxPopCurrent", "cuStreamEndCapture", "cudaStreamEndCapture")


def handler(
    library: str, call: Prototype, calls: Mapping[str, Callable[..., Any]]
) -> Handler | None:
    """Return what performs a call; ``None`` if the emulated driver does not have it.

    Args:
        calls: The functions of the emulated driver or runtime, by their names.
    """
    bindings = cuda if library == "cuda" else cudart
    function = calls.get(call.documented) or calls.get(re.sub(r"_v\d+$", "", call.name))
    if function is None or any(_OLD_TYPES.fullmatch(each.type) for each in call.parameters):
        return None
    named = {each.name: each for each in call.parameters}
    taken: list[CallParameter] = []
    for name in inspect.signature(function).parameters:
        several = _SEVERAL.get(name)
        names = several or _NAMES.get(name, (name,))
        found = [named[each] for each in names if each in named]
        if not found and not several:
            return None
        taken += found if several else found[:1]
    inputs = [_input(each, call, bindings) for each in taken]
    fields = read_table(library).fields
    outputs = [
        (each.slot, _writer(each, fields))
        for each in call.parameters
        if each.stars and (each not in taken or _COUNTS.fullmatch(each.name))
    ]
    needs_place = len(outputs) == 1 and call.documented not in _OPTIONAL
    structures = [
        (at, each) for at, each in enumerate(taken) if each.stars and each.kind == "struct"
    ]

    def perform(slots: Slots) -> tuple[int, Outputs]:
        if needs_place and not slots[outputs[0][0]]:
            raise Refusal("INVALID_VALUE")
        arguments = [each(slots) for each in inputs]
        result, *values = function(*arguments)
        changed = []
        for at, each in structures:  # that the call can have changed
            if hasattr(value := arguments[at], "getPtr"):
                data = encoded(value, each.size)
                if data != addresses.host.read(slots[each.slot], each.size):
                    changed.append((slots[each.slot], data))
        if result:
            return int(result), changed
        if len(values) == len(outputs) + 1 > 2:
            del values[-2]  # data of edges, before their number: of newer bindings
        elif len(values) == len(outputs) - 1:
            values.insert(-1, None)
        for (slot, write), value in zip(outputs, values, strict=False):
            if value is not None and slots[slot]:
                changed.append((slots[slot], write(value)))
        return 0, changed

    return perform


# --- arguments -----------------------------------------------------------------------------------


def _input(each: CallParameter, call: Prototype, bindings: Any) -> Callable[[Slots], Any]:
    """Return what makes the argument for a parameter."""
    slot, size = each.slot, each.size
    if each.stars:
        return _pointed_to(each, call, bindings)
    if each.kind == "struct":
        words = each.slots
        return lambda slots: _structure(
            bindings, each.type, struct.pack(f"={words}Q", *slots[slot : slot + words])[:size]
        )
    if each.kind == "float":
        form = "=f" if size == 4 else "=d"
        return lambda slots: struct.unpack(form, slots[slot].to_bytes(8, "little")[:size])[0]
    if each.kind == "enum":
        members = {int(member): member for member in getattr(bindings, each.type, ())}
        # The call refuses any other number.
        return lambda slots: members.get(slots[slot] & 0xFFFF_FFFF, slots[slot] & 0xFFFF_FFFF)
    if each.kind == "signed":
        limit, half = 1 << 8 * size, 1 << 8 * size - 1
        return lambda slots: (slots[slot] % limit + half) % limit - half
    mask = (1 << 8 * size) - 1
    return lambda slots: slots[slot] & mask


def _pointed_to(each: CallParameter, call: Prototype, bindings: Any) -> Callable[[Slots], Any]:
    slot, size = each.slot, each.size
    if each.type == "char":
        can_be_null = call.documented == "cuLinkAddData"
        return lambda slots: (
            None if can_be_null and not slots[slot] else addresses.host.text(slots[slot])
        )
    if each.name in _EDGES:
        return lambda slots: None
    counts = [other.slot for other in call.parameters if other.name == _ARRAYS.get(each.name)]
    if counts:
        return partial(_items, each, counts[0], bindings)
    if each.type == "CUjit_option" or each.name in _OPTION_VALUES:
        return _options(each, call)
    if each.name in _OF_DIMENSIONS:
        [rank] = (other.slot for other in call.parameters if other.name == "tensorRank")
        item = "i" if each.kind == "signed" else "IQ"[size // 8]
        fewer = _OF_DIMENSIONS[each.name]

        def numbers(slots: Slots) -> list[int] | None:
            if not slots[slot]:
                return None
            count = (slots[rank] & _MOST_DIMENSIONS) - fewer
            found = read_numbers(slots[slot], max(count, 0), item)
            return [*found] or [0]  # an array is one even without items

        return numbers
    if _COUNTS.fullmatch(each.name):  # without a list, it has no meaning
        lists = [
            other.slot for other in call.parameters if "raphNode" in other.type and other.stars
        ]
        return lambda slots: (
            min(read_numbers(slots[slot], 1)[0], _MOST_NODES)
            if slots[slot] and any(slots[at] for at in lists)
            else 0
        )
    if each.name == "value" and call.documented.endswith(("MemPoolSetAttribute", "MemAttribute")):
        [kind] = (other.slot for other in call.parameters if other.name == "attr")
        switches = _SWITCHES if "Pool" in call.documented else ()
        return lambda slots: read_numbers(
            slots[slot], 1, "i" if slots[kind] & 0xFFFF_FFFF in switches else "Q"
        )[0]
    if each.kind == "struct":
        return partial(_structure_at, each, bindings)
    if each.type.endswith("treamCaptureMode"):
        kind = getattr(bindings, each.type)
        return lambda slots: enum_member(kind, *read_numbers(slots[slot], 1, "i"))
    return lambda slots: slots[slot]


def _structure_at(each: CallParameter, bindings: Any, slots: Slots) -> Any:
    address = slots[each.slot]
    data = addresses.host.read(address, each.size) if address else None
    return data and _structure(bindings, each.type, data)


def _items(each: CallParameter, count: int, bindings: Any, slots: Slots) -> list[Any] | None:
    """Return the items of an array of structures, or of handles and numbers; ``None`` if empty."""
    address, number = slots[each.slot], slots[count]
    refuse_if(number and not address, f"{each.name} is missing")
    if each.kind != "struct":
        return [*read_numbers(address, number)] or None
    data, size = addresses.host.read(address, each.size * number), each.size
    places = range(0, len(data), size)
    return [_structure(bindings, each.type, data[at : at + size]) for at in places] or None


def _options(each: CallParameter, call: Prototype) -> Callable[[Slots], list[Any]]:
    """Return what makes the list of options of the compiler and linker, or of their values."""
    [count] = (other.slot for other in call.parameters if other.name in _OPTION_COUNTS)
    [first] = (other.slot for other in call.parameters if other.type == "CUjit_option")

    def kinds(slots: Slots) -> list[Any]:
        number = slots[count] & 0xFFFF_FFFF
        given = read_numbers(slots[first], number, "i")
        return [enum_member(cuda.CUjit_option, each) for each in given]

    def values(slots: Slots) -> list[Any]:
        given = kinds(slots)
        names = {kind.name for kind in given}
        pairs = zip(given, read_numbers(slots[each.slot], len(given)), strict=True)
        found: list[Any] = []
        for kind, value in pairs:
            is_buffer = f"{kind.name}_SIZE_BYTES" in names
            number = value if is_buffer else value & 0xFFFF_FFFF
            is_target = kind is cuda.CUjit_option.CU_JIT_TARGET
            found.append(enum_member(cuda.CUjit_target, number) if is_target else number)
        return found

    return values if each.name in _OPTION_VALUES else kinds


def _structure(bindings: Any, type_: str, data: bytes) -> Any:
    """Return a structure of the bindings with given bytes; without a class of it the bytes."""
    kind = getattr(bindings, type_, None) or getattr(bindings, re.sub(r"_v\d|_st", "", type_), None)
    if kind is None:
        return data
    made = kind()
    data = data[: _sizes().get(type_, len(data))]
    ctypes.memmove(int(made.getPtr()), data, len(data))
    return made


@cache
def _sizes() -> dict[str, int]:
    """Return the sizes of structures in the bindings: ``cudaResourceDesc`` is larger in CUDA 13."""
    calls = read_table(f"cudart{cuda.CUDA_VERSION // 1000}").calls
    return {each.type: each.size for call in calls for each in call.parameters}


# --- results -------------------------------------------------------------------------------------


def _writer(
    each: CallParameter, fields: Sequence[tuple[int, int, int, str]]
) -> Callable[[Any], bytes]:
    """Return what makes the bytes that a call writes for a parameter: of a text the address."""
    if each.type == "char" and each.stars == 2:
        return lambda value: encoded(addresses.host.place(value + b"\0"), 8)
    if each.type == "void" and each.stars == 1:  # an attribute
        return lambda value: encoded(value, 8 if isinstance(value, cuda.cuuint64_t) else 4)
    return lambda value: encoded(value, each.pointee, fields)


def encoded(value: Any, size: int, fields: Sequence[tuple[int, int, int, str]] = ()) -> bytes:
    """Return a result of a call as bytes.

    Args:
        value: The result; that of a structure with fields is a dictionary.
        size: The size, in a list that of one item.
        fields: The fields: offset, size, size of an item, and name.
    """
    if isinstance(value, float):
        return struct.pack("=f" if size == 4 else "=d", value)
    if hasattr(value, "__int__"):  # most are: numbers, and handles
        return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    if isinstance(value, dict):
        data = bytearray(size)
        for offset, length, item, name in fields:
            part = encoded(value.get(name, 0), item)[:length]
            data[offset : offset + len(part)] = part
        return bytes(data)
    if isinstance(value, (list, tuple)):
        return b"".join(encoded(each, size) for each in value)
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    return ctypes.string_at(int(value.getPtr()), size)
