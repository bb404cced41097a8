"""Surface objects: the driver's checks, and the surfaces that kernels read and write.

Driver API, section 6.29 (surface objects).
"""

from __future__ import annotations

from cuda.bindings.driver import CUDA_RESOURCE_DESC, CUresourcetype

from cudarun.base.records import dataclass
from cudarun.emulator.host.arrays import CudaArray
from cudarun.emulator.host.contexts import Context, ContextObject
from cudarun.emulator.host.handles import handle_value
from cudarun.emulator.host.process import Process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.resources import copied
from cudarun.emulator.machine.textures.texels import Surface


@dataclass(eq=False)
class SurfaceObject(ContextObject):
    """A surface object and the descriptor that it was made from."""

    context: Context
    resource: CUDA_RESOURCE_DESC
    surface: Surface

    def __post_init__(self) -> None:
        self.enter()
        self.context.surfaces[self.handle] = self.surface

    def end(self) -> None:
        """End the object, not its resource."""
        del self.context.surfaces[self.handle]
        ContextObject.end(self)


def create_surface(process: Process, resource: CUDA_RESOURCE_DESC) -> SurfaceObject:
    """Create the surface of the array in a ``CUDA_RESOURCE_DESC``.

    Raises:
        Refusal: The description is invalid.
    """
    context = process.current()
    if resource.flags:
        raise Refusal("INVALID_VALUE", "CUDA_RESOURCE_DESC.flags must be 0")
    resource = copied(resource)
    if resource.resType != CUresourcetype.CU_RESOURCE_TYPE_ARRAY:
        raise Refusal("INVALID_VALUE", "a surface requires a CUDA array")
    array = process.handles.get(handle_value(resource.res.array.hArray), CudaArray, "INVALID_VALUE")
    geometry = {"cube": "a2d", "acube": "a2d"}.get(array.shape.geometry, array.shape.geometry)
    texel = array.texel
    if texel.packing:
        what = f"a surface of {texel.format.name}"
        raise Refusal("NOT_SUPPORTED", f"the emulated device does not support {what}")
    surface = Surface(
        geometry,
        array.address,
        array.shape.extent,
        array.pitch,
        texel.dtype,
        texel.channels,
        texel.normalized,
    )
    return SurfaceObject(context, resource, surface)
