// Words of shadow memory.

#include "runtime.h"

#define HALF (WARP / 2)

// Of each lane of half a warp.
typedef u64 row __attribute__((ext_vector_type(HALF), aligned(8)));
typedef _Bool row_bits __attribute__((ext_vector_type(HALF)));

// Fields of a word from the lowest bit on: the kinds on the three levels, then the last thread and
// its time. The highest value of a lane, a warp and a block stands for many.
enum {
    EVERY_LEVEL = 0111,  // times a kind
    IN_WARP = 0007,
    IN_BLOCK = 0070,
    IN_GRID = 0700,
    KINDS = 0777,
    LANE = 9,
    SYNCS_AT = 15,
    WARP_AT = 25,
    MOST_SYNCS = (1 << (WARP_AT - SYNCS_AT)) - 1,
    WRITES = SHADOW_WRITE * EVERY_LEVEL,
};
#define MANY_LANES (1ull << (SYNCS_AT - 1))
#define MANY_WARPS (1ull << (SHADOW_EPOCH - 1))
#define MANY_BLOCKS (~0ull << SHADOW_BLOCK)

// Return the words of units after accesses of a kind, and what of the words before conflicts with
// them: of one unit, or of a row.
#define NEXT_WORDS(name, words_)                                                                   \
    INLINE words_ name(words_ held, words_ stamps, u64 kind, words_ *conflicts)                    \
    {                                                                                              \
        u64 own = kind * EVERY_LEVEL;                                                              \
        words_ apart = (held ^ stamps) | (held & (words_)MANY_LANES), none = (words_)0ull;         \
        words_ new_block = apart < (words_)(1ull << SHADOW_BLOCK)                                  \
                               ? none                                                              \
                               : (words_)(MANY_BLOCKS | (IN_GRID & ~own));                         \
        words_ new_warp = apart < (words_)(1ull << SHADOW_EPOCH)                                   \
                              ? (words_)(MANY_WARPS | (IN_BLOCK & ~own))                           \
                              : new_block;                                                         \
        words_ after_sync = apart < (words_)(1ull << WARP_AT) ? none : new_warp;                   \
        words_ new_lane = apart < (words_)(1ull << SYNCS_AT)                                       \
                              ? (words_)(MANY_LANES | (IN_WARP & ~own))                            \
                              : after_sync;                                                        \
        words_ other = apart < (words_)(1ull << LANE) ? none : new_lane;                           \
        words_ differs = held == none ? none : other;                                              \
        words_ in_grid = (words_)(u64)IN_GRID, in_block = (words_)(u64)(IN_BLOCK | IN_GRID);       \
        words_ in_warp = (words_)(u64)KINDS;                                                       \
        words_ older = apart < (words_)(1ull << SHADOW_EPOCH) ? in_block : in_grid;                \
        words_ kept = apart < (words_)(1ull << SYNCS_AT) ? in_warp : older;                        \
        *conflicts = held & differs & in_warp;                                                     \
        return stamps | (held & kept) | (words_)own | (differs & ~in_warp);                        \
    }

NEXT_WORDS(next_word, u64)
NEXT_WORDS(next_row, row)

// The word of lane 0 now, without kinds.
INLINE u64 time_of(char *ctx, char *state, u32 warp)
{
    return FIELD(u64, ctx, EPOCH) | (u64)MASK(state, SYNCS) << SYNCS_AT | (u64)warp << WARP_AT;
}

// The same for an access, which only warps make that have waited for all that others waited for.
INLINE u64 stamp_of(char *ctx, char *state, u32 warp)
{
    suspect(ctx, MASK(state, WAITED) ^ FIELD(u64, ctx, RELEASED));
    return time_of(ctx, state, warp);
}

// Check and record accesses to the units of some bytes.
INLINE void record_units(char *ctx, u64 *held, u32 size, u64 stamp, u64 kind)
{
    u64 found = 0, conflicts;
    for (u32 unit = 0; unit < size / kernel.shadow_unit; unit++) {
        held[unit] = next_word(held[unit], stamp, kind, &conflicts);
        found |= conflicts;
    }
    suspect(ctx, found);
}

// A part of shared memory, which has at most 64 of the same power of two, each of whole chunks, as a
// bit.
INLINE u64 part_of(u64 bytes, u64 offset)
{
    return 1ull << (offset >> (WARP - __builtin_clz((u32)(bytes - 1) >> 6 | (CHUNK - 1))));
}

// Note that a warp writes memory: shared memory that products may still read is suspect.
INLINE void begin_write(char *ctx, char *state, char *first, u64 size)
{
    u64 offset = (u64)(first - FIELD(char *, ctx, SHARED)), bytes = FIELD(u64, ctx, SHARED_BYTES);
    if (offset >= bytes)
        return;
    MASK(state, UNSEEN) |= UNSEEN_OWN;
    u64 parts = (part_of(bytes, offset + size - 1) << 1) - part_of(bytes, offset);
    suspect(ctx, FIELD(u64, ctx, READ_PARTS) & parts);
}
