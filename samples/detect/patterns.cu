// Correct synchronization in several patterns: --detect race must report nothing.

// --- the last block of the grid sums the results of the others --------------------------------------

extern "C" __global__ void last_block_sum(const int* x, int* sums, unsigned* done, int* total) {
    __shared__ int part;
    __shared__ bool last;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    atomicAdd(&part, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = part;
        __threadfence();  // the sum is visible before the block is counted
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (int block = 0; block < gridDim.x; ++block) all += sums[block];
        *total = all;
    }
}

// --- a lock around a non-atomic update -----------------------------------------------------------------

extern "C" __global__ void locked_count(int* lock, int* count, int* who) {
    bool waiting = true;
    while (waiting) {  // lock and unlock in one iteration: no lane of a warp starves
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *count += 1;
            *who = threadIdx.x;
            __threadfence();
            atomicExch(lock, 0);
            waiting = false;
        }
    }
}

// --- one block produces, the other consumes, synchronized by a flag -----------------------------------------

extern "C" __global__ void hand_over(int* data, volatile int* ready, int* result, int rounds) {
    for (int round = 1; round <= rounds; ++round) {
        if (blockIdx.x == 0) {
            data[threadIdx.x] = round * threadIdx.x;
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) {
                *ready = 2 * round - 1;
                while (*ready != 2 * round) {
                }
                __threadfence();
            }
            __syncthreads();
        } else {
            if (threadIdx.x == 0) {
                while (*ready != 2 * round - 1) {
                }
                __threadfence();
            }
            __syncthreads();
            result[threadIdx.x] += data[blockDim.x - 1 - threadIdx.x];
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) *ready = 2 * round;
        }
    }
}

// --- two buffers, so that one barrier per iteration is enough -----------------------------------------------

extern "C" __global__ void double_buffer(const int* x, int* sums, int rounds) {
    __shared__ int part[2][64];
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        part[round % 2][threadIdx.x] = x[round * blockDim.x + threadIdx.x];
        __syncthreads();
        sum += part[round % 2][(threadIdx.x + 1) % blockDim.x];
    }
    sums[threadIdx.x] = sum;
}

// --- half of a block produces, half consumes, synchronized by barriers with numbers and counts ----------------

extern "C" __global__ void pipeline(const int* x, int* y, int rounds) {
    __shared__ int box[64];
    const int place = threadIdx.x % 64;
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x < 64) {
            if (round > 0) asm volatile("barrier.sync 2, 128;" ::: "memory");  // box is empty
            box[place] = x[round * 64 + place];
            asm volatile("barrier.arrive 1, 128;" ::: "memory");  // box is full
        } else {
            asm volatile("barrier.sync 1, 128;" ::: "memory");
            y[round * 64 + place] = 2 * box[63 - place];
            if (round < rounds - 1) asm volatile("barrier.arrive 2, 128;" ::: "memory");
        }
    }
}

// --- warps exchange data through registers and one element each in shared memory --------------------------------

extern "C" __global__ void shuffle_sum(const int* x, int* sum) {
    __shared__ int parts[32];
    int value = x[threadIdx.x];
    for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffu, value, half);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
        for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffu, value, half);
        if (threadIdx.x == 0) *sum = value;
    }
}

// --- groups of eight lanes, each with its own synchronization ---------------------------------------------------

extern "C" __global__ void octets(const int* x, int* y) {
    __shared__ int part[64];
    const unsigned lane = threadIdx.x % 32, group = lane / 8;
    const unsigned mask = 0xffu << (8 * group);
    part[threadIdx.x] = x[threadIdx.x];
    __syncwarp(mask);
    const int first = threadIdx.x - threadIdx.x % 8;
    y[threadIdx.x] = part[first + 7 - threadIdx.x % 8];
}

// --- many threads set one flag to the same value ----------------------------------------------------------------

extern "C" __global__ void any_negative(const int* x, int* found, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < 0) *found = 1;
}

// --- repeated grid-wide barriers ---------------------------------------------------------------------------------------

extern "C" __global__ void relax(float* a, float* b, unsigned* arrived, int n, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        const float left = a[i > 0 ? i - 1 : i], right = a[i < n - 1 ? i + 1 : i];
        b[i] = (left + right) / 2.0f;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(arrived, 1u);
            while (*(volatile unsigned*)arrived < (round + 1) * gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
        float* other = a;
        a = b;
        b = other;
    }
}
