"""Texture objects: driver API, section 6.28."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import TextureHandle
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.resources import copied
from cudarun.emulator.host.textures import TextureObject, create_texture


@call(needs_context=True)
def cuTexObjectCreate(
    pResDesc: cuda.CUDA_RESOURCE_DESC,
    pTexDesc: cuda.CUDA_TEXTURE_DESC,
    pResViewDesc: cuda.CUDA_RESOURCE_VIEW_DESC | None,
) -> cuda.CUtexObject:
    """Create a texture object of an array, a mipmapped array, linear or pitched memory."""
    return cuda.CUtexObject(create_texture(process, pResDesc, pTexDesc, pResViewDesc).handle)


@call(waits=Wait.DEVICE, needs_context=True)
def cuTexObjectDestroy(texObject: Handle) -> None:
    """Destroy a texture object, not its resource; destroying it twice has no effect."""
    if not process.handles.is_spent(handle_value(texObject)):
        process.handles.get(handle_value(texObject), TextureObject, "INVALID_VALUE").destroy()


@call(needs_context=True)
def cuTexObjectGetResourceDesc(texObject: TextureHandle) -> cuda.CUDA_RESOURCE_DESC:
    """Return the resource descriptor that a texture object was created with."""
    return copied(texObject.resource)


@call(needs_context=True)
def cuTexObjectGetTextureDesc(texObject: TextureHandle) -> cuda.CUDA_TEXTURE_DESC:
    """Return the texture descriptor that a texture object was created with."""
    return copied(texObject.description)


@call(needs_context=True)
def cuTexObjectGetResourceViewDesc(texObject: TextureHandle) -> cuda.CUDA_RESOURCE_VIEW_DESC:
    """Return the resource view that a texture object was created with; zeros if there is none."""
    view = texObject.view
    return cuda.CUDA_RESOURCE_VIEW_DESC() if view is None else copied(view)
