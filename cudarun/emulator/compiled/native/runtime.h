// What the functions of the runtime share.
//
// Python adds `layout.h` when it compiles them: the offsets of `state/layout.py` in capitals, and
// `struct kernel` with the layout of the state of the kernel's warps, and `struct product`. A call passes vectors, a
// value for each lane, in columns of the scratch.

#include "layout.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef u32 (*callback)(char *ctx);
typedef u64 loose_u64 __attribute__((aligned(1)));

// Of each lane of a warp: a word, an address or an offset, and a truth value as a word of which all
// bits are equal, or as a bit.
typedef u32 words __attribute__((ext_vector_type(WARP), aligned(4)));
typedef int truths __attribute__((ext_vector_type(WARP), aligned(4)));
typedef u64 longs __attribute__((ext_vector_type(WARP), aligned(8)));
typedef _Bool bits __attribute__((ext_vector_type(WARP)));

#define FIELD(kind, base, offset) (*(kind *)((base) + (offset)))
#define MASK(state, offset) FIELD(u32, state, offset)
#define PENDING_MASK(state, block) MASK(state, kernel.pending + 4 * (block))
#define PARKED_MASK(state, block) MASK(state, kernel.parked + 4 * (block))
#define WAITING_MASK(state, barrier) MASK(state, kernel.waiting + 4 * (barrier))
#define WARP_WAITING_MASK(state, barrier) MASK(state, kernel.warp_waiting + 4 * (barrier))
#define CLUSTER_WAITING_MASK(state, barrier) MASK(state, kernel.cluster_waiting + 4 * (barrier))
#define COLUMN(kind, ctx, place) ((kind *)(FIELD(char *, ctx, SCRATCH) + (place) * COLUMN_BYTES))

#define FOR_EACH_LANE(lane, mask) \
    for (u32 left_ = (mask), lane; left_ && (lane = lowest(left_), 1); left_ &= left_ - 1)

#define INLINE static inline __attribute__((always_inline))
#define OUT_OF_LINE __attribute__((noinline))
#define RARE __attribute__((noinline, cold))  // called, also where its callers are in line

extern const struct kernel kernel;
extern const u32 at_barriers[];  // where lanes continue after each barrier of the code,
extern const u32 at_reduces[];   // and whether it has a reduction
extern const u32 at_warp_barriers[];
extern const u32 at_cluster_barriers[];
extern const u32 at_groups[];    // where warpgroups wait
extern const u32 at_meetings[];  // of each block, the number of the meeting of lanes there, or 0

u32 step(char *ctx, u32 warp);
u32 recheck_barriers(char *ctx);
u32 is_whole_group(char *ctx, u32 warp, u32 mask);
u32 are_equal(char *values, u64 size);
u32 read_left(char *ctx, u32 column, u32 warp, u32 is_across, u32 *to);
u32 read_right(char *ctx, u32 column, u32 warp, u64 columns, u64 parts, u32 is_across, u32 *to);
void read_chunk(char *ctx, u32 warp, u32 queue, u64 first);
void copy_chunk(char *ctx, u32 warp, u32 lane, u64 place, u64 *held, u32 loads, u64 phase);
void use_object(char *ctx, u32 warp, u32 lane, u64 place);
void end_wait(char *ctx, u32 warp, u32 lane, u32 is_whole, u64 phase);
void order_proxies(char *ctx);
void load_lanes(char *ctx, char *host, u32 mask, u64 ahead, u32 size);
void store_lanes(char *ctx, char *host, u32 mask, u64 ahead, u32 size);
void mark_lanes(char *ctx, char *marks, u32 mask, u64 ahead, u32 size);
void note_range(char *ctx, char *marks, u64 first, u32 size);
void note_lanes(char *ctx, char *marks, u32 mask, u64 ahead, u32 size);
void observe_loads(char *ctx, char *state, u32 warp, char *entry, char *host, u32 mask, u64 ahead,
                   u32 kind, u32 joint, u32 size);
void observe_stores(char *ctx, char *state, u32 warp, char *entry, char *host, u32 mask, u64 ahead,
                    u32 joint, u32 size);

#define EACH_BYTE 0x0101010101010101ull

// Mark bytes as written.
INLINE void mark_range(char *marks, u64 first, u32 size)
{
    for (u32 at = 0; at < size; at += 8) {
        u64 part = 0, count = size - at < 8 ? size - at : 8;
        __builtin_memcpy(&part, marks + first + at, count);
        part &= EACH_BYTE * READ_UNWRITTEN;
        __builtin_memcpy(marks + first + at, &part, count);
    }
}

INLINE u32 lowest(u32 mask) { return (u32)__builtin_ctz(mask); }
INLINE u32 highest(u32 mask) { return WARP - 1 - (u32)__builtin_clz(mask); }

INLINE u32 mask_of(truths values)
{
    bits lanes = __builtin_convertvector(values, bits);
    u32 mask;
    __builtin_memcpy(&mask, &lanes, sizeof mask);
    return mask;
}

INLINE truths truths_of(u32 mask)
{
    bits lanes;
    __builtin_memcpy(&lanes, &mask, sizeof mask);
    return -__builtin_convertvector(lanes, truths);
}

INLINE words spread(u32 value) { return (words)value; }

INLINE u32 is_inside(u64 first, u64 count, u64 size)
{
    return first <= size && count <= size - first;
}

INLINE char *state_of(char *ctx, u64 warp)
{
    return FIELD(char *, ctx, STATES) + warp * kernel.size;
}

INLINE void suspect(char *ctx, u64 found) { FIELD(u64, ctx, SUSPECTED) |= found; }

// Check that bytes have been written, where that is tracked.
INLINE void check_marks(char *ctx, char *marks, u64 first, u32 size)
{
    u32 found = 0;
    for (u32 place = 0; place < (kernel.finds_unwritten && marks ? size : 0); place++)
        found |= marks[first + place] != 0;
    suspect(ctx, found);
}

INLINE u32 call_back(char *ctx, int site, u32 warp, u32 mask)
{
    FIELD(int, ctx, SITE) = site;
    FIELD(u32, ctx, CALLING_WARP) = warp;
    FIELD(u32, ctx, CALLING_MASK) = mask;
    return FIELD(callback, ctx, CALLBACK)(ctx);
}
