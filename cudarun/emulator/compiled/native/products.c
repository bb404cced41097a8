// Products of matrices: sums of floats in f64, and the elements for a sparse matrix.
//
// Values of rows follow one another, as in `products/sums.py`.

#include "runtime.h"

#define MOST(a, b) __builtin_elementwise_max(a, b)

enum { BIAS = 1023, FRACTION = 52, SPECIAL = 0x7FF };

// Return the exponent of a number; infinities and NaN have that of 0.5, as in numpy's frexp.
INLINE int exponent_of(double value, int least)
{
    u64 bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    int biased = (int)(bits >> FRACTION & SPECIAL);
    int exponent = MOST((biased == SPECIAL ? BIAS - 1 : biased) - BIAS, least);
    return bits << 1 ? exponent : NO_EXPONENT;
}

INLINE double power_of(int exponent)
{
    u64 bits = (u64)(exponent + BIAS) << FRACTION;
    double power;
    __builtin_memcpy(&power, &bits, sizeof power);
    return power;
}

// Add a run of products of a column to C, for all numbers: infinities, NaN and any exponents.
//
// Of each matrix, there is the exponent of subnormal numbers. `by_row`: each row has a B of its own.
OUT_OF_LINE void sum_exactly(float *a, float *b, float *c, double *total, u32 rows, u32 first,
                             u32 run, int kept, int least_a, int least_b, int least_c, u32 by_row)
{
    int largest[WARP];
    for (u32 row = 0; row < rows; row++)
        largest[row] = MOST(exponent_of(c[row], least_c), LEAST_SUM);
    for (u32 k = first; k < first + run; k++)
        for (u32 row = 0; row < rows; row++) {
            float right = by_row ? b[k * rows + row] : b[k];
            int exponent = exponent_of(a[k * rows + row], least_a);
            largest[row] = MOST(largest[row], exponent + exponent_of(right, least_b));
        }
    for (u32 row = 0; row < rows; row++)
        total[row] = __builtin_trunc(c[row] * power_of(kept - largest[row]));
    for (u32 k = first; k < first + run; k++)
        for (u32 row = 0; row < rows; row++) {
            double product = (double)a[k * rows + row] * (by_row ? b[k * rows + row] : b[k]);
            total[row] += __builtin_trunc(product * power_of(kept - largest[row]));
        }
    for (u32 row = 0; row < rows; row++)
        total[row] *= power_of(largest[row] - kept);
}

// Count the bits of the results of an operation on bits of rows and columns, and add them to C.
OUT_OF_LINE void count_bits(u32 *a, u32 *b, u32 *c, u32 *restrict d, u32 rows, u32 columns,
                            u32 words_, u32 is_xor)
{
    for (u32 column = 0; column < columns; column++, b += words_, c += rows, d += rows) {
        __builtin_memcpy(d, c, rows * sizeof *d);
        for (u32 word = 0; word < words_; word++)
            for (u32 row = 0; row < rows; row++) {
                u32 left = a[word * rows + row], right = b[word];
                d[row] += (u32)__builtin_popcount(is_xor ? left ^ right : left & right);
            }
    }
}

// --- sparse matrices (`machine/sparsity.py`) -----------------------------------------------------

// Write where in a column of B the units for a sparse A are, in bytes, by unit and row. `bits` are
// those of the metadata of a warp from which on a chunk has its places, by row.
OUT_OF_LINE void find_units(u32 *metadata, u32 *bits, u32 *places, u32 rows, u32 chunks, u32 size)
{
    for (u32 row = 0; row < rows; row++)
        for (u32 chunk = 0; chunk < chunks; chunk++) {
            u32 bit = *bits++, nibble = metadata[bit / 32] >> bit % 32;
            for (u32 which = 0; which < 2; which++, nibble >>= 2) {
                u32 unit = UNITS_OF_CHUNK * chunk + (nibble & (UNITS_OF_CHUNK - 1));
                places[(2 * chunk + which) * rows + row] = unit * size;
            }
        }
}

// Write the words of a column for each row, by number and row.
OUT_OF_LINE void select_words(char *column, u32 *places, u32 *words, u32 rows, u32 count, u32 size)
{
    for (u32 number = 0; number < count; number++, words += rows)
        for (u32 row = 0; row < rows; row++) {
            u32 word = 0;
            for (u32 at = 0; at < 4; at += size) {
                char *unit = column + places[(4 / size * number + at / size) * rows + row];
                word |= (u32)(size == 2 ? FIELD(u16, unit, 0) : FIELD(u8, unit, 0)) << 8 * at;
            }
            words[row] = word;
        }
}
