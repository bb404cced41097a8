"""The driver's checks of the arguments of ``cuTensorMapEncode*`` and ``cuTensorMapReplaceAddress``.

Driver API, section 6.30 (tensor map objects). An H200's driver refuses the same arguments:
``tests/golden/test_tensor_maps.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsInt

from cuda.bindings.driver import CUtensorMap, cuuint64_t

from cudarun.base.records import dataclass
from cudarun.emulator.host.devices import current_profile
from cudarun.emulator.host.refusal import refuse_if
from cudarun.emulator.machine.tensor_maps.tensor_map import (
    FIRST_FLOAT,
    MOST_RANKS,
    PACKED,
    PADDED_6,
    TensorMap,
)

Numbers = Sequence[SupportsInt] | None

_MOST_ADDRESS = 1 << 57
_MOST_STRIDE = 1 << 40
_MOST_DIMENSION = 1 << 32
_MOST_STEP = 8
_MOST_SIDE = 256
_MOST_PIXELS = 1024
_MOST_BYTES = 228 << 10  # the shared memory of a multiprocessor
_PADDED_BOX = 128
_WITH_PACKED = 100  # the first architecture with packed elements, and atoms of swizzles
_WIDEST = 3  # the swizzle of 128 bytes; those after it differ by their atoms
_CORNERS = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}


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
        _demand(least <= self.rank <= most, f"tensorRank is {self.rank}, not {least} to {most}")

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
    _demand(address != 0, "globalAddress is null")
    found.opaque = [cuuint64_t(address), *found.opaque[1:]]


def _first(name: str, values: Numbers, count: int) -> tuple[int, ...]:
    """Return the first values of an array, which must be there even if none are needed."""
    every = tuple(values or ())
    _demand(bool(every) and len(every) >= count, f"{name} has {len(every)} values, not {count}")
    return tuple(map(int, every[:count]))


def _descriptor(tensor: TensorMap) -> CUtensorMap:
    if tensor.is_padded:
        _check_padded(tensor)
    _check(tensor.in_groups())
    data, found = tensor.encode(), CUtensorMap()
    found.opaque = [
        cuuint64_t(int.from_bytes(data[at : at + 8], "little")) for at in range(0, len(data), 8)
    ]
    return found


def _check(tensor: TensorMap) -> None:
    newer = current_profile().architecture >= _WITH_PACKED
    words = "is for compute capability 10"
    _demand(tensor.type < PACKED or (newer and tensor.type <= PADDED_6), f"tensorDataType {words}")
    _demand(not tensor.atomicity or (newer and tensor.atomicity <= 3), f"swizzle {words}")
    floats = FIRST_FLOAT <= tensor.type < PACKED
    _demand(floats or not tensor.fill, "oobFill requests NaN, and the elements are no floats")
    _check_tensor(tensor)
    _check_inner(tensor)
    if tensor.im2col:
        _check_pixels(tensor)
    else:
        _check_range("boxDim", tensor.box, _MOST_SIDE)
    size = tensor.shared_bytes
    _demand(size <= _MOST_BYTES, f"the box has {size} bytes, more than {_MOST_BYTES}")


def _check_padded(tensor: TensorMap) -> None:
    """Check what is required of packed elements with gaps in shared memory."""
    _check_address(tensor.address, 32)
    words = f"globalDim has {tensor.dims[0]} elements, not a multiple of {_PADDED_BOX}"
    _demand(tensor.dims[0] % _PADDED_BOX == 0, words)
    _demand(tensor.box[0] == _PADDED_BOX, f"boxDim has {tensor.box[0]} elements, not {_PADDED_BOX}")
    wrong = [stride for stride in tensor.strides if stride % 32]
    _demand(not wrong, f"globalStrides has {wrong[:1]}, not a multiple of 32")
    _demand(tensor.interleave == 0, "interleave requires elements without gaps")
    is_stored = tensor.type == PADDED_6
    known = tensor.atomicity < 2 or (is_stored and tensor.atomicity == 3)
    _demand(tensor.swizzle in (0, _WIDEST) and known, "swizzle is not one of elements with gaps")


def _check_tensor(tensor: TensorMap) -> None:
    unit = 32 if tensor.interleave == 2 else 16
    _check_address(tensor.address, unit)
    _check_range("globalDim", tensor.dims, _MOST_DIMENSION)
    for stride in tensor.strides:
        _demand(
            stride % unit == 0 and stride < _MOST_STRIDE,
            f"globalStrides has {stride}, which is not below 2^40 and a multiple of {unit}",
        )
    _check_range("elementStrides", tensor.steps, _MOST_STEP)


def _check_address(address: int, alignment: int) -> None:
    _demand(
        address % alignment == 0 and address < _MOST_ADDRESS,
        f"globalAddress {address:#x} is not below 2^57 and a multiple of {alignment}",
    )


def _check_inner(tensor: TensorMap) -> None:
    """Check the box in the first dimension."""
    name = "channelsPerPixel" if tensor.im2col else "boxDim"
    _check_range(name, tensor.box[:1], _MOST_SIDE)
    inner = tensor.box[0] * tensor.element_bytes
    _demand(inner % 16 == 0, f"{name} has {inner} bytes, which is not a multiple of 16")
    if tensor.swizzle and not tensor.interleave:
        most = 16 << tensor.swizzle
        _demand(inner <= most, f"{name} has {inner} bytes, more than the swizzle's {most}")


def _check_pixels(tensor: TensorMap) -> None:
    limit = _CORNERS[tensor.rank]
    for corner in (*tensor.lower, *tensor.upper):
        _demand(-limit <= corner < limit, f"a corner of the pixel box has {corner}")
    first = 0 if tensor.interleave else 1
    sizes = tensor.dims[first : first + tensor.rank - 2]
    for size, low, high in zip(sizes, tensor.lower, tensor.upper, strict=True):
        end = (size + high + (1 << 31)) % (1 << 32) - (1 << 31)  # the driver has 32 bits for it
        _demand(low < end, f"the pixel box is from {low} to {end} in a dimension of {size}")
    _check_range("pixelsPerColumn", (tensor.pixels,), _MOST_PIXELS)


def _check_range(name: str, values: Sequence[int], most: int) -> None:
    for value in values:
        _demand(1 <= value <= most, f"{name} has {value}, which is not 1 to {most}")


def _demand(holds: bool, words: str) -> None:
    refuse_if(not holds, words)
