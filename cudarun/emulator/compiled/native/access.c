// The accesses of lanes to the region that an instruction accessed last.

#include "runtime.h"

#define SIGN (1ull << 63)

// Return whether the accesses of lanes are valid, of which some of all lanes are not. The column has
// what is wrong with each, in bits.
RARE u32 check_lanes(char *ctx, u32 mask)
{
    bits lanes;
    __builtin_memcpy(&lanes, &mask, sizeof lanes);
    return !__builtin_reduce_or(*COLUMN(longs, ctx, 0) & -__builtin_convertvector(lanes, longs));
}

// Replace addresses by offsets in the region of a cache entry; return whether the accesses of some
// lanes are aligned and inside. The others are looked at only if one of all lanes is not.
//
// The sign of the difference to the last valid offset, or of the offset itself, is set for others,
// or low bits of the offset: vectors of 64 bits are faster than truth values in AVX2. With the rank
// of the block, plus one, addresses can be in the shared memory of other blocks of the cluster, as
// `machine/clusters.py` reads them; the base of shared memory has the rank of the block.
OUT_OF_LINE u32 check_access(char *ctx, char *entry, longs *places, u32 mask, u64 bytes, u64 rank)
{
    longs offsets = *places - FIELD(u64, entry, BASE), ahead = (longs)0ull, unknown = (longs)0ull;
    if (rank) {
        u64 stride = FIELD(u64, entry, CLUSTER_STRIDE), own = rank - 1;
        offsets += stride ? own << RANK_SHIFT : 0;
        longs within = offsets & (stride ? RANK_OFFSET : ~0ull);
        longs ranks = (offsets ^ within) >> RANK_SHIFT;
        ahead = (ranks - own) * stride;
        unknown = FIELD(u64, ctx, CLUSTER) - 1 - ranks;
        offsets = within;
    }
    longs outside = (FIELD(u64, entry, COUNT) - 1 - offsets) | unknown;
    *places = offsets + ahead;
    u64 any = __builtin_reduce_or(offsets), misplaced = any & (bytes - 1);
    misplaced |= (any | __builtin_reduce_or(outside)) & SIGN;
    if (__builtin_expect(!misplaced, 1))
        return 1;
    *COLUMN(longs, ctx, 0) = (outside & SIGN) | (offsets & (SIGN | (bytes - 1)));
    return check_lanes(ctx, mask);
}

// --- loads and stores ----------------------------------------------------------------------------
//
// The columns are the offsets, from host memory and from its marks of unwritten bytes, and the
// values. The accesses of a lane are `ahead` bytes after its offset.

// Copy the values of lanes between memory and their column.
INLINE void copy_lanes(char *ctx, char *memory, u32 mask, u32 size, u32 loads)
{
    u64 *offsets = COLUMN(u64, ctx, 0);
    char *values = COLUMN(char, ctx, 1);
    u32 first = lowest(mask), follow;
    u64 run = (u64)mask >> first;
    if (mask != ~0u && !(run & (run + 1))) {  // lanes from the first to the last one
        longs apart = *(longs *)(offsets + 1) - *(longs *)offsets;
        bits in_row = __builtin_convertvector(apart == (longs)(u64)size, bits);
        __builtin_memcpy(&follow, &in_row, sizeof follow);
        if (!(mask & mask >> 1 & ~follow)) {
            char *at = memory + offsets[first], *value = values + first * size;
            u32 count = (u32)__builtin_popcount(mask);
#define COPY_PART(lanes)                                                                           \
    if (count & (lanes)) {                                                                         \
        __builtin_memcpy(loads ? value : at, loads ? at : value, (lanes) * size);                  \
        at += (lanes) * size, value += (lanes) * size;                                             \
    }
            COPY_PART(16) COPY_PART(8) COPY_PART(4) COPY_PART(2) COPY_PART(1)
            return;
        }
    }
#define COPY_LANE(lane)                                                                            \
    {                                                                                              \
        char *at = memory + offsets[lane], *value = values + lane * size;                          \
        __builtin_memcpy(loads ? value : at, loads ? at : value, size);                            \
    }
    if (mask == ~0u) {
        for (u32 lane = 0; lane < WARP; lane++)
            COPY_LANE(lane)
        return;
    }
    FOR_EACH_LANE(lane, mask)
        COPY_LANE(lane)
}

// Load a value of some bytes for each active lane, and 0 for others.
OUT_OF_LINE void load_lanes(char *ctx, char *host, u32 mask, u64 ahead, u32 size)
{
    if (mask != ~0u)
        __builtin_memset(COLUMN(char, ctx, 1), 0, WARP * size);
    if (mask)
        copy_lanes(ctx, host + ahead, mask, size, 1);
}

// Store a value for each active lane.
OUT_OF_LINE void store_lanes(char *ctx, char *host, u32 mask, u64 ahead, u32 size)
{
    if (mask)
        copy_lanes(ctx, host + ahead, mask, size, 0);
}

// Mark bytes as written.
OUT_OF_LINE void mark_lanes(char *ctx, char *marks, u32 mask, u64 ahead, u32 size)
{
    FOR_EACH_LANE(lane, mask)
        mark_range(marks, ahead + COLUMN(u64, ctx, 0)[lane], size);
}

// Mark bytes as read if nothing has written them; another thread can write them meanwhile.
OUT_OF_LINE void note_range(char *ctx, char *marks, u64 first, u32 size)
{
    (void)ctx;
    for (u32 at = 0; at < size; at += 8) {
        u64 part = 0, count = size - at < 8 ? size - at : 8;
        char *own = marks + first + at;
        __builtin_memcpy(&part, own, count);
        if (part & EACH_BYTE)
            for (u32 place = 0; place < count; place++)
                if (own[place] & 1)
                    __atomic_fetch_or(own + place, READ_UNWRITTEN, __ATOMIC_RELAXED);
    }
}

OUT_OF_LINE void note_lanes(char *ctx, char *marks, u32 mask, u64 ahead, u32 size)
{
    FOR_EACH_LANE(lane, mask)
        note_range(ctx, marks, ahead + COLUMN(u64, ctx, 0)[lane], size);
}

// Mark frames that lanes have entered as unwritten, for a detector; the end is one of their stacks.
OUT_OF_LINE void mark_frames(char *ctx, u32 warp, u32 mask, u64 end, u64 size)
{
    if (!kernel.finds_unwritten)
        return;
    char *frames = FIELD(char *, ctx, LOCAL_MARKS) + end - size;
    FOR_EACH_LANE(lane, mask)
        __builtin_memset(frames + (WARP * warp + lane) * FIELD(u64, ctx, LOCAL_BYTES), 1, size);
}
