// `mbarrier` objects, and copies between global and shared memory.

#include "runtime.h"

typedef u8 chunk __attribute__((ext_vector_type(CHUNK), aligned(1)));
typedef u64 tensor_map __attribute__((ext_vector_type(TENSOR_MAP_BYTES / 8), aligned(1)));

// Change the pending arrivals and bytes of an object; return whether it waits for as many arrivals.
INLINE u32 change_object(loose_u64 *object, u64 count, u64 bytes, u32 drops)
{
    u64 word = *object, expected = word & OBJECT_COUNT;
    u64 pending = word >> OBJECT_PENDING & OBJECT_COUNT, phase = word >> OBJECT_PHASE;
    if (count > pending || (drops && count > expected))
        return 0;
    expected -= drops ? count : 0;
    pending -= count;
    bytes = ((word >> OBJECT_BYTES & OBJECT_ALL_BYTES) + bytes) & OBJECT_ALL_BYTES;
    if (!pending && bytes == OBJECT_NO_BYTES) {
        pending = expected;
        phase ^= 1;
    }
    *object = expected | pending << OBJECT_PENDING | bytes << OBJECT_BYTES | phase << OBJECT_PHASE;
    return 1;
}

// Change objects lane by lane; return whether all were changed, else none is. The columns are the
// offsets, the arrivals, and the bytes; the objects before are the next one.
OUT_OF_LINE u32 change_objects(char *ctx, u32 warp, char *host, u32 mask, u32 drops)
{
    u64 *offsets = COLUMN(u64, ctx, 0), *counts = COLUMN(u64, ctx, 1);
    u64 *bytes = COLUMN(u64, ctx, 2), *before = COLUMN(u64, ctx, 3);
    FOR_EACH_LANE(lane, mask) {
        loose_u64 *object = (loose_u64 *)(host + offsets[lane]);
        if (kernel.shadow_unit)
            use_object(ctx, warp, lane, (u64)((char *)object - FIELD(char *, ctx, SHARED)));
        before[lane] = *object;
        if (!change_object(object, counts[lane], bytes[lane], drops)) {
            for (u32 changed = mask & ((1u << lane) - 1), last; changed; changed ^= 1u << last) {
                last = WARP - 1 - (u32)__builtin_clz(changed);
                *(loose_u64 *)(host + offsets[last]) = before[last];
            }
            return 0;
        }
    }
    return 1;
}

// Test whether a phase of the object of each lane is complete: the one of a parity, or of a state.
// The columns are the offsets, the addresses, and the parities or states; the answers are the next
// one. The test is recorded for reports of threads that wait for ever, by warp and instruction: the
// lanes that found a phase incomplete, the parities that lanes asked for, and the addresses.
OUT_OF_LINE void test_objects(char *ctx, char *host, u32 warp, u32 mask, u32 number, u32 by_parity)
{
    enum { FAILED = 0, PHASES = 4, ADDRESSES = 8, TEST_BYTES = ADDRESSES + 8 * WARP };
    u64 *offsets = COLUMN(u64, ctx, 0), *states = COLUMN(u64, ctx, 2);
    u64 start = (u64)(host - FIELD(char *, ctx, SHARED));
    u32 failed = 0, phases = 0;
    FOR_EACH_LANE(lane, mask) {
        u64 phase = FIELD(loose_u64, host, offsets[lane]) >> OBJECT_PHASE;
        u64 asked = by_parity ? states[lane] & 1 : states[lane] >> OBJECT_PHASE;
        COLUMN(u8, ctx, 3)[lane] = phase != asked;
        failed |= (u32)(phase == asked) << lane;
        phases |= (u32)asked << lane;
        if (kernel.shadow_unit)
            use_object(ctx, warp, lane, start + offsets[lane]);
    }
    if (kernel.shadow_unit && mask & ~failed) {
        u32 lane = lowest(mask & ~failed), parity = phases >> lane & 1;
        u64 object = start + offsets[lane];
        u32 is_whole = !(~mask | failed) && phases == -parity;
        end_wait(ctx, warp, lane, is_whole && are_equal((char *)offsets, 8), object << 1 | parity);
    }
    u64 place = number * FIELD(u64, ctx, WARPS) + warp;
    char *test = FIELD(char *, ctx, TESTS) + place * TEST_BYTES;
    FIELD(u32, test, FAILED) = failed;
    FIELD(u32, test, PHASES) = phases;
    __builtin_memcpy(test + ADDRESSES, COLUMN(char, ctx, 1), 8 * WARP);
}

// Return whether an address is in the shared memory of the block.
INLINE u32 is_own(char *ctx, u64 address)
{
    return address >> RANK_SHIFT == FIELD(u64, ctx, BLOCK) % FIELD(u64, ctx, CLUSTER);
}

INLINE u32 is_object(u64 place, u64 size)
{
    return !(place % OBJECT_SIZE) && is_inside(place, OBJECT_SIZE, size);
}

// Copy a range for each lane, mark its bytes as read and as written where that is tracked, and
// complete them on objects, of which the addresses have a constant offset; return whether all were
// copied, else none is. The columns are the offsets, those of the origins, the sizes, and the
// addresses of targets and objects.
OUT_OF_LINE u32 copy_bulk(char *ctx, char *host, char *entry, char *origin, char *origin_entry,
                          u32 mask, u32 reports, u64 object_offset)
{
    u64 *to = COLUMN(u64, ctx, 0), *from = COLUMN(u64, ctx, 1), *sizes = COLUMN(u64, ctx, 2);
    u64 *targets = COLUMN(u64, ctx, 3), *objects = COLUMN(u64, ctx, 4);
    u64 start = FIELD(u64, ctx, SHARED_START), shared_bytes = FIELD(u64, ctx, SHARED_BYTES);
    FOR_EACH_LANE(lane, mask) {
        u64 size = sizes[lane] &= ~(u64)(CHUNK - 1), last = size - CHUNK;
        if (size && to[lane] + last >= FIELD(u64, entry, COUNT))
            return 0;
        if (size && from[lane] + last >= FIELD(u64, origin_entry, COUNT))
            return 0;
        if (reports) {
            objects[lane] = (objects[lane] & ~RANK_BITS) + object_offset - start;
            if (!is_own(ctx, targets[lane]) || !is_object(objects[lane], shared_bytes))
                return 0;
        }
    }
    char *marks = FIELD(char *, entry, UNWRITTEN);
    char *origin_marks = FIELD(char *, origin_entry, UNWRITTEN);
    FOR_EACH_LANE(lane, mask) {
        if (origin_marks)
            note_range(ctx, origin_marks, from[lane], (u32)sizes[lane]);
        __builtin_memmove(host + to[lane], origin + from[lane], sizes[lane]);
        if (marks)
            mark_range(marks, to[lane], (u32)sizes[lane]);
    }
    FOR_EACH_LANE(lane, reports ? mask : 0) {
        char *object = FIELD(char *, ctx, SHARED) + objects[lane];
        change_object((loose_u64 *)object, 0, -sizes[lane], 0);
    }
    return 1;
}

// --- tensors -------------------------------------------------------------------------------------

// Find how far a box is from the first element of the tensor of an entry; return whether compiled
// code copies it. The column is the coordinates.
INLINE u32 find_box(char *ctx, char *entry, u64 map, u64 at, u64 *moved)
{
    u64 *coordinates = COLUMN(u64, ctx, 0);
    u64 *limits = &FIELD(u64, entry, TENSOR_LIMITS), *steps = &FIELD(u64, entry, TENSOR_STEPS);
    if (map != FIELD(u64, entry, TENSOR_MAP_ADDRESS))
        return 0;
    tensor_map now = *FIELD(tensor_map *, entry, TENSOR_MAP_HOST);
    if (__builtin_reduce_or(now ^ FIELD(tensor_map, entry, TENSOR_MAP)))
        return 0;
    *moved = 0;
    for (u32 dimension = 0; dimension < TENSOR_RANK; dimension++) {
        if (coordinates[dimension] > limits[dimension])
            return 0;
        *moved += coordinates[dimension] * steps[dimension];
    }
    u32 is_aligned = !(coordinates[0] * steps[0] % CHUNK) && !(at % SHARED_ALIGNMENT);
    u64 span = FIELD(u64, entry, TENSOR_SPAN), size = FIELD(u64, ctx, SHARED_BYTES);
    return is_aligned && is_inside(at, span, size);
}

// Copy the chunks of a box between a tensor and a place in shared memory; return their bytes. Those
// of a tensor are marked as read or as written.
INLINE u64 copy_box(char *ctx, char *entry, u32 warp, u32 lane, char *shared, u64 at, u64 moved,
                    u32 loads, u64 phase)
{
    u64 count = FIELD(u64, entry, TENSOR_CHUNKS), *offsets = FIELD(u64 *, entry, TENSOR_OFFSETS);
    char *tensor = FIELD(char *, entry, TENSOR_HOST) + moved;
    char *marks = FIELD(char *, entry, TENSOR_UNWRITTEN);
    for (u64 number = 0; number < count; number++) {
        u64 offset = offsets[number], place = at + offsets[count + number];
        place ^= (place >> 7 & FIELD(u64, entry, TENSOR_SWIZZLE)) << 4;
        if (kernel.shadow_unit) {
            u64 *held = &FIELD(u64 *, entry, TENSOR_SHADOW)[(moved + offset) / kernel.shadow_unit];
            copy_chunk(ctx, warp, lane, place, held, loads, phase);
        }
        if (loads) {
            check_marks(ctx, marks, moved + offset, CHUNK);
            if (marks)
                note_range(ctx, marks + moved, offset, CHUNK);
            FIELD(chunk, shared, place) = FIELD(chunk, tensor, offset);
        } else {
            FIELD(chunk, tensor, offset) = FIELD(chunk, shared, place);
            if (marks)
                mark_range(marks + moved, offset, CHUNK);
        }
    }
    return count * CHUNK;
}

// Load a box to the shared memory of blocks of the cluster, and complete its bytes on an object in
// each; return whether it was loaded.
//
// `to` and `object` are addresses, with constant offsets; `blocks` is a mask of ranks.
OUT_OF_LINE u32 load_box(char *ctx, char *entry, u32 warp, u32 lane, u64 map, u64 to,
                         u64 to_offset, u64 object, u64 object_offset, u32 is_multicast, u64 blocks)
{
    u64 start = FIELD(u64, ctx, SHARED_START), size = FIELD(u64, ctx, SHARED_BYTES), moved;
    u64 own = FIELD(u64, ctx, BLOCK) % FIELD(u64, ctx, CLUSTER);
    if (is_multicast ? !blocks || blocks >> FIELD(u64, ctx, CLUSTER) : !is_own(ctx, to))
        return 0;
    u64 at = (to & ~RANK_BITS) + to_offset - start;
    u64 place = (object & ~RANK_BITS) + object_offset - start;
    if (!is_object(place, size))
        return 0;
    if (!find_box(ctx, entry, map, at, &moved))
        return 0;
    for (u64 left = is_multicast ? blocks : 1ull << own; left; left &= left - 1) {
        u64 ahead = ((u64)__builtin_ctzll(left) - own) * FIELD(u64, ctx, SHARED_STRIDE);
        char *shared = FIELD(char *, ctx, SHARED) + ahead;
        u64 phase = place << 1 | FIELD(loose_u64, shared, place) >> OBJECT_PHASE;
        if (kernel.shadow_unit)
            use_object(ctx, warp, lane, place);
        u64 bytes = copy_box(ctx, entry, warp, lane, shared, at, moved, 1, phase);
        change_object((loose_u64 *)(shared + place), 0, -bytes, 0);
    }
    return 1;
}

// Store a box of shared memory to a tensor; return whether it was stored.
OUT_OF_LINE u32 store_box(char *ctx, char *entry, u32 warp, u32 lane, u64 map, u64 from, u64 offset)
{
    u64 at = (from & ~RANK_BITS) + offset - FIELD(u64, ctx, SHARED_START), moved;
    if (!is_own(ctx, from) || !find_box(ctx, entry, map, at, &moved))
        return 0;
    copy_box(ctx, entry, warp, lane, FIELD(char *, ctx, SHARED), at, moved, 0, 0);
    return 1;
}
