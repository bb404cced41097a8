"""Tensor map objects: driver API, section 6.30."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import CUtensorMap

from cudarun.emulator.api.calls import call
from cudarun.emulator.host.tensor_maps import Numbers, encoded_map, replace_address


@call(needs_context=True)
def cuTensorMapEncodeTiled(
    tensorDataType: int,
    tensorRank: int,
    globalAddress: int,
    globalDim: Numbers,
    globalStrides: Numbers,
    boxDim: Numbers,
    elementStrides: Numbers,
    interleave: int,
    swizzle: int,
    l2Promotion: int,
    oobFill: int,
) -> CUtensorMap:
    """Return the tensor map of boxes of a tensor, as for compute capability 9.0."""
    return encoded_map(
        tensorRank, globalDim, globalStrides, elementStrides, swizzle=swizzle, box=boxDim,
        type=tensorDataType, address=globalAddress, interleave=interleave, promotion=l2Promotion,
        fill=bool(oobFill),
    )  # fmt: skip


@call(needs_context=True)
def cuTensorMapEncodeIm2col(
    tensorDataType: int,
    tensorRank: int,
    globalAddress: int,
    globalDim: Numbers,
    globalStrides: Numbers,
    pixelBoxLowerCorner: Numbers,
    pixelBoxUpperCorner: Numbers,
    channelsPerPixel: int,
    pixelsPerColumn: int,
    elementStrides: Numbers,
    interleave: int,
    swizzle: int,
    l2Promotion: int,
    oobFill: int,
) -> CUtensorMap:
    """Return the tensor map of columns of pixels, as for compute capability 9.0."""
    return encoded_map(
        tensorRank, globalDim, globalStrides, elementStrides, swizzle=swizzle,
        corners=(pixelBoxLowerCorner, pixelBoxUpperCorner), box=[channelsPerPixel],
        pixels=pixelsPerColumn, type=tensorDataType, address=globalAddress, interleave=interleave,
        promotion=l2Promotion, fill=bool(oobFill),
    )  # fmt: skip


@call(needs_context=True)
def cuTensorMapReplaceAddress(tensorMap: CUtensorMap, globalAddress: int) -> None:
    """Replace the global address in a tensor map, of which nothing else is checked."""
    replace_address(tensorMap, globalAddress)
