"""CUDA arrays: texel memory that a program accesses by handle, and kernels through textures.

Driver API, section 6.13. Their layout on hardware is undocumented; here rows are contiguous.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cuda.bindings.driver import CUDA_ARRAY_DESCRIPTOR
from cuda.bindings.driver import CUarray_format as Format

from cudarun.bindings import enum_field
from cudarun.emulator.host.addresses import Bytes
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.devices import attribute_value
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.machine.textures import Texels
from cudarun.records import dataclass

_DTYPES: dict[Format, np.dtype[Any]] = {
    Format.CU_AD_FORMAT_UNSIGNED_INT8: np.dtype(np.uint8),
    Format.CU_AD_FORMAT_UNSIGNED_INT16: np.dtype(np.uint16),
    Format.CU_AD_FORMAT_UNSIGNED_INT32: np.dtype(np.uint32),
    Format.CU_AD_FORMAT_SIGNED_INT8: np.dtype(np.int8),
    Format.CU_AD_FORMAT_SIGNED_INT16: np.dtype(np.int16),
    Format.CU_AD_FORMAT_SIGNED_INT32: np.dtype(np.int32),
    Format.CU_AD_FORMAT_HALF: np.dtype(np.float16),
    Format.CU_AD_FORMAT_FLOAT: np.dtype(np.float32),
}
_CHANNELS = (1, 2, 4)
_WIDEST_ROW = attribute_value("MAXIMUM_TEXTURE1D_WIDTH")
_WIDEST = attribute_value("MAXIMUM_TEXTURE2D_WIDTH")
_HIGHEST = attribute_value("MAXIMUM_TEXTURE2D_HEIGHT")


@dataclass(frozen=True)
class TexelFormat:
    """The layout of one texel in memory."""

    format: Format
    channels: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one channel."""
        return _DTYPES[self.format]

    @property
    def bytes(self) -> int:
        """Size of all channels."""
        return self.dtype.itemsize * self.channels

    def texels(self, memory: Bytes, pitch: int) -> Texels:
        """Return texels of this format in memory, in rows of a given pitch."""
        return Texels(memory, self.dtype, self.channels, pitch)


def texel_format(holder: object, field: str, channels: int) -> TexelFormat:
    """Return the format in a field of a structure of the bindings.

    Raises:
        Refusal: The format does not exist, or is not implemented.
    """
    try:
        format_ = enum_field(holder, field)
    except ValueError:  # the bindings make an enum of it
        raise Refusal("INVALID_VALUE", f"{field} is not a CUarray_format") from None
    if channels not in _CHANNELS:
        raise Refusal("INVALID_VALUE", f"NumChannels is {channels}; it must be 1, 2 or 4")
    if format_ not in _DTYPES:
        raise Refusal("NOT_SUPPORTED", f"the emulated device does not support {format_.name}")
    return TexelFormat(format_, channels)


@dataclass(eq=False)
class CudaArray:
    """A CUDA array.

    Attributes:
        height: Rows; 0 for an array of one dimension.
    """

    context: Context
    texel: TexelFormat
    width: int
    height: int
    address: int
    bytes: Bytes
    live: bool = True

    def __post_init__(self) -> None:
        self.handle = self.context.handles.add(self)
        self.context.own(self.handle, self._end)

    @property
    def rows(self) -> Bytes:
        """Return the bytes of the array, row by row."""
        return self.bytes.reshape(max(self.height, 1), -1)

    def texels(self) -> Texels | None:
        """Return the texels for textures; ``None`` once the array is destroyed."""
        if not self.live:
            return None
        return self.texel.texels(self.bytes, self.width * self.texel.bytes)

    def destroy(self) -> None:
        """Free the array's memory."""
        self.context.disown(self.handle)
        self._end()

    def _end(self) -> None:
        self.live = False
        self.context.handles.remove(self.handle)
        self.context.device.memory.free(self.address)


def create_array(context: Context, descriptor: CUDA_ARRAY_DESCRIPTOR) -> CudaArray:
    """Create the array that a ``CUDA_ARRAY_DESCRIPTOR`` describes."""
    if not hasattr(descriptor, "NumChannels"):
        raise Refusal("INVALID_VALUE", "CUDA_ARRAY_DESCRIPTOR is missing")
    texel = texel_format(descriptor, "Format", descriptor.NumChannels)
    width, height = descriptor.Width, descriptor.Height
    widest = _WIDEST if height else _WIDEST_ROW
    if not 0 < width <= widest or height > _HIGHEST:
        raise Refusal("INVALID_VALUE", f"unsupported array size: width {width}, height {height}")
    size = width * max(height, 1) * texel.bytes
    memory = context.device.memory
    address = memory.allocate(size, label="cuArrayCreate")
    return CudaArray(context, texel, width, height, address, memory.bytes_at(address, size))
