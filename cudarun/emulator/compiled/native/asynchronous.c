// What detectors observe of asynchronous operations: whether they may race.

#include "shadow.h"

// --- copies of lanes (`cp.async`) ----------------------------------------------------------------
//
// From its issue until its lane waits for it, a copy conflicts with every access to its target, and
// its lane's list has the target. It is a write of the lane then, with which also
// writes of the same value conflict. Reads of its origin are never known to be complete.

#define OF_MANY (MANY_BLOCKS | MANY_WARPS | MANY_LANES)
#define COPIED ((SHADOW_READ | SHADOW_WRITE) * EVERY_LEVEL)
#define PENDING_COPY (OF_MANY | COPIED)

// The address of the words of the target, then the group, the lane and the bytes.
typedef u64 copy __attribute__((ext_vector_type(2), aligned(8)));
enum { GROUP = 32, SIZE = 8 };

INLINE void set_units(u64 *held, u32 size, u64 word)
{
    for (u32 unit = 0; unit < size / kernel.shadow_unit; unit++)
        held[unit] = word;
}

// Check and record that a copy to memory begins.
INLINE void begin_copy(char *ctx, u64 *held, u32 size, u64 stamp)
{
    record_units(ctx, held, size, stamp, 0);
    set_units(held, size, PENDING_COPY);
}

// The list of a warp: the groups that its lanes have committed, then copies.
INLINE char *copies_of(char *ctx, u64 warp)
{
    return FIELD(char *, ctx, COPIES) + warp * FIELD(u64, ctx, COPIES_BYTES);
}

INLINE u64 *words_at(char *ctx, u64 place)
{
    return &FIELD(u64 *, ctx, SHARED_SHADOW)[place / kernel.shadow_unit];
}

INLINE char *marks_at(char *ctx, u64 place)
{
    return FIELD(char *, ctx, SHARED_MARKS) + (place - FIELD(u64, ctx, SHARED_RESERVED));
}

// Record copies of lanes of some bytes, of which others have read the origins. The columns are the
// offsets of the targets, and of the origins.
OUT_OF_LINE void begin_copies(char *ctx, char *state, u32 warp, char *entry, char *origin, u32 mask,
                              u32 reading, u32 size)
{
    u64 scale = SHADOW_WORD / kernel.shadow_unit, stamp = stamp_of(ctx, state, warp);
    u64 most = FIELD(u64, ctx, SHARED_SHADOW_BYTES);
    u32 *groups = &FIELD(u32, copies_of(ctx, warp), 0);
    copy *pending = &FIELD(copy, copies_of(ctx, warp), COPY_GROUPS);
    FOR_EACH_LANE(lane, mask) {
        u64 *held = &FIELD(u64, FIELD(char *, entry, SHADOW), COLUMN(u64, ctx, 0)[lane] * scale);
        begin_write(ctx, state, FIELD(char *, entry, HOST) + COLUMN(u64, ctx, 0)[lane], size);
        u64 *read = &FIELD(u64, FIELD(char *, origin, SHADOW), COLUMN(u64, ctx, 1)[lane] * scale);
        begin_copy(ctx, held, size, stamp | (u64)lane << LANE);
        for (u32 unit = 0; unit < (reading >> lane & 1 ? size / kernel.shadow_unit : 0); unit++)
            read[unit] |= OF_MANY;
        if (MASK(state, COPYING) < most / SHADOW_WORD)  // more only after conflicts
            pending[MASK(state, COPYING)++] =
                (copy){(u64)held, (u64)groups[lane] << GROUP | size << SIZE | lane};
    }
}

OUT_OF_LINE void commit_copies(char *ctx, u32 warp, u32 mask)
{
    FIELD(words, copies_of(ctx, warp), 0) -= (words)truths_of(mask);
}

// Let lanes wait for their copies but for those of the last groups; -1: for all.
OUT_OF_LINE void complete_copies(char *ctx, char *state, u32 warp, u32 mask, int groups)
{
    u64 stamp = stamp_of(ctx, state, warp) | COPIED;
    copy *pending = &FIELD(copy, copies_of(ctx, warp), COPY_GROUPS);
    u32 *committed = &FIELD(u32, copies_of(ctx, warp), 0), left = 0;
    for (u32 place = 0; place < MASK(state, COPYING); place++) {
        copy each = pending[place];
        u64 lane = each[1] % WARP;
        if (!(mask >> lane & 1) || (int)(committed[lane] - (u32)(each[1] >> GROUP)) <= groups)
            pending[left++] = each;
        else
            set_units((u64 *)each[0], each[1] >> SIZE & 0xFF, stamp | lane << LANE);
    }
    MASK(state, COPYING) = left;
    MASK(state, UNSEEN) |= UNSEEN_OWN;
}

// --- reads by the async proxy --------------------------------------------------------------------
//
// Products of warpgroups, and copies from shared memory, read from their issue until their warp waits
// for them. All that the warp knows has to be before a fence of the proxy by it, or by all warps that
// write. Shared memory has 64 parts; a warp has those that its last groups read, the open one first.

enum { OF_PRODUCTS, OF_BULK, QUEUES, QUEUE_BYTES = 8 * (READ_GROUPS + 1) };

INLINE u64 *groups_of(char *state, u32 queue)
{
    return &FIELD(u64, state, kernel.read_parts + queue * QUEUE_BYTES);
}

// Check and record that a warp reads a chunk at an offset in shared memory.
OUT_OF_LINE void read_chunk(char *ctx, u32 warp, u32 queue, u64 first)
{
    char *state = state_of(ctx, warp);
    u64 stamp = stamp_of(ctx, state, warp) | MANY_LANES;
    u64 part = part_of(FIELD(u64, ctx, SHARED_BYTES), first);
    *groups_of(state, queue) |= part;
    FIELD(u64, ctx, READ_PARTS) |= part;
    suspect(ctx, MASK(state, UNSEEN));
    record_units(ctx, words_at(ctx, first), CHUNK, stamp, SHADOW_READ);
    check_marks(ctx, marks_at(ctx, first), 0, CHUNK);
}

// End a group of a queue, if the lanes are those that have issued operations.
OUT_OF_LINE void commit_reads(char *state, u32 queue, u32 mask)
{
    u64 *parts = groups_of(state, queue);
    if (parts[READ_GROUPS] & ~(u64)mask)
        return;
    parts[READ_GROUPS - 1] |= parts[READ_GROUPS - 2];
    for (u32 place = READ_GROUPS - 2; place; place--)
        parts[place] = parts[place - 1];
    parts[0] = 0;
}

// Wait for all but the last groups.
OUT_OF_LINE void complete_reads(char *state, u32 queue, u32 mask, u32 groups)
{
    u64 *parts = groups_of(state, queue);
    for (u32 place = groups + 1; place < (parts[READ_GROUPS] & ~(u64)mask ? 0 : READ_GROUPS); place++)
        parts[place] = 0;
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
        for (u32 place = 0; place < QUEUES * READ_GROUPS; place++)
            read |= groups_of(state_of(ctx, warp), place / READ_GROUPS)[place % READ_GROUPS];
    }
    for (u64 warp = 0; warp < warps; warp++) {
        u32 *own = &MASK(state_of(ctx, warp), UNSEEN);
        *own = unseen ? *own | UNSEEN_OTHERS : 0;
        MASK(state_of(ctx, warp), WAITED) = 0;
    }
    FIELD(u64, ctx, READ_PARTS) = read;
    FIELD(u64, ctx, RELEASED) = 0;
}

// --- copies of boxes, and the objects at which they complete -------------------------------------
//
// A copy to shared memory conflicts with every access to its target until a warp has waited for its
// phase. Then other warps can read it in this epoch, if they have waited, too; they make no access
// before. Accesses to global memory are never known to be complete. Arrivals order nothing.

// The list of the block: the phases that warps have waited for in this epoch, then copies. A phase
// is the offset of its object, and its parity in the lowest bit.
INLINE char *arriving(char *ctx) { return copies_of(ctx, FIELD(u64, ctx, WARPS)); }

// Check and record that a lane copies a chunk between shared memory and words of global memory.
OUT_OF_LINE void copy_chunk(char *ctx, u32 warp, u32 lane, u64 place, u64 *held, u32 loads,
                            u64 phase)
{
    char *state = state_of(ctx, warp);
    u64 stamp = stamp_of(ctx, state, warp) | (u64)lane << LANE;
    u64 found = FIELD(u64, ctx, READ_PARTS) & part_of(FIELD(u64, ctx, SHARED_BYTES), place);
    u64 *own = words_at(ctx, place), number = FIELD(u64, ctx, ARRIVING);
    if (!loads) {
        begin_copy(ctx, held, CHUNK, stamp);
        groups_of(state, OF_BULK)[READ_GROUPS] |= 1ull << lane;
        read_chunk(ctx, warp, OF_BULK, place);
        return;
    }
    for (u32 unit = 0; unit < CHUNK / kernel.shadow_unit; unit++)
        found |= held[unit] & (SHADOW_WRITE | SHADOW_ATOMIC) * EVERY_LEVEL;  // no fence is known
    suspect(ctx, found);
    set_units(held, CHUNK, OF_MANY | SHADOW_READ * EVERY_LEVEL);
    begin_copy(ctx, own, CHUNK, stamp);
    if (kernel.finds_unwritten)
        mark_range(marks_at(ctx, place), 0, CHUNK);
    if (number < FIELD(u64, ctx, SHARED_BYTES) / CHUNK) {  // more only after conflicts
        (&FIELD(copy, arriving(ctx), COPY_GROUPS))[number] = (copy){(u64)own, phase};
        FIELD(u64, ctx, ARRIVING)++;
    }
}

// Check and record the operation of a lane on an object, which is atomic.
OUT_OF_LINE void use_object(char *ctx, u32 warp, u32 lane, u64 place)
{
    u64 stamp = time_of(ctx, state_of(ctx, warp), warp) | (u64)lane << LANE;
    record_units(ctx, words_at(ctx, place), OBJECT_SIZE, stamp, SHADOW_ATOMIC);
    check_marks(ctx, marks_at(ctx, place), 0, OBJECT_SIZE);
}

// Let a warp, or a lane of it, know that a phase is complete.
OUT_OF_LINE void end_wait(char *ctx, u32 warp, u32 lane, u32 is_whole, u64 phase)
{
    char *state = state_of(ctx, warp);
    u64 *phases = &FIELD(u64, arriving(ctx), 0), *released = &FIELD(u64, ctx, RELEASED), left = 0;
    copy *copies = &FIELD(copy, arriving(ctx), COPY_GROUPS);
    u64 word = time_of(ctx, state, warp) | (is_whole ? MANY_WARPS | MANY_LANES : (u64)lane << LANE);
    word |= is_whole ? SHADOW_READ * EVERY_LEVEL : COPIED;
    for (u64 number = 0; number < FIELD(u64, ctx, ARRIVING); number++) {
        copy each = copies[number];
        if (each[1] != phase)
            copies[left++] = each;
        for (u32 unit = 0; unit < (each[1] == phase ? CHUNK / kernel.shadow_unit : 0); unit++)
            ((u64 *)each[0])[unit] = word;
    }
    u32 *waited = &MASK(state, WAITED), most = COPY_GROUPS / sizeof *phases;
    if (is_whole && left < FIELD(u64, ctx, ARRIVING)) {
        suspect(ctx, *released == most);
        phases[(*released)++ % most] = phase;
    }
    *waited += is_whole && *waited < *released && phases[*waited % most] == phase;
    FIELD(u64, ctx, ARRIVING) = left;
}
