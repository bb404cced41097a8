// Between threads: the last block to finish, locks, flags between blocks, named barriers, atomics of all kinds.
// nvcc -arch=compute_80 -std=c++17

#include <cuda/atomic>

__device__ unsigned FINISHED;

// The mean and the variance: every block adds up its part, the last one the parts.
extern "C" __global__ void mean_variance(const float *x, int n, double2 *parts, double2 *out)
{
    __shared__ double2 sums[128];
    __shared__ bool last;
    double2 sum = {0, 0};
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
        sum.x += x[i];
        sum.y += (double)x[i] * x[i];
    }
    sums[threadIdx.x] = sum;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x].x += sums[threadIdx.x + half].x;
            sums[threadIdx.x].y += sums[threadIdx.x + half].y;
        }
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sums[0];
        __threadfence();
        last = atomicInc(&FINISHED, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x != 0)
        return;
    sum = {0, 0};
    for (int i = 0; i < gridDim.x; i++) {
        sum.x += ((volatile double2 *)parts)[i].x;
        sum.y += ((volatile double2 *)parts)[i].y;
    }
    *out = make_double2(sum.x / n, sum.y / n - sum.x / n * (sum.x / n));
}

// A spin lock taken by every thread, and a ticket lock by a thread of every block: counters that only a lock
// protects.
extern "C" __global__ void lock_counters(int *spin, volatile int *counter, unsigned *tickets,
                                         volatile int *history)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(spin, 0, 1) == 0) {
            __threadfence();
            *counter = *counter + 1;
            __threadfence();
            atomicExch(spin, 0);
            done = true;
        }
    }
    if (threadIdx.x != 0)
        return;
    unsigned mine = atomicAdd(tickets, 1);
    while (((volatile unsigned *)tickets)[1] != mine)
        ;
    int length = history[0];
    history[length + 1] = length * length;
    history[0] = length + 1;
    __threadfence();
    atomicAdd(tickets + 1, 1);
}

// A chain of blocks through cuda::atomic with acquire and release: each takes what the one before left.
extern "C" __global__ void pass_on(int *flags, long long *values)
{
    using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
    if (threadIdx.x != 0)
        return;
    int block = blockIdx.x;
    if (block > 0)
        while (Flag(flags[block - 1]).load(cuda::memory_order_acquire) == 0)
            ;
    values[block] = block == 0 ? 1 : 3 * values[block - 1] + block;
    Flag(flags[block]).store(1, cuda::memory_order_release);
    Flag(flags[gridDim.x]).fetch_add(block, cuda::memory_order_relaxed);
}

// Producers and consumers of one block, warps of each, over two buffers and four named barriers.
extern "C" __global__ void hand_over(const int *in, int *out, int rounds)
{
    __shared__ int buffer[2][64];
    int t = threadIdx.x % 64;
    bool producer = threadIdx.x < 64;
    for (int round = 0; round < rounds; round++) {
        int side = round % 2, full = 1 + side, empty = 3 + side;
        if (producer) {
            if (round >= 2)
                asm volatile("barrier.cta.sync %0, 128;" ::"r"(empty) : "memory");
            buffer[side][63 - t] = in[64 * round + t] * 2;
            asm volatile("barrier.cta.arrive %0, 128;" ::"r"(full) : "memory");
        } else {
            asm volatile("barrier.cta.sync %0, 128;" ::"r"(full) : "memory");
            out[64 * round + t] = buffer[side][t] + 1;
            if (round + 2 < rounds)
                asm volatile("barrier.cta.arrive %0, 128;" ::"r"(empty) : "memory");
        }
    }
}

// Every atomic there is, many threads on few places; only what does not depend on the order is kept.
extern "C" __global__ void all_atomics(const int *in, int *i32, unsigned *u32, unsigned long long *u64,
                                       double *f64, float *f32, unsigned short *u16)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    atomicAdd(i32, x);
    atomicSub(i32 + 1, x);
    atomicMin(i32 + 2, x);
    atomicMax(i32 + 3, x);
    atomicAnd(i32 + 4, x | 0xff00);
    atomicOr(i32 + 5, x & 0xff);
    atomicXor(i32 + 6, x);
    atomicInc(u32, 99);
    atomicDec(u32 + 1, 49);
    atomicMin(u32 + 2, (unsigned)x);
    atomicMax(u32 + 3, (unsigned)x);
    atomicAdd(u64, (unsigned long long)x << 20);
    atomicMax(u64 + 1, (unsigned long long)x * x);
    atomicMin((long long *)u64 + 2, -(long long)x << 33);
    atomicXor(u64 + 3, (unsigned long long)x << (i % 32));
    atomicAdd(f64, (double)x);
    atomicAdd(f32, (float)(x % 16));
    // The largest float by compare-and-swap of its bits.
    int *place = (int *)(f32 + 1), was = *place;
    float mine = x * 0.5f;
    while (__int_as_float(was) < mine) {
        int seen = atomicCAS(place, was, __float_as_int(mine));
        if (seen == was)
            break;
        was = seen;
    }
    unsigned short old = *u16, seen;
    while ((seen = atomicCAS(u16, old, (unsigned short)(old + 1))) != old)
        old = seen;
}
