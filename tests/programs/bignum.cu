// Numbers of many words: sums by carry chains in inline PTX, products, powers modulo a number by Montgomery.
// nvcc -arch=compute_80

const int WORDS = 8;  // of 32 bits

struct Number {
    unsigned word[WORDS];
};

// Sum, difference, carry and borrow of two 256-bit numbers.
extern "C" __global__ void add_subtract(const Number *a, const Number *b, Number *sum,
                                        Number *difference, uint2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Number x = a[i], y = b[i], s, d;
    uint2 over;
    asm("add.cc.u32 %0, %9, %17;\n\t"
        "addc.cc.u32 %1, %10, %18;\n\t"
        "addc.cc.u32 %2, %11, %19;\n\t"
        "addc.cc.u32 %3, %12, %20;\n\t"
        "addc.cc.u32 %4, %13, %21;\n\t"
        "addc.cc.u32 %5, %14, %22;\n\t"
        "addc.cc.u32 %6, %15, %23;\n\t"
        "addc.cc.u32 %7, %16, %24;\n\t"
        "addc.u32 %8, 0, 0;"
        : "=&r"(s.word[0]), "=&r"(s.word[1]), "=&r"(s.word[2]), "=&r"(s.word[3]), "=&r"(s.word[4]),
          "=&r"(s.word[5]), "=&r"(s.word[6]), "=&r"(s.word[7]), "=&r"(over.x)
        : "r"(x.word[0]), "r"(x.word[1]), "r"(x.word[2]), "r"(x.word[3]), "r"(x.word[4]),
          "r"(x.word[5]), "r"(x.word[6]), "r"(x.word[7]), "r"(y.word[0]), "r"(y.word[1]),
          "r"(y.word[2]), "r"(y.word[3]), "r"(y.word[4]), "r"(y.word[5]), "r"(y.word[6]),
          "r"(y.word[7]));
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(d.word[0]) : "r"(x.word[0]), "r"(y.word[0]));
#pragma unroll
    for (int k = 1; k < WORDS; k++)
        asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(d.word[k]) : "r"(x.word[k]), "r"(y.word[k]));
    asm volatile("subc.u32 %0, 0, 0;" : "=r"(over.y));
    over.y &= 1;
    sum[i] = s;
    difference[i] = d;
    out[i] = over;
}

// All 512 bits of a product, by rows of mad.lo.cc and madc.hi.cc.
__device__ void multiply_add(unsigned *row, const unsigned *a, unsigned b)
{
    unsigned carry;
    asm volatile("mad.lo.cc.u32 %0, %1, %2, %0;" : "+r"(row[0]) : "r"(a[0]), "r"(b));
#pragma unroll
    for (int k = 1; k < WORDS; k++)
        asm volatile("madc.lo.cc.u32 %0, %1, %2, %0;" : "+r"(row[k]) : "r"(a[k]), "r"(b));
    asm volatile("addc.u32 %0, 0, 0;" : "=r"(carry));
    asm volatile("mad.hi.cc.u32 %0, %1, %2, %0;" : "+r"(row[1]) : "r"(a[0]), "r"(b));
#pragma unroll
    for (int k = 1; k < WORDS - 1; k++)
        asm volatile("madc.hi.cc.u32 %0, %1, %2, %0;" : "+r"(row[k + 1]) : "r"(a[k]), "r"(b));
    asm volatile("madc.hi.u32 %0, %1, %2, %3;"
                 : "=r"(row[WORDS]) : "r"(a[WORDS - 1]), "r"(b), "r"(carry));
}

extern "C" __global__ void multiply_numbers(const Number *a, const Number *b, unsigned *products, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Number x = a[i], y = b[i];
    unsigned product[2 * WORDS] = {};
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        multiply_add(product + k, x.word, y.word[k]);
    for (int k = 0; k < 2 * WORDS; k++)
        products[2 * WORDS * i + k] = product[k];
}

// base^exponent mod an odd modulus, in words of 64 bits with products of 128.
typedef unsigned long long Word;
typedef unsigned __int128 Double;
const int LONGS = 4;

__device__ bool less(const Word *a, const Word *b)
{
    for (int k = LONGS - 1; k >= 0; k--)
        if (a[k] != b[k])
            return a[k] < b[k];
    return false;
}

__device__ void subtract(Word *a, const Word *b)
{
    Word borrow = 0;
    for (int k = 0; k < LONGS; k++) {
        Double d = (Double)a[k] - b[k] - borrow;
        a[k] = (Word)d;
        borrow = (Word)(d >> 64) & 1;
    }
}

// a·b/2^256 mod m; both below m.
__device__ void montgomery(Word *out, const Word *a, const Word *b, const Word *m, Word inverse)
{
    Word t[LONGS + 2] = {};
    for (int i = 0; i < LONGS; i++) {
        Double carry = 0;
        for (int j = 0; j < LONGS; j++) {
            carry += (Double)a[j] * b[i] + t[j];
            t[j] = (Word)carry;
            carry >>= 64;
        }
        carry += t[LONGS];
        t[LONGS] = (Word)carry;
        t[LONGS + 1] = (Word)(carry >> 64);
        Word q = t[0] * inverse;
        carry = (Double)q * m[0] + t[0];
        carry >>= 64;
        for (int j = 1; j < LONGS; j++) {
            carry += (Double)q * m[j] + t[j];
            t[j - 1] = (Word)carry;
            carry >>= 64;
        }
        carry += t[LONGS];
        t[LONGS - 1] = (Word)carry;
        t[LONGS] = t[LONGS + 1] + (Word)(carry >> 64);
    }
    if (t[LONGS] || !less(t, m))
        subtract(t, m);
    for (int k = 0; k < LONGS; k++)
        out[k] = t[k];
}

struct Long {
    Word word[LONGS];
};

extern "C" __global__ void power_modulo(const Long *bases, const Word *exponents, const Long modulus,
                                        Long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Word inverse = 1;  // of -modulus, modulo 2^64, by Newton
    for (int k = 0; k < 6; k++)
        inverse *= 2 + modulus.word[0] * inverse;
    Long one = {{1, 0, 0, 0}}, x = bases[i];
    for (int k = 0; k < 256; k++) {  // times 2^256: into Montgomery's form
        for (Long *v : {&one, &x}) {
            Word top = v->word[3] >> 63;
            for (int j = 3; j > 0; j--)
                v->word[j] = v->word[j] << 1 | v->word[j - 1] >> 63;
            v->word[0] <<= 1;
            if (top || !less(v->word, modulus.word))
                subtract(v->word, modulus.word);
        }
    }
    Long result = one, unit = {{1, 0, 0, 0}};
    for (Word exponent = exponents[i]; exponent; exponent >>= 1) {
        if (exponent & 1)
            montgomery(result.word, result.word, x.word, modulus.word, inverse);
        montgomery(x.word, x.word, x.word, modulus.word, inverse);
    }
    montgomery(out[i].word, result.word, unit.word, modulus.word, inverse);
}
