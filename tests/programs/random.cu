// Random numbers from counters (Philox 4×32-10), and what is computed with them.
// nvcc -arch=compute_80

__device__ uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        unsigned low0 = 0xD2511F53u * counter.x, high0 = __umulhi(0xD2511F53u, counter.x);
        unsigned low1 = 0xCD9E8D57u * counter.z, high1 = __umulhi(0xCD9E8D57u, counter.z);
        counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

extern "C" __global__ void philox_numbers(uint4 *out, uint2 key, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = philox(make_uint4(i, i * i, ~i, 7), key);
}

// How many of the points fall into the quarter of a circle; exact, by integers of 64 bits.
extern "C" __global__ void count_inside(unsigned *inside, int rounds, uint2 key)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (int round = 0; round < rounds; round++) {
        uint4 r = philox(make_uint4(i, round, 0, 0), key);
        count += __umul64hi(r.x * 1ULL * r.x, 1ULL << 32) + __umul64hi(r.y * 1ULL * r.y, 1ULL << 32) <
                 1ULL << 32;
        count += r.z * 1ULL * r.z <= ~0ULL - r.w * 1ULL * r.w;
    }
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, count);
}

// Prices of a European call: normal numbers by Box and Muller, in double precision.
extern "C" __global__ void price_option(double *payoffs, double price, double strike, double volatility,
                                        uint2 key)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 r = philox(make_uint4(i, 0, 0, 1), key);
    double u = (r.x + 1.0) / 4294967296.0, v = r.y / 4294967296.0;
    double normal = sqrt(-2 * log(u)) * cospi(2 * v);
    double end = price * exp(-0.5 * volatility * volatility + volatility * normal);
    payoffs[i] = fmax(end - strike, 0.0);
}

// xorshift128+ with a state for each thread, walking on a grid with reflecting walls.
extern "C" __global__ void random_walk(ulonglong2 *states, int2 *places, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = states[i].x, b = states[i].y;
    int2 p = places[i];
    for (int k = 0; k < steps; k++) {
        unsigned long long t = a, s = b, sum = a + b;
        a = s;
        t ^= t << 23;
        b = t ^ s ^ (t >> 17) ^ (s >> 26);
        switch (sum >> 62) {
        case 0: p.x++; break;
        case 1: p.x--; break;
        case 2: p.y++; break;
        default: p.y--;
        }
        p.x = p.x > 9 ? 18 - p.x : p.x < -9 ? -18 - p.x : p.x;
        p.y = p.y > 9 ? 18 - p.y : p.y < -9 ? -18 - p.y : p.y;
    }
    states[i] = make_ulonglong2(a, b);
    places[i] = p;
}
