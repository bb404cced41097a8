// Barriers with a number, a count, arrivals without a wait, or a reduction; the waits of
// warpgroups, the barriers of warps, and reductions of their values.
//
// Each warp's state has the lanes that have arrived at each of the 16 barriers of the block, and
// how often. Every arrival checks whether its barrier is complete, as do lanes that exit.

#include "runtime.h"

INLINE u32 *arrived_at(char *state, u32 number)
{
    return &MASK(state, kernel.barrier_arrived + 4 * BARRIER_ROUNDS * number);
}

INLINE u32 *extra_of(char *state, u32 number)
{
    return &MASK(state, kernel.barrier_extra + 4 * number);
}

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
            reducing |= at_reduces[barrier] ? WAITING_MASK(state, barrier) : 0;
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
            PENDING_MASK(state, at_barriers[barrier]) |= lanes;
            if (at_reduces[barrier]) {
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

// Let the active lanes arrive, those with the same number together; return the lanes of the warp
// that have been released, and in the upper half whether any lanes have, or that an operand is
// invalid. The columns are the numbers, and the expected threads; `place` is that of the barrier
// from 1 on if lanes wait, `given` their predicates.
OUT_OF_LINE u64 arrive_at_barriers(char *ctx, char *state, u32 mask, u32 place, u32 given)
{
    words numbers = *COLUMN(words, ctx, 0), expected = *COLUMN(words, ctx, 1);
    words odd = expected & spread(WARP - 1);
    if (mask_of((numbers >= spread(BARRIERS_PER_BLOCK)) | (odd != spread(0))) & mask)
        return (u64)FAILS << 32;
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
    u64 answer = WAITS;
    for (u32 left = mask, lanes; left; left ^= lanes) {
        u32 lane = lowest(left), number = numbers[lane];
        lanes = left & mask_of(numbers == spread(number));
        arrive(state, number, lanes);
        if (check_barrier(ctx, number, place ? 0 : expected[lane]))
            answer = YIELDS;
    }
    return answer << 32 | (before & ~waiting_lanes(state));
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
            move(state_in_group(ctx, warp, place), at_groups[number], at_groups[number]);
    *answer = YIELDS;
}

// --- barriers of a warp --------------------------------------------------------------------------

// Return lanes whose member mask has others that are not there with the same one: one mask after
// the other.
INLINE u32 without_members(words members, u32 mask, u32 alive)
{
    u32 wrong = 0;
    for (u32 left = mask, here; left; left &= ~here) {
        u32 named = members[lowest(left)];
        here = mask & mask_of(members == spread(named));
        wrong |= (named & alive) ^ here;
    }
    return wrong;
}

// Check that lanes are in their member masks, and that the others there have the same, and have not
// exited. The column is the masks.
OUT_OF_LINE void check_members(char *ctx, char *state, u32 mask)
{
    u32 alive = MASK(state, ALIVE);
    suspect(ctx, without_members(*COLUMN(words, ctx, 0), mask, alive));
    suspect(ctx, MASK(state, PASSED) & ~alive);
}

// Check that the lanes of a warp-synchronous operation are the whole warp.
OUT_OF_LINE void check_whole(char *ctx, u32 mask) { suspect(ctx, ~mask); }

// Check that the lanes from which lanes shuffle are alive and in their member masks. The columns are
// the masks, the lanes, and whether they are in range.
OUT_OF_LINE void check_partners(char *ctx, char *state, u32 mask)
{
    u32 alive = MASK(state, ALIVE);
    FOR_EACH_LANE(lane, mask) {
        u32 partner = COLUMN(u32, ctx, 1)[lane] % WARP;
        u32 present = (COLUMN(u32, ctx, 0)[lane] & alive) >> partner & 1;
        suspect(ctx, COLUMN(u8, ctx, 2)[lane] && partner != lane && !present);
    }
}

// Check that the lanes of a block arrive at the same barrier, of which this is the place in the code
// from 1 on.
OUT_OF_LINE void check_place(char *ctx, u64 place)
{
    u64 before = FIELD(u64, ctx, BARRIER);
    suspect(ctx, before && before != place);
    FIELD(u64, ctx, BARRIER) = place;
}

// Release the lanes whose member masks have arrived at barriers of the warp, and return them.
OUT_OF_LINE u32 release_warp(char *ctx, char *state)
{
    words members = FIELD(words, state, kernel.warp_members);
    u32 alive = MASK(state, ALIVE), here = 0;
    for (u32 barrier = 0; barrier < kernel.warp_barriers; barrier++)
        here |= WARP_WAITING_MASK(state, barrier);
    u32 ready = here & mask_of((members & spread(alive & ~here)) == spread(0));
    if (kernel.finds_sync_errors && ready)
        suspect(ctx, without_members(members, ready, alive) | (MASK(state, PASSED) & ~alive));
    for (u32 barrier = 0; barrier < kernel.warp_barriers; barrier++) {
        u32 lanes = WARP_WAITING_MASK(state, barrier) & ready;
        WARP_WAITING_MASK(state, barrier) ^= lanes;
        PENDING_MASK(state, at_warp_barriers[barrier]) |= lanes;
    }
    return ready;
}

// Let lanes wait at a barrier of the warp; return those that are released. The column is their
// member masks.
OUT_OF_LINE u32 wait_for_warp(char *ctx, char *state, u32 mask, u32 place)
{
    words *members = &FIELD(words, state, kernel.warp_members);
    *members = truths_of(mask) ? *COLUMN(words, ctx, 0) : *members;
    WARP_WAITING_MASK(state, place) |= mask;
    return release_warp(ctx, state);
}

// --- reductions ----------------------------------------------------------------------------------

// Reduce the values of each group of lanes with equal member masks. The columns are the values and
// the masks; the results are the next one.
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

// Find the lanes of each lane's member mask that have its value: those, or all or none of them. The
// columns are the values of some bytes, and the masks; the results, and whether all have the value,
// are the next ones.
OUT_OF_LINE void match_lanes(char *ctx, u32 mask, u32 size, u32 every)
{
    typedef u8 truth_bytes __attribute__((ext_vector_type(WARP), aligned(4)));
    words members = *COLUMN(words, ctx, 1) & spread(mask), same = spread(0);
    longs values = *COLUMN(longs, ctx, 0);
    if (size == sizeof(u32))
        values = __builtin_convertvector(*COLUMN(words, ctx, 0), longs);
    for (u32 left = mask, equal; left; left &= ~equal) {
        bits found = __builtin_convertvector(values == (longs)values[lowest(left)], bits);
        __builtin_memcpy(&equal, &found, sizeof equal);
        equal &= mask;
        same = truths_of(equal) ? spread(equal) : same;
    }
    same &= members;
    truths all = same == members;
    *COLUMN(words, ctx, 2) = same & ((words)all | spread(every - 1));
    *COLUMN(truth_bytes, ctx, 3) = __builtin_convertvector(all, truth_bytes);
}
