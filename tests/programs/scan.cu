// Prefix sums: of blocks, of a whole grid in one pass, by segments.
// nvcc -arch=compute_80

const int WARP = 32;
const int THREADS = 256;

// Inclusive sum over the lanes of a warp.
template <typename T>
__device__ T scan_warp(T value)
{
    int lane = threadIdx.x % WARP;
    for (int distance = 1; distance < WARP; distance *= 2) {
        T other = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance)
            value += other;
    }
    return value;
}

// Inclusive sum over the threads of a block; every thread learns the total too.
template <typename T>
__device__ T scan_threads(T value, T *total)
{
    __shared__ T sums[THREADS / WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    value = scan_warp(value);
    __syncthreads();
    if (lane == WARP - 1)
        sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        T sum = lane < THREADS / WARP ? sums[lane] : T(0);
        sum = scan_warp(sum);
        if (lane < THREADS / WARP)
            sums[lane] = sum;
    }
    __syncthreads();
    *total = sums[THREADS / WARP - 1];
    return warp == 0 ? value : value + sums[warp - 1];
}

// Each block: inclusive sums of its 1024 elements, four by each thread.
extern "C" __global__ void scan_block(const int4 *in, int4 *out, int *totals)
{
    int index = blockIdx.x * THREADS + threadIdx.x;
    int4 x = in[index];
    x.y += x.x;
    x.z += x.y;
    x.w += x.z;
    int total, before = scan_threads(x.w, &total) - x.w;
    out[index] = make_int4(x.x + before, x.y + before, x.z + before, x.w + before);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

// Decoupled look-back (Merrill, Garland 2016): blocks take numbers in the order in which they run, publish
// their own sum, then add up what their predecessors published until one knows its prefix.
enum State : unsigned { NOTHING = 0, SUM = 1, PREFIX = 2 };

__device__ void publish(volatile unsigned long long *place, State state, unsigned value)
{
    __threadfence();
    *place = (unsigned long long)state << 32 | value;
}

__device__ unsigned sum_before(volatile unsigned long long *states, int block)
{
    unsigned sum = 0;
    int lane = threadIdx.x;
    for (int last = block - 1; last >= 0; last -= WARP) {
        int mine = last - lane;
        unsigned long long word = (unsigned long long)PREFIX << 32;
        if (mine >= 0)
            do
                word = states[mine];
            while (word >> 32 == NOTHING);
        unsigned known = __ballot_sync(0xffffffff, word >> 32 == PREFIX);
        int nearest = known ? __ffs(known) - 1 : WARP - 1;
        sum += __reduce_add_sync(0xffffffff, lane <= nearest ? (unsigned)word : 0);
        if (known)
            break;
    }
    return sum;
}

extern "C" __global__ void scan_lookback(const unsigned *in, unsigned *out, unsigned *ticket,
                                         unsigned long long *states, int n)
{
    __shared__ int block;
    __shared__ unsigned prefix;
    if (threadIdx.x == 0)
        block = atomicAdd(ticket, 1);
    __syncthreads();
    int index = block * THREADS + threadIdx.x;
    unsigned total, value = scan_threads(index < n ? in[index] : 0u, &total);
    if (threadIdx.x < WARP) {
        if (threadIdx.x == 0)
            publish(states + block, block == 0 ? PREFIX : SUM, total);
        unsigned before = sum_before(states, block);
        if (threadIdx.x == 0) {
            if (block > 0)
                publish(states + block, PREFIX, before + total);
            prefix = before;
        }
    }
    __syncthreads();
    if (index < n)
        out[index] = prefix + value;
}

// Sums that begin anew at each head, by the operator of segmented scans.
struct Part {
    int head;
    double sum;
};

__device__ Part combine(Part left, Part right)
{
    return {left.head | right.head, right.head ? right.sum : left.sum + right.sum};
}

extern "C" __global__ void scan_segments(const double *in, const unsigned char *heads, double *out)
{
    __shared__ Part parts[2][THREADS];
    int index = blockIdx.x * THREADS + threadIdx.x, from = 0;
    parts[0][threadIdx.x] = {threadIdx.x == 0 || heads[index], in[index]};
    for (int distance = 1; distance < THREADS; distance *= 2) {
        __syncthreads();
        Part part = parts[from][threadIdx.x];
        if (threadIdx.x >= distance)
            part = combine(parts[from][threadIdx.x - distance], part);
        parts[1 - from][threadIdx.x] = part;
        from = 1 - from;
    }
    __syncthreads();
    out[index] = parts[from][threadIdx.x].sum;
}
