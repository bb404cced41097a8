// Kernels that launch kernels. `children.ptx` beside it is what nvcc 13.0 gave for it, with the .version it
// needs: nvcc -rdc=true -ptx -arch=sm_90 children.cu, then `.version 8.3`. On a GPU it is linked with libcudadevrt.

#include <cstdio>

typedef long long i64;

extern "C" {

__device__ unsigned turn;
__device__ unsigned runs;

__global__ void stamp(i64* out, int slot) { out[slot] = atomicAdd(&turn, 1); }
__global__ void count() { atomicAdd(&runs, 1); }
__global__ void __launch_bounds__(64) bounded() {}
__global__ void __cluster_dims__(2, 1, 1) clustered(i64* out) {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    out[rank] = 100 + rank;
}
__global__ void shape(i64* out) {
    extern __shared__ int scratch[];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned dynamic;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
    if (threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0) {
        out[0] = gridDim.x + 1000 * gridDim.y;
        out[1] = blockDim.x;
        out[2] = dynamic;
        out[3] = scratch[blockDim.x - 1];
    }
}
__global__ void mixed(i64* out, char c, double d, short h, float f) {
    out[0] = c;
    out[1] = (i64)(d * 8);
    out[2] = h;
    out[3] = (i64)(f * 4);
}
__global__ void illegal() { *(volatile int*)0x10 = 3; }
__global__ void trapping() { asm volatile("trap;"); }
__global__ void prints(int number) { printf("child %d\n", number); }

// Children in one stream run in order; tail launches follow the grid and all its children.
__global__ void order(i64* out) {
    stamp<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 4);
    stamp<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 5);
    stamp<<<1, 1>>>(out, 1);
    stamp<<<1, 1>>>(out, 2);
    stamp<<<1, 1, 0, cudaStreamFireAndForget>>>(out, 3);
    out[0] = atomicAdd(&turn, 1);
}
__global__ void middle(i64* out) {
    stamp<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 1);
    out[0] = atomicAdd(&turn, 1);
}
// A grid is complete with its tail launches: what follows it in its stream waits for them.
__global__ void nested(i64* out) {
    middle<<<1, 1>>>(out);
    stamp<<<1, 1>>>(out, 2);
}
// The tail launches of a tail launch come before the next tail launch.
__global__ void tails(i64* out) {
    middle<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
    stamp<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 2);
}
__global__ void deep(i64* out, int depth, int most, cudaStream_t stream) {
    out[0] = depth;
    if (depth < most) deep<<<1, 1, 0, stream>>>(out, depth + 1, most, stream);
    cudaError_t error = cudaGetLastError();
    if (error) out[1] = error;
}
__global__ void many(i64* out, int launches, cudaStream_t stream) {
    i64 failed = 0, code = 0;
    for (int i = 0; i < launches; i++) {
        count<<<1, 1, 0, stream>>>();
        cudaError_t error = cudaGetLastError();
        if (error) failed++, code = error;
    }
    out[0] = failed;
    out[1] = code;
}
__global__ void read_runs(i64* out) { out[2] = runs; }

// Of each launch: whether there is a buffer, the result, the last error before and after it is read.
__device__ void attempt(i64* out, void* kernel, dim3 grid, dim3 block, unsigned shared, cudaStream_t stream) {
    void* buffer = cudaGetParameterBufferV2(kernel, grid, block, shared);
    out[0] = buffer != 0;
    out[1] = cudaLaunchDeviceV2(buffer, stream);
    out[2] = cudaPeekAtLastError();
    out[3] = cudaGetLastError();
    out[4] = cudaGetLastError();
}
__global__ void try_empty(i64* out, unsigned gx, unsigned gy, unsigned bx, unsigned bz, unsigned shared, i64 stream) {
    attempt(out, (void*)count, dim3(gx, gy, 1), dim3(bx, 1, bz), shared, (cudaStream_t)stream);
}
__global__ void try_bounded(i64* out, unsigned threads) {
    attempt(out, (void*)bounded, dim3(1, 1, 1), dim3(threads, 1, 1), 0, 0);
}
__global__ void try_cluster(i64* out, unsigned blocks) {
    clustered<<<blocks, 1>>>(out + 4);
    out[0] = cudaGetLastError();
}
__global__ void errors_of_threads(i64* out) {
    if (threadIdx.x == 1) count<<<1, 2000>>>();
    out[threadIdx.x] = cudaGetLastError();
}

__global__ void shapes(i64* out) {
    shape<<<dim3(2, 3), 64, 256>>>(out);
    mixed<<<1, 1>>>(out + 4, -3, 2.5, -300, 0.75f);
}
__global__ void values(i64* out) {
    int value = -7;
    size_t wide = 77;
    out[0] = cudaGetDevice(&value), out[1] = value;
    out[2] = cudaGetDeviceCount(&value), out[3] = value;
    out[4] = cudaRuntimeGetVersion(&value), out[5] = value;
    out[6] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0), out[7] = value;
    out[8] = cudaDeviceGetAttribute(&value, (cudaDeviceAttr)0, 0), out[9] = value;
    out[10] = cudaDeviceGetLimit(&wide, cudaLimitStackSize), out[11] = wide;
    out[12] = cudaDeviceGetLimit(&wide, cudaLimitDevRuntimePendingLaunchCount), out[13] = wide;
    out[14] = cudaDeviceGetLimit(&wide, cudaLimitDevRuntimeSyncDepth), out[15] = wide;
    out[16] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, (const void*)count, 128, 0), out[17] = value;
    out[18] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, (const void*)count, 0, 0), out[19] = value;
    cudaGetLastError();
    out[20] = cudaGetDevice(0), out[21] = cudaGetLastError();
    cudaFuncAttributes attributes;
    out[22] = cudaFuncGetAttributes(&attributes, (const void*)bounded), out[23] = attributes.maxThreadsPerBlock;
    out[24] = attributes.ptxVersion, out[25] = attributes.binaryVersion;
    out[26] = cudaFuncGetAttributes(&attributes, (const void*)0);
}
__global__ void objects(i64* out) {
    cudaStream_t stream = 0;
    cudaEvent_t event = 0;
    out[0] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    out[1] = cudaStreamCreateWithFlags(&stream, 2);
    out[2] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    out[3] = cudaEventCreateWithFlags(&event, cudaEventDefault);
    out[4] = cudaEventRecord(event, stream);
    out[5] = cudaStreamWaitEvent(0, event, 0);
    stamp<<<1, 1, 0, stream>>>(out, 12);
    out[6] = cudaEventDestroy(event);
    out[7] = cudaEventRecord((cudaEvent_t)0, stream);
    out[8] = cudaStreamDestroy(stream);
    out[9] = cudaStreamDestroy(0);
    out[10] = cudaStreamDestroy(cudaStreamTailLaunch);
}
__global__ void heap(i64* out) {
    void* block = (void*)99;
    out[0] = cudaMalloc(&block, 100);
    out[1] = cudaFree(block);
    block = (void*)99;
    out[2] = cudaMalloc(&block, (size_t)1 << 40), out[3] = (i64)block;
    out[4] = cudaMalloc(&block, 0), out[5] = (i64)block;
    out[6] = cudaFree(0);
}
__global__ void texts(char* out, int error) {
    const char* both[2] = {cudaGetErrorName((cudaError_t)error), cudaGetErrorString((cudaError_t)error)};
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 64; n++) {
            out[64 * i + n] = both[i][n];
            if (!both[i][n]) break;
        }
}
__global__ void copies(i64* out, char* from, char* to) {
    out[0] = cudaMemcpyAsync(to, from, 100, cudaMemcpyDeviceToDevice, 0);
    out[1] = cudaMemcpyAsync(to + 128, to, 64, cudaMemcpyDefault, 0);
    out[2] = cudaMemcpyAsync(to, from, 64, cudaMemcpyHostToDevice, 0);
    out[3] = cudaMemcpy2DAsync(to + 256, 32, from, 16, 10, 4, cudaMemcpyDeviceToDevice, 0);
    out[4] = cudaMemcpy2DAsync(to + 256, 8, from, 16, 10, 4, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpy3DParms box = {};
    box.srcPtr = cudaPitchedPtr{from, 16, 16, 4};
    box.dstPtr = cudaPitchedPtr{to + 512, 32, 32, 4};
    box.extent = cudaExtent{9, 3, 2};
    box.kind = cudaMemcpyDeviceToDevice;
    out[5] = cudaMemcpy3DAsync(&box, 0);
    out[6] = cudaMemsetAsync(to + 1024, 0, 50, 0);
    out[7] = cudaMemset2DAsync(to + 1280, 16, 0, 5, 3, 0);
    out[8] = cudaMemset2DAsync(to + 1280, 4, 0, 5, 3, 0);
    out[9] = cudaMemset3DAsync(cudaPitchedPtr{to + 1536, 16, 16, 4}, 0, cudaExtent{7, 2, 3}, 0);
    out[10] = cudaMemcpyAsync(to + 2048, to + 1000, 50, cudaMemcpyDeviceToDevice, cudaStreamTailLaunch);
    out[11] = cudaMemcpyAsync(to, from, 8, cudaMemcpyDeviceToDevice, (cudaStream_t)0x1234);
    out[12] = cudaMemcpyAsync(to, (void*)0, 8, cudaMemcpyDeviceToDevice, 0);
    out[13] = cudaMemcpyAsync(to, (void*)0, 0, cudaMemcpyDeviceToDevice, 0);
    char local[8];
    local[0] = from[0];
    out[14] = cudaMemcpyAsync(to, local, 8, cudaMemcpyDeviceToDevice, 0);
}
__global__ void fault(i64* out, int trap, i64 stream) {
    if (trap) trapping<<<1, 1, 0, (cudaStream_t)stream>>>();
    else illegal<<<1, 1, 0, (cudaStream_t)stream>>>();
}
__global__ void no_kernel() { cudaGetParameterBufferV2((void*)0, dim3(1, 1, 1), dim3(1, 1, 1), 0); }
__global__ void no_buffer() { cudaLaunchDeviceV2((void*)0, 0); }
__global__ void talk(i64* out) {
    prints<<<1, 1>>>(1);
    prints<<<1, 1>>>(2);
    prints<<<1, 1, 0, cudaStreamTailLaunch>>>(3);
}

}
