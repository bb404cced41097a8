// Products of matrices in the registers of a warp, with the sums of the tensor cores.
//
// The words of registers are written to matrices in memory, which are multiplied; the results are
// read back (`numerics/products.py` and `machine/matrices.py` describe both). A column of the result
// is computed by itself, in vectors with an element for each row. Floats are multiplied in f32, where
// products are exact, as long as exponents are in a range in which all sums are; columns with others,
// or with a negative zero in C, are computed in f64.
//
// In memory, A has its words by number and row; B by column and number; C and D their elements by
// column and row, f16 as f32. A vector can reach beyond the end of a matrix: there is room behind it.
// `struct product` (`products/shapes.py`) has the constants of an instruction; functions that are
// traced from the interpreter's are passed by their address.

#include "matrices.h"

#define MOST(a, b) __builtin_elementwise_max(a, b)

enum { BIAS = 1023, FRACTION = 52, SPECIAL = 0x7FF };
enum { SINGLE_BIAS = 127, SINGLE_FRACTION = 23, SINGLE_SPECIAL = 128 };
enum {
    ROWS = 16,          // of a vector
    MOST_ROWS = 32,     // of a matrix
    MOST_NUMBERS = 512, // of A, or of the column of B for each row
    PRODUCT_LIMIT = 50, // of the exponents of factors in f32
    SUM_LIMIT = 100,    // and of C
    FLOOR = -101,       // the least exponent of a sum in f32
    FEW_PRODUCTS = 8,   // of which the sum, with C, fits into 32 bits
};
#define SIGN (1u << 31)
#define TO_SINGLE (~0ull << (FRACTION - SINGLE_FRACTION))  // the bits of f64 that f32 has

#define JOINED_ROWS(a, b)                                                                          \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24,   \
                            9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

typedef u32 row_words __attribute__((ext_vector_type(ROWS), aligned(4)));
typedef int row_ints __attribute__((ext_vector_type(ROWS), aligned(4)));
typedef float row_floats __attribute__((ext_vector_type(ROWS), aligned(4)));
typedef double row_doubles __attribute__((ext_vector_type(ROWS), aligned(8)));
typedef u64 row_longs __attribute__((ext_vector_type(ROWS), aligned(8)));
typedef u16 row_shorts __attribute__((ext_vector_type(ROWS), aligned(2)));
typedef u8 row_bytes __attribute__((ext_vector_type(ROWS), aligned(1)));
typedef signed char row_chars __attribute__((ext_vector_type(ROWS), aligned(1)));
typedef short row_numbers __attribute__((ext_vector_type(ROWS), aligned(2)));
typedef short row_pairs __attribute__((ext_vector_type(2 * ROWS), aligned(4)));
typedef int pair_ints __attribute__((ext_vector_type(2 * ROWS), aligned(4)));

// Convert the elements in the low bits of words to f32; round sums to the type of D; add C to such
// sums; the same column in f64; a fused multiply-add.
typedef void (*converter)(row_words *elements, row_floats *numbers);
typedef void (*rounder)(row_doubles *sums, row_floats *results);
typedef void (*adder)(row_floats *sums, row_floats *c);
typedef void (*exact)(float *a, float *b, float *c, float *sums);
typedef void (*fused)(eight_doubles *a, double *b, eight_doubles *sums);

// --- exact sums of floats --------------------------------------------------------------------------

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

// The place along k of a product of a run. `mma` adds 8-bit products in two runs: the lower two of
// the four elements of words, then the upper two.
INLINE u32 place_in(const struct product *p, u32 run, u32 number)
{
    return p->adds_last ? 4 * (number / 2) + 2 * run + number % 2 : run * p->run + number;
}

// Compute a column in f64, for all numbers: infinities, NaN and any exponents.
OUT_OF_LINE void sum_exactly(const struct product *p, float *a, float *b, float *c, float *sums,
                             rounder round)
{
    u32 rows = p->rows, by_row = p->unit_bytes;
    int least = p->least_c;
    for (u32 run = 0; run * p->run < p->depth; run++, c = sums, least = p->least_d) {
        int largest[MOST_ROWS];
        double total[MOST_ROWS];
        for (u32 row = 0; row < rows; row++)
            largest[row] = MOST(exponent_of(c[row], least), LEAST_SUM);
        for (u32 number = 0; number < p->run; number++)
            for (u32 row = 0; row < rows; row++) {
                u32 k = place_in(p, run, number);
                float right = by_row ? b[k * rows + row] : b[k];
                int exponent = exponent_of(a[k * rows + row], p->least_a);
                largest[row] = MOST(largest[row], exponent + exponent_of(right, p->least_b));
            }
        for (u32 row = 0; row < rows; row++)
            total[row] = __builtin_trunc(c[row] * power_of(p->kept - largest[row]));
        for (u32 number = 0; number < p->run; number++)
            for (u32 row = 0; row < rows; row++) {
                u32 k = place_in(p, run, number);
                double product = (double)a[k * rows + row] * (by_row ? b[k * rows + row] : b[k]);
                total[row] += __builtin_trunc(product * power_of(p->kept - largest[row]));
            }
        for (u32 row = 0; row < rows; row++)
            total[row] *= power_of(largest[row] - p->kept);
        for (u32 row = 0; row < rows; row += ROWS)
            round((row_doubles *)(total + row), (row_floats *)(sums + row));
    }
}

// --- sums of floats in f32 -------------------------------------------------------------------------

INLINE row_ints exponents_of(row_floats values, int least)
{
    row_words size = (row_words)values << 1;
    row_ints exponents = (row_ints)(size >> (SINGLE_FRACTION + 1)) - SINGLE_BIAS;
    return size == 0 ? (row_ints)NO_EXPONENT : MOST(exponents, (row_ints)least);
}

// Return where exponents of numbers that are not zero are beyond a limit, up or down.
INLINE row_ints are_beyond(row_ints exponents, int limit)
{
    row_words moved = (row_words)(exponents + limit);
    return (moved > (row_words)(u32)(2 * limit)) & (exponents != NO_EXPONENT);
}

INLINE row_ints are_wide(const struct product *p, row_ints exponents)
{
    return p->has_wide ? are_beyond(exponents, PRODUCT_LIMIT) : exponents == SINGLE_SPECIAL;
}

INLINE row_floats powers_of(row_ints exponents)
{
    return (row_floats)((exponents + SINGLE_BIAS) << SINGLE_FRACTION);
}

// Prepare the numbers of words of rows, by place along k and row, and their exponents in pairs of 16
// bits; return where numbers are too large or small to be multiplied in f32.
INLINE row_ints prepare_rows(const struct product *p, u32 *words_, float *numbers, u32 *exponents,
                             converter convert, int least, u32 negated)
{
    u32 rows = p->rows, each = 32 / p->bits;
    row_ints wide = (row_ints)0;
    for (u32 place = 0; place < p->depth * rows; place += ROWS) {
        u32 k = place / rows, row = place % rows;
        row_words word = *(row_words *)(words_ + k / each * rows + row);
        row_words element = word >> k % each * p->bits;
        convert(&element, (row_floats *)(numbers + place));
        if (negated)
            *(row_floats *)(numbers + place) = -*(row_floats *)(numbers + place);
    }
    for (u32 place = 0; place < p->depth / 2 * rows; place += ROWS) {
        row_floats *pair = (row_floats *)(numbers + 2 * (place - place % rows) + place % rows);
        row_ints lower = exponents_of(*pair, least);
        row_ints upper = exponents_of(*(row_floats *)((float *)pair + rows), least);
        wide |= are_wide(p, lower) | are_wide(p, upper);
        *(row_words *)(exponents + place) = ((row_words)lower & 0xFFFF) | (row_words)upper << 16;
    }
    return wide;
}

// Prepare the same of a column.
INLINE row_ints prepare_column(const struct product *p, u32 *words_, float *numbers, u16 *exponents,
                               converter convert)
{
    row_ints wide = (row_ints)0;
    for (u32 k = 0; k < p->depth; k += ROWS) {
        row_words elements = *(row_words *)(words_ + k);
        if (p->bits == 16)
            elements = __builtin_convertvector(*(row_shorts *)((u16 *)words_ + k), row_words);
        else if (p->bits == 8)
            elements = __builtin_convertvector(*(row_bytes *)((u8 *)words_ + k), row_words);
        convert(&elements, (row_floats *)(numbers + k));
        row_ints found = exponents_of(*(row_floats *)(numbers + k), p->least_b);
        wide |= are_wide(p, found);
        *(row_shorts *)(exponents + k) = __builtin_convertvector((row_words)found, row_shorts);
    }
    return wide;
}

// Add the runs of products of a part of a column to C; return where sums are wrong.
INLINE row_ints add_runs(const struct product *p, float *a, u32 *a_exponents, float *b,
                         u32 *b_exponents, row_floats *sums, rounder round)
{
    u32 rows = p->rows, by_row = p->unit_bytes;
    u32 few = p->kept > 16 && p->run > FEW_PRODUCTS ? FEW_PRODUCTS : p->run;
    int least = p->least_c;
    row_ints wrong = (row_ints)0;
    for (u32 run = 0; run * p->run < p->depth; run++, least = p->least_d) {
        row_ints of_c = exponents_of(*sums, least);
        wrong |= are_beyond(of_c, SUM_LIMIT) | ((row_words)*sums == SIGN);
        row_pairs most = (row_pairs)(row_words)((u32)FLOOR << 16 | (FLOOR & 0xFFFF));
        for (u32 number = 0; number < p->run; number += 2) {
            u32 pair = place_in(p, run, number) / 2;
            row_words *of_row = (row_words *)(b_exponents + pair * rows);
            row_words right = by_row ? *of_row : (row_words)b_exponents[pair];
            most = MOST(most, *(row_pairs *)(a_exponents + pair * rows) + (row_pairs)right);
        }
        row_ints both = (row_ints)most;
        row_ints largest = MOST(MOST(both << 16 >> 16, both >> 16), of_c);
        row_floats scale = powers_of(p->kept - largest), down = powers_of(largest - p->kept);
        row_ints group = __builtin_convertvector(*sums * scale, row_ints);
        row_doubles total;
        for (u32 start = 0; start < p->run; start += few, group = (row_ints)0) {
            for (u32 number = start; number < start + few; number++) {
                u32 k = place_in(p, run, number);
                row_floats right = by_row ? *(row_floats *)(b + k * rows) : (row_floats)b[k];
                row_floats product = *(row_floats *)(a + k * rows) * right;
                group += __builtin_convertvector(product * scale, row_ints);
            }
            row_doubles sum = __builtin_convertvector(group, row_doubles);
            total = start ? total + sum : sum;
        }
        if (p->has_short_d) {
            total *= __builtin_convertvector(down, row_doubles);
            round(&total, sums);
        } else {
            u64 kept = p->kept < SINGLE_FRACTION ? ~0ull << (FRACTION - p->kept) : TO_SINGLE;
            row_doubles shortened = (row_doubles)((row_longs)total & kept);
            *sums = __builtin_convertvector(shortened, row_floats) * down;
        }
    }
    return wrong;
}

// --- sparse matrices (`machine/sparsity.py`) ---

// Write where in a column of B the units for a sparse A are, in bytes, by unit and row. `bits` are
// those of the metadata of a warp from which on a chunk has its places, by row.
INLINE void find_units(u32 *metadata, const u32 *bits, u32 *places, u32 rows, u32 chunks, u32 size)
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
INLINE void select_words(char *column, u32 *places, u32 *words, u32 rows, u32 count, u32 size)
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

// Count the bits of the results of an operation on bits of rows and columns, and add them to C.
INLINE void count_bits(u32 *a, u32 *b, u32 *c, u32 *d, u32 rows, u32 columns,
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

// --- products --------------------------------------------------------------------------------------

INLINE void multiply_floats(const struct product *p, u32 *a, u32 *b, float *c, float *d,
                            u32 *metadata, const u32 *bits, converter convert_a, converter convert_b,
                            rounder round, adder add, exact sum)
{
    float numbers_a[MOST_NUMBERS], numbers_b[MOST_NUMBERS];
    u32 exponents_a[MOST_NUMBERS / 2], exponents_b[MOST_NUMBERS / 2];
    u32 places[MOST_NUMBERS], chosen[MOST_NUMBERS], rows = p->rows;
    row_ints wide_a = prepare_rows(p, a, numbers_a, exponents_a, convert_a, p->least_a, p->negated);
    if (p->unit_bytes)
        find_units(metadata, bits, places, rows, p->chunks, p->unit_bytes);
    for (u32 column = 0; column < p->columns; column++, b += p->right_words, c += rows, d += rows) {
        row_ints wrong;
        if (p->unit_bytes) {
            select_words((char *)b, places, chosen, rows, p->words, p->unit_bytes);
            wrong = prepare_rows(p, chosen, numbers_b, exponents_b, convert_b, p->least_b, 0);
        } else
            wrong = prepare_column(p, b, numbers_b, (u16 *)exponents_b, convert_b);
        wrong |= wide_a;
        for (u32 row = 0; row < rows; row += ROWS) {
            row_floats *sums = (row_floats *)(d + row), *given = (row_floats *)(c + row);
            u32 own = p->unit_bytes ? row : 0;
            *sums = p->adds_last ? (row_floats)0.0f : *given;
            wrong |= add_runs(p, numbers_a + row, exponents_a + row, numbers_b + own,
                              exponents_b + own, sums, round);
        }
        if (__builtin_expect(__builtin_reduce_or(wrong) != 0, 0)) {
            float zeros[MOST_ROWS] = {0};
            sum(numbers_a, numbers_b, p->adds_last ? zeros : c, d);
        }
        for (u32 row = 0; p->adds_last && row < rows; row += ROWS)
            add((row_floats *)(d + row), (row_floats *)(c + row));
    }
}

INLINE row_words number_at(row_words word, u32 place, u32 bits, u32 is_signed)
{
    row_words top = word << (32 - bits * (place + 1));
    return is_signed ? (row_words)((row_ints)top >> (32 - bits)) : top >> (32 - bits);
}

// Return a pair of 16 bits of each word.
INLINE row_words pair_at(row_words word, u32 place, u32 bits, u32 is_signed)
{
    row_words lower = number_at(word, 2 * place, bits, is_signed) & 0xFFFF;
    return lower | number_at(word, 2 * place + 1, bits, is_signed) << 16;
}

// Prepare words of rows as pairs, by pair and row.
INLINE void prepare_pairs(const struct product *p, u32 *words_, u32 *pairs, u32 is_signed)
{
    u32 each = 16 / p->bits, rows = p->rows;
    for (u32 pair = 0; pair < p->depth / 2; pair++)
        for (u32 row = 0; row < rows; row += ROWS) {
            row_words word = *(row_words *)(words_ + pair / each * rows + row);
            *(row_words *)(pairs + pair * rows + row) = pair_at(word, pair % each, p->bits, is_signed);
        }
}

// Prepare the numbers of a column, one after the other.
INLINE void prepare_column_of_pairs(const struct product *p, char *words_, short *numbers)
{
    for (u32 k = 0; k < p->depth; k += p->bits == 8 ? ROWS : 2 * ROWS, words_ += ROWS) {
        row_bytes bytes = *(row_bytes *)words_;
        row_chars chars = (row_chars)bytes;
        if (p->bits == 8) {
            *(row_shorts *)(numbers + k) =
                p->is_signed_b ? (row_shorts)__builtin_convertvector(chars, row_numbers)
                               : __builtin_convertvector(bytes, row_shorts);
            continue;
        }
        row_chars low = p->is_signed_b ? chars << 4 >> 4 : (row_chars)(bytes & 15);
        row_chars high = p->is_signed_b ? chars >> 4 : (row_chars)(bytes >> 4);
        *(row_pairs *)(numbers + k) = __builtin_convertvector(JOINED_ROWS(low, high), row_pairs);
    }
}

INLINE void multiply_integers(const struct product *p, u32 *a, u32 *b, int *c, int *d,
                              u32 *metadata, const u32 *bits)
{
    u32 numbers_a[MOST_NUMBERS], numbers_b[MOST_NUMBERS], places[MOST_NUMBERS];
    u32 chosen[MOST_NUMBERS], rows = p->rows, by_row = p->unit_bytes;
    prepare_pairs(p, a, numbers_a, p->is_signed_a);
    if (by_row)
        find_units(metadata, bits, places, rows, p->chunks, p->unit_bytes);
    for (u32 column = 0; column < p->columns; column++, b += p->right_words, c += rows, d += rows) {
        if (by_row) {
            select_words((char *)b, places, chosen, rows, p->words, p->unit_bytes);
            prepare_pairs(p, chosen, numbers_b, p->is_signed_b);
        } else
            prepare_column_of_pairs(p, (char *)b, (short *)numbers_b);
        for (u32 row = 0; row < rows; row += ROWS) {
            row_ints total = (row_ints)0, given = *(row_ints *)(c + row);
            for (u32 place = 0; place < p->depth / 2; place++) {
                row_pairs left = *(row_pairs *)(numbers_a + place * rows + row);
                row_words of_column = (row_words)numbers_b[place];
                row_words other = by_row ? *(row_words *)(numbers_b + place * rows + row) : of_column;
                pair_ints products = __builtin_convertvector(left, pair_ints) *
                                     __builtin_convertvector((row_pairs)other, pair_ints);
                total += products.even + products.odd;
            }
            *(row_ints *)(d + row) =
                p->satfinite ? __builtin_elementwise_add_sat(total, given) : total + given;
        }
    }
}

// Compute f64 by consecutive fused multiply-adds along k.
INLINE void multiply_doubles(const struct product *p, double *a, double *b, double *c, double *d,
                             fused add)
{
    for (u32 column = 0; column < p->columns; column++, b += p->words, c += p->rows, d += p->rows)
        for (u32 row = 0; row < p->rows; row += EIGHT) {
            eight_doubles total = *(eight_doubles *)(c + row);
            for (u32 k = 0; k < p->depth; k++)
                add((eight_doubles *)(a + k * p->rows + row), b + k, &total);
            *(eight_doubles *)(d + row) = total;
        }
}

INLINE void multiply(char *ctx, const struct product *p, char *a, char *b, char *c, char *d,
                     const u32 *bits, converter convert_a, converter convert_b, rounder round,
                     adder add, exact sum, fused add_product)
{
    u32 *metadata = COLUMN(u32, ctx, p->metadata_place);
    u32 *a_ = (u32 *)a, *b_ = (u32 *)b, *c_ = (u32 *)c, *d_ = (u32 *)d;
    if (p->is_double)
        multiply_doubles(p, (double *)a, (double *)b, (double *)c, (double *)d, add_product);
    else if (p->counts_bits)
        count_bits(a_, b_, c_, d_, p->rows, p->columns, p->words, p->is_xor);
    else if (!p->is_float)
        multiply_integers(p, a_, b_, (int *)c, (int *)d, metadata, bits);
    else
        multiply_floats(p, a_, b_, (float *)c, (float *)d, metadata, bits, convert_a, convert_b, round,
                        add, sum);
    pass_results(ctx, p, d);
}

// Multiply the matrices in registers, whose words are in columns.
OUT_OF_LINE void multiply_warp(char *ctx, const struct product *p, char *a, char *b, char *c, char *d,
                               const u32 *bits, converter convert_a, converter convert_b,
                               rounder round, adder add, exact sum, fused add_product)
{
    take_left(ctx, p, a);
    take_right(ctx, p, b);
    take_sums(ctx, p, c);
    multiply(ctx, p, a, b, c, d, bits, convert_a, convert_b, round, add, sum, add_product);
}

// Multiply the rows of a warp; return whether all lanes of the group are there, and operands are
// uniform and inside of shared memory, else nothing is done.
OUT_OF_LINE u32 multiply_group(char *ctx, u32 warp, u32 mask, const struct product *p, char *a,
                               char *b, char *c, char *d, const u32 *bits, converter convert_a,
                               converter convert_b, rounder round, adder add, exact sum,
                               fused add_product)
{
    u32 parts = p->right_words / 4;
    char *keeps = COLUMN(char, ctx, p->keep_place);
    u32 good = is_whole_group(ctx, warp, mask) & are_equal(keeps, 1);
    if (p->in_registers)
        take_left(ctx, p, a);
    else
        good &= read_left(ctx, p->a_place, warp, p->left_across, (u32 *)a);
    good &= read_right(ctx, p->b_place, warp, p->columns, parts, p->right_across, (u32 *)b);
    if (!good)
        return 0;
    if (*keeps)
        take_sums(ctx, p, c);
    else
        __builtin_memset(c, 0, p->rows * p->columns * 4);
    multiply(ctx, p, a, b, c, d, bits, convert_a, convert_b, round, add, sum, add_product);
    return 1;
}
