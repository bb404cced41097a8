/* The code that the program has loaded, and the kernels in it by their handles. */
#ifndef CUDARUN_IMAGES_H
#define CUDARUN_IMAGES_H

#include <stdatomic.h>
#include <stddef.h>

#include "driver.h"

typedef struct {
    const char *data; /* null if it could not be read */
    size_t size;
    int is_copy;
} Image;

typedef struct Kernel {
    const Image *image; /* null if its module was loaded in a way that is not seen */
    CUfunction handle;
    int is_kernel; /* a CUkernel, not a CUfunction */
    atomic_int is_wanted; /* the answer of the parent; -1 until it is asked */
    _Atomic uint64_t launches;
    char name[];
} Kernel;

/* The kernel of a handle that is launched; null without memory. */
Kernel *kernel_of(CUfunction handle);

/* The kernel of a handle that the program has got by a replaced call; null for another one. */
Kernel *known_kernel(CUfunction handle);

/* Kernels that were launched, by a hash of their handles. Kernels are never freed. */
enum { CACHE_BITS = 11 };
extern _Atomic(Kernel *) cached_kernels[1 << CACHE_BITS];

static inline _Atomic(Kernel *) * cache_of(CUfunction handle) {
    return &cached_kernels[((uint64_t)handle * 0x9E3779B97F4A7C15u) >> (64 - CACHE_BITS)];
}

static inline Kernel *cached_kernel(CUfunction handle) {
    Kernel *kernel = atomic_load_explicit(cache_of(handle), memory_order_acquire);
    return kernel && kernel->handle == handle ? kernel : 0;
}

#endif
