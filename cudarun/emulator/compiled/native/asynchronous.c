// What detectors observe of asynchronous operations: whether they may race.

#include "shadow.h"

// --- copies of lanes (`cp.async`) ----------------------------------------------------------------
//
// From its issue until its lane waits for it, a copy conflicts with every access to its target, and
// its lane's list has the target. It is a write of the lane then. Reads of its origin are never known
// to be complete.

#define OF_MANY (MANY_BLOCKS | MANY_WARPS | MANY_LANES)
#define PENDING_COPY (OF_MANY | (SHADOW_READ | SHADOW_WRITE) * EVERY_LEVEL)

// The address of the words of the target, then the group, the lane and the number of words.
typedef u64 copy __attribute__((ext_vector_type(2), aligned(8)));
enum { GROUP = 32, UNITS = 8 };

// The list of a warp: the groups that its lanes have committed, then copies.
INLINE char *copies_of(char *ctx, u32 warp)
{
    return FIELD(char *, ctx, COPIES) + warp * FIELD(u64, ctx, COPIES_BYTES);
}

// Record copies of lanes of some bytes, of which others have read the origins. The columns are the
// offsets of the targets, and of the origins.
OUT_OF_LINE void begin_copies(char *ctx, char *state, u32 warp, char *entry, char *origin, u32 mask,
                              u32 reading, u32 size)
{
    u64 scale = SHADOW_WORD / kernel.shadow_unit, conflicts, found = 0;
    u64 stamp = stamp_of(ctx, state, warp), most = FIELD(u64, ctx, SHARED_SHADOW_BYTES);
    u32 units = size / kernel.shadow_unit, *groups = &FIELD(u32, copies_of(ctx, warp), 0);
    copy *pending = &FIELD(copy, copies_of(ctx, warp), COPY_GROUPS);
    FOR_EACH_LANE(lane, mask) {
        u64 *held = &FIELD(u64, FIELD(char *, entry, SHADOW), COLUMN(u64, ctx, 0)[lane] * scale);
        begin_write(ctx, state, FIELD(char *, entry, HOST) + COLUMN(u64, ctx, 0)[lane], size);
        u64 *read = &FIELD(u64, FIELD(char *, origin, SHADOW), COLUMN(u64, ctx, 1)[lane] * scale);
        for (u32 unit = 0; unit < units; unit++) {
            next_word(held[unit], stamp | (u64)lane << LANE, 0, &conflicts);
            found |= conflicts;
            held[unit] = PENDING_COPY;
            if (reading >> lane & 1)
                read[unit] |= OF_MANY;
        }
        if (MASK(state, COPYING) < most / SHADOW_WORD)  // more only after conflicts
            pending[MASK(state, COPYING)++] =
                (copy){(u64)held, (u64)groups[lane] << GROUP | units << UNITS | lane};
    }
    suspect(ctx, found);
}

OUT_OF_LINE void commit_copies(char *ctx, u32 warp, u32 mask)
{
    FIELD(words, copies_of(ctx, warp), 0) -= (words)truths_of(mask);
}

// Let lanes wait for their copies but for those of the last groups; -1: for all.
OUT_OF_LINE void complete_copies(char *ctx, char *state, u32 warp, u32 mask, int groups)
{
    u64 stamp = stamp_of(ctx, state, warp) | WRITES;
    copy *pending = &FIELD(copy, copies_of(ctx, warp), COPY_GROUPS);
    u32 *committed = &FIELD(u32, copies_of(ctx, warp), 0), left = 0;
    for (u32 place = 0; place < MASK(state, COPYING); place++) {
        copy each = pending[place];
        u64 lane = each[1] % WARP, units = each[1] >> UNITS & 0xFF;
        if (!(mask >> lane & 1) || (int)(committed[lane] - (u32)(each[1] >> GROUP)) <= groups)
            pending[left++] = each;
        else
            for (u64 unit = 0; unit < units; unit++)
                ((u64 *)each[0])[unit] = stamp | lane << LANE;
    }
    MASK(state, COPYING) = left;
    MASK(state, UNSEEN) |= UNSEEN_OWN;
}

// --- products of warpgroups ----------------------------------------------------------------------
//
// A product reads shared memory from its issue until its warp waits for it, through the async proxy:
// all that a warp knows has to be before a fence of the proxy by the warp, or by all writing warps.
// Shared memory has 64 parts; a warp has those that it reads by its last groups, the open one first.

// Check and record that a warp reads a chunk at an offset in shared memory.
OUT_OF_LINE void read_chunk(char *ctx, u32 warp, u64 first)
{
    char *state = state_of(ctx, warp), *marks = FIELD(char *, ctx, SHARED_MARKS) + first;
    u64 stamp = stamp_of(ctx, state, warp) | MANY_LANES, found = MASK(state, UNSEEN), conflicts;
    u64 part = part_of(FIELD(u64, ctx, SHARED_BYTES), first);
    u64 *held = &FIELD(u64 *, ctx, SHARED_SHADOW)[first / kernel.shadow_unit];
    FIELD(u64, state, kernel.read_parts) |= part;
    FIELD(u64, ctx, READ_PARTS) |= part;
    for (u32 unit = 0; unit < CHUNK / kernel.shadow_unit; unit++) {
        held[unit] = next_word(held[unit], stamp, SHADOW_READ, &conflicts);
        found |= conflicts;
    }
    for (u32 place = 0; place < (kernel.finds_unwritten ? CHUNK : 0); place++)
        found |= (marks - FIELD(u64, ctx, SHARED_RESERVED))[place];
    suspect(ctx, found);
}

OUT_OF_LINE void commit_products(char *state)
{
    u64 *parts = &FIELD(u64, state, kernel.read_parts);
    parts[3] |= parts[2];
    parts[2] = parts[1];
    parts[1] = parts[0];
    parts[0] = 0;
}

// Wait for the products of all but the last groups.
OUT_OF_LINE void complete_products(char *state, u32 groups)
{
    for (u32 place = groups + 1; place < READ_GROUPS; place++)
        FIELD(u64, state, kernel.read_parts + 8 * place) = 0;
}

// The async proxy sees what happens before a fence of a whole warp.
OUT_OF_LINE void fence_proxy(char *state, u32 mask)
{
    if (mask == ~0u)
        MASK(state, UNSEEN) = 0;
}

// Begin an epoch after a barrier of the block.
OUT_OF_LINE void order_proxies(char *ctx)
{
    u64 read = 0, warps = FIELD(u64, ctx, WARPS);
    u32 unseen = 0;
    for (u64 warp = 0; warp < warps; warp++) {
        unseen |= MASK(state_of(ctx, warp), UNSEEN) & UNSEEN_OWN;
        for (u32 place = 0; place < READ_GROUPS; place++)
            read |= FIELD(u64, state_of(ctx, warp), kernel.read_parts + 8 * place);
    }
    for (u64 warp = 0; warp < warps; warp++) {
        u32 *own = &MASK(state_of(ctx, warp), UNSEEN);
        *own = unseen ? *own | UNSEEN_OTHERS : 0;
    }
    FIELD(u64, ctx, READ_PARTS) = read;
}
