// Bits: counting, reversing, permuting bytes, funnel shifts, Morton codes, Gray codes; inline PTX for the rest.
// nvcc -arch=compute_80

extern "C" __global__ void count_bits(const unsigned long long *in, int *out, unsigned long long *moved,
                                      int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = in[i];
    unsigned low = (unsigned)x, high = (unsigned)(x >> 32);
    int *o = out + 8 * i;
    o[0] = __popcll(x);
    o[1] = __clzll(x);
    o[2] = __ffsll(x);
    o[3] = __popc(low);
    o[4] = __clz(high);
    o[5] = __ffs(high);
    o[6] = __fns(low, 0, 3);
    o[7] = __hadd((int)low, (int)high) ^ __uhadd(low, high) ^ __rhadd((int)low, (int)high);
    unsigned long long *m = moved + 4 * i;
    m[0] = __brevll(x);
    m[1] = (unsigned long long)__funnelshift_l(low, high, low) << 32 | __funnelshift_rc(low, high, high);
    m[2] = (unsigned long long)__byte_perm(low, high, low & 0x7777) << 32 | __brev(low ^ high);
    m[3] = __umul64hi(x, ~x) ^ (unsigned long long)__mul64hi((long long)x, 12345678912345LL);
}

// Morton codes of three coordinates there and back, by masks; and Gray codes there and back.
__device__ unsigned spread(unsigned x)
{
    x &= 0x3ff;
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

extern "C" __global__ void interleave(const ushort3 *in, unsigned *codes, ushort3 *back, unsigned *gray)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned code = spread(in[i].x) | spread(in[i].y) << 1 | spread(in[i].z) << 2;
    ushort3 out = {0, 0, 0};
    for (int k = 0; k < 10; k++) {
        out.x |= (code >> 3 * k & 1) << k;
        out.y |= (code >> (3 * k + 1) & 1) << k;
        out.z |= (code >> (3 * k + 2) & 1) << k;
    }
    codes[i] = code;
    back[i] = out;
    unsigned g = code ^ code >> 1, b = g;
    for (int k = 1; k < 32; k *= 2)
        b ^= b >> k;
    gray[i] = b == code ? g : ~0u;
}

// Instructions that CUDA C++ has no name for.
extern "C" __global__ void inline_ptx(const int *a, const int *b, const int *c, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], y = b[i], z = c[i], *o = out + 12 * i, r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[0] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[1] = r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[2] = r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 63), "r"(z & 63));
    o[3] = r;
    asm("bfi.b32 %0, %1, %2, %3, 9;" : "=r"(r) : "r"(x), "r"(y), "r"(z & 31));
    o[4] = r;
    asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(x));
    o[5] = r;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(y));
    o[6] = r;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(y & 31), "r"(z & 15));
    o[7] = r;
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(z));
    o[8] = r;
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[9] = r;
    asm("mul24.hi.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    o[10] = r;
    asm("{\n\t.reg .pred p, q;\n\t.reg .s32 t;\n\t"
        "setp.ne.s32 q, %3, 0;\n\t"
        "setp.lt.and.s32 p|q, %1, %2, q;\n\t"
        "@p add.sat.s32 t, %1, %2;\n\t"
        "@!p sub.sat.s32 t, %1, %2;\n\t"
        "selp.s32 %0, t, %1, q;\n\t"
        "slct.s32.s32 %0, %0, t, %1;\n\t}"
        : "=&r"(r) : "r"(x), "r"(y), "r"(z));
    o[11] = r;
}
