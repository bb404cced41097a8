"""Texture objects: what they are made from, and what kernels of `ptx/textures.ptx` fetch."""

import ctypes

import numpy as np

from tests.conformance.arrays import format_of

INTEGER, NORMALIZED = 1, 2  # CU_TRSF_READ_AS_INTEGER, CU_TRSF_NORMALIZED_COORDINATES
WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, LINEAR = range(2)


def of_array(cuda, array):
    resource = cuda.CUDA_RESOURCE_DESC()
    resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    resource.res.array.hArray = array
    return resource


def of_linear(cuda, pointer, dtype, channels, size):
    resource = cuda.CUDA_RESOURCE_DESC()
    resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
    linear = resource.res.linear
    linear.devPtr, linear.format = pointer, format_of(cuda, dtype)
    linear.numChannels, linear.sizeInBytes = channels, size
    return resource


def of_pitched(cuda, pointer, dtype, channels, width, height, pitch):
    resource = cuda.CUDA_RESOURCE_DESC()
    resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
    pitched = resource.res.pitch2D
    pitched.devPtr, pitched.format = pointer, format_of(cuda, dtype)
    pitched.numChannels, pitched.width, pitched.height = channels, width, height
    pitched.pitchInBytes = pitch
    return resource


def described(cuda, mode=CLAMP, filter_mode=POINT, flags=0, border=(0.0,) * 4):
    description = cuda.CUDA_TEXTURE_DESC()
    description.addressMode = [cuda.CUaddress_mode(mode)] * 3
    description.filterMode = cuda.CUfilter_mode(filter_mode)
    description.flags, description.borderColor = flags, list(border)
    return description


def fetched(cuda, module, kernel, texture, coordinates, dtype=np.float32, channels=4):
    """Launch a kernel of the module on a texture, one thread to a coordinate."""
    coordinates = np.ascontiguousarray(coordinates)
    count = len(coordinates)
    given, out = cuda.cuMemAlloc(coordinates.nbytes), cuda.cuMemAlloc(4 * channels * count)
    cuda.cuMemcpyHtoD(given, coordinates, coordinates.nbytes)
    function = cuda.cuModuleGetFunction(module, kernel.encode())
    types = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int)
    values = (int(texture), int(given), int(out), count)
    cuda.launch(function, values, types, grid=(-(-count // 64), 1, 1), block=(64, 1, 1))
    result = np.zeros((count, channels), dtype)
    cuda.cuMemcpyDtoH(result, out, result.nbytes)
    cuda.cuMemFree(given)
    cuda.cuMemFree(out)
    return result
