"""Tensor maps, encoded by the driver: driver API, section 6.30."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudarun.arguments.tensor_map_layout import TensorMapLayout
from cudarun.arguments.tensor_map_options import FILLS, INTERLEAVES, NEWER, PROMOTIONS, SWIZZLES
from cudarun.base.errors import DeviceFailed, RequestError
from cudarun.session.driver.calls import Driver

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda


def encode_tensor_map(driver: Driver, layout: TensorMapLayout, address: int) -> bytes:
    """Return the 128 bytes of a tensor map.

    Raises:
        DeviceFailed: The driver refuses the map.
    """
    element = _enumerator(driver, "CUtensorMapDataType", "DATA_TYPE", layout.element.enumerator)
    shape = [driver.cuuint64_t(each) for each in reversed(layout.shape)]
    # The driver requires an array of strides even if it needs none of them.
    strides = [driver.cuuint64_t(each) for each in reversed(layout.strides or (0,))]
    rank = len(shape)
    settings = (
        _enumerator(driver, "CUtensorMapInterleave", "INTERLEAVE", INTERLEAVES[layout.interleave]),
        _enumerator(driver, "CUtensorMapSwizzle", "SWIZZLE", SWIZZLES[layout.swizzle]),
        _enumerator(driver, "CUtensorMapL2promotion", "L2_PROMOTION", PROMOTIONS[layout.l2]),
        _enumerator(driver, "CUtensorMapFloatOOBfill", "FLOAT_OOB_FILL", FILLS[layout.oob]),
    )
    steps = _words(driver, layout.element_strides)
    try:
        if layout.pixel_box is None:
            box = _words(driver, layout.box)
            found = driver.cuTensorMapEncodeTiled(
                element, rank, address, shape, strides, box, steps, *settings
            )
        else:
            pixels = layout.pixel_box
            found = driver.cuTensorMapEncodeIm2col(
                element, rank, address, shape, strides,
                [*pixels.lower[::-1]], [*pixels.upper[::-1]], pixels.channels, pixels.pixels,
                steps, *settings,
            )  # fmt: skip
    except DeviceFailed as error:
        if newer := [each for each in (layout.swizzle, layout.type) if each in NEWER]:
            error.hint = f"{' and '.join(newer)} may require compute capability 10.0"
        raise
    return b"".join(int(word).to_bytes(8, "little") for word in found.opaque)


def _words(driver: Driver, sizes: Sequence[int]) -> list[cuda.cuuint32_t]:
    """Return sizes in the driver's order."""
    return [driver.cuuint32_t(each) for each in reversed(sizes)]


def _enumerator(driver: Driver, enumeration: str, prefix: str, name: str) -> int:
    found: int | None = getattr(
        getattr(driver, enumeration), f"CU_TENSOR_MAP_{prefix}_{name}", None
    )
    if found is None:
        raise RequestError(
            f"{enumeration}: the installed cuda-bindings have no {prefix}_{name}",
            hint="install a newer version of cuda-bindings",
        )
    return found
