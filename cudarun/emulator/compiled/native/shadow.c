// Shadow memory: whether accesses of a launch may race.
//
// Memory is divided into units of the smallest access of the kernel. A word per unit has its last
// accesses on three levels. A thread that differs from the recorded one on a level conflicts with
// the accesses recorded there; an access that is ordered after all of a level begins it anew:
//
// * blocks are not ordered;
// * warps of a block are ordered by barriers of the whole block, which begin an epoch;
// * lanes of a warp are ordered by synchronizations of the whole warp, which are counted.
//
// Other synchronization is not known here: there are conflicts that are no races, but every race of
// the interpreter's detector is a conflict.

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

// The word of an access by lane 0 now, without kinds.
INLINE u64 stamp_of(char *ctx, char *state, u32 warp)
{
    return FIELD(u64, ctx, EPOCH) | (u64)MASK(state, SYNCS) << SYNCS_AT | (u64)warp << WARP_AT;
}

// A part of shared memory, which has 64, as a bit.
INLINE u64 part_of(u64 bytes, u64 offset) { return 1ull << offset * 64 / bytes; }

INLINE row lanes_of_row(u32 first, u32 shift)
{
    row numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (numbers + first) >> shift << LANE;
}

// Note that a warp writes memory: shared memory that products may still read is suspect.
INLINE void begin_write(char *ctx, char *state, char *first, u64 size)
{
    u64 offset = (u64)(first - FIELD(char *, ctx, SHARED)), bytes = FIELD(u64, ctx, SHARED_BYTES);
    if (offset >= bytes)
        return;
    MASK(state, UNSEEN) |= UNSEEN_OWN;
    u64 parts = part_of(bytes, offset) | part_of(bytes, offset + size - 1);
    suspect(ctx, FIELD(u64, ctx, READ_PARTS) & parts);
}

// Count a synchronization of lanes if they are their whole warp; the column is their member masks.
OUT_OF_LINE void count_synchronization(char *ctx, char *state, u32 mask)
{
    u32 alive = MASK(state, ALIVE);
    u32 absent = mask_of((*COLUMN(words, ctx, 0) & spread(alive)) != spread(alive));
    if (mask == alive && !(absent & mask) && MASK(state, SYNCS) < MOST_SYNCS)
        MASK(state, SYNCS)++;
}

// --- patterns ------------------------------------------------------------------------------------

#define DIFFERING(bytes, kind)                                                                     \
    case bytes: {                                                                                  \
        typedef kind values_ __attribute__((ext_vector_type(HALF), aligned(1)));                   \
        bits_ = __builtin_convertvector(*(values_ *)memory != *(values_ *)values, row_bits);       \
        break;                                                                                     \
    }

// Return where the values of a row differ from those in memory, as words of equal bits.
INLINE row differing(char *memory, char *values, u32 width)
{
    row_bits bits_ = 0;
    switch (width) {
        DIFFERING(1, u8)
        DIFFERING(2, u16)
        DIFFERING(4, u32)
        DIFFERING(8, u64)
    }
    return -__builtin_convertvector(bits_, row);
}

// Check that bytes which lanes read together have been written, where that is tracked.
INLINE void check_marks(char *ctx, char *entry, u64 first, u32 size)
{
    char *marks = FIELD(char *, entry, UNWRITTEN);
    u32 found = 0;
    for (u32 place = 0; place < (kernel.finds_unwritten && marks ? size : 0); place++)
        found |= marks[first + place] != 0;
    suspect(ctx, found);
}

INLINE void record_row(char *ctx, char *state, u32 warp, char *entry, char *host, u64 first,
                       u32 half, u32 width, u32 kind)
{
    char *shadow = FIELD(char *, entry, SHADOW);
    if (!shadow)
        return;
    u32 units = width / kernel.shadow_unit;
    u64 stamp = stamp_of(ctx, state, warp);
    row *held = (row *)(shadow + first * (SHADOW_WORD / kernel.shadow_unit)), found = (row)0ull;
    if (kind == SHADOW_WRITE)
        begin_write(ctx, state, host + first, HALF * width);
    for (u32 turn = 0; turn < units; turn++) {
        row lanes = lanes_of_row(HALF * (half * units + turn), lowest(units)), conflicts;
        row before = held[turn], writes = before & (row)(u64)WRITES;
        if (kind == SHADOW_WRITE && __builtin_reduce_or(writes)) {
            char *values = COLUMN(char, ctx, 0) + HALF * half * width;
            before |= differing(host + first, values, width) & writes >> 1;
        }
        held[turn] = next_row(before, (row)stamp | lanes, kind, &conflicts);
        found |= conflicts;
    }
    suspect(ctx, __builtin_reduce_or(found));
}

// Check and record that the lanes of a half read consecutive memory from an offset on.
OUT_OF_LINE void read_row(char *ctx, char *state, u32 warp, char *entry, u64 first, u32 half,
                          u32 width)
{
    check_marks(ctx, entry, first, HALF * width);
    record_row(ctx, state, warp, entry, 0, first, half, width, SHADOW_READ);
}

// Record that they write it, each a unit. The column is the values.
OUT_OF_LINE void write_row(char *ctx, char *state, u32 warp, char *entry, char *host, u64 first,
                           u32 half)
{
    record_row(ctx, state, warp, entry, host, first, half, kernel.shadow_unit, SHADOW_WRITE);
}

// Check and record that all lanes of a half read the memory at an offset.
OUT_OF_LINE void read_uniform(char *ctx, char *state, u32 warp, char *entry, u64 first, u32 half,
                              u32 width)
{
    (void)half;
    check_marks(ctx, entry, first, width);
    char *shadow = FIELD(char *, entry, SHADOW);
    u64 *held = (u64 *)(shadow + first * (SHADOW_WORD / kernel.shadow_unit));
    u64 stamp = stamp_of(ctx, state, warp) | MANY_LANES, found = 0, conflicts;
    for (u32 unit = 0; unit < (shadow ? width / kernel.shadow_unit : 0); unit++) {
        held[unit] = next_word(held[unit], stamp, SHADOW_READ, &conflicts);
        found |= conflicts;
    }
    suspect(ctx, found);
}

// --- all accesses --------------------------------------------------------------------------------

INLINE u32 differs(char *memory, char *value, u32 width)
{
    u32 found = 0;
    for (u32 place = 0; place < width; place++)
        found |= memory[place] != value[place];
    return found;
}

// Return the active lanes of a half as words of equal bits.
INLINE row active_in_row(u32 mask, u32 half)
{
    u16 lanes = (u16)(mask >> HALF * half);
    row_bits active;
    __builtin_memcpy(&active, &lanes, sizeof active);
    return -__builtin_convertvector(active, row);
}

// Return the words of the units of the active lanes of a half, and 0 for others.
INLINE row gathered(char *shadow, u64 *places, row active, u64 scale)
{
    row words_;
#pragma clang loop unroll(full)
    for (u32 lane = 0; lane < HALF; lane++)
        words_[lane] = active[lane] ? FIELD(u64, shadow, places[lane] * scale) : 0;
    return words_;
}

// Check and record accesses of lanes; return those that may write the same memory as others.
//
// The columns are the offsets, and the values of writes; these offsets are relative to the shadow
// `ahead` bytes before, and to host memory. Earlier writes of other values are as reads: writes of
// one value by many threads are no race. `joint`: other lanes of the warp can be those that make
// the accesses.
OUT_OF_LINE u32 record_accesses(char *ctx, char *state, u32 warp, char *shadow, char *host,
                                u32 mask, u64 ahead, u32 width, u32 kind, u32 joint)
{
    u64 *places = COLUMN(u64, ctx, 0), scale = SHADOW_WORD / kernel.shadow_unit;
    char *values = COLUMN(char, ctx, 1);
    u64 stamp = stamp_of(ctx, state, warp), suspected = 0;
    u32 units = width / kernel.shadow_unit, shared = 0;
    shadow += ahead * scale;
    u32 changes = 0;
    FOR_EACH_LANE(lane, kind == SHADOW_READ ? 0 : mask)
        begin_write(ctx, state, host + places[lane], width);
    if (kind == SHADOW_WRITE) {
        FOR_EACH_LANE(lane, mask)
            changes |= differs(host + places[lane], values + lane * width, width) << lane;
    }
    for (u32 unit = 0; unit < units; unit++, shadow += SHADOW_WORD) {
        row next[2], found = (row)0ull;
        for (u32 half = 0; half < 2; half++) {
            row active = active_in_row(mask, half), changed = active_in_row(changes, half);
            row lanes = lanes_of_row(HALF * half, 0), conflicts;
            row held = gathered(shadow, places + HALF * half, active, scale);
            held |= changed & (held & (row)(u64)WRITES) >> 1;
            next[half] = next_row(held, (row)stamp | lanes, kind, &conflicts);
            found |= conflicts & active;
        }
        suspected |= __builtin_reduce_or(found);
        FOR_EACH_LANE(lane, mask)
            FIELD(u64, shadow, places[lane] * scale) = ((u64 *)next)[lane];
        for (u32 half = 0; half < 2; half++) {
            row active = active_in_row(mask, half);
            row now = gathered(shadow, places + HALF * half, active, scale);
            row_bits are_lost = __builtin_convertvector(now != (next[half] & active), row_bits);
            u16 lanes;
            __builtin_memcpy(&lanes, &are_lost, sizeof lanes);
            shared |= (u32)lanes << HALF * half;  // another lane has accessed the unit, too
        }
        FOR_EACH_LANE(lane, joint ? mask : shared)
            FIELD(u64, shadow, places[lane] * scale) |= MANY_LANES;
    }
    suspect(ctx, suspected);
    return shared;
}

// Check after writes that lanes have written equal values to the same memory; the columns are those
// of `record_accesses`.
OUT_OF_LINE void check_equal(char *ctx, char *host, u32 mask, u32 width)
{
    FOR_EACH_LANE(lane, mask) {
        char *value = COLUMN(char, ctx, 1) + lane * width;
        suspect(ctx, differs(host + COLUMN(u64, ctx, 0)[lane], value, width));
    }
}

// --- loads and stores, with the columns and the parameters of `access.c` ---------------------------

// Record accesses for detectors; return the lanes that may write the same memory as others.
INLINE u32 observe(char *ctx, char *state, u32 warp, char *entry, char *host, u32 mask, u64 ahead,
                   u32 size, u32 kind, u32 joint)
{
    char *marks = FIELD(char *, entry, UNWRITTEN), *shadow = FIELD(char *, entry, SHADOW);
    FOR_EACH_LANE(lane, kernel.finds_unwritten && kind != SHADOW_WRITE && marks ? mask : 0) {
        u64 found = 0;
        __builtin_memcpy(&found, marks + ahead + COLUMN(u64, ctx, 0)[lane], size);
        suspect(ctx, found);
    }
    if (!shadow)
        return 0;
    return record_accesses(ctx, state, warp, shadow, host, mask, ahead, size, kind, joint);
}

// Record loads, or atomic operations.
OUT_OF_LINE void observe_loads(char *ctx, char *state, u32 warp, char *entry, char *host, u32 mask,
                               u64 ahead, u32 kind, u32 joint, u32 size)
{
    observe(ctx, state, warp, entry, host + ahead, mask, ahead, size, kind, joint);
}

// Record stores, and store.
OUT_OF_LINE void observe_stores(char *ctx, char *state, u32 warp, char *entry, char *host, u32 mask,
                                u64 ahead, u32 joint, u32 size)
{
    char *at = host + ahead;
    u32 shared = observe(ctx, state, warp, entry, at, mask, ahead, size, SHADOW_WRITE, joint);
    store_lanes(ctx, host, mask, ahead, size);
    check_equal(ctx, at, shared, size);
}

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
