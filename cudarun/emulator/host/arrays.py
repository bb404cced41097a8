"""CUDA arrays: texel memory that a program accesses by handle, kernels by textures and surfaces.

Driver API, section 6.13. Their layout on hardware is undocumented; here rows are padded, and slices
follow each other. Layers and faces of cubes are slices, too.
"""

from __future__ import annotations

import numpy as np
from cuda.bindings import driver as cuda

from cudarun.base.records import dataclass
from cudarun.emulator.host.addresses import Bytes
from cudarun.emulator.host.contexts import Context, ContextObject
from cudarun.emulator.host.devices import attribute_value
from cudarun.emulator.host.refusal import Refusal, enum_field, refuse_if
from cudarun.emulator.machine.textures.packed_texels import PACKINGS, PackedTexels, Packing
from cudarun.emulator.machine.textures.texels import Texels
from cudarun.emulator.numerics.arrays import DType

LAYERED, CUBEMAP = int(cuda.CUDA_ARRAY3D_LAYERED), int(cuda.CUDA_ARRAY3D_CUBEMAP)
SURFACE, GATHER = int(cuda.CUDA_ARRAY3D_SURFACE_LDST), int(cuda.CUDA_ARRAY3D_TEXTURE_GATHER)
_FLAGS = LAYERED | CUBEMAP | SURFACE | GATHER
FACES = 6

FORMATS: dict[tuple[str, int], cuda.CUarray_format] = {
    ("f", 16): cuda.CUarray_format.CU_AD_FORMAT_HALF,
    ("f", 32): cuda.CUarray_format.CU_AD_FORMAT_FLOAT,
    **{
        (kind, bits): getattr(cuda.CUarray_format, f"CU_AD_FORMAT_{sign}_INT{bits}")
        for kind, sign in (("u", "UNSIGNED"), ("i", "SIGNED"))
        for bits in (8, 16, 32)
    },
}
"""The formats of plain channels, by the kind of their numbers as numpy names it, and their bits."""

_DTYPES = {format_: np.dtype(f"{kind}{bits // 8}") for (kind, bits), format_ in FORMATS.items()}
_CHANNELS = (1, 2, 4)
_NORMALIZED = {
    getattr(cuda.CUarray_format, f"CU_AD_FORMAT_{sign}NORM_INT{bits}X{channels}"): (
        np.dtype(f"{kind}{bits // 8}"),
        channels,
    )
    for kind, sign in (("u", "U"), ("i", "S"))
    for bits in (8, 16)
    for channels in _CHANNELS
}
"""The types and numbers of channels of formats whose integers are always read as fractions."""
_PACKINGS = {
    format_: PACKINGS[name]
    for format_ in cuda.CUarray_format
    if (name := format_.name.removeprefix("CU_AD_FORMAT_").removesuffix("_SRGB")) in PACKINGS
}
_ROW_ALIGNMENT = 16  # bytes of the largest surface access


@dataclass(frozen=True)
class TexelFormat:
    """The layout in memory of one texel, or of an element that several texels share."""

    format: cuda.CUarray_format
    channels: int

    @property
    def packing(self) -> Packing | None:
        """Layout of an element, if it holds several texels or several channels in one number."""
        return _PACKINGS.get(self.format)

    @property
    def side(self) -> int:
        """Texels per row and per column of an element."""
        return self.packing.side if self.packing else 1

    @property
    def dtype(self) -> DType:
        """Type of one channel."""
        if self.packing:
            return np.dtype(self.packing.dtype)
        return _NORMALIZED[self.format][0] if self.normalized else _DTYPES[self.format]

    @property
    def normalized(self) -> bool:
        """Return whether integers are always read as fractions of the largest."""
        packed_integers = self.packing is not None and self.packing.dtype is not np.float16
        return packed_integers or self.format in _NORMALIZED

    @property
    def bytes(self) -> int:
        """Size of all channels, or of an element."""
        return self.packing.bytes if self.packing else self.dtype.itemsize * self.channels

    def texels(self, memory: Bytes, pitch: int, slice_pitch: int = 0) -> Texels:
        """Return texels of this format in memory, in rows and slices of given pitches."""
        if self.packing:
            is_of_array = self.channels == self.packing.channels  # a view has all four
            return PackedTexels(
                memory, self.dtype, 4, pitch, slice_pitch, self.packing, is_of_array
            )
        return Texels(memory, self.dtype, self.channels, pitch, slice_pitch)


def texel_format(holder: object, field: str, channels: int) -> TexelFormat:
    """Return the format in a field of a structure of the bindings.

    Raises:
        Refusal: The format does not exist, or is not implemented.
    """
    format_ = enum_field(holder, field)
    packing = _PACKINGS.get(format_)
    required = packing.channels if packing else _NORMALIZED.get(format_, (None, 0))[1]
    refuse_if(required and channels != required, f"NumChannels is {channels}, with {format_.name}")
    if not required and channels not in _CHANNELS:
        raise Refusal("INVALID_VALUE", f"NumChannels is {channels}; it must be 1, 2 or 4")
    if format_ not in _DTYPES and not required:
        raise Refusal("NOT_SUPPORTED", f"the emulated device does not support {format_.name}")
    return TexelFormat(format_, channels)


@dataclass(frozen=True)
class ArrayShape:
    """The extent of an array, as in a ``CUDA_ARRAY3D_DESCRIPTOR``."""

    width: int  # texels per row
    height: int  # rows; 0 in one dimension
    depth: int  # slices, layers, or faces of cubes; 0 without these
    flags: int  # ``CUDA_ARRAY3D`` flags

    @property
    def layered(self) -> bool:
        """True if the slices are layers or faces."""
        return bool(self.flags & (LAYERED | CUBEMAP))

    @property
    def extent(self) -> tuple[int, int, int]:
        """Slices, rows and texels per row, at least one each."""
        return max(self.depth, 1), max(self.height, 1), self.width

    @property
    def geometry(self) -> str:
        """The geometry of its textures, as PTX names it."""
        if self.flags & CUBEMAP:
            return "acube" if self.flags & LAYERED else "cube"
        if self.flags & LAYERED:
            return "a2d" if self.height else "a1d"
        return "3d" if self.depth else "2d" if self.height else "1d"

    def level(self, number: int) -> ArrayShape:
        """Return the shape of a level of a mipmapped array of this shape."""
        depth = self.depth if self.layered else _halved(self.depth, number)
        return ArrayShape(
            max(self.width >> number, 1), _halved(self.height, number), depth, self.flags
        )

    @property
    def most_levels(self) -> int:
        """The number of levels down to a single texel."""
        return max(self.width, self.height, 0 if self.layered else self.depth).bit_length()


def _halved(size: int, times: int) -> int:
    return max(size >> times, 1) if size else 0


@dataclass(eq=False)
class CudaArray(ContextObject):
    """A CUDA array, or one level of a mipmapped array."""

    context: Context
    texel: TexelFormat
    shape: ArrayShape
    address: int
    bytes: Bytes
    level_of: MipmappedArray | None = None
    live: bool = True

    def __post_init__(self) -> None:
        self.enter()

    @property
    def pitch(self) -> int:
        """Bytes from a row to the next one."""
        return _pitch(self.shape, self.texel)

    @property
    def size(self) -> tuple[int, int, int]:
        """Slices, rows of elements, and bytes per row without padding."""
        slices, rows, columns = _elements(self.shape, self.texel)
        return slices, rows, columns * self.texel.bytes

    def box(self, box: tuple[slice, slice, slice], *, to_write: bool = False) -> Bytes:
        """Return a view of bytes by slice, row and place in the row, to read, or to write all."""
        allocation = self.context.device.memory.find(self.address)
        if to_write and allocation is not None and allocation.unwritten is not None:
            self._by_row(allocation.unwritten)[box] = 0
        bytes_of_box: Bytes = self._by_row(self.bytes)[box]
        return bytes_of_box

    def _by_row(self, memory: Bytes) -> Bytes:
        slices, rows, width = self.size
        by_row: Bytes = memory.reshape(slices, rows, -1)[:, :, :width]
        return by_row

    def mark_unwritten(self) -> None:
        """Count all bytes as never written, whatever they contain."""
        self.context.device.memory.mark_unwritten(self.address, len(self.bytes))

    def unwritten(self) -> Bytes:
        """Return the marks of bytes, as `Memory.unwritten_at`, without the padding of rows."""
        marks = self.context.device.memory.unwritten_at(self.address, len(self.bytes))
        return self._by_row(marks).reshape(-1)

    def texels(self, texel: TexelFormat) -> Texels | None:
        """Return the texels for textures, in some format; ``None`` once the array is destroyed."""
        if not self.live:
            return None
        return texel.texels(self.bytes, self.pitch, self.size[1] * self.pitch)

    def destroy(self) -> None:
        """Free the array's memory; that of a level belongs to the mipmapped array."""
        if self.level_of is None:
            ContextObject.destroy(self)

    def end(self) -> None:
        """Free the memory without disowning the array."""
        self.live = False
        ContextObject.end(self)
        self.context.device.memory.free(self.address)


@dataclass(eq=False)
class MipmappedArray(ContextObject):
    """A mipmapped array: a CUDA array for every level."""

    context: Context
    shape: ArrayShape
    texel: TexelFormat
    levels: tuple[CudaArray, ...] = ()

    def __post_init__(self) -> None:
        self.enter()

    def level(self, number: int) -> CudaArray:
        """Return the array of one level."""
        if not 0 <= number < len(self.levels):
            raise Refusal("INVALID_VALUE", f"level {number} of {len(self.levels)} levels")
        return self.levels[number]

    def destroy(self) -> None:
        """Free the memory of all levels."""
        ContextObject.destroy(self)
        for array in self.levels:
            self.context.disown(array.handle)
            array.end()


# --- creation ------------------------------------------------------------------------------------


def create_array(
    context: Context, descriptor: cuda.CUDA_ARRAY_DESCRIPTOR | cuda.CUDA_ARRAY3D_DESCRIPTOR
) -> CudaArray:
    """Create the array that a descriptor describes."""
    is_plain = isinstance(descriptor, cuda.CUDA_ARRAY_DESCRIPTOR)
    texel, shape = _described(descriptor)
    return _allocated(context, texel, shape, "cuArrayCreate" if is_plain else "cuArray3DCreate")


def create_mipmapped_array(
    context: Context, descriptor: cuda.CUDA_ARRAY3D_DESCRIPTOR, levels: int
) -> MipmappedArray:
    """Create a mipmapped array of at least one level and of as many as there can be."""
    texel, shape = _described(descriptor)
    made = MipmappedArray(context, shape, texel)
    made.levels = tuple(
        _allocated(context, texel, shape.level(number), "cuMipmappedArrayCreate", made)
        for number in range(min(max(levels, 1), shape.most_levels))
    )
    return made


def _described(
    descriptor: cuda.CUDA_ARRAY_DESCRIPTOR | cuda.CUDA_ARRAY3D_DESCRIPTOR,
) -> tuple[TexelFormat, ArrayShape]:
    texel = texel_format(descriptor, "Format", descriptor.NumChannels)
    depth = flags = 0
    if isinstance(descriptor, cuda.CUDA_ARRAY3D_DESCRIPTOR):
        depth, flags = descriptor.Depth, int(descriptor.Flags)
    shape = ArrayShape(descriptor.Width, descriptor.Height, depth, flags)
    _check(shape)
    return texel, shape


def _allocated(
    context: Context,
    texel: TexelFormat,
    shape: ArrayShape,
    label: str,
    level_of: MipmappedArray | None = None,
) -> CudaArray:
    slices, rows, _ = _elements(shape, texel)
    size = slices * rows * _pitch(shape, texel)
    memory = context.device.memory
    address = memory.allocate(size, label=label, defined=False)
    return CudaArray(context, texel, shape, address, memory.bytes_at(address, size), level_of)


def _pitch(shape: ArrayShape, texel: TexelFormat) -> int:
    columns = _elements(shape, texel)[2]
    return -(-columns * texel.bytes // _ROW_ALIGNMENT) * _ROW_ALIGNMENT


def _elements(shape: ArrayShape, texel: TexelFormat) -> tuple[int, int, int]:
    """Return slices, rows of elements, and elements per row."""
    slices, rows, columns = shape.extent
    return slices, -(-rows // texel.side), -(-columns // texel.side)


# --- checks --------------------------------------------------------------------------------------


def _limits(kind: str, names: str) -> tuple[int, ...]:
    return tuple(attribute_value(f"MAXIMUM_{kind}{name}") for name in names.split())


# The most texels, rows and slices of each geometry.
_MOST, _MOST_OF_SURFACES = (
    {
        geometry: _limits(kind, names)
        for geometry, names in {
            "1d": "1D_WIDTH",
            "2d": "2D_WIDTH 2D_HEIGHT",
            "3d": "3D_WIDTH 3D_HEIGHT 3D_DEPTH",
            "a1d": "1D_LAYERED_WIDTH 1D_LAYERED_LAYERS",
            "a2d": "2D_LAYERED_WIDTH 2D_LAYERED_HEIGHT 2D_LAYERED_LAYERS",
            "cube": "CUBEMAP_WIDTH CUBEMAP_WIDTH",
            "acube": "CUBEMAP_LAYERED_WIDTH CUBEMAP_LAYERED_WIDTH CUBEMAP_LAYERED_LAYERS",
        }.items()
    }
    for kind in ("TEXTURE", "SURFACE")
)
_ALTERNATE = _limits("TEXTURE", "3D_WIDTH_ALTERNATE 3D_HEIGHT_ALTERNATE 3D_DEPTH_ALTERNATE")
_MOST_OF_GATHERS = _limits("TEXTURE", "2D_GATHER_WIDTH 2D_GATHER_HEIGHT")


def _check(shape: ArrayShape) -> None:
    """Refuse a shape that no array has."""
    refuse_if(shape.flags & ~_FLAGS, f"{shape.flags:#x} is not a combination of array flags")
    sizes = [shape.width, shape.height, shape.depth]
    if shape.geometry == "a1d":
        sizes = [shape.width, shape.depth]
    most = [_MOST[shape.geometry]]
    if shape.flags & SURFACE:
        most = [_MOST_OF_SURFACES[shape.geometry]]
    elif shape.geometry == "3d":
        most.append(_ALTERNATE)
    elif shape.flags & GATHER:
        most = [_MOST_OF_GATHERS]
    used = sizes[: len(most[0])]
    if min(used) < 1 or not any(
        all(size <= limit for size, limit in zip(used, limits, strict=True)) for limits in most
    ):
        text = f"width {shape.width}, height {shape.height}, depth {shape.depth}"
        raise Refusal("INVALID_VALUE", f"unsupported array size: {text}")
    if shape.flags & CUBEMAP and (
        shape.width != shape.height
        or shape.depth % FACES
        or (shape.depth != FACES and not shape.flags & LAYERED)
    ):
        raise Refusal("INVALID_VALUE", "a cube has square faces, and six of them")
    if shape.flags & GATHER and shape.geometry != "2d":
        raise Refusal("INVALID_VALUE", "CUDA_ARRAY3D_TEXTURE_GATHER requires a 2-D array")
