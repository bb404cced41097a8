"""CUDA arrays, made and filled for tests of the arrays and of the textures that show them."""

import numpy as np

FORMATS = {
    "u1": "UNSIGNED_INT8",
    "u2": "UNSIGNED_INT16",
    "u4": "UNSIGNED_INT32",
    "i1": "SIGNED_INT8",
    "i2": "SIGNED_INT16",
    "i4": "SIGNED_INT32",
    "f2": "HALF",
    "f4": "FLOAT",
}


def format_of(cuda, dtype):
    return getattr(cuda.CUarray_format, f"CU_AD_FORMAT_{FORMATS[np.dtype(dtype).str[1:]]}")


def create_array(cuda, dtype, channels, width, height=0):
    descriptor = cuda.CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format, descriptor.NumChannels = format_of(cuda, dtype), channels
    descriptor.Width, descriptor.Height = width, height
    return cuda.cuArrayCreate(descriptor)


def rectangle(cuda, *, rows, width, source, target):
    """A ``CUDA_MEMCPY2D``; a side is an array of numpy, a CUDA array, or an address and a pitch."""
    copy = cuda.CUDA_MEMCPY2D()
    for side, given in (("src", source), ("dst", target)):
        if isinstance(given, np.ndarray):
            kind = cuda.CUmemorytype.CU_MEMORYTYPE_HOST
            setattr(copy, f"{side}Host", given)
            setattr(copy, f"{side}Pitch", given.strides[0])
        elif isinstance(given, tuple):
            kind = cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
            setattr(copy, f"{side}Device", given[0])
            setattr(copy, f"{side}Pitch", given[1])
        else:
            kind = cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY
            setattr(copy, f"{side}Array", given)
        setattr(copy, f"{side}MemoryType", kind)
    copy.WidthInBytes, copy.Height = width, rows
    return copy


def array_with(cuda, texels):
    """A CUDA array of texels: columns and channels, or rows, columns and channels."""
    texels = np.ascontiguousarray(texels)
    *rows, columns, channels = texels.shape
    array = create_array(cuda, texels.dtype, channels, columns, *rows)
    if not rows:
        cuda.cuMemcpyHtoA(array, 0, texels, texels.nbytes)
    else:
        row = columns * channels * texels.itemsize
        cuda.cuMemcpy2D(
            rectangle(cuda, rows=rows[0], width=row, source=texels.reshape(rows[0], -1),
                      target=array)
        )  # fmt: skip
    return array


def numbers(count, channels=1, dtype=np.float32):
    return np.arange(1, count * channels + 1).astype(dtype).reshape(count, channels)
