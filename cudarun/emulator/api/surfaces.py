"""Surface objects: driver API, section 6.29."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import CUDA_RESOURCE_DESC, CUsurfObject

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import SurfaceHandle
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.resources import copied
from cudarun.emulator.host.textures import SurfaceObject, create_surface


@call(needs_context=True)
def cuSurfObjectCreate(pResDesc: CUDA_RESOURCE_DESC) -> CUsurfObject:
    """Create a surface object of an array with ``CUDA_ARRAY3D_SURFACE_LDST``."""
    return CUsurfObject(create_surface(process, pResDesc).handle)


@call(waits=Wait.DEVICE, needs_context=True)
def cuSurfObjectDestroy(surfObject: Handle) -> None:
    """Destroy a surface object, not its array; other handles have no effect."""
    found = process.handles.find(handle_value(surfObject), SurfaceObject)
    if found is not None:
        found.destroy()


@call(needs_context=True)
def cuSurfObjectGetResourceDesc(surfObject: SurfaceHandle) -> CUDA_RESOURCE_DESC:
    """Return the resource descriptor that a surface object was created with."""
    return copied(surfObject.resource)
