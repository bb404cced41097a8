// Matrices in shared memory, as the descriptors of `wgmma` give them.
//
// `machine/warpgroups.py` describes descriptors, chunks, and the two ways in which these are used.

#include "runtime.h"

enum {
    ROWS = 16,  // of the product of a warp
    EIGHT = 8,  // lines whose chunks are a unit of the layout
    PARTS = 2,  // chunks of a line of A along k
    WORDS = CHUNK / 4,
};

typedef u32 loose_u32 __attribute__((aligned(1)));
typedef u16 eight __attribute__((ext_vector_type(EIGHT), aligned(1)));

struct matrix {
    char *ctx, *shared;
    u32 warp;  // that reads it
    u64 bytes, start, leading, stride, base;
    u64 bits;  // of the number of a chunk, which are swizzled
};

INLINE u64 field_of(u64 descriptor, u32 bit) { return (descriptor >> bit & 0x3FFF) * CHUNK; }

// Lines begin at the same places: memory begins at a multiple of those that are swizzled.
INLINE void find_matrix(char *ctx, u32 warp, u64 descriptor, struct matrix *found)
{
    found->ctx = ctx;
    found->warp = warp;
    found->shared = FIELD(char *, ctx, SHARED);
    found->bytes = FIELD(u64, ctx, SHARED_BYTES);
    found->start = field_of(descriptor, 0) - FIELD(u64, ctx, SHARED_START);
    found->leading = field_of(descriptor, 16);
    found->stride = field_of(descriptor, 32);
    found->base = descriptor >> 49 & 7;
    found->bits = (4 - (descriptor >> 62)) & 3;
}

INLINE u64 low_of(struct matrix *matrix, u64 number) { return number & ((1 << matrix->bits) - 1); }

// Return a chunk by its place before swizzling relative to the start; null beyond shared memory.
INLINE char *chunk_at(struct matrix *matrix, u64 place)
{
    u64 address = matrix->start + place;
    address ^= low_of(matrix, (address >> 7) - matrix->base) * CHUNK;
    if (!is_inside(address, CHUNK, matrix->bytes))
        return 0;
    if (kernel.shadow_unit)
        read_chunk(matrix->ctx, matrix->warp, 0, address);
    return matrix->shared + address;
}

// Return whether all lanes have the same value of some bytes.
OUT_OF_LINE u32 are_equal(char *values, u64 size)
{
    u32 found = 0;
    for (u64 place = size; place < WARP * size; place++)
        found |= values[place] ^ values[place - size];
    return !found;
}

// Read lines along k, as chunks or as columns of chunks; return whether all are in shared memory.
INLINE u32 read_lines(char *ctx, u32 column, u32 warp, u64 first, u64 count, u64 parts, u32 is_across,
                      u32 *to, u64 word_step, u64 line_step)
{
    u64 *descriptors = COLUMN(u64, ctx, column);
    if (!are_equal((char *)descriptors, sizeof *descriptors))
        return 0;
    struct matrix matrix;
    find_matrix(ctx, warp, *descriptors, &matrix);
    u64 row_step = (u64)CHUNK << matrix.bits;
    if (!is_across) {
        for (u64 line = first; line < first + count; line++, to += line_step) {
            u64 start = line % EIGHT * row_step + line / EIGHT * matrix.stride;
            for (u64 part = 0; part < parts; part++) {
                u64 far = (part >> matrix.bits) * matrix.leading;
                char *chunk = chunk_at(&matrix, start + far + low_of(&matrix, part) * CHUNK);
                if (!chunk)
                    return 0;
                for (u32 word = 0; word < WORDS; word++)
                    to[(WORDS * part + word) * word_step] = ((loose_u32 *)chunk)[word];
            }
        }
        return 1;
    }
    u64 across = matrix.bits ? matrix.leading : matrix.stride;
    u64 along = matrix.bits ? matrix.stride : matrix.leading;
    for (u64 lines = first / EIGHT; lines < (first + count) / EIGHT; lines++) {
        u64 start = low_of(&matrix, lines) * CHUNK + (lines >> matrix.bits) * across;
        for (u64 k = 0; k < EIGHT * parts; k += 2) {
            u64 place = start + k % EIGHT * row_step + k / EIGHT * along;
            char *even = chunk_at(&matrix, place), *odd = chunk_at(&matrix, place + row_step);
            if (!even || !odd)
                return 0;
            for (u32 line = 0; line < EIGHT; line++) {
                u32 upper = (u32)(*(eight *)odd)[line] << 16;
                to[k / 2 * word_step + line * line_step] = upper | (*(eight *)even)[line];
            }
        }
        to += EIGHT * line_step;
    }
    return 1;
}

// Read the rows of A of a warp: by number of the word, and row. The column has the descriptor.
OUT_OF_LINE u32 read_left(char *ctx, u32 column, u32 warp, u32 is_across, u32 *to)
{
    u64 first = warp % WARPS_OF_GROUP * ROWS;
    return read_lines(ctx, column, warp, first, ROWS, PARTS, is_across, to, ROWS, 1);
}

// Read the columns of B: the words of one column after the other.
OUT_OF_LINE u32 read_right(char *ctx, u32 column, u32 warp, u64 columns, u64 parts, u32 is_across,
                           u32 *to)
{
    return read_lines(ctx, column, warp, 0, columns, parts, is_across, to, 1, WORDS * parts);
}
