"""Tensor maps of matrices of floats."""

import numpy as np

FLOAT32 = 7  # CU_TENSOR_MAP_DATA_TYPE_FLOAT32
NONE, SWIZZLE_128B = 0, 3


def arguments(cuda, address, **changes):
    """The arguments of ``cuTensorMapEncodeTiled``: 96 x 64 floats, boxes of 32 x 32."""
    given = {
        "type": FLOAT32,
        "rank": 2,
        "address": address,
        "dims": (96, 64),
        "strides": (384,),
        "box": (32, 32),
        "steps": (1, 1),
        "interleave": NONE,
        "swizzle": NONE,
        "promotion": 2,
        "fill": 0,
        **changes,
    }
    longs, words = cuda.cuuint64_t, cuda.cuuint32_t
    return (
        cuda.CUtensorMapDataType(given["type"]),
        words(given["rank"]),
        given["address"],
        [longs(value) for value in given["dims"]],
        [longs(value) for value in given["strides"]],
        [words(value) for value in given["box"]],
        [words(value) for value in given["steps"]],
        cuda.CUtensorMapInterleave(given["interleave"]),
        cuda.CUtensorMapSwizzle(given["swizzle"]),
        cuda.CUtensorMapL2promotion(given["promotion"]),
        cuda.CUtensorMapFloatOOBfill(given["fill"]),
    )


def columns(cuda, address, **changes):
    """The arguments of ``cuTensorMapEncodeIm2col``: 16 channels of 9 x 7 pixels, 3 images."""
    given = {
        "lower": (-1, -1),
        "upper": (1, 1),
        "channels": 16,
        "pixels": 20,
        "rank": 4,
        "dims": (16, 9, 7, 3),
        "strides": (64, 576, 4032),
        "steps": (1, 1, 1, 1),
        **changes,
    }
    corners = {name: given.pop(name) for name in ("lower", "upper", "channels", "pixels")}
    *head, _, steps, interleave, swizzle, promotion, fill = arguments(cuda, address, **given)
    sizes = (cuda.cuuint32_t(corners["channels"]), cuda.cuuint32_t(corners["pixels"]))
    corner = (list(corners["lower"]), list(corners["upper"]))
    return (*head, *corner, *sizes, steps, interleave, swizzle, promotion, fill)


def map_bytes(tensor_map):
    """The 128 bytes of a map, in an array that is aligned as its allocation is."""
    return np.array([int(word) for word in tensor_map.opaque], np.uint64)
