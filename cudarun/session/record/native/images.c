/* Calls that load code and return handles of kernels, noted in two tables. */
#define _GNU_SOURCE
#include "images.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "interpose.h"
#include "table.h"

enum { FATBIN = 0xBA55ED50u, FATBIN_WRAPPER = 0x466243B1u };

static Table images, kernels; /* by module and library; by function and kernel */
_Atomic(Kernel *) cached_kernels[1 << CACHE_BITS]; /* written with the lock */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void before_fork(void) { pthread_rwlock_wrlock(&lock); }
static void after_fork(void) { pthread_rwlock_unlock(&lock); }
static void after_fork_in_child(void) {
    lock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER; /* its owner was another thread */
}

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

static size_t elf_size(const char *data) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)data;
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    size_t segments = header->e_phoff + (size_t)header->e_phnum * header->e_phentsize;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(data + header->e_shoff);
    for (int i = 0; header->e_shoff && i < header->e_shnum; i++)
        if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > end)
            end = sections[i].sh_offset + sections[i].sh_size;
    return end > segments ? end : segments;
}

static size_t image_size(const char **data) {
    uint32_t magic;
    memcpy(&magic, *data, 4);
    if (magic == FATBIN_WRAPPER) {
        memcpy(data, *data + 8, sizeof *data);
        memcpy(&magic, *data, 4);
    }
    if (magic == FATBIN) {
        uint16_t header;
        uint64_t rest;
        memcpy(&header, *data + 6, sizeof header);
        memcpy(&rest, *data + 8, sizeof rest);
        return header + rest;
    }
    return memcmp(*data, ELFMAG, SELFMAG) ? strlen(*data) : elf_size(*data);
}

static void loaded(void *handle, const char *data) {
    Image *image = control ? calloc(1, sizeof *image) : 0;
    Dl_info where;
    if (!image) return;
    image->size = image_size(&data);
    image->data = data;
    if (!dladdr(data, &where)) { /* no part of a library: the program can free it */
        char *copy = malloc(image->size + 1);
        if (copy) memcpy(copy, data, image->size), copy[image->size] = 0;
        image->data = copy, image->is_copy = 1;
    }
    pthread_rwlock_wrlock(&lock);
    table_put(&images, (uint64_t)handle, (uint64_t)image, 0);
    pthread_rwlock_unlock(&lock);
}

static void loaded_file(void *handle, const char *path) {
    FILE *file = control ? fopen(path, "rbe") : 0;
    if (!file) return;
    Image *image = calloc(1, sizeof *image);
    char *data = 0;
    long size = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
    if (image && size > 0 && (data = malloc(size + 1))) {
        rewind(file);
        image->size = fread(data, 1, size, file);
        data[image->size] = 0;
        image->data = data, image->is_copy = 1;
        pthread_rwlock_wrlock(&lock);
        table_put(&images, (uint64_t)handle, (uint64_t)image, 0);
        pthread_rwlock_unlock(&lock);
    } else {
        free(image);
    }
    fclose(file);
}

static void forget(Entry *known) {
    _Atomic(Kernel *) *cached = cache_of((CUfunction)known->key);
    if (atomic_load(cached) == (Kernel *)known->value) atomic_store(cached, 0);
    table_remove(&kernels, known->key);
}

static void unloaded(void *handle) {
    if (!control) return;
    pthread_rwlock_wrlock(&lock);
    Entry *found = table_find(&images, (uint64_t)handle);
    Image *image = found ? (Image *)found->value : 0;
    for (size_t i = 0; image && i < kernels.capacity; i++) {
        Entry *each = &kernels.entries[i];
        if (table_is_used(each) && ((Kernel *)each->value)->image == image) forget(each);
    }
    for (size_t i = 0; image && i < images.capacity; i++) {
        Entry *each = &images.entries[i]; /* a library has modules */
        if (table_is_used(each) && each->value == (uint64_t)image) table_remove(&images, each->key);
    }
    if (image && image->is_copy) free((char *)image->data);
    free(image);
    pthread_rwlock_unlock(&lock);
}

static const Image *image_of(void *handle) {
    Entry *found = table_find(&images, (uint64_t)handle);
    return found ? (const Image *)found->value : 0;
}

static Kernel *add(void *handle, const char *name, const Image *image, int is_kernel) {
    Kernel *kernel = calloc(1, sizeof *kernel + strlen(name) + 1);
    if (!kernel) return 0;
    kernel->image = image, kernel->handle = handle;
    kernel->is_kernel = is_kernel, kernel->is_wanted = -1;
    strcpy(kernel->name, name);
    table_put(&kernels, (uint64_t)handle, (uint64_t)kernel, 0);
    atomic_store(cache_of(handle), kernel);
    return kernel;
}

static void found_kernel(void *handle, void *owner, const char *name, int is_kernel) {
    if (!control) return;
    pthread_rwlock_wrlock(&lock);
    Entry *known = table_find(&kernels, (uint64_t)handle);
    const Image *image = image_of(owner);
    Kernel *kernel = known ? (Kernel *)known->value : 0;
    if (!kernel || kernel->image != image || strcmp(kernel->name, name))
        add(handle, name, image, is_kernel);
    pthread_rwlock_unlock(&lock);
}

/* The image of the known kernels of a name; null if there are several. */
static const Image *image_by_name(const char *name) {
    const Image *found = 0;
    for (size_t i = 0; i < kernels.capacity; i++) {
        const Kernel *each = (Kernel *)kernels.entries[i].value;
        if (!table_is_used(&kernels.entries[i]) || !each->image || strcmp(each->name, name)) continue;
        if (found && found != each->image) return 0;
        found = each->image;
    }
    return found;
}

/* A kernel whose handle came from a call that is not replaced. */
static Kernel *asked(CUfunction handle) {
    const char *name = 0;
    CUmodule module = 0;
    int is_kernel = 0;
    if (!driver_cuFuncGetName || driver_cuFuncGetName(&name, handle)) {
        is_kernel = 1;
        if (!driver_cuKernelGetName || driver_cuKernelGetName(&name, handle)) name = "";
    }
    if (!is_kernel && driver_cuFuncGetModule) driver_cuFuncGetModule(&module, handle);
    pthread_rwlock_wrlock(&lock);
    const Image *image = image_of(module);
    Kernel *kernel = add(handle, name, image ? image : image_by_name(name), is_kernel);
    pthread_rwlock_unlock(&lock);
    return kernel;
}

Kernel *known_kernel(CUfunction handle) {
    Kernel *kernel = cached_kernel(handle);
    if (kernel) return kernel;
    pthread_rwlock_rdlock(&lock);
    Entry *known = table_find(&kernels, (uint64_t)handle);
    if (known) atomic_store(cache_of(handle), kernel = (Kernel *)known->value);
    pthread_rwlock_unlock(&lock);
    return kernel;
}

Kernel *kernel_of(CUfunction handle) {
    Kernel *kernel = known_kernel(handle);
    return kernel || !driver_ready() ? kernel : asked(handle);
}

EXPORT CUresult cuModuleLoad(CUmodule *module, const char *path) {
    REAL(cuModuleLoad, CUmodule *, const char *);
    CUresult result = real(module, path);
    if (!result) loaded_file(*module, path);
    return result;
}

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    REAL(cuModuleLoadData, CUmodule *, const void *);
    CUresult result = real(module, image);
    if (!result) loaded(*module, image);
    return result;
}

EXPORT CUresult cuModuleLoadDataEx(
    CUmodule *module, const void *image, unsigned count, int *options, void **values) {
    REAL(cuModuleLoadDataEx, CUmodule *, const void *, unsigned, int *, void **);
    CUresult result = real(module, image, count, options, values);
    if (!result) loaded(*module, image);
    return result;
}

EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    REAL(cuModuleLoadFatBinary, CUmodule *, const void *);
    CUresult result = real(module, image);
    if (!result) loaded(*module, image);
    return result;
}

EXPORT CUresult cuModuleUnload(CUmodule module) {
    REAL(cuModuleUnload, CUmodule);
    unloaded(module);
    return real(module);
}

#define OPTIONS int *, void **, unsigned, int *, void **, unsigned
#define OPTION_PARAMETERS                                                                          \
    int *jit, void **jit_values, unsigned jit_count, int *own, void **own_values, unsigned own_count
#define OPTION_ARGUMENTS jit, jit_values, jit_count, own, own_values, own_count

EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code, OPTION_PARAMETERS) {
    REAL(cuLibraryLoadData, CUlibrary *, const void *, OPTIONS);
    CUresult result = real(library, code, OPTION_ARGUMENTS);
    if (!result) loaded(*library, code);
    return result;
}

EXPORT CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, OPTION_PARAMETERS) {
    REAL(cuLibraryLoadFromFile, CUlibrary *, const char *, OPTIONS);
    CUresult result = real(library, path, OPTION_ARGUMENTS);
    if (!result) loaded_file(*library, path);
    return result;
}

EXPORT CUresult cuLibraryUnload(CUlibrary library) {
    REAL(cuLibraryUnload, CUlibrary);
    unloaded(library);
    return real(library);
}

EXPORT CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    REAL(cuLibraryGetModule, CUmodule *, CUlibrary);
    CUresult result = real(module, library);
    if (!result && control) {
        pthread_rwlock_wrlock(&lock);
        const Image *image = image_of(library);
        if (image) table_put(&images, (uint64_t)*module, (uint64_t)image, 0);
        pthread_rwlock_unlock(&lock);
    }
    return result;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    REAL(cuModuleGetFunction, CUfunction *, CUmodule, const char *);
    CUresult result = real(function, module, name);
    if (!result) found_kernel(*function, module, name, 0);
    return result;
}

EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    REAL(cuLibraryGetKernel, CUkernel *, CUlibrary, const char *);
    CUresult result = real(kernel, library, name);
    if (!result) found_kernel(*kernel, library, name, 1);
    return result;
}

EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    REAL(cuKernelGetFunction, CUfunction *, CUkernel);
    CUresult result = real(function, kernel);
    Kernel *known = !result && control && *function != kernel ? kernel_of(kernel) : 0;
    if (known) {
        pthread_rwlock_wrlock(&lock);
        Entry *own = table_find(&kernels, (uint64_t)*function);
        if (!own || ((Kernel *)own->value)->image != known->image)
            add(*function, known->name, known->image, 0);
        pthread_rwlock_unlock(&lock);
    }
    return result;
}

EXPORT CUresult cuModuleEnumerateFunctions(
    CUfunction *functions, unsigned count, CUmodule module) {
    REAL(cuModuleEnumerateFunctions, CUfunction *, unsigned, CUmodule);
    CUresult result = real(functions, count, module);
    const char *name;
    for (unsigned i = 0; !result && i < count && driver_ready() && driver_cuFuncGetName; i++)
        if (!driver_cuFuncGetName(&name, functions[i])) found_kernel(functions[i], module, name, 0);
    return result;
}

EXPORT CUresult cuLibraryEnumerateKernels(CUkernel *handles, unsigned count, CUlibrary library) {
    REAL(cuLibraryEnumerateKernels, CUkernel *, unsigned, CUlibrary);
    CUresult result = real(handles, count, library);
    const char *name;
    for (unsigned i = 0; !result && i < count && driver_ready() && driver_cuKernelGetName; i++)
        if (!driver_cuKernelGetName(&name, handles[i])) found_kernel(handles[i], library, name, 1);
    return result;
}
