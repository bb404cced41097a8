// Hashes: SHA-256, CRC-32 by a table in constant memory, MurmurHash3, SipHash; a table of open addressing.
// nvcc -arch=compute_80

__constant__ unsigned ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned rotate(unsigned x, int n) { return __funnelshift_r(x, x, n); }

// Messages of ``length`` bytes (below 56), one by each thread; digests as eight big-endian words.
extern "C" __global__ void sha256(const unsigned char *messages, int length, unsigned *digests, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned w[16];
    for (int k = 0; k < 16; k++) {
        unsigned word = 0;
        for (int b = 0; b < 4; b++) {
            int at = 4 * k + b;
            unsigned byte = at < length ? messages[i * length + at] : at == length ? 0x80 : 0;
            word = word << 8 | byte;
        }
        w[k] = word;
    }
    w[15] = 8 * length;
    unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned s[8];
    for (int k = 0; k < 8; k++)
        s[k] = start[k];
#pragma unroll 1
    for (int block = 0; block < 4; block++) {
#pragma unroll
        for (int k = 0; k < 16; k++) {
            unsigned e = s[4], a = s[0];
            unsigned t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                          ((e & s[5]) ^ (~e & s[6])) + ROUNDS[16 * block + k] + w[k];
            unsigned t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                          ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t1;
            s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t1 + t2;
        }
#pragma unroll
        for (int k = 0; k < 16; k++) {
            unsigned x = w[(k + 1) % 16], y = w[(k + 14) % 16];
            w[k] += (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[(k + 9) % 16] +
                    (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
        }
    }
    for (int k = 0; k < 8; k++)
        digests[8 * i + k] = start[k] + s[k];
}

// CRC-32 of zlib; the table is made by the block that uses it.
extern "C" __global__ void crc32(const unsigned char *messages, int length, unsigned *out, int n)
{
    __shared__ unsigned table[256];
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) {
        unsigned c = k;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
        table[k] = c;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned crc = ~0u;
    for (int k = 0; k < length; k++)
        crc = table[(crc ^ messages[i * length + k]) & 255] ^ crc >> 8;
    out[i] = ~crc;
}

// MurmurHash3_x86_32 and SipHash-2-4 of 64-bit keys.
__device__ unsigned murmur(unsigned long long key, unsigned seed)
{
    unsigned h = seed;
    for (int k = 0; k < 2; k++) {
        unsigned w = (unsigned)(key >> 32 * k) * 0xcc9e2d51u;
        h ^= __funnelshift_l(w, w, 15) * 0x1b873593u;
        h = __funnelshift_l(h, h, 13) * 5 + 0xe6546b64u;
    }
    h ^= 8;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

typedef unsigned long long u64;

__device__ u64 left(u64 x, int n) { return x << n | x >> (64 - n); }

__device__ void round(u64 &a, u64 &b, u64 &c, u64 &d)
{
    a += b; b = left(b, 13) ^ a; a = left(a, 32);
    c += d; d = left(d, 16) ^ c;
    a += d; d = left(d, 21) ^ a;
    c += b; b = left(b, 17) ^ c; c = left(c, 32);
}

__device__ u64 siphash(u64 message, u64 key0, u64 key1)
{
    u64 a = 0x736f6d6570736575 ^ key0, b = 0x646f72616e646f6d ^ key1;
    u64 c = 0x6c7967656e657261 ^ key0, d = 0x7465646279746573 ^ key1;
    for (u64 m : {message, (u64)8 << 56}) {
        d ^= m;
        round(a, b, c, d);
        round(a, b, c, d);
        a ^= m;
    }
    c ^= 255;
    for (int k = 0; k < 4; k++)
        round(a, b, c, d);
    return a ^ b ^ c ^ d;
}

extern "C" __global__ void hash_keys(const u64 *keys, unsigned *murmurs, u64 *siphashes, int n,
                                     unsigned seed, ulonglong2 key)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        murmurs[i] = murmur(keys[i], seed);
        siphashes[i] = siphash(keys[i], key.x, key.y);
    }
}

// A table of 2^k slots that counts how often each key occurs: insert by compare-and-swap, then look up.
// ``slots`` begins as all ~0.
extern "C" __global__ void count_keys(const unsigned *keys, int n, unsigned long long *slots,
                                      unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i];
    for (unsigned at = murmur(key, 7) & mask;; at = (at + 1) & mask) {
        unsigned *place = (unsigned *)(slots + at);  // key, then its count less one
        unsigned was = atomicCAS(place, ~0u, key);
        if (was == ~0u || was == key) {
            atomicAdd(place + 1, 1);
            return;
        }
    }
}

extern "C" __global__ void look_up(const unsigned *keys, int n, const unsigned long long *slots,
                                   unsigned mask, unsigned *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned at = murmur(keys[i], 7) & mask;
    while ((unsigned)slots[at] != keys[i])
        at = (at + 1) & mask;
    counts[i] = (unsigned)(slots[at] >> 32) + 1;
}
