"""CUDA arrays of a launch, and its texture and surface objects.

CUDA driver API, sections 6.13 (memory), 6.28 (texture objects) and 6.29 (surface objects). The last
axis of an array is x, so its shape is in the reverse order of the driver's width, height and depth.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cudarun.arguments import sampling
from cudarun.arguments.packing import ArraySpec, BufferSpec, HandleOwner, ObjectSpec
from cudarun.arguments.types import Type
from cudarun.base.errors import DeviceFailed
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import attribute_of
from cudarun.session.driver.memory import DeviceBuffer
from cudarun.session.launch.recorded.memory import RecordedInitial
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

    from cudarun.arguments.dtypes import Array
    from cudarun.session.driver.protocol import Handle

_READ_AS_INTEGER, _NORMALIZED, _SRGB, _SEAMLESS = 0x01, 0x02, 0x10, 0x40  # cuda.h: CU_TRSF_*


class ArrayMemory(DeviceBuffer):
    """A CUDA array, or a level of one, with its contents in linear memory.

    All that a buffer can do is done there; `store` and `load` copy to and from the array.

    Args:
        driver: The driver; the context of the array must be current.
    """

    def __init__(
        self, driver: Driver, spec: ArraySpec, array: Handle, *, is_writable: bool
    ) -> None:
        super().__init__(driver, spec.name, spec.nbytes, 0)
        self._spec = spec
        self._array = array
        self._is_writable = is_writable

    def store(self, stream: Handle = 0) -> None:
        """Copy the contents to the array, in stream order."""
        self.driver.cuMemcpy3DAsync(self._box("src", "dst"), stream)
        if self._spec.is_unwritten_at_first:
            self.driver.traits.never_written_array(self._array)

    def load(self) -> None:
        """Copy the contents from the array if kernels can write it."""
        if self._is_writable:
            self.driver.cuMemcpy3DAsync(self._box("dst", "src"), 0)

    @property
    def knows_unwritten(self) -> bool:
        """True if the driver knows which bytes of the array nothing has written."""
        return self.driver.traits.unwritten_array is not None

    def unwritten_bytes(self) -> Array | None:
        """Return the marks of the bytes since `store`, if the driver knows them."""
        known = self.driver.traits.unwritten_array
        return None if known is None else known(self._array)

    def _box(self, memory: str, array: str) -> cuda.CUDA_MEMCPY3D:
        """Return the copy between the linear memory and the array, each ``src`` or ``dst``."""
        copy = self.driver.CUDA_MEMCPY3D()
        kinds = self.driver.CUmemorytype
        width, height, depth = _extent(self._spec)
        rows = max(height, 1)
        setattr(copy, f"{memory}MemoryType", kinds.CU_MEMORYTYPE_DEVICE)
        setattr(copy, f"{memory}Device", self.driver.CUdeviceptr(self.address))
        setattr(copy, f"{memory}Pitch", width * self._spec.type.size)
        setattr(copy, f"{memory}Height", rows)
        setattr(copy, f"{array}MemoryType", kinds.CU_MEMORYTYPE_ARRAY)
        setattr(copy, f"{array}Array", self._array)
        copy.WidthInBytes = width * self._spec.type.size
        copy.Height, copy.Depth = rows, max(depth, 1)
        return copy


class LaunchArrays:
    """The CUDA arrays of a launch by name, each destroyed at the end of the session."""

    def __init__(self, session: Session, writable: Collection[str]) -> None:
        self._session = session  # the session; the context that owns the arrays must be current
        self._writable = writable  # the names of the arrays that kernels can write
        self._handles: dict[tuple[ObjectSpec, str], int] = {}
        self._driver = session.driver
        self._arrays: dict[str, Handle] = {}

    def memory(self, spec: ArraySpec) -> ArrayMemory:
        """Return the memory of an array; level 0 of a mipmapped array creates all levels."""
        driver = self._driver
        if spec.level == 0:
            self._arrays[spec.array] = self._create(spec)
        array = self._arrays[spec.array]
        if spec.levels > 1:
            array = driver.cuMipmappedArrayGetLevel(array, spec.level)
        memory = ArrayMemory(driver, spec, array, is_writable=self._can_write(spec))
        self._session.add_release(memory.free)
        return memory

    def _create(self, spec: ArraySpec) -> Handle:
        driver, form = self._driver, spec.form
        descriptor = driver.CUDA_ARRAY3D_DESCRIPTOR()
        descriptor.Width, descriptor.Height, descriptor.Depth = _extent(spec)
        descriptor.Format, descriptor.NumChannels = _texel_format(driver, spec.type)
        descriptor.Flags = (
            sampling.LAYERED * form.layered
            | sampling.CUBEMAP * form.cube
            | sampling.GATHER * form.gather
            | sampling.SURFACE * self._can_write(spec)
        )
        try:
            if spec.levels > 1:
                mipmapped = driver.cuMipmappedArrayCreate(descriptor, spec.levels)
                self._session.add_release(lambda: driver.cuMipmappedArrayDestroy(mipmapped))
                return mipmapped
            array = driver.cuArray3DCreate(descriptor)
            self._session.add_release(lambda: driver.cuArrayDestroy(array))
            return array
        except DeviceFailed as error:
            error.hint = self._limits(self._kind(spec)) or error.hint
            shown = f"array '{spec.name}', {BufferSpec.__str__(spec)}"
            raise error.of(argument=spec.name, shown=shown) from None

    def _can_write(self, spec: ArraySpec) -> bool:
        initial = spec.initial
        is_recorded = isinstance(initial, RecordedInitial) and initial.is_writable
        return is_recorded or spec.array in self._writable

    def handle(self, name: str) -> Handle:
        """Return the handle of an array that has its memory."""
        return self._arrays[name]

    def handles(
        self, objects: Iterable[ObjectSpec], addresses: Mapping[str, int], behind: Mapping[str, str]
    ) -> dict[HandleOwner, int]:
        """Return the handles of texture and surface objects; create those that do not exist.

        Args:
            addresses: Device addresses of buffers by name, for linear memory.
            behind: The array or buffer behind a name, if it is not that of the name.
        """
        found: dict[HandleOwner, int] = {}
        for spec in objects:
            name = spec.levels[0].name
            key = spec, behind.get(name, name)
            if key not in self._handles:
                self._handles[key] = self._object(spec, key[1], addresses)
            found[spec] = self._handles[key]
        return found

    def _object(self, spec: ObjectSpec, name: str, addresses: Mapping[str, int]) -> int:
        driver, first = self._driver, spec.levels[0]
        resource = self._resource(first, name, addresses)
        try:
            if spec.sampling is None:
                surface = driver.cuSurfObjectCreate(resource)
                self._session.add_release(lambda: driver.cuSurfObjectDestroy(surface))
                return int(surface)
            description = self._description(spec.sampling, first.type, len(spec.levels))
            texture = driver.cuTexObjectCreate(resource, description, None)
            self._session.add_release(lambda: driver.cuTexObjectDestroy(texture))
            return int(texture)
        except DeviceFailed as error:
            if not isinstance(first, ArraySpec):
                row = first.shape[-1] * first.type.size
                kind = "TEXTURE1D_LINEAR_WIDTH"
                if len(first.shape) == 2:
                    kind = "TEXTURE2D_LINEAR_WIDTH TEXTURE2D_LINEAR_HEIGHT"
                alignment = self._attribute("TEXTURE_PITCH_ALIGNMENT")
                limits = self._limits(kind)
                error.hint = (
                    f"its rows have {row} bytes, expected a multiple of {alignment}"
                    if len(first.shape) == 2 and row % alignment
                    else limits
                )
            raise error.of(argument=spec.name, shown=spec.text) from None

    def _resource(
        self, first: BufferSpec, name: str, addresses: Mapping[str, int]
    ) -> cuda.CUDA_RESOURCE_DESC:
        """Return the descriptor of an array, or of a buffer as linear memory, with this name."""
        driver = self._driver
        if isinstance(first, ArraySpec):
            return array_resource(driver, self._arrays[name], is_mipmapped=first.levels > 1)
        texels = addresses[name], *_texel_format(driver, first.type)
        if len(first.shape) == 1:
            return linear_resource(driver, *texels, first.nbytes)
        height, width = first.shape
        return linear_resource(driver, *texels, width, (height, width * first.type.size))

    def _description(
        self, way: sampling.Sampling, element: Type, levels: int
    ) -> cuda.CUDA_TEXTURE_DESC:
        driver = self._driver
        scalar, _ = sampling.texel(element)
        assert scalar is not None, "the array exists"
        # CUDA's first mode is that of x, the last axis.
        modes = way.address[::-1] or ("clamp",)
        modes += modes[-1:] * (3 - len(modes))
        as_integers = scalar.is_integer and way.read == "element"
        description = driver.CUDA_TEXTURE_DESC()
        description.addressMode = [
            driver.CUaddress_mode(sampling.ADDRESS_MODES.index(mode)) for mode in modes
        ]
        description.filterMode, description.mipmapFilterMode = (
            driver.CUfilter_mode(sampling.FILTERS.index(each))
            for each in (way.filter, way.mip_filter)
        )
        description.flags = (
            _READ_AS_INTEGER * as_integers
            | _NORMALIZED * way.normalized
            | _SRGB * way.srgb
            | _SEAMLESS * way.seamless
        )
        border = [*way.border, *[0.0] * (4 - len(way.border))]
        if as_integers:  # the driver takes their bits from floats
            bits = struct.pack("4I", *(int(each) & 0xFFFFFFFF for each in border))
            border = [*struct.unpack("4f", bits)]
        description.borderColor = border
        description.maxAnisotropy = way.anisotropy
        description.mipmapLevelBias = way.mip_bias
        smallest, largest = way.mip_clamp or (0.0, float(levels - 1))
        description.minMipmapLevelClamp, description.maxMipmapLevelClamp = smallest, largest
        return description

    def _kind(self, spec: ArraySpec) -> str:
        """Return the device attributes that limit an array, as in its shape."""
        prefix = "SURFACE" if spec.array in self._writable else "TEXTURE"
        form, axes = spec.form, len(spec.shape)
        if form.cube and form.layered:
            names = ["CUBEMAP_LAYERED_LAYERS", "CUBEMAP_LAYERED_WIDTH"]
        elif form.cube:
            names = ["CUBEMAP_WIDTH"]
        elif form.layered:
            names = [f"{axes - 1}D_LAYERED_{each}" for each in ("LAYERS", "HEIGHT", "WIDTH")]
            names = names if axes == 3 else [names[0], names[2]]
        else:
            kind = f"{axes}D_GATHER" if form.gather and prefix == "TEXTURE" else f"{axes}D"
            names = [f"{kind}_{each}" for each in ("DEPTH", "HEIGHT", "WIDTH")[-axes:]]
        return " ".join(f"{prefix}{name}" for name in names)

    def _limits(self, names: str) -> str:
        """Return the largest extents of a kind of array or of linear memory."""
        sizes = " × ".join(str(self._attribute(f"MAXIMUM_{name}")) for name in names.split())
        return f"the limit of this device is {sizes}"

    def _attribute(self, name: str) -> int:
        return attribute_of(self._driver, self._driver.cuCtxGetDevice(), name)


def array_resource(
    driver: Driver, array: Handle, *, is_mipmapped: bool = False
) -> cuda.CUDA_RESOURCE_DESC:
    """Return an array as the resource of an object."""
    resource = driver.CUDA_RESOURCE_DESC()
    if is_mipmapped:
        resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
        resource.res.mipmap.hMipmappedArray = array
    else:
        resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        resource.res.array.hArray = array
    return resource


def linear_resource(
    driver: Driver,
    address: int,
    texel_format: cuda.CUarray_format,
    channels: int,
    width: int,
    rows: tuple[int, int] | None = None,
) -> cuda.CUDA_RESOURCE_DESC:
    """Return linear memory as the resource of an object.

    Args:
        width: The texels of a row; without rows, the bytes of all.
        rows: Their number, and the bytes from one to the next; ``None`` for one dimension.
    """
    resource = driver.CUDA_RESOURCE_DESC()
    memory: Any
    if rows is None:
        resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
        memory = resource.res.linear
        memory.sizeInBytes = width
    else:
        resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
        memory = resource.res.pitch2D
        memory.width = width
        memory.height, memory.pitchInBytes = rows
    memory.devPtr = driver.CUdeviceptr(address)
    memory.format, memory.numChannels = texel_format, channels
    return resource


def _extent(spec: ArraySpec) -> tuple[int, int, int]:
    """Return the width, the height and the depth of an array as the driver has them."""
    form, shape = spec.form, spec.shape
    if form.cube:
        layers = shape[0] if form.layered else 1
        return shape[-1], shape[-2], sampling.FACES * layers
    if form.layered:
        return shape[-1], shape[-2] if len(shape) == 3 else 0, shape[0]
    width, height, depth = (*shape[::-1], 0, 0)[:3]
    return width, height, depth


def _texel_format(driver: Driver, element: Type) -> tuple[cuda.CUarray_format, int]:
    scalar, channels = sampling.texel(element)
    assert scalar is not None, "the array exists"
    return driver.CUarray_format(sampling.TEXELS[scalar.name]), channels
