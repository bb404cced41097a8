"""Tensor map objects: driver API, section 6.30."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import CUtensorMap

from cudarun.emulator.api.calls import call
from cudarun.emulator.host.tensor_maps import Numbers, Tensor, replace_address


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
    tensor = Tensor(
        tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
        interleave, swizzle, l2Promotion, oobFill,
    )  # fmt: skip
    return tensor.tiled(boxDim)


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
    tensor = Tensor(
        tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
        interleave, swizzle, l2Promotion, oobFill,
    )  # fmt: skip
    return tensor.im2col(
        pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel, pixelsPerColumn
    )


@call(needs_context=True)
def cuTensorMapReplaceAddress(tensorMap: CUtensorMap, globalAddress: int) -> None:
    """Replace the global address in a tensor map, of which nothing else is checked."""
    replace_address(tensorMap, globalAddress)
