// The matrices of products: from registers to memory, and back.
//
// A register has 4 cells of 8 lines: lane 4 * i + j has cell j of line i. A cell is a word of A or
// B, or two columns of C or D. The registers of one part of the cells follow each other line by line,
// but for eight lines, or sixteen if `pairs`, all parts come first.

#include "runtime.h"

enum { EIGHT = 8 };  // lines of a register, of which each of four lanes has a part

typedef u32 eight_words __attribute__((ext_vector_type(EIGHT), aligned(4)));
typedef float eight_floats __attribute__((ext_vector_type(EIGHT), aligned(4)));
typedef _Float16 eight_halves __attribute__((ext_vector_type(EIGHT), aligned(2)));
typedef u16 eight_shorts __attribute__((ext_vector_type(EIGHT), aligned(2)));
typedef double eight_doubles __attribute__((ext_vector_type(EIGHT), aligned(8)));

INLINE u32 first_line(u32 number, u32 lines, u32 parts, u32 pairs)
{
    u32 block = pairs && lines > EIGHT ? 2 : 1;
    return EIGHT * (number / (block * parts) * block + number % block);
}

INLINE u32 first_cell(u32 number, u32 lines, u32 parts, u32 pairs)
{
    return 4 * (number / (pairs && lines > EIGHT ? 2 : 1) % parts);
}

#define PART_OF(value, j)                                                                          \
    __builtin_shufflevector(value, value, j, j + 4, j + 8, j + 12, j + 16, j + 20, j + 24, j + 28)
#define JOINED(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15)
#define ALL_PARTS(a, b)                                                                            \
    __builtin_shufflevector(a, b, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23, 8, 9,    \
                            24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31)

INLINE void take_left(char *ctx, const struct product *p, char *to)
{
    u32 parts = p->words / 4;
    for (u32 number = 0; number < p->rows / EIGHT * parts; number++) {
        u32 line = first_line(number, p->rows, parts, 1), cell = first_cell(number, p->rows, parts, 1);
        if (p->is_double) {
            for (u32 lane = 0; lane < WARP; lane++) {
                u64 *target = (u64 *)to + (cell + lane % 4) * p->rows + line + lane / 4;
                *target = COLUMN(u64, ctx, p->a_place + number)[lane];
            }
            continue;
        }
        words value = *COLUMN(words, ctx, p->a_place + number);
        u32 *target = (u32 *)to + cell * p->rows + line;
        *(eight_words *)target = PART_OF(value, 0);
        *(eight_words *)(target + p->rows) = PART_OF(value, 1);
        *(eight_words *)(target + 2 * p->rows) = PART_OF(value, 2);
        *(eight_words *)(target + 3 * p->rows) = PART_OF(value, 3);
    }
}

INLINE void take_right(char *ctx, const struct product *p, char *to)
{
    u32 parts = p->right_words / 4, size = p->is_double ? 8 : 4;
    for (u32 number = 0; number < p->columns / EIGHT * parts; number++) {
        u32 column = first_line(number, p->columns, parts, 0);
        u32 word = first_cell(number, p->columns, parts, 0);
        char *value = COLUMN(char, ctx, p->b_place + number);
        for (u32 i = 0; i < EIGHT; i++)
            __builtin_memcpy(to + ((column + i) * p->right_words + word) * size,
                             value + 4 * i * size, 4 * size);
    }
}

// Run code for two columns of each part of C or D: `line` and `column` are their place.
#define FOR_EACH_PART(p)                                                                           \
    for (u32 number = 0, parts_ = p->columns / EIGHT, line, column;                                \
         number < p->rows / EIGHT * parts_ && (line = first_line(number, p->rows, parts_, 1),       \
             column = 2 * first_cell(number, p->rows, parts_, 1), 1);                              \
         number++)

INLINE void take_sums(char *ctx, const struct product *p, char *to)
{
    FOR_EACH_PART(p)
    for (u32 which = 0; which < 2; which++) {
        u32 place = p->c_place + (p->has_short_c ? number : 2 * number + which);
        u32 first = (column + which) * p->rows + line, step = 2 * p->rows;
        if (p->is_double) {
            for (u32 lane = 0; lane < WARP; lane++)
                ((u64 *)to)[first + lane % 4 * step + lane / 4] = COLUMN(u64, ctx, place)[lane];
            continue;
        }
        words value = *COLUMN(words, ctx, place);
#define TAKE_PART(j)                                                                               \
    {                                                                                              \
        eight_words part = PART_OF(value, j);                                                      \
        if (p->has_short_c) {                                                                      \
            eight_shorts half = __builtin_convertvector(part >> 16 * which, eight_shorts);         \
            eight_floats wide = __builtin_convertvector((eight_halves)half, eight_floats);         \
            part = (eight_words)wide;                                                              \
        }                                                                                          \
        *(eight_words *)((u32 *)to + first + j * step) = part;                                     \
    }
        TAKE_PART(0) TAKE_PART(1) TAKE_PART(2) TAKE_PART(3)
    }
}

INLINE words joined_parts(u32 *d, u32 step)
{
    eight_words *a = (eight_words *)d, *b = (eight_words *)(d + step);
    eight_words *c = (eight_words *)(d + 2 * step), *e = (eight_words *)(d + 3 * step);
    return ALL_PARTS(JOINED(*a, *b), JOINED(*c, *e));
}

INLINE eight_words halves_of(u32 *numbers)
{
    eight_halves halves = __builtin_convertvector(*(eight_floats *)numbers, eight_halves);
    return __builtin_convertvector((eight_shorts)halves, eight_words);
}

INLINE void pass_results(char *ctx, const struct product *p, char *from)
{
    FOR_EACH_PART(p) {
        u32 first = column * p->rows + line, step = 2 * p->rows;
        u32 *d = (u32 *)from + first;
        if (p->has_short_d) {
#define BOTH(j) (halves_of(d + j * step) | halves_of(d + p->rows + j * step) << 16)
            words both = ALL_PARTS(JOINED(BOTH(0), BOTH(1)), JOINED(BOTH(2), BOTH(3)));
            *COLUMN(words, ctx, p->d_place + number) = both;
            continue;
        }
        for (u32 which = 0; which < 2; which++, d += p->rows, first += p->rows) {
            u32 place = p->d_place + 2 * number + which;
            if (p->is_double)
                for (u32 lane = 0; lane < WARP; lane++)
                    COLUMN(u64, ctx, place)[lane] = ((u64 *)from)[first + lane % 4 * step + lane / 4];
            else
                *COLUMN(words, ctx, place) = joined_parts(d, step);
        }
    }
}
