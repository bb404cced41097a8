"""A captured and a constructed graph over driver, runtime and NVRTC; exits with argument 1."""

import ctypes
import sys

import numpy as np
from cuda.bindings import driver as cuda
from cuda.bindings import nvrtc
from cuda.bindings import runtime as cudart

SOURCE = b"""
extern "C" __global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
extern "C" __global__ void copy(cudaTextureObject_t from, float *to)
{
    to[threadIdx.x] = tex2D<float>(from, threadIdx.x + 0.5f, 1.5f);
}
"""
KIND = cudart.cudaMemcpyKind


def check(answer):
    """The value or values of a call, which must have succeeded."""
    result, *values = answer
    if int(result):
        sys.exit(f"{result!r}")
    return values[0] if len(values) == 1 else values


def print_errors(*answers):
    """Print the names: ``str`` of an error is its number in the bindings of CUDA 12."""
    print(*(error.name for error, *_ in answers))


def kernels(*names):
    major, minor = (
        check(cudart.cudaDeviceGetAttribute(attribute, 0))
        for attribute in (
            cudart.cudaDeviceAttr.cudaDevAttrComputeCapabilityMajor,
            cudart.cudaDeviceAttr.cudaDevAttrComputeCapabilityMinor,
        )
    )
    program = check(nvrtc.nvrtcCreateProgram(SOURCE, b"graph.cu", 0, [], []))
    option = f"--gpu-architecture=sm_{major}{minor}".encode()
    check(nvrtc.nvrtcCompileProgram(program, 1, [option]))
    code = b" " * check(nvrtc.nvrtcGetCUBINSize(program))
    check(nvrtc.nvrtcGetCUBIN(program, code))
    module = check(cuda.cuModuleLoadData(code))
    return [check(cuda.cuModuleGetFunction(module, name)) for name in names]


def launch(kernel, block, stream, *arguments):
    given = tuple(value for value, _ in arguments), tuple(kind for _, kind in arguments)
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, block, 1, 1, 0, stream, given, 0))


def captured(scale, host, device, n):
    """Copy, scale twice in a graph that is launched twice, copy back."""
    stream = check(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking))
    mode = cudart.cudaStreamCaptureMode.cudaStreamCaptureModeGlobal
    check(cudart.cudaMemcpy(device, host, host.nbytes, KIND.cudaMemcpyHostToDevice))
    check(cudart.cudaStreamBeginCapture(stream, mode))
    for factor in (2.0, 3.0):
        launch(
            scale, n, stream, (device, ctypes.c_void_p), (factor, ctypes.c_float), (n, ctypes.c_int)
        )
    graph = check(cudart.cudaStreamEndCapture(stream))
    print("captured", check(cudart.cudaGraphGetNodes(graph))[1], "nodes")
    ready = check(cudart.cudaGraphInstantiate(graph, 0))
    for _ in range(2):
        check(cudart.cudaGraphLaunch(ready, stream))
    check(cudart.cudaStreamSynchronize(stream))
    result = np.empty_like(host)
    check(cudart.cudaMemcpy(result, device, host.nbytes, KIND.cudaMemcpyDeviceToHost))
    return result


def constructed(host, device):
    """Fill device memory, then copy into its second half."""
    half = host.nbytes // 2
    fill = cudart.cudaMemsetParams()
    fill.dst, fill.value, fill.elementSize = device, 0x3F800000, 4
    fill.width, fill.height = host.size, 1
    copy = cudart.cudaMemcpy3DParms()
    copy.srcPtr = cudart.make_cudaPitchedPtr(host, half, half, 1)
    copy.dstPtr = cudart.make_cudaPitchedPtr(device + half, half, half, 1)
    copy.extent = cudart.make_cudaExtent(half, 1, 1)
    copy.kind = KIND.cudaMemcpyHostToDevice
    graph = check(cudart.cudaGraphCreate(0))
    first = check(cudart.cudaGraphAddMemsetNode(graph, None, 0, fill))
    check(cudart.cudaGraphAddMemcpyNode(graph, [first], 1, copy))
    check(cudart.cudaGraphLaunch(check(cudart.cudaGraphInstantiate(graph, 0)), 0))
    result = np.empty_like(host)
    check(cudart.cudaMemcpy(result, device, host.nbytes, KIND.cudaMemcpyDefault))
    return result


def row_of_texture(copy, device):
    """The second row of an array of 4 × 2, through a texture."""
    texels = np.arange(8, dtype=np.float32)
    kind = cudart.cudaChannelFormatKind.cudaChannelFormatKindFloat
    channels = check(cudart.cudaCreateChannelDesc(32, 0, 0, 0, kind))
    array = check(cudart.cudaMallocArray(channels, 4, 2, 0))
    box = cudart.cudaMemcpy3DParms()
    box.srcPtr = cudart.make_cudaPitchedPtr(texels, 16, 4, 2)
    box.dstArray = array
    box.extent = cudart.make_cudaExtent(4, 2, 1)
    box.kind = KIND.cudaMemcpyHostToDevice
    check(cudart.cudaMemcpy3D(box))
    resource, texture = cudart.cudaResourceDesc(), cudart.cudaTextureDesc()
    resource.resType = cudart.cudaResourceType.cudaResourceTypeArray
    resource.res.array.array = array
    texture.readMode = cudart.cudaTextureReadMode.cudaReadModeElementType
    made = check(cudart.cudaCreateTextureObject(resource, texture, None))
    launch(copy, 4, 0, (made, None), (device, ctypes.c_void_p))
    back = np.empty(4, dtype=np.float32)
    check(cudart.cudaMemcpy(back, device, back.nbytes, KIND.cudaMemcpyDeviceToHost))
    check(cudart.cudaDestroyTextureObject(made))
    check(cudart.cudaFreeArray(array))
    return back


def main():
    check(cudart.cudaSetDevice(0))
    scale, copy = kernels(b"scale", b"copy")
    host = np.arange(8, dtype=np.float32)
    device = check(cudart.cudaMalloc(host.nbytes))
    print(captured(scale, host, device, host.size))
    print(constructed(host, device))
    print(row_of_texture(copy, device))
    check(cudart.cudaFree(device))
    print_errors(cudart.cudaFree(device + 1), cudart.cudaGetLastError(), cudart.cudaGetLastError())
    print_errors(cudart.cudaMalloc(1 << 50), cudart.cudaSetDevice(1000))
    return int(sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
