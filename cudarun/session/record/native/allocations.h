/* The memory that a kernel can reach: what the driver has allocated, mapped or registered. */
#ifndef CUDARUN_ALLOCATIONS_H
#define CUDARUN_ALLOCATIONS_H

#include <stddef.h>
#include <stdint.h>

enum Memory { DEVICE, MAPPED, HOST };

typedef struct {
    uint64_t base, size;
    enum Memory kind;
} Range;

/* All live ranges by address, adjacent mappings as one; the caller frees them. */
Range *live_ranges(size_t *count);

#endif
