// Sorting: bitonic network, radix sort of a block, merging by diagonals, odd and even.
// nvcc -arch=compute_80

// Each block sorts 512 keys, with their values, by a bitonic network in shared memory.
extern "C" __global__ void sort_bitonic(float *keys, int *values)
{
    __shared__ float key[512];
    __shared__ int value[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    for (int i = t; i < 512; i += blockDim.x) {
        key[i] = keys[base + i];
        value[i] = base + i;
    }
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (stride - 1)), j = i + stride;
            bool up = (i & size) == 0;
            if ((key[i] > key[j]) == up) {
                float k = key[i]; key[i] = key[j]; key[j] = k;
                int v = value[i]; value[i] = value[j]; value[j] = v;
            }
        }
    __syncthreads();
    for (int i = t; i < 512; i += blockDim.x) {
        keys[base + i] = key[i];
        values[base + i] = value[i];
    }
}

// One block: stable radix sort, 4 bits at a time. Lanes of a warp with the same digit find each other by
// __match_any_sync; dynamic shared memory holds the keys.
extern "C" __global__ void __launch_bounds__(256) sort_radix(unsigned *keys, int n)
{
    extern __shared__ unsigned buffer[];
    __shared__ unsigned counts[16][8];
    unsigned *from = buffer, *to = buffer + n;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int share = (n + 7) / 8, first = warp * share, last = min(n, first + share);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        from[i] = keys[i];
    for (int shift = 0; shift < 32; shift += 4) {
        __syncthreads();
        if (threadIdx.x < 128)
            counts[threadIdx.x / 8][threadIdx.x % 8] = 0;
        __syncthreads();
        for (int i = first + lane; i < last; i += 32)
            atomicAdd(&counts[from[i] >> shift & 15][warp], 1);
        __syncthreads();
        if (warp == 0) {
            unsigned sum = 0;
            for (int i = 0; i < 4; i++)
                sum += (&counts[0][0])[4 * lane + i];
            unsigned own = sum;
            for (int d = 1; d < 32; d *= 2) {
                unsigned other = __shfl_up_sync(~0u, sum, d);
                sum += lane >= d ? other : 0;
            }
            sum -= own;
            for (int i = 0; i < 4; i++) {
                unsigned *place = &(&counts[0][0])[4 * lane + i], count = *place;
                *place = sum;
                sum += count;
            }
        }
        __syncthreads();
        for (int start = first; start < last; start += 32) {
            bool there = start + lane < last;
            unsigned active = __ballot_sync(~0u, there);
            if (there) {
                unsigned key = from[start + lane], digit = key >> shift & 15;
                unsigned peers = __match_any_sync(active, digit);
                unsigned rank = __popc(peers & ((1u << lane) - 1));
                unsigned place = counts[digit][warp] + rank;
                __syncwarp(active);
                if (rank == 0)
                    counts[digit][warp] += __popc(peers);
                to[place] = key;
            }
            __syncwarp();
        }
        unsigned *t = from; from = to; to = t;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        keys[i] = from[i];
}

// Merge two sorted lists: each thread finds by bisection where its diagonal crosses the merge path, then
// writes eight elements.
extern "C" __global__ void merge_sorted(const long long *a, int m, const long long *b, int n,
                                        long long *out)
{
    int diagonal = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (diagonal >= m + n)
        return;
    int low = max(0, diagonal - n), high = min(diagonal, m);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    int i = low, j = diagonal - low;
    for (int k = diagonal; k < min(diagonal + 8, m + n); k++)
        out[k] = j >= n || (i < m && a[i] <= b[j]) ? a[i++] : b[j++];
}

// Merge sort of 2^k keys for each thread, bottom up, between two arrays in local memory.
extern "C" __global__ void sort_local(short *rows)
{
    short a[32], b[32];
    short *row = rows + 32 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = 0; i < 32; i++)
        a[i] = row[i];
    short *from = a, *to = b;
    for (int width = 1; width < 32; width *= 2) {
        for (int start = 0; start < 32; start += 2 * width) {
            int i = start, j = start + width;
            for (int k = start; k < start + 2 * width; k++)
                to[k] = j >= start + 2 * width || (i < start + width && from[i] <= from[j])
                            ? from[i++] : from[j++];
        }
        short *t = from; from = to; to = t;
    }
    for (int i = 0; i < 32; i++)
        row[i] = from[i];
}
