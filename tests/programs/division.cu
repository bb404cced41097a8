// Division and remainder by variables, in 32, 64 and 128 bits, signed and not, and what is made of them.
// nvcc -arch=compute_80

extern "C" __global__ void divide(const long long *a, const long long *b, long long *out,
                                  unsigned long long *unsigned_out, int *narrow, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long x = a[i], y = b[i];
    out[2 * i] = x / y;
    out[2 * i + 1] = x % y;
    unsigned_out[2 * i] = (unsigned long long)x / (unsigned long long)y;
    unsigned_out[2 * i + 1] = (unsigned long long)x % (unsigned long long)y;
    int p = (int)x, q = (int)y | 1;
    int *o = narrow + 8 * i;
    o[0] = p / q;
    o[1] = p % q;
    o[2] = (unsigned)p / (unsigned)q;
    o[3] = (unsigned)p % (unsigned)q;
    o[4] = (short)p / (short)q;
    o[5] = (unsigned short)p % (unsigned short)q;
    o[6] = p / 1000 + p % 7;
    o[7] = (int)((unsigned long long)x / 1000000007u);
}

// 128 bits: as two words each, low first.
typedef unsigned __int128 u128;
typedef __int128 s128;

__device__ u128 join(ulonglong2 x) { return (u128)x.y << 64 | x.x; }
__device__ ulonglong2 split(u128 x) { return make_ulonglong2((unsigned long long)x, (unsigned long long)(x >> 64)); }

extern "C" __global__ void divide_wide(const ulonglong2 *a, const ulonglong2 *b, ulonglong2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u128 x = join(a[i]), y = join(b[i]);
    ulonglong2 *o = out + 8 * i;
    o[0] = split(x / y);
    o[1] = split(x % y);
    o[2] = split((u128)((s128)x / (s128)y));
    o[3] = split((u128)((s128)x % (s128)y));
    o[4] = split(x * y);
    o[5] = split(x << (int)(y & 127));
    o[6] = split((u128)((s128)x >> (int)(y & 127)));
    o[7] = split((u128)(x < y) | (u128)((s128)x < (s128)y) << 64 | (x - y) << 1);
}

// Greatest common divisors by Euclid and by shifts, and inverses modulo a number.
extern "C" __global__ void common_divisors(const unsigned long long *a, const unsigned long long *b,
                                           unsigned long long *divisors, unsigned *inverses, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = a[i], y = b[i], u = x, v = y;
    while (y) {
        unsigned long long rest = x % y;
        x = y;
        y = rest;
    }
    int shift = __ffsll(u | v) - 1;
    u >>= __ffsll(u) - 1;
    while (v) {
        v >>= __ffsll(v) - 1;
        if (u > v) {
            unsigned long long swap = u;
            u = v;
            v = swap;
        }
        v -= u;
    }
    divisors[2 * i] = x;
    divisors[2 * i + 1] = u << shift;
    long long modulus = 1000000007, r0 = modulus, r1 = a[i] % modulus, t0 = 0, t1 = 1;
    while (r1 > 0) {
        long long q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
        r0 = r1;
        r1 = r;
        t0 = t1;
        t1 = t;
    }
    inverses[i] = r0 == 1 ? (t0 < 0 ? t0 + modulus : t0) : 0;
}

// The next prime, by Miller and Rabin with enough bases for 32 bits; integer roots by Newton.
__device__ unsigned power(unsigned long long base, unsigned exponent, unsigned modulus)
{
    unsigned long long result = 1;
    for (; exponent; exponent >>= 1, base = base * base % modulus)
        if (exponent & 1)
            result = result * base % modulus;
    return (unsigned)result;
}

__device__ bool is_prime(unsigned n)
{
    if (n < 2 || n % 2 == 0)
        return n == 2;
    int twos = __ffs(n - 1) - 1;
    for (unsigned base : {2u, 7u, 61u}) {
        if (n == base)
            return true;
        unsigned x = power(base, n - 1 >> twos, n);
        bool witness = x != 1 && x != n - 1;
        for (int k = 1; k < twos && witness; k++) {
            x = (unsigned long long)x * x % n;
            witness = x != n - 1;
        }
        if (witness)
            return false;
    }
    return true;
}

extern "C" __global__ void next_primes(const unsigned *in, unsigned *primes, unsigned *roots, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned candidate = in[i];
    while (!is_prime(candidate))
        candidate++;
    primes[i] = candidate;
    unsigned root = 65535, x = in[i];
    for (;;) {
        unsigned next = (root + x / root) / 2;
        if (next >= root)
            break;
        root = next;
    }
    roots[i] = root;
}
