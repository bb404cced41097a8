/* Calls that allocate, map and free memory, noted in one table. */
#include "allocations.h"

#include <pthread.h>
#include <stdlib.h>

#include "control.h"
#include "interpose.h"
#include "table.h"

static Table table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
}

static void allocated(uint64_t base, uint64_t size, enum Memory kind) {
    if (!control || !base || !size) return;
    pthread_mutex_lock(&lock);
    table_put(&table, base, size, kind);
    pthread_mutex_unlock(&lock);
}

static void freed(uint64_t base) {
    if (!control) return;
    pthread_mutex_lock(&lock);
    table_remove(&table, base);
    pthread_mutex_unlock(&lock);
}

static int by_base(const void *left, const void *right) {
    uint64_t a = ((const Range *)left)->base, b = ((const Range *)right)->base;
    return (a > b) - (a < b);
}

Range *live_ranges(size_t *count) {
    *count = 0;
    pthread_mutex_lock(&lock);
    Range *found = malloc((table.capacity + 1) * sizeof *found);
    for (size_t i = 0; found && i < table.capacity; i++) {
        Entry *each = &table.entries[i];
        if (table_is_used(each)) found[(*count)++] = (Range){each->key, each->value, each->extra};
    }
    pthread_mutex_unlock(&lock);
    if (!found) return 0;
    qsort(found, *count, sizeof *found, by_base);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        Range *last = kept ? &found[kept - 1] : 0;
        if (last && last->kind == MAPPED && found[i].kind == MAPPED
            && last->base + last->size == found[i].base)
            last->size += found[i].size;
        else
            found[kept++] = found[i];
    }
    *count = kept;
    return found;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t size) {
    REAL(cuMemAlloc_v2, CUdeviceptr *, size_t);
    CUresult result = real(memory, size);
    if (!result) allocated(*memory, size, DEVICE);
    return result;
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr *memory, size_t size, unsigned flags) {
    REAL(cuMemAllocManaged, CUdeviceptr *, size_t, unsigned);
    CUresult result = real(memory, size, flags);
    if (!result) allocated(*memory, size, DEVICE);
    return result;
}

EXPORT CUresult cuMemAllocPitch_v2(
    CUdeviceptr *memory, size_t *pitch, size_t width, size_t height, unsigned element) {
    REAL(cuMemAllocPitch_v2, CUdeviceptr *, size_t *, size_t, size_t, unsigned);
    CUresult result = real(memory, pitch, width, height, element);
    if (!result) allocated(*memory, *pitch * height, DEVICE);
    return result;
}

#define ALLOCATE_IN_ORDER(name)                                                                    \
    EXPORT CUresult name(CUdeviceptr *memory, size_t size, CUstream stream) {                      \
        REAL(name, CUdeviceptr *, size_t, CUstream);                                               \
        CUresult result = real(memory, size, stream);                                              \
        if (!result) allocated(*memory, size, DEVICE);                                             \
        return result;                                                                             \
    }
ALLOCATE_IN_ORDER(cuMemAllocAsync)
ALLOCATE_IN_ORDER(cuMemAllocAsync_ptsz)

#define ALLOCATE_FROM_POOL(name)                                                                   \
    EXPORT CUresult name(CUdeviceptr *memory, size_t size, CUmemoryPool pool, CUstream stream) {   \
        REAL(name, CUdeviceptr *, size_t, CUmemoryPool, CUstream);                                 \
        CUresult result = real(memory, size, pool, stream);                                        \
        if (!result) allocated(*memory, size, DEVICE);                                             \
        return result;                                                                             \
    }
ALLOCATE_FROM_POOL(cuMemAllocFromPoolAsync)
ALLOCATE_FROM_POOL(cuMemAllocFromPoolAsync_ptsz)

EXPORT CUresult cuMemFree_v2(CUdeviceptr memory) {
    REAL(cuMemFree_v2, CUdeviceptr);
    freed(memory); /* before the driver can return the address to another thread */
    return real(memory);
}

#define FREE_IN_ORDER(name)                                                                        \
    EXPORT CUresult name(CUdeviceptr memory, CUstream stream) {                                    \
        REAL(name, CUdeviceptr, CUstream);                                                         \
        freed(memory);                                                                             \
        return real(memory, stream);                                                               \
    }
FREE_IN_ORDER(cuMemFreeAsync)
FREE_IN_ORDER(cuMemFreeAsync_ptsz)

EXPORT CUresult cuMemMap(
    CUdeviceptr address, size_t size, size_t offset, uint64_t memory, uint64_t flags) {
    REAL(cuMemMap, CUdeviceptr, size_t, size_t, uint64_t, uint64_t);
    CUresult result = real(address, size, offset, memory, flags);
    if (!result) allocated(address, size, MAPPED);
    return result;
}

EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
    REAL(cuMemUnmap, CUdeviceptr, size_t);
    if (control) {
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < table.capacity; i++) {
            Entry *each = &table.entries[i];
            if (table_is_used(each) && each->key - address < size && each->extra == MAPPED)
                table_remove(&table, each->key);
        }
        pthread_mutex_unlock(&lock);
    }
    return real(address, size);
}

EXPORT CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    REAL(cuMemHostAlloc, void **, size_t, unsigned);
    CUresult result = real(memory, size, flags);
    if (!result) allocated((uint64_t)*memory, size, HOST);
    return result;
}

EXPORT CUresult cuMemAllocHost_v2(void **memory, size_t size) {
    REAL(cuMemAllocHost_v2, void **, size_t);
    CUresult result = real(memory, size);
    if (!result) allocated((uint64_t)*memory, size, HOST);
    return result;
}

EXPORT CUresult cuMemFreeHost(void *memory) {
    REAL(cuMemFreeHost, void *);
    freed((uint64_t)memory);
    return real(memory);
}

EXPORT CUresult cuMemHostRegister_v2(void *memory, size_t size, unsigned flags) {
    REAL(cuMemHostRegister_v2, void *, size_t, unsigned);
    CUresult result = real(memory, size, flags);
    if (!result) allocated((uint64_t)memory, size, HOST);
    return result;
}

EXPORT CUresult cuMemHostUnregister(void *memory) {
    REAL(cuMemHostUnregister, void *);
    freed((uint64_t)memory);
    return real(memory);
}

typedef struct {
    char bytes[64];
} IpcHandle;

#define OPEN_IPC(name)                                                                             \
    EXPORT CUresult name(CUdeviceptr *memory, IpcHandle handle, unsigned flags) {                  \
        REAL(name, CUdeviceptr *, IpcHandle, unsigned);                                            \
        CUresult result = real(memory, handle, flags);                                             \
        CUdeviceptr base;                                                                          \
        size_t size;                                                                               \
        if (!result && driver_ready() && !driver_cuMemGetAddressRange_v2(&base, &size, *memory))   \
            allocated(base, size, DEVICE);                                                         \
        return result;                                                                             \
    }
OPEN_IPC(cuIpcOpenMemHandle)
OPEN_IPC(cuIpcOpenMemHandle_v2)

EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr memory) {
    REAL(cuIpcCloseMemHandle, CUdeviceptr);
    freed(memory);
    return real(memory);
}
