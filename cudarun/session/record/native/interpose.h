/* The functions that replace the driver's. Each is exported under the driver's name.
 *
 * A function whose body begins with REAL(name, …) calls the driver's function with `real(…)`.
 */
#ifndef CUDARUN_INTERPOSE_H
#define CUDARUN_INTERPOSE_H

#include "driver.h"

/* The names of all replaced functions. */
#define REPLACED(X)                                                                                \
    X(cuGetProcAddress)                                                                            \
    X(cuGetProcAddress_v2)                                                                         \
    X(cuGraphExecChildGraphNodeSetParams)                                                          \
    X(cuGraphExecDestroy)                                                                          \
    X(cuGraphExecEventRecordNodeSetEvent)                                                          \
    X(cuGraphExecEventWaitNodeSetEvent)                                                            \
    X(cuGraphExecHostNodeSetParams)                                                                \
    X(cuGraphExecKernelNodeSetParams)                                                              \
    X(cuGraphExecKernelNodeSetParams_v2)                                                           \
    X(cuGraphExecMemcpyNodeSetParams)                                                              \
    X(cuGraphExecMemsetNodeSetParams)                                                              \
    X(cuGraphExecNodeSetParams)                                                                    \
    X(cuGraphExecUpdate)                                                                           \
    X(cuGraphExecUpdate_v2)                                                                        \
    X(cuGraphInstantiate)                                                                          \
    X(cuGraphInstantiateWithFlags)                                                                 \
    X(cuGraphInstantiateWithParams)                                                                \
    X(cuGraphInstantiateWithParams_ptsz)                                                           \
    X(cuGraphInstantiate_v2)                                                                       \
    X(cuGraphLaunch)                                                                               \
    X(cuGraphLaunch_ptsz)                                                                          \
    X(cuGraphNodeSetEnabled)                                                                       \
    X(cuIpcCloseMemHandle)                                                                         \
    X(cuIpcOpenMemHandle)                                                                          \
    X(cuIpcOpenMemHandle_v2)                                                                       \
    X(cuKernelGetFunction)                                                                         \
    X(cuLaunchCooperativeKernel)                                                                   \
    X(cuLaunchCooperativeKernel_ptsz)                                                              \
    X(cuLaunchKernel)                                                                              \
    X(cuLaunchKernel_ptsz)                                                                         \
    X(cuLaunchKernelEx)                                                                            \
    X(cuLaunchKernelEx_ptsz)                                                                       \
    X(cuLibraryEnumerateKernels)                                                                   \
    X(cuLibraryGetKernel)                                                                          \
    X(cuLibraryGetModule)                                                                          \
    X(cuLibraryLoadData)                                                                           \
    X(cuLibraryLoadFromFile)                                                                       \
    X(cuLibraryUnload)                                                                             \
    X(cuMemAllocAsync)                                                                             \
    X(cuMemAllocAsync_ptsz)                                                                        \
    X(cuMemAllocFromPoolAsync)                                                                     \
    X(cuMemAllocFromPoolAsync_ptsz)                                                                \
    X(cuMemAllocHost_v2)                                                                           \
    X(cuMemAllocManaged)                                                                           \
    X(cuMemAllocPitch_v2)                                                                          \
    X(cuMemAlloc_v2)                                                                               \
    X(cuMemFreeAsync)                                                                              \
    X(cuMemFreeAsync_ptsz)                                                                         \
    X(cuMemFreeHost)                                                                               \
    X(cuMemFree_v2)                                                                                \
    X(cuMemHostAlloc)                                                                              \
    X(cuMemHostRegister_v2)                                                                        \
    X(cuMemHostUnregister)                                                                         \
    X(cuMemMap)                                                                                    \
    X(cuMemUnmap)                                                                                  \
    X(cuModuleEnumerateFunctions)                                                                  \
    X(cuModuleGetFunction)                                                                         \
    X(cuModuleLoad)                                                                                \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleLoadDataEx)                                                                          \
    X(cuModuleLoadFatBinary)                                                                       \
    X(cuModuleUnload)                                                                              \
    X(cuStreamBeginCapture)                                                                        \
    X(cuStreamBeginCaptureToGraph)                                                                 \
    X(cuStreamBeginCaptureToGraph_ptsz)                                                            \
    X(cuStreamBeginCapture_ptsz)                                                                   \
    X(cuStreamBeginCapture_v2)                                                                     \
    X(cuStreamBeginCapture_v2_ptsz)                                                                \
    X(cuSurfObjectCreate)                                                                          \
    X(cuSurfObjectDestroy)                                                                         \
    X(cuTensorMapEncodeIm2col)                                                                     \
    X(cuTensorMapEncodeTiled)                                                                      \
    X(cuTexObjectCreate)                                                                           \
    X(cuTexObjectDestroy)

#define EXPORT __attribute__((visibility("default")))

/* Look up the driver's function, once, or return the error of a missing driver. */
#define REAL(name, ...)                                                                            \
    static CUresult (*real)(__VA_ARGS__);                                                          \
    if (!real) real = (CUresult(*)(__VA_ARGS__))driver_function(#name);                            \
    if (!real) return CUDA_ERROR_NOT_INITIALIZED

#endif
