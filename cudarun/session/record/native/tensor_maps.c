/* Calls that encode tensor maps; the latest are kept with their bytes. */
#include "tensor_maps.h"

#include <pthread.h>
#include <string.h>

#include "control.h"
#include "interpose.h"

enum { MAP_BYTES = 128, MOST_RANKS = 5, MOST_CORNERS = 3, KEPT = 4096, ALIGNMENT = 16 };

/* `raw_file.py` has the same layout. */
typedef struct {
    uint64_t offset, address;
    uint64_t shape[MOST_RANKS], strides[MOST_RANKS];
    uint32_t type, rank, box[MOST_RANKS], steps[MOST_RANKS];
    uint32_t modes[4]; /* interleave, swizzle, L2 promotion, out-of-bounds fill */
    int32_t corners[2][MOST_CORNERS]; /* of im2col: lower, upper */
    uint32_t channels, pixels; /* of im2col; 0 for boxes */
} Arguments;

typedef struct {
    char bytes[MAP_BYTES];
    Arguments arguments;
} Map;

static Map maps[KEPT];
static unsigned long encoded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
}

static Arguments arguments_of(
    int type, uint32_t rank, void *address, const uint64_t *shape, const uint64_t *strides,
    const uint32_t *steps) {
    Arguments found = {.address = (uint64_t)address, .type = type, .rank = rank};
    memcpy(found.shape, shape, rank * sizeof *shape);
    if (rank > 1) memcpy(found.strides, strides, (rank - 1) * sizeof *strides);
    memcpy(found.steps, steps, rank * sizeof *steps);
    return found;
}

static void keep(const void *map, const Arguments *found) {
    pthread_mutex_lock(&lock);
    Map *kept = &maps[encoded++ % KEPT];
    memcpy(kept->bytes, map, MAP_BYTES);
    kept->arguments = *found;
    pthread_mutex_unlock(&lock);
}

EXPORT CUresult cuTensorMapEncodeTiled(
    void *map, int type, uint32_t rank, void *address, const uint64_t *shape,
    const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
    int swizzle, int promotion, int fill) {
    REAL(cuTensorMapEncodeTiled, void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
         const uint32_t *, const uint32_t *, int, int, int, int);
    CUresult result =
        real(map, type, rank, address, shape, strides, box, steps, interleave, swizzle, promotion,
             fill);
    if (result || !control || rank < 1 || rank > MOST_RANKS) return result;
    Arguments found = arguments_of(type, rank, address, shape, strides, steps);
    memcpy(found.box, box, rank * sizeof *box);
    memcpy(found.modes, (uint32_t[]){interleave, swizzle, promotion, fill}, sizeof found.modes);
    keep(map, &found);
    return result;
}

EXPORT CUresult cuTensorMapEncodeIm2col(
    void *map, int type, uint32_t rank, void *address, const uint64_t *shape,
    const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
    uint32_t pixels, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
    REAL(cuTensorMapEncodeIm2col, void *, int, uint32_t, void *, const uint64_t *,
         const uint64_t *, const int *, const int *, uint32_t, uint32_t, const uint32_t *, int, int,
         int, int);
    CUresult result =
        real(map, type, rank, address, shape, strides, lower, upper, channels, pixels, steps,
             interleave, swizzle, promotion, fill);
    if (result || !control || rank < 3 || rank > MOST_RANKS) return result;
    Arguments found = arguments_of(type, rank, address, shape, strides, steps);
    memcpy(found.corners[0], lower, (rank - 2) * sizeof *lower);
    memcpy(found.corners[1], upper, (rank - 2) * sizeof *upper);
    found.channels = channels, found.pixels = pixels;
    memcpy(found.modes, (uint32_t[]){interleave, swizzle, promotion, fill}, sizeof found.modes);
    keep(map, &found);
    return result;
}

static const Map *map_of(const char *bytes) {
    unsigned long count = encoded < KEPT ? encoded : KEPT;
    for (unsigned long i = 0; i < count; i++)
        if (!memcmp(maps[i].bytes, bytes, MAP_BYTES)) return &maps[i];
    return 0;
}

void write_tensor_maps(RawFile *file, const char *parameters, long size) {
    pthread_mutex_lock(&lock);
    for (long at = 0; at + MAP_BYTES <= size; at += ALIGNMENT) {
        const Map *map = map_of(parameters + at);
        if (!map) continue;
        Arguments found = map->arguments;
        found.offset = at;
        raw_section(file, "TMAP", sizeof found);
        raw_write(file, &found, sizeof found);
    }
    pthread_mutex_unlock(&lock);
}
