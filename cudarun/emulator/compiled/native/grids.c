// A range of thread blocks: `run` executes them, one or several at a time.
//
// A round runs the warps of a block in turn, each until its lanes have exited, wait, or let others
// run. When all live lanes of the block wait at a barrier, they are released. The blocks of a
// cluster run together. While blocks may wait for others, `run` begins more of them, as many as
// there are slots: each has a context, memory and warp states of its own.

#include "runtime.h"

enum {
    PATIENCE = 64,  // rounds of blocks that all may wait for others, until another block begins
    STALL = 1024,   // rounds without a slot for another block, until the caller is asked
    TURNS = 64,     // times as many rounds if warps have short turns
};

INLINE void fill(char *ctx, u32 memory, u32 size, u8 value)
{
    __builtin_memset(FIELD(char *, ctx, memory), value, FIELD(u64, ctx, size));
}

// The lanes of a block wait to run the first block of the code.
INLINE void begin_block(char *ctx, u64 number, char *row)
{
    FIELD(u64, ctx, BLOCK) = number;
    FIELD(char *, ctx, BLOCK_REGISTERS) = row;
    FIELD(u64, ctx, RUNNING) = 1;
    FIELD(u32, ctx, CALLING_MASK) = 0;
    fill(ctx, SHARED, SHARED_STRIDE, UNDEFINED_BYTE);
    fill(ctx, SHARED, SHARED_RESERVED, 0);
    fill(ctx, LOCAL, LOCAL_SIZE, UNDEFINED_BYTE);
    fill(ctx, TESTS, TESTS_BYTES, 0);
    if (kernel.shadow_unit) {
        FIELD(u64, ctx, EPOCH) = (number + 1) << SHADOW_BLOCK;
        FIELD(u64, ctx, READ_PARTS) = FIELD(u64, ctx, ARRIVING) = FIELD(u64, ctx, RELEASED) = 0;
        fill(ctx, SHARED_SHADOW, SHARED_SHADOW_BYTES, 0);
        fill(ctx, SHARED_MARKS, SHARED_MARKS_BYTES, 1);
        fill(ctx, LOCAL_MARKS, LOCAL_MARKS_BYTES, 1);
    }
    u64 threads = FIELD(u64, ctx, THREADS), warps = FIELD(u64, ctx, WARPS);
    for (u64 warp = 0; warp < warps; warp++) {
        char *state = state_of(ctx, warp);
        u64 left = threads - WARP * warp;
        __builtin_memset(state, 0, kernel.mask_bytes);
        MASK(state, ALIVE) = PENDING_MASK(state, 0) = left >= WARP ? ~0u : (1u << left) - 1;
    }
}

// --- a block -------------------------------------------------------------------------------------

INLINE u32 all_wait(char *ctx, u64 warps)
{
    for (u64 warp = 0; warp < warps; warp++) {
        char *state = state_of(ctx, warp);
        u32 waiting = 0;
        for (u32 barrier = 0; barrier < kernel.barriers; barrier++)
            waiting |= WAITING_MASK(state, barrier);
        if (waiting != MASK(state, ALIVE))
            return 0;
    }
    return 1;
}

INLINE void begin_epoch(char *ctx)  // the last one does not end
{
    u64 last = ((1ull << (SHADOW_BLOCK - SHADOW_EPOCH)) - 1) << SHADOW_EPOCH;
    if ((FIELD(u64, ctx, EPOCH) & last) != last)
        FIELD(u64, ctx, EPOCH) += 1ull << SHADOW_EPOCH;
}

INLINE void release_block(char *ctx, u64 warps)
{
    if (kernel.shadow_unit) {
        begin_epoch(ctx);
        order_proxies(ctx);
    }
    for (u64 warp = 0; warp < warps; warp++) {
        char *state = state_of(ctx, warp);
        if (kernel.finds_sync_errors) {  // no lane may have skipped the barrier that is complete
            suspect(ctx, MASK(state, PASSED) & ~MASK(state, ALIVE));
            FIELD(u64, ctx, BARRIER) = 0;
        }
        if (kernel.shadow_unit)
            MASK(state, SYNCS) = 0;
        for (u32 barrier = 0; barrier < kernel.barriers; barrier++) {
            PENDING_MASK(state, at_barriers[barrier]) |= WAITING_MASK(state, barrier);
            WAITING_MASK(state, barrier) = 0;
        }
    }
}

// Return whether lanes of a warp have begun to wait at several places where they can meet.
INLINE u32 may_meet(char *state)
{
    if (!MASK(state, MEETING))
        return 0;
    MASK(state, MEETING) = 0;
    for (u32 block = 0; block < kernel.meetings; block++)
        for (u32 other = 0; other < block && at_meetings[block]; other++)
            if (at_meetings[other] == at_meetings[block] && PARKED_MASK(state, block) &&
                PARKED_MASK(state, other))
                return 1;
    return 0;
}

// Run a warp, and again whenever lanes that waited at several places of it have met.
INLINE u32 run_warp(char *ctx, u32 warp)
{
    for (;;) {
        u32 answer = step(ctx, warp);
        if (answer == FAILS || !kernel.meetings || !may_meet(state_of(ctx, warp)))
            return answer;
        u32 met = call_back(ctx, MEETING_SITE, warp, 0);
        if (met != DONE)
            return met == FAULT ? FAILS : answer;
    }
}

u32 run_block(char *ctx)
{
    u64 warps = FIELD(u64, ctx, WARPS);
    for (;;) {
        u32 living = 0, yielding = 0;
        u64 warp = FIELD(u64, ctx, FIRST_TURN) % warps;
        for (u64 turn = 0; turn < warps; turn++, warp = warp + 1 < warps ? warp + 1 : 0) {
            char *state = state_of(ctx, warp);
            if (!MASK(state, ALIVE))
                continue;
            u32 answer = run_warp(ctx, warp);
            if (answer == FAILS)
                return FAILS;
            living |= MASK(state, ALIVE);
            yielding |= answer;
        }
        if (!living)
            return ENDED;
        u32 released = kernel.counted && recheck_barriers(ctx);
        if (yielding)
            return YIELDS;
        if (kernel.counted ? !released : !(kernel.barriers && all_wait(ctx, warps)))
            return BLOCKED;
        if (!kernel.counted)
            release_block(ctx, warps);
    }
}

// --- a cluster -----------------------------------------------------------------------------------

// Release the lanes that wait for as many arrivals as all live ones made; return whether there are
// any. The states of the blocks of a cluster follow each other.
INLINE u32 release_cluster(char *first, u64 size)
{
    u64 warps = size * FIELD(u64, first, WARPS);
    words least = spread(~0u);
    for (u64 warp = 0; warp < warps; warp++) {
        char *state = state_of(first, warp);
        words arrived = FIELD(words, state, kernel.cluster_arrived);
        words counted = truths_of(MASK(state, ALIVE)) ? arrived : spread(~0u);
        least = __builtin_elementwise_min(least, counted);
    }
    words complete = spread(__builtin_reduce_min(least));
    u32 found = 0;
    for (u64 warp = 0; warp < warps; warp++) {
        char *state = state_of(first, warp);
        u32 ready = mask_of(FIELD(words, state, kernel.cluster_waited) <= complete);
        for (u32 barrier = 0; barrier < kernel.cluster_barriers; barrier++) {
            u32 lanes = CLUSTER_WAITING_MASK(state, barrier) & ready;
            CLUSTER_WAITING_MASK(state, barrier) ^= lanes;
            PENDING_MASK(state, at_cluster_barriers[barrier]) |= lanes;
            found |= lanes;
        }
    }
    return found != 0;
}

u32 run_cluster(char *first)
{
    u64 size = FIELD(u64, first, CLUSTER);
    for (;;) {
        u32 answers = 0;
        for (u64 rank = 0; rank < size; rank++) {
            u32 answer = run_block(first + rank * CONTEXT_BYTES);
            if (answer == FAILS)
                return FAILS;
            answers |= answer;
        }
        u32 released = kernel.cluster_barriers && release_cluster(first, size);
        if (answers & YIELDS)
            return YIELDS;
        if (!released)
            return answers;
    }
}

// --- all blocks ----------------------------------------------------------------------------------

u32 run(char *ctx, u64 first, u64 count, char *rows, u64 row_bytes)
{
    u64 slots = FIELD(u64, ctx, SLOTS), size = FIELD(u64, ctx, CLUSTER);
    u64 at_once = FIELD(u64, ctx, AT_ONCE), factor = kernel.interleaves ? TURNS : 1;
    u64 next = 0, active = 0, used = 0, rounds = 0;
    for (;;) {
        u64 wanted = rounds >= PATIENCE * factor ? slots : at_once;
        if (next < count && (!active || active * size < wanted)) {
            u64 slot = 0;
            while (FIELD(u64, ctx + slot * CONTEXT_BYTES, RUNNING))
                slot += size;
            for (u64 rank = 0; rank < size; rank++, next++) {
                char *block = ctx + (slot + rank) * CONTEXT_BYTES;
                begin_block(block, first + next, rows + next * row_bytes);
            }
            if (slot + size > used)
                used = slot + size;
            active++;
            rounds = 0;
            continue;
        }
        if (!active)
            return ENDED;
        u64 before = active, slot = FIELD(u64, ctx, FIRST_TURN) * size % used;
        for (u64 turn = 0; turn < used; turn += size, slot = slot + size < used ? slot + size : 0) {
            char *block = ctx + slot * CONTEXT_BYTES;
            if (!FIELD(u64, block, RUNNING))
                continue;
            u32 answer = run_cluster(block);
            if (answer == FAILS)
                return FAILS;
            if (answer == ENDED) {
                if (kernel.scheduled && call_back(block, ENDED_SITE, 0, 0) == FAULT)
                    return FAILS;
                FIELD(u64, block, RUNNING) = 0;
                active--;
            } else if (answer != YIELDS) {
                call_back(block, DEADLOCK_SITE, 0, 0);
                return FAILS;
            }
        }
        rounds = active == before ? rounds + 1 : 0;
        u32 stalls = rounds >= STALL * factor && !(rounds & (rounds - 1));
        u32 asks = stalls && (next < count || kernel.scheduled);
        if (asks && call_back(ctx, STALL_SITE, 0, 0) == FAULT)
            return FAILS;
    }
}
