/* Texture and surface objects, which kernels get as 64-bit handles. */
#ifndef CUDARUN_OBJECTS_H
#define CUDARUN_OBJECTS_H

#include "driver.h"

enum { RESOURCE_BYTES = 144, TEXTURE_BYTES = 104, VIEW_BYTES = 112 };
enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCHED };

/* `raw_file.py` has the same layout. The descriptors are as the program passed them. */
typedef struct {
    uint64_t handle;
    uint32_t is_surface, has_view;
    struct {
        uint32_t type, padding;
        uint64_t memory; /* the CUarray, or the address */
        char rest[RESOURCE_BYTES - 16];
    } resource;
    char texture[TEXTURE_BYTES], view[VIEW_BYTES];
} Object;

/* The live object of a handle; false if there is none. */
int object_of(uint64_t handle, Object *object);

/* `raw_file.py` has the same layout. */
typedef struct {
    uint64_t array, width, height, depth; /* in elements; 0 for sides that it does not have */
    uint32_t format, channels, flags, padding;
} ArrayShape;

/* The shape of an array, and the bytes of its contents; 0 if they cannot be copied. */
size_t array_shape(uint64_t array, ArrayShape *shape);

/* Copy the contents of an array to the host. */
int array_load(const ArrayShape *shape, void *data);

#endif
