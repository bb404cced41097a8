// Barriers with a number, a count, arrivals without a wait, or a reduction; and the waits of
// warpgroups, member masks, and what is checked of them.
//
// Each warp's state has the lanes that have arrived at each of the 16 barriers of the block, and how
// often. Every arrival checks whether its barrier is complete, as do lanes that exit.

#include "runtime.h"

INLINE u32 *arrived_at(char *state, u32 number)
{
    return &MASK(state, kernel.barrier_arrived + 4 * BARRIER_ROUNDS * number);
}

INLINE u32 *extra_of(char *state, u32 number) { return &MASK(state, kernel.barrier_extra + 4 * number); }

// Return how many threads lanes of a warp count as: all live ones as 32.
INLINE u32 count_of(u32 alive, u32 lanes)
{
    return lanes && !(alive & ~lanes) ? WARP : (u32)__builtin_popcount(lanes);
}

// Let lanes of a warp arrive; some may have arrived before.
OUT_OF_LINE void arrive(char *state, u32 number, u32 lanes)
{
    u32 *arrived = arrived_at(state, number);
    for (u32 turn = 0; turn < BARRIER_ROUNDS; turn++) {
        u32 before = arrived[turn];
        arrived[turn] |= lanes;
        lanes &= before;
    }
    *extra_of(state, number) += count_of(MASK(state, ALIVE), lanes);
}

// Release the lanes of a barrier if it is complete; return a mask that is not 0 if there are any.
// `given` is the count of lanes that arrive without waiting, else 0.
OUT_OF_LINE u32 check_barrier(char *ctx, u32 number, u32 given)
{
    u64 warps = FIELD(u64, ctx, WARPS);
    u32 total = 0, everybody = (1 << BARRIER_ROUNDS) - 1;
    for (u64 warp = 0; warp < warps; warp++) {
        char *state = state_of(ctx, warp);
        u32 alive = MASK(state, ALIVE), *arrived = arrived_at(state, number);
        total += *extra_of(state, number);
        for (u32 turn = 0; turn < BARRIER_ROUNDS; turn++) {
            total += count_of(alive, arrived[turn]);
            if (alive & ~arrived[turn])
                everybody &= ~(1u << turn);
        }
    }
    u32 found = 0, held = 0, taken = 0;
    for (u64 warp = 0; warp < warps; warp++) {
        char *state = state_of(ctx, warp);
        u32 waiting = 0, reducing = 0;
        for (u32 barrier = 0; barrier < kernel.barriers; barrier++) {
            waiting |= WAITING_MASK(state, barrier);
            reducing |= barrier_reduces[barrier] ? WAITING_MASK(state, barrier) : 0;
        }
        words expected = FIELD(words, state, kernel.barrier_expected);
        truths all = (truths)(everybody ? -1 : 0);
        u32 mine = waiting & mask_of(FIELD(words, state, kernel.barrier_number) == spread(number));
        u32 done = mine & mask_of(expected == spread(0) ? all : expected <= spread(total));
        MASK(state, kernel.barrier_done) = done;
        MASK(state, kernel.barrier_rest) = mine & ~done;
        found |= done;
        taken += (u32)__builtin_popcount(done & reducing);
        held += (u32)__builtin_popcount(done & reducing & MASK(state, kernel.barrier_given));
    }
    if (!found && !(given && total >= given))
        return 0;
    for (u64 warp = 0; warp < warps; warp++) {
        char *state = state_of(ctx, warp);
        for (u32 turn = 0; turn < BARRIER_ROUNDS; turn++)
            arrived_at(state, number)[turn] = turn ? 0 : MASK(state, kernel.barrier_rest);
        *extra_of(state, number) = 0;
        for (u32 barrier = 0; barrier < kernel.barriers; barrier++) {
            u32 lanes = WAITING_MASK(state, barrier) & MASK(state, kernel.barrier_done);
            WAITING_MASK(state, barrier) ^= lanes;
            PENDING_MASK(state, barrier_targets[barrier]) |= lanes;
            if (barrier_reduces[barrier]) {
                truths chosen = truths_of(lanes);
                words *numbers = &FIELD(words, state, kernel.barrier_held);
                words *totals = &FIELD(words, state, kernel.barrier_total);
                *numbers = chosen ? spread(held) : *numbers;
                *totals = chosen ? spread(taken) : *totals;
            }
        }
    }
    return found;
}

// Check all barriers, after lanes may have exited.
OUT_OF_LINE u32 recheck_barriers(char *ctx)
{
    u32 found = 0;
    for (u32 number = 0; number < BARRIERS_PER_BLOCK; number++)
        found |= check_barrier(ctx, number, 0);
    return found;
}

INLINE u32 waiting_lanes(char *state)
{
    u32 found = 0;
    for (u32 barrier = 0; barrier < kernel.barriers; barrier++)
        found |= WAITING_MASK(state, barrier);
    return found;
}

// Let the active lanes arrive, those with the same number together. The columns are the numbers, and
// the expected threads; `place` is that of the barrier from 1 on if lanes wait, `given` their
// predicates.
OUT_OF_LINE void arrive_at_barriers(char *ctx, char *state, u32 mask, u32 place, u32 given,
                                    u32 *pending, u32 *answer)
{
    words numbers = *COLUMN(words, ctx, 0), expected = *COLUMN(words, ctx, 1);
    if (place) {
        truths here = truths_of(mask);
        words *number = &FIELD(words, state, kernel.barrier_number);
        words *threads = &FIELD(words, state, kernel.barrier_expected);
        *number = here ? numbers : *number;
        *threads = here ? expected : *threads;
        u32 *predicates = &MASK(state, kernel.barrier_given);
        *predicates = (*predicates & ~mask) | given;
        WAITING_MASK(state, place - 1) |= mask;
    }
    u32 before = waiting_lanes(state);
    for (u32 left = mask, lanes; left; left ^= lanes) {
        u32 lane = lowest(left), number = numbers[lane];
        lanes = left & mask_of(numbers == spread(number));
        arrive(state, number, lanes);
        if (check_barrier(ctx, number, place ? 0 : expected[lane]))
            *answer = YIELDS;
    }
    *pending |= before & ~waiting_lanes(state);
}

// --- warpgroups ----------------------------------------------------------------------------------

// The state of a warp of the group; of a missing one that of the last warp.
INLINE char *state_in_group(char *ctx, u32 warp, u32 place)
{
    u32 last = (u32)FIELD(u64, ctx, WARPS) - 1, number = (warp & -WARPS_OF_GROUP) + place;
    return state_of(ctx, number < last ? number : last);
}

INLINE void move(char *state, u32 block, u32 target)
{
    PENDING_MASK(state, target) |= PARKED_MASK(state, block);
    PARKED_MASK(state, block) = 0;
}

// Park lanes until those of all four warps are at a block, and then let them continue at an entry.
OUT_OF_LINE void wait_for_group(char *ctx, u32 warp, u32 mask, u32 block, u32 entry, u32 *answer)
{
    PARKED_MASK(state_of(ctx, warp), block) |= mask;
    for (u32 place = 0; place < WARPS_OF_GROUP; place++) {
        char *state = state_in_group(ctx, warp, place);
        if (MASK(state, ALIVE) != PARKED_MASK(state, block))
            return;
    }
    for (u32 place = 0; place < WARPS_OF_GROUP; place++)
        move(state_in_group(ctx, warp, place), block, entry);
    *answer = YIELDS;
}

// Return whether all lanes of the four warps are alive, and those of this one active.
OUT_OF_LINE u32 is_whole_group(char *ctx, u32 warp, u32 mask)
{
    for (u32 place = 0; place < WARPS_OF_GROUP; place++)
        mask &= MASK(state_in_group(ctx, warp, place), ALIVE);
    return mask == ~0u && (warp | (WARPS_OF_GROUP - 1)) < FIELD(u64, ctx, WARPS);
}

// Let the parked lanes of the other warps look again who is there.
OUT_OF_LINE void leave_group(char *ctx, u32 warp, u32 *answer)
{
    for (u32 place = 0; place < WARPS_OF_GROUP; place++)
        for (u32 number = 0; number < kernel.groups; number++)
            move(state_in_group(ctx, warp, place), group_blocks[number], group_blocks[number]);
    *answer = YIELDS;
}

// --- the lanes of a warp -------------------------------------------------------------------------

// Let lanes wait to run a block.
OUT_OF_LINE void park(char *state, u32 *pending, u32 block, u32 mask)
{
    PENDING_MASK(state, block) |= mask;
    *pending |= mask;
}

// Return what lanes do next: they continue with the first or the second block, or wait.
OUT_OF_LINE u32 advance(char *state, u32 *pending, u32 mask, u32 taken, u32 first, u32 second)
{
    u32 other = taken ^ mask;
    if ((!other || !taken) && !*pending)
        return other ? SECOND : FIRST;
    park(state, pending, first, taken);
    park(state, pending, second, other);
    return DISPATCHED;
}

// Call back after many jumps back.
OUT_OF_LINE u32 tick(char *ctx, u32 warp, int site, u32 mask)
{
    u64 left = FIELD(u64, ctx, TICKS) -= 1;
    return __builtin_expect(!left, 0) ? call_back(ctx, site, warp, mask) : RETRY;
}

// Return the lanes, of the active ones and those parked, of which all live members are there. The
// column is the member masks.
OUT_OF_LINE u32 gather(char *ctx, char *state, u32 block, u32 mask)
{
    u32 here = mask | PARKED_MASK(state, block), absent = MASK(state, ALIVE) & ~here;
    words missing = *COLUMN(words, ctx, 0) & spread(absent);
    u32 complete = here & mask_of(missing == spread(0));
    PARKED_MASK(state, block) = here & ~complete;
    return complete;
}

// Let the parked lanes look again who is there.
OUT_OF_LINE void scatter(char *state, u32 *pending)
{
    for (u32 block = 0; block < kernel.blocks; block++) {
        park(state, pending, block, PARKED_MASK(state, block));
        PARKED_MASK(state, block) = 0;
    }
}

// Return lanes whose member mask has others that are not there with the same one: one mask after the
// other. The column is the masks.
OUT_OF_LINE u32 check_members(char *ctx, u32 mask, u32 alive)
{
    words members = *COLUMN(words, ctx, 0);
    u32 wrong = 0;
    for (u32 left = mask, here; left; left &= ~here) {
        u32 named = members[lowest(left)];
        here = mask & mask_of(members == spread(named));
        wrong |= (named & alive) ^ here;
    }
    return wrong;
}

// --- reductions ----------------------------------------------------------------------------------

// Reduce the values of each group of lanes with equal member masks. The columns are the values and the
// masks; the results are the next one.
#define REDUCTION(name, kind, reduce, identity)                                       \
    OUT_OF_LINE void reduce_##name(char *ctx, u32 mask)                               \
    {                                                                                 \
        words values = *COLUMN(words, ctx, 0), members = *COLUMN(words, ctx, 1);      \
        words *results = COLUMN(words, ctx, 2);                                       \
        for (u32 left = mask, here; left; left &= ~here) {                            \
            here = mask & mask_of(members == spread(members[lowest(left)]));          \
            words chosen = truths_of(here) ? values : spread(identity);               \
            *results = truths_of(here) ? spread((u32)reduce((kind)chosen)) : *results; \
        }                                                                             \
    }

REDUCTION(add, words, __builtin_reduce_add, 0)
REDUCTION(and, words, __builtin_reduce_and, ~0u)
REDUCTION(or, words, __builtin_reduce_or, 0)
REDUCTION(xor, words, __builtin_reduce_xor, 0)
REDUCTION(umin, words, __builtin_reduce_min, ~0u)
REDUCTION(umax, words, __builtin_reduce_max, 0)
REDUCTION(smin, truths, __builtin_reduce_min, 0x7FFFFFFF)
REDUCTION(smax, truths, __builtin_reduce_max, 0x80000000)
