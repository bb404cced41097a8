/* The part of the CUDA driver API that this library uses, without CUDA's headers.
 *
 * Handles are opaque pointers, a CUdeviceptr is 64 bits. The layouts are those of the public ABI,
 * which the driver keeps.
 */
#ifndef CUDARUN_DRIVER_H
#define CUDARUN_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUlibrary, *CUfunction, *CUkernel, *CUstream, *CUevent;
typedef void *CUmemoryPool, *CUlinkState, *CUgraph, *CUgraphExec, *CUgraphNode;

enum { CUDA_SUCCESS = 0, CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_NOT_READY = 600 };
enum { FIRST_ERROR_OF_CAPTURES = 900 };
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4, ATTRIBUTE_PROGRAMMATIC = 6 };
enum { CAPTURE_MODE_RELAXED = 2 };
enum { KERNEL_NODE = 0, GRAPH_NODE = 4 };
enum { MEM_ALLOC_NODE = 10, MEM_FREE_NODE, BATCH_MEM_OP_NODE, CONDITIONAL_NODE };

/* The default stream of a thread, which a null stream is in calls whose names end with _ptsz. */
#define STREAM_PER_THREAD ((CUstream)2)

typedef struct {
    int id;
    char padding[4];
    union {
        char bytes[64];
        unsigned cluster[3];
        int cooperative;
        int programmatic;
    } value;
} LaunchAttribute;

typedef struct {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    CUstream stream;
    LaunchAttribute *attributes;
    unsigned attribute_count;
} LaunchConfig;

/* The driver's own functions that this library calls: X(result, name, parameters). */
#define DRIVER_CALLS(X)                                                                            \
    X(cuArray3DGetDescriptor_v2, (void *, uint64_t))                                               \
    X(cuCtxGetCurrent, (CUcontext *))                                                              \
    X(cuCtxGetDevice, (CUdevice *))                                                                \
    X(cuCtxGetLimit, (size_t *, int))                                                              \
    X(cuCtxSynchronize, (void))                                                                    \
    X(cuDeviceGetAttribute, (int *, int, CUdevice))                                                \
    X(cuDeviceGetName, (char *, int, CUdevice))                                                    \
    X(cuDriverGetVersion, (int *))                                                                 \
    X(cuEventCreate, (CUevent *, unsigned))                                                        \
    X(cuEventElapsedTime, (float *, CUevent, CUevent))                                             \
    X(cuEventQuery, (CUevent))                                                                     \
    X(cuEventRecord, (CUevent, CUstream))                                                          \
    X(cuFuncGetAttribute, (int *, int, CUfunction))                                                \
    X(cuFuncGetModule, (CUmodule *, CUfunction))                                                   \
    X(cuFuncGetName, (const char **, CUfunction))                                                  \
    X(cuFuncGetParamInfo, (CUfunction, size_t, size_t *, size_t *))                                \
    X(cuGraphChildGraphNodeGetGraph, (CUgraphNode, CUgraph *))                                     \
    X(cuGraphClone, (CUgraph *, CUgraph))                                                          \
    X(cuGraphDestroy, (CUgraph))                                                                   \
    X(cuGraphDestroyNode, (CUgraphNode))                                                           \
    X(cuGraphExecDestroy, (CUgraphExec))                                                           \
    X(cuGraphGetEdges, (CUgraph, CUgraphNode *, CUgraphNode *, size_t *))                          \
    X(cuGraphGetEdges_v2, (CUgraph, CUgraphNode *, CUgraphNode *, void *, size_t *))               \
    X(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *))                                         \
    X(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, uint64_t))                             \
    X(cuGraphKernelNodeGetAttribute, (CUgraphNode, int, void *))                                   \
    X(cuGraphKernelNodeGetParams_v2, (CUgraphNode, void *))                                        \
    X(cuGraphKernelNodeSetParams_v2, (CUgraphNode, const void *))                                  \
    X(cuGraphLaunch, (CUgraphExec, CUstream))                                                      \
    X(cuGraphNodeFindInClone, (CUgraphNode *, CUgraphNode, CUgraph))                               \
    X(cuGraphNodeGetType, (CUgraphNode, int *))                                                    \
    X(cuKernelGetName, (const char **, CUkernel))                                                  \
    X(cuKernelGetParamInfo, (CUkernel, size_t, size_t *, size_t *))                                \
    X(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr))                             \
    X(cuMemcpy3D_v2, (const void *))                                                               \
    X(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                              \
    X(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *))                     \
    X(cuStreamIsCapturing, (CUstream, int *))                                                      \
    X(cuStreamSynchronize, (CUstream))                                                             \
    X(cuThreadExchangeStreamCaptureMode, (int *))

#define DECLARE(name, parameters) extern CUresult(*driver_##name) parameters;
DRIVER_CALLS(DECLARE)
#undef DECLARE

/* Load the pointers of DRIVER_CALLS, once; false if libcuda is not loaded. Calls that an older
 * driver does not have stay null. */
int driver_ready(void);

/* The driver's own function of a name that this library exports; null without a driver. */
void *driver_function(const char *name);

#endif
