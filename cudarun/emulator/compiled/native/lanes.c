// The lanes of a warp that can run next: masks, one per basic block.

#include "runtime.h"

// Let lanes wait to run a block.
OUT_OF_LINE void park(u32 *masks, u32 *pending, u32 block, u32 mask)
{
    masks[block] |= mask;
    *pending |= mask;
}

// Return what lanes do next: they continue with the first or the second block, or wait.
OUT_OF_LINE u32 advance(u32 *masks, u32 *pending, u32 mask, u32 taken, u32 first, u32 second)
{
    u32 other = taken ^ mask;
    if ((!other || !taken) && !*pending)
        return other ? SECOND : FIRST;
    park(masks, pending, first, taken);
    park(masks, pending, second, other);
    return DISPATCHED;
}

// Call back after many jumps back.
OUT_OF_LINE u32 tick(char *ctx, u32 warp, int site, u32 mask)
{
    u64 left = FIELD(u64, ctx, TICKS) -= 1;
    return __builtin_expect(!left, 0) ? call_back(ctx, site, warp, mask) : RETRY;
}

// Take the waiting ones of some lanes from the lowest block that has any, from a block on; return
// the block, and in the upper half the lanes.
OUT_OF_LINE u64 take_lanes(u32 *masks, u32 block, u32 pending)
{
    while (!(masks[block] & pending))
        block++;
    u32 lanes = masks[block] & pending;
    masks[block] ^= lanes;
    return (u64)lanes << 32 | block;
}

// Take the waiting lanes of the next block that has any after the one of the last turn; those that
// have just jumped back in a loop that waits only if no others can run.
OUT_OF_LINE u64 take_turn(char *state, u32 yielded)
{
    u32 block = MASK(state, TURN), lanes;
    do {
        block = block + 1 < kernel.blocks ? block + 1 : 0;
        lanes = PENDING_MASK(state, block);
    } while (!lanes || (block == MASK(state, POLLED) && lanes != yielded));
    MASK(state, TURN) = block;
    PENDING_MASK(state, block) = 0;
    return (u64)lanes << 32 | block;
}

// Let the lanes that wait for others of their member mask look again who is there; return them.
OUT_OF_LINE u32 unpark(char *state)
{
    u32 found = 0;
    for (u32 block = 0; block < kernel.blocks && MASK(state, ALIVE); block++) {
        PENDING_MASK(state, block) |= PARKED_MASK(state, block);
        found |= PARKED_MASK(state, block);
        PARKED_MASK(state, block) = 0;
    }
    return found;
}

// Count something that each active lane has done.
OUT_OF_LINE void count_lanes(words *counts, u32 mask) { *counts -= (words)truths_of(mask); }

// --- clocks --------------------------------------------------------------------------------------

int clock_gettime(int clock, u64 *moment);

// Return the nanoseconds of a clock of the system.
OUT_OF_LINE u64 nanoseconds(int clock)
{
    u64 moment[2];  // struct timespec
    clock_gettime(clock, moment);
    return moment[0] * 1000000000 + moment[1];
}
