// Atomic operations: lane by lane, in the order of the lanes.
//
// The columns are the offsets and the operands; the old values are the next one. Reductions, whose
// order cannot be seen, combine the operands of lanes with one address first. Those of global
// memory are atomic among the threads of this process if several threads run blocks; all with the
// scope of the system are atomic, also for the program that shares the memory.

#include "runtime.h"

// Returns the value to store, of the old one and the operands, each in the low bits.
typedef u64 (*combination)(u64 old, u64 operand, u64 other);

INLINE u64 value_at(char *at, u32 size)
{
    return size == 2 ? FIELD(u16, at, 0) : size == 4 ? FIELD(u32, at, 0) : FIELD(u64, at, 0);
}

INLINE void store_value(char *at, u32 size, u64 value)
{
    if (size == 2)
        FIELD(u16, at, 0) = (u16)value;
    else if (size == 4)
        FIELD(u32, at, 0) = (u32)value;
    else
        FIELD(u64, at, 0) = value;
}

#define COMBINE_ATOMICALLY(kind)                                                               \
    {                                                                                          \
        kind *memory = (kind *)at, found = __atomic_load_n(memory, __ATOMIC_RELAXED);          \
        kind made;                                                                             \
        do                                                                                     \
            made = (kind)combine(found, operand, other);                                       \
        while (!__atomic_compare_exchange_n(memory, &found, made, 1, __ATOMIC_RELAXED,         \
                                            __ATOMIC_RELAXED));                                \
        old = found;                                                                           \
    }

// Execute an operation; return the old value.
INLINE u64 update(char *at, u64 operand, u64 other, u32 is_atomic, u32 size, combination combine)
{
    u64 old = 0;
    if (!is_atomic) {
        old = value_at(at, size);
        store_value(at, size, combine(old, operand, other));
    } else if (size == 2)
        COMBINE_ATOMICALLY(u16)
    else if (size == 4)
        COMBINE_ATOMICALLY(u32)
    else
        COMBINE_ATOMICALLY(u64)
    return old;
}

INLINE void update_lane(char *ctx, char *host, u32 lane, u32 size, combination combine,
                        u32 of_system)
{
    char *at = host + COLUMN(u64, ctx, 0)[lane];
    u64 operand = value_at(COLUMN(char, ctx, 1) + lane * size, size);
    u64 other = value_at(COLUMN(char, ctx, 2) + lane * size, size);
    u64 old = update(at, operand, other, of_system, size, combine);
    store_value(COLUMN(char, ctx, 3) + lane * size, size, old);
}

// Execute an operation of values of some bytes.
OUT_OF_LINE void update_lanes(char *ctx, char *host, u32 mask, u32 size, combination combine,
                              u32 of_system)
{
    if (mask == ~0u) {
        for (u32 lane = 0; lane < WARP; lane++)
            update_lane(ctx, host, lane, size, combine, of_system);
        return;
    }
    FOR_EACH_LANE(lane, mask)
        update_lane(ctx, host, lane, size, combine, of_system);
}

// Execute one lane's part of a reduction; other threads may do so, too, if it is concurrent.
OUT_OF_LINE void reduce_once(char *at, u64 operand, u32 concurrent, u32 size, combination combine)
{
    update(at, operand, 0, concurrent, size, combine);
}

// Return whether all lanes have one value of some bytes.
INLINE u32 is_one_value(char *column, u32 size)
{
    if (size == 4)
        return !__builtin_reduce_or(*(words *)column ^ (words)FIELD(u32, column, 0));
    return size == 8 && !__builtin_reduce_or(*(longs *)column ^ (longs)FIELD(u64, column, 0));
}

// Execute a reduction.
OUT_OF_LINE void reduce_lanes(char *ctx, char *host, u32 mask, u32 size, combination combine,
                              u32 is_global, u32 of_system)
{
    u64 *offsets = COLUMN(u64, ctx, 0), first = offsets[lowest(mask)];
    char *operands = COLUMN(char, ctx, 1);
    u32 apart = first != offsets[highest(mask)];
    u32 concurrent = of_system || (is_global && FIELD(u32, ctx, CONCURRENT));
    if (!apart) {
        bits others = __builtin_convertvector(*(longs *)offsets != (longs)first, bits);
        __builtin_memcpy(&apart, &others, sizeof apart);
        apart &= mask;
    }
#define REDUCE_LANE(lane, operand)                                                                 \
    update(host + offsets[lane], operand, 0, concurrent, size, combine);
    if (apart && mask == ~0u && is_one_value(operands, size)) {  // which need not be loaded
        u64 operand = value_at(operands, size);
        for (u32 lane = 0; lane < WARP; lane++)
            REDUCE_LANE(lane, operand)
        return;
    }
    if (apart && mask == ~0u) {
        for (u32 lane = 0; lane < WARP; lane++)
            REDUCE_LANE(lane, value_at(operands + lane * size, size))
        return;
    }
    if (apart) {
        FOR_EACH_LANE(lane, mask)
            REDUCE_LANE(lane, value_at(operands + lane * size, size))
        return;
    }
    u64 total = value_at(operands + lowest(mask) * size, size);
    if (mask == ~0u) {
        for (u32 lane = 1; lane < WARP; lane++)
            total = combine(total, value_at(operands + lane * size, size), 0);
    } else {
        FOR_EACH_LANE(lane, mask & (mask - 1))
            total = combine(total, value_at(operands + lane * size, size), 0);
    }
    update(host + first, total, 0, concurrent, size, combine);
}
