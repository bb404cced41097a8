// The check of the accesses of lanes to the region that an instruction accessed last.

#include "runtime.h"

// Of each lane of a warp: an address, or an offset in a region.
typedef u64 longs __attribute__((ext_vector_type(WARP), aligned(8)));

#define SIGN (1ull << 63)

// Replace addresses by offsets in the region of a cache entry; `bad` is 0 for lanes whose accesses
// are aligned and inside.
//
// The sign of the difference to the last valid offset, or of the offset itself, is set for others,
// or low bits of the offset: vectors of 64 bits are faster than truth values in AVX2. With the rank
// of the block, plus one, addresses can be in the shared memory of other blocks of the cluster, as
// `machine/clusters.py` reads them.
OUT_OF_LINE void check_access(char *ctx, char *entry, longs *places, longs *bad, u64 bytes, u64 rank)
{
    longs offsets = *places - FIELD(u64, entry, BASE), ahead = (longs)0ull, unknown = (longs)0ull;
    if (rank) {
        u64 stride = FIELD(u64, entry, CLUSTER_STRIDE);
        longs within = offsets & (stride ? RANK_OFFSET : ~0ull);
        longs ranks = (offsets ^ within) >> RANK_SHIFT;
        longs elsewhere = __builtin_convertvector(ranks != (longs)0ull, longs);
        ahead = ((ranks - rank) * stride) & elsewhere;
        unknown = FIELD(u64, ctx, CLUSTER) - ranks;
        offsets = within;
    }
    longs room = (FIELD(u64, entry, COUNT) - 1 - offsets) & ~(bytes - 1);
    *bad = ((room | offsets) & (SIGN | (bytes - 1))) | (unknown & SIGN);
    *places = offsets + ahead;
}
