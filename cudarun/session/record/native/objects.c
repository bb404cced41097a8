/* Calls that create and destroy texture and surface objects, noted in a table by handle. */
#include "objects.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "interpose.h"
#include "table.h"

static Table objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
}

static void destroyed(uint64_t handle) {
    if (!control) return;
    pthread_mutex_lock(&lock);
    Entry *known = table_find(&objects, handle);
    if (known) free((Object *)known->value);
    table_remove(&objects, handle);
    pthread_mutex_unlock(&lock);
}

static void created(
    uint64_t handle, const void *resource, const void *texture, const void *view, int is_surface) {
    Object *object = control ? calloc(1, sizeof *object) : 0;
    if (!object) return;
    object->handle = handle, object->is_surface = is_surface, object->has_view = view != 0;
    memcpy(&object->resource, resource, RESOURCE_BYTES);
    if (texture) memcpy(object->texture, texture, TEXTURE_BYTES);
    if (view) memcpy(object->view, view, VIEW_BYTES);
    destroyed(handle); /* with a context that is destroyed, too */
    pthread_mutex_lock(&lock);
    table_put(&objects, handle, (uint64_t)object, 0);
    pthread_mutex_unlock(&lock);
}

int object_of(uint64_t handle, Object *object) {
    pthread_mutex_lock(&lock);
    Entry *known = handle ? table_find(&objects, handle) : 0;
    if (known) *object = *(const Object *)known->value;
    pthread_mutex_unlock(&lock);
    return known != 0;
}

EXPORT CUresult cuTexObjectCreate(
    uint64_t *handle, const void *resource, const void *texture, const void *view) {
    REAL(cuTexObjectCreate, uint64_t *, const void *, const void *, const void *);
    CUresult result = real(handle, resource, texture, view);
    if (!result) created(*handle, resource, texture, view, 0);
    return result;
}

EXPORT CUresult cuTexObjectDestroy(uint64_t handle) {
    REAL(cuTexObjectDestroy, uint64_t);
    destroyed(handle);
    return real(handle);
}

EXPORT CUresult cuSurfObjectCreate(uint64_t *handle, const void *resource) {
    REAL(cuSurfObjectCreate, uint64_t *, const void *);
    CUresult result = real(handle, resource);
    if (!result) created(*handle, resource, 0, 0, 1);
    return result;
}

EXPORT CUresult cuSurfObjectDestroy(uint64_t handle) {
    REAL(cuSurfObjectDestroy, uint64_t);
    destroyed(handle);
    return real(handle);
}

/* --- arrays ----------------------------------------------------------------------------------- */

typedef struct {
    size_t x, y, z, level;
    int memory_type;
    void *host;
    CUdeviceptr device;
    uint64_t array;
    void *reserved;
    size_t pitch, height;
} CopyEnd;

typedef struct {
    CopyEnd from, to;
    size_t width_bytes, height, depth;
} Copy; /* CUDA_MEMCPY3D */

enum { MEMORY_HOST = 1, MEMORY_ARRAY = 3 };

typedef struct {
    size_t width, height, depth;
    uint32_t format, channels, flags;
} Descriptor; /* CUDA_ARRAY3D_DESCRIPTOR */

static size_t at_least_one(uint64_t side) { return side ? side : 1; }

static size_t element_bytes(const ArrayShape *shape) {
    static const unsigned char sizes[] = {
        [0x01] = 1, [0x02] = 2, [0x03] = 4, [0x08] = 1, [0x09] = 2,
        [0x0a] = 4, [0x10] = 2, [0x20] = 4}; /* of CUarray_format */
    return shape->format < sizeof sizes ? sizes[shape->format] * shape->channels : 0;
}

size_t array_shape(uint64_t array, ArrayShape *shape) {
    Descriptor found;
    if (!driver_cuArray3DGetDescriptor_v2 || driver_cuArray3DGetDescriptor_v2(&found, array))
        return 0;
    *shape = (ArrayShape){
        array, found.width, found.height, found.depth, found.format, found.channels, found.flags, 0};
    return element_bytes(shape) * shape->width * at_least_one(shape->height)
           * at_least_one(shape->depth);
}

int array_load(const ArrayShape *shape, void *data) {
    size_t row = shape->width * element_bytes(shape), rows = at_least_one(shape->height);
    Copy copy = {
        .from = {.memory_type = MEMORY_ARRAY, .array = shape->array},
        .to = {.memory_type = MEMORY_HOST, .host = data, .pitch = row, .height = rows},
        .width_bytes = row,
        .height = rows,
        .depth = at_least_one(shape->depth)};
    return driver_cuMemcpy3D_v2 && !driver_cuMemcpy3D_v2(&copy);
}
