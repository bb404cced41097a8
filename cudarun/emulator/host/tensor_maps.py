"""The driver's checks of the arguments of ``cuTensorMapEncode*`` and ``cuTensorMapReplaceAddress``.

Driver API, section 6.30 (tensor map objects). An H200's driver refuses the same arguments:
``tests/golden/test_tensor_maps.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsInt

from cuda.bindings.driver import CUtensorMap, cuuint64_t

from cudarun.base.records import dataclass
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


@dataclass(frozen=True, slots=True)
class Tensor:
    """The arguments that all maps have, as the caller gives them; arrays may be missing."""

    type: int
    rank: int
    address: int
    dims: Numbers
    strides: Numbers
    steps: Numbers
    interleave: int
    swizzle: int
    promotion: int
    fill: int

    def tiled(self, box: Numbers) -> CUtensorMap:
        """Return the descriptor of a map of boxes; `Refusal` if the driver refuses an argument."""
        self._check_rank(3 if self.interleave else 1)
        return _descriptor(self._map(box=_first("boxDim", box, self.rank)))

    def im2col(self, lower: Numbers, upper: Numbers, channels: int, pixels: int) -> CUtensorMap:
        """Return the descriptor of a map of columns of pixels.

        Raises:
            Refusal: The driver refuses an argument.
        """
        self._check_rank(3)
        return _descriptor(
            self._map(
                box=(channels,),
                im2col=True,
                lower=_first("pixelBoxLowerCorner", lower, self.rank - 2),
                upper=_first("pixelBoxUpperCorner", upper, self.rank - 2),
                pixels=pixels,
            )
        )

    def _check_rank(self, least: int) -> None:
        most = MOST_RANKS
        words = f"tensorRank is {self.rank}, not {least} to {most}"
        refuse_if(not least <= self.rank <= most, words)

    def _map(self, **mode: Any) -> TensorMap:
        return TensorMap(
            type=self.type,
            address=self.address,
            dims=_first("globalDim", self.dims, self.rank),
            strides=_first("globalStrides", self.strides, self.rank - 1),
            steps=_first("elementStrides", self.steps, self.rank),
            interleave=self.interleave,
            swizzle=min(self.swizzle, _WIDEST),
            atomicity=max(self.swizzle - _WIDEST, 0),
            promotion=self.promotion,
            fill=bool(self.fill),
            **mode,
        )


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


def _descriptor(tensor: TensorMap) -> CUtensorMap:
    _check(tensor)
    data, found = tensor.encode(), CUtensorMap()
    found.opaque = [
        cuuint64_t(int.from_bytes(data[at : at + 8], "little")) for at in range(0, len(data), 8)
    ]
    return found


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
