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

#include "shadow.h"

INLINE row lanes_of_row(u32 first, u32 shift)
{
    row numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (numbers + first) >> shift << LANE;
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
    check_marks(ctx, FIELD(char *, entry, UNWRITTEN), first, HALF * width);
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
    check_marks(ctx, FIELD(char *, entry, UNWRITTEN), first, width);
    char *shadow = FIELD(char *, entry, SHADOW);
    u64 *held = (u64 *)(shadow + first * (SHADOW_WORD / kernel.shadow_unit));
    if (shadow)
        record_units(ctx, held, width, stamp_of(ctx, state, warp) | MANY_LANES, SHADOW_READ);
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
