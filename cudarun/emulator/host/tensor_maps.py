"""The driver's checks of the arguments of ``cuTensorMapEncode*`` and ``cuTensorMapReplaceAddress``.

Driver API, section 6.30 (tensor map objects). An H200's driver refuses the same arguments:
``tests/golden/test_tensor_maps.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsInt

from cuda.bindings.driver import CUtensorMap, cuuint64_t

from cudarun.base.tensor_map_rules import EncodedTensor, PixelBox, broken_rules
from cudarun.emulator.host.devices import current_profile
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.machine.tensor_maps.tensor_map import MOST_RANKS, PACKED, PADDED_6, TensorMap

Numbers = Sequence[SupportsInt] | None

_MOST_ADDRESS = 1 << 57
_WITH_PACKED = 100  # the first architecture with packed elements, and atoms of swizzles
_WIDEST = 3  # the swizzle of 128 bytes; those after it differ by their atoms
_RULES = {
    "fill": "oobFill requests NaN, and the elements are no floats",
    "shape": "globalDim has {}, which is not 1 to {}",
    "multiple": "globalDim has {} elements, not a multiple of {}",
    "unit": "globalStrides has {1}, which is not below 2^40 and a multiple of {2}",
    "stride": "globalStrides has {1}, which is not below 2^40 and a multiple of {2}",
    "steps": "elementStrides has {}, which is not 1 to {}",
    "inner": "{side} has {}, which is not 1 to {}",
    "padded": "{side} has {} elements, not {}",
    "chunks": "{side} has {1} bytes, which is not a multiple of 16",
    "span": "{side} has {1} bytes, more than the swizzle's {2}",
    "padded interleave": "interleave requires elements without gaps",
    "padded swizzle": "swizzle is not one of elements with gaps",
    "box": "boxDim has {}, which is not 1 to {}",
    "lower": "a corner of the pixel box has {}",
    "upper": "a corner of the pixel box has {}",
    "columns": "the pixel box is from {} to {} in a dimension of {}",
    "pixels": "pixelsPerColumn has {}, which is not 1 to {}",
    "bytes": "the box has {} bytes, more than {}",
}
"""The messages of the rules of `broken_rules`."""


def encoded_map(
    rank: int,
    dims: Numbers,
    strides: Numbers,
    steps: Numbers,
    *,
    swizzle: int,
    corners: tuple[Numbers, Numbers] | None = None,
    box: Numbers,
    **others: Any,
) -> CUtensorMap:
    """Return the descriptor of a map of boxes, or of columns of pixels.

    Args:
        corners: The corners of the box of pixels; ``None`` for a map of boxes.
        box: The extents of the box, or the number of channels.
        others: Other fields of a `TensorMap`.

    Raises:
        Refusal: The driver refuses an argument.
    """
    least = 1 if corners is None and not others["interleave"] else 3
    words = f"tensorRank is {rank}, not {least} to {MOST_RANKS}"
    refuse_if(not least <= rank <= MOST_RANKS, words)
    if corners is None:
        box = _first("boxDim", box, rank)
    else:
        others["lower"] = _first("pixelBoxLowerCorner", corners[0], rank - 2)
        others["upper"] = _first("pixelBoxUpperCorner", corners[1], rank - 2)
    tensor = TensorMap(
        dims=_first("globalDim", dims, rank),
        strides=_first("globalStrides", strides, rank - 1),
        steps=_first("elementStrides", steps, rank),
        box=tuple(map(int, box or ())),
        swizzle=min(swizzle, _WIDEST),
        atomicity=max(swizzle - _WIDEST, 0),
        im2col=corners is not None,
        **others,
    )
    _check(tensor)
    data, found = tensor.encode(), CUtensorMap()
    found.opaque = [
        cuuint64_t(int.from_bytes(data[at : at + 8], "little")) for at in range(0, len(data), 8)
    ]
    return found


def replace_address(found: CUtensorMap, address: int) -> None:
    """Change the address in a descriptor, of which nothing is checked."""
    _check_address(address, 16)
    refuse_if(address == 0, "globalAddress is null")
    found.opaque = [cuuint64_t(address), *found.opaque[1:]]


def _first(name: str, values: Numbers, count: int) -> tuple[int, ...]:
    """Return the first values of an array, which must be there even if none are needed."""
    every = tuple(values or ())
    refuse_if(not every or len(every) < count, f"{name} has {len(every)} values, not {count}")
    return tuple(map(int, every[:count]))


def _check(tensor: TensorMap) -> None:
    newer = current_profile().architecture >= _WITH_PACKED
    words = "is for compute capability 10"
    refuse_if(tensor.type > (PADDED_6 if newer else PACKED - 1), f"tensorDataType {words}")
    refuse_if(tensor.atomicity > (3 if newer else 0), f"swizzle {words}")
    columns = tensor.lower[::-1], tensor.upper[::-1], tensor.box[0], tensor.pixels
    encoded = EncodedTensor(
        type=tensor.type,
        shape=tensor.dims[::-1],
        strides=tensor.strides[::-1],
        steps=tensor.steps[::-1],
        box=PixelBox(*columns) if tensor.im2col else tensor.box[::-1],
        interleave=tensor.interleave,
        swizzle=tensor.swizzle + tensor.atomicity,
        fill=tensor.fill,
    )
    _check_address(tensor.address, encoded.unit)
    for rule, values in broken_rules(encoded):
        side = "channelsPerPixel" if tensor.im2col else "boxDim"
        raise Refusal("INVALID_VALUE", _RULES[rule].format(*values, side=side))


def _check_address(address: int, alignment: int) -> None:
    words = f"globalAddress {address:#x} is not below 2^57 and a multiple of {alignment}"
    refuse_if(address % alignment or address >= _MOST_ADDRESS, words)
