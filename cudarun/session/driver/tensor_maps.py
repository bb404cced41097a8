"""Tensor maps, encoded by the driver: driver API, section 6.30."""

from __future__ import annotations

from collections.abc import Sequence

from cudarun.arguments.tensor_map_layout import TensorMapLayout
from cudarun.arguments.tensor_map_options import FILLS, INTERLEAVES, NEWER, PROMOTIONS, SWIZZLES
from cudarun.base.errors import DeviceFailed, RequestError
from cudarun.session.driver.calls import Driver


def encode_tensor_map(driver: Driver, layout: TensorMapLayout, address: int) -> bytes:
    """Return the 128 bytes of the tensor map of a layout."""
    element = _enumerator(driver, "CUtensorMapDataType", "DATA_TYPE", layout.element.enumerator)
    settings = (
        _enumerator(driver, "CUtensorMapInterleave", "INTERLEAVE", INTERLEAVES[layout.interleave]),
        _enumerator(driver, "CUtensorMapSwizzle", "SWIZZLE", SWIZZLES[layout.swizzle]),
        _enumerator(driver, "CUtensorMapL2promotion", "L2_PROMOTION", PROMOTIONS[layout.l2]),
        _enumerator(driver, "CUtensorMapFloatOOBfill", "FLOAT_OOB_FILL", FILLS[layout.oob]),
    )
    columns = None
    if (pixels := layout.pixel_box) is not None:
        columns = [*pixels.lower[::-1]], [*pixels.upper[::-1]], pixels.channels, pixels.pixels
    shape, strides = layout.shape[::-1], layout.strides[::-1]
    steps, box = layout.element_strides[::-1], layout.box[::-1]
    try:
        return encode(driver, element, address, shape, strides, steps, box, settings, columns)
    except DeviceFailed as error:
        if newer := [each for each in (layout.swizzle, layout.type) if each in NEWER]:
            error.hint = f"{' and '.join(newer)} may require compute capability 10.0"
        raise


def encode(
    driver: Driver,
    element: int,
    address: int,
    shape: Sequence[int],
    strides: Sequence[int],
    steps: Sequence[int],
    box: Sequence[int],
    settings: tuple[int, int, int, int],
    columns: tuple[list[int], list[int], int, int] | None,
) -> bytes:
    """Return the bytes of a tensor map; its sizes are in the driver's order, innermost first.

    ``columns`` has the corners of im2col, its channels and its pixels; ``None`` for tiles.
    """
    # The driver requires an array of strides even if it needs none of them.
    sides = [driver.cuuint64_t(each) for each in shape]
    widths = [driver.cuuint64_t(each) for each in strides or (0,)]
    words = [driver.cuuint32_t(each) for each in steps]
    rank = len(shape)
    if columns is None:
        box_words = [driver.cuuint32_t(each) for each in box]
        found = driver.cuTensorMapEncodeTiled(
            element, rank, address, sides, widths, box_words, words, *settings
        )
    else:
        found = driver.cuTensorMapEncodeIm2col(
            element, rank, address, sides, widths, *columns, words, *settings
        )
    return b"".join(int(word).to_bytes(8, "little") for word in found.opaque)


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
