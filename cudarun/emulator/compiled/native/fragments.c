// The elements of matrices that lanes hold, between registers and memory.

#include "runtime.h"

enum { PART, VALUES, OFFSETS, STRIDES, REGISTERS };  // columns: the first two are those of `access.c`

// Write the offsets of an element of each lane to their column; return the lanes beyond the region.
INLINE u32 find_elements(char *ctx, char *entry, const u16 *places, u32 number, u32 size)
{
    typedef u16 lane_places __attribute__((ext_vector_type(WARP), aligned(2)));
    const lane_places *found = (const lane_places *)places + 2 * number;
    longs lines = __builtin_convertvector(found[0], longs);
    longs steps = __builtin_convertvector(found[1], longs);
    longs offsets = (lines * *COLUMN(longs, ctx, STRIDES) + steps) * size;
    offsets += *COLUMN(longs, ctx, OFFSETS);
    *COLUMN(longs, ctx, PART) = offsets;
    bits beyond = __builtin_convertvector(offsets >= (longs)FIELD(u64, entry, COUNT), bits);
    u32 lanes;
    __builtin_memcpy(&lanes, &beyond, sizeof lanes);
    return lanes;
}

// Load or store some bytes of each lane at the offsets in the column, which are held every `step`
// bytes; other lanes can be those that make the accesses.
INLINE void move_part(char *ctx, char *state, u32 warp, char *host, char *entry, u32 mask, char *held,
                      u32 step, u32 bytes, u32 loads)
{
    char *values = COLUMN(char, ctx, VALUES), *marks = FIELD(char *, entry, UNWRITTEN);
    if (loads) {
        if (kernel.shadow_unit)
            observe_loads(ctx, state, warp, entry, host, mask, 0, SHADOW_READ, 1, bytes);
        else if (marks)
            note_lanes(ctx, marks, mask, 0, bytes);
        load_lanes(ctx, host, mask, 0, bytes);
        for (u32 lane = 0; lane < WARP; lane++)
            __builtin_memcpy(held + lane * step, values + lane * bytes, bytes);
        return;
    }
    for (u32 lane = 0; lane < WARP; lane++)
        __builtin_memcpy(values + lane * bytes, held + lane * step, bytes);
    if (kernel.shadow_unit)
        observe_stores(ctx, state, warp, entry, host, mask, 0, 1, bytes);
    else
        store_lanes(ctx, host, mask, 0, bytes);
    if (marks)
        mark_lanes(ctx, marks, mask, 0, bytes);
}

// Load or store elements of some bytes, of which each register has `each` ones: all of them at once
// if they follow each other in memory. Return whether all are in the region, else nothing is done.
// `places` are the lines and the steps of each element by lane; the columns are the offsets of the
// first elements of the matrix, the elements from one line to the next, and the registers.
OUT_OF_LINE u32 transfer_fragment(char *ctx, char *state, u32 warp, char *host, char *entry, u32 mask,
                                  const u16 *places, u32 registers, u32 each, u32 together, u32 size,
                                  u32 loads)
{
    u32 step = together ? each : 1;
    for (u32 number = 0; number < registers * each; number++)
        if (find_elements(ctx, entry, places, number, size) & mask)
            return 0;
    for (u32 number = 0; number < registers * each; number += step) {
        find_elements(ctx, entry, places, number, size);
        char *held = COLUMN(char, ctx, REGISTERS + number / each) + number % each * size;
        move_part(ctx, state, warp, host, entry, mask, held, each * size, step * size, loads);
    }
    return 1;
}

enum { EDGE = 8, ROW_BYTES = 16 };  // of a matrix of elements of 16 bits

typedef u16 matrix_row __attribute__((ext_vector_type(EDGE), aligned(2)));

// Transpose a matrix: interleaving its halves three times exchanges the bits of row and column.
INLINE void transpose(matrix_row *rows)
{
    for (u32 turn = 0; turn < 3; turn++) {
        matrix_row next[EDGE];
        for (u32 row = 0; row < EDGE / 2; row++) {
            matrix_row a = rows[row], b = rows[row + EDGE / 2];
            next[2 * row] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
            next[2 * row + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
        }
        __builtin_memcpy(rows, next, sizeof next);
    }
}

// Load or store a matrix, row by row: a register has all of them, one after the other.
INLINE void move_rows(char *host, char *entry, u64 *offsets, char *held, u32 transposed, u32 loads)
{
    char *marks = FIELD(char *, entry, UNWRITTEN);
    matrix_row rows[EDGE];
    if (!loads) {
        __builtin_memcpy(rows, held, sizeof rows);
        if (transposed)
            transpose(rows);
    }
    for (u32 row = 0; row < EDGE; row++) {
        matrix_row *at = (matrix_row *)(host + offsets[row]);
        if (loads)
            rows[row] = *at;
        else
            *at = rows[row];
        if (!loads && marks)
            __builtin_memset(marks + offsets[row], 0, ROW_BYTES);
    }
    if (loads) {
        if (transposed)
            transpose(rows);
        __builtin_memcpy(held, rows, sizeof rows);
    }
}

// Load or store matrices of 8 by 8 elements of 16 bits, of which lanes have the offsets of rows, and
// two neighbors in a register: lane by lane for detectors. The columns are the offsets, and after the
// next one the registers.
OUT_OF_LINE void transfer_matrices(char *ctx, char *state, u32 warp, char *host, char *entry,
                                   u32 matrices, u32 transposed, u32 loads)
{
    typedef u64 eight_longs __attribute__((ext_vector_type(EDGE), aligned(8)));
    for (u32 matrix = 0; matrix < matrices; matrix++) {
        u64 *offsets = COLUMN(u64, ctx, OFFSETS) + EDGE * matrix;
        char *held = COLUMN(char, ctx, REGISTERS + matrix);
        if (!kernel.shadow_unit) {
            move_rows(host, entry, offsets, held, transposed, loads);
            continue;
        }
        eight_longs rows = *(eight_longs *)offsets;
        longs places = __builtin_shufflevector(rows, rows, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3,
                                               3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7);
        longs parts = {0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12,
                       0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12};
        if (!transposed) {
            *COLUMN(longs, ctx, PART) = places + parts;
            move_part(ctx, state, warp, host, entry, ~0u, held, 4, 4, loads);
            continue;
        }
        longs even = __builtin_shufflevector(rows, rows, 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6,
                                             0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6);
        longs odd = __builtin_shufflevector(rows, rows, 1, 3, 5, 7, 1, 3, 5, 7, 1, 3, 5, 7, 1, 3, 5, 7,
                                            1, 3, 5, 7, 1, 3, 5, 7, 1, 3, 5, 7, 1, 3, 5, 7);
        longs columns = {0, 0, 0, 0, 2, 2, 2, 2, 4,  4,  4,  4,  6,  6,  6,  6,
                         8, 8, 8, 8, 10, 10, 10, 10, 12, 12, 12, 12, 14, 14, 14, 14};
        *COLUMN(longs, ctx, PART) = even + columns;
        move_part(ctx, state, warp, host, entry, ~0u, held, 4, 2, loads);
        *COLUMN(longs, ctx, PART) = odd + columns;
        move_part(ctx, state, warp, host, entry, ~0u, held + 2, 4, 2, loads);
    }
}
