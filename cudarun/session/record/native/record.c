/* The recording of one launch: what it is, the memory before it, the launch, the memory after it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "interpose.h"
#include "launches.h"
#include "rawfile.h"
#include "snapshot.h"
#include "tensor_maps.h"
#include "waiting.h"

enum { MOST_PARAMETERS = 4096, MOST_PARAMETER_BYTES = 1 << 16 };
enum { END, BUFFER_POINTER, BUFFER_SIZE }; /* keys of `extra` */
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };
enum { LIMIT_STACK = 0, LIMIT_HEAP = 2, CARVEOUT = 9 };

static void describe(RawFile *file, const Launch *launch) {
    const LaunchConfig *config = &launch->config;
    char name[256] = "";
    CUdevice device = 0;
    int major = 0, minor = 0, version = 0, carveout = -1;
    size_t limit;
    driver_cuCtxGetDevice(&device);
    driver_cuDeviceGetName(name, sizeof name, device);
    driver_cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, device);
    driver_cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, device);
    driver_cuDriverGetVersion(&version);
    raw_text(file, "kernel", "%s", launch->kernel->name);
    raw_text(file, "ordinal", "%llu", (unsigned long long)launch->ordinal);
    raw_text(file, "process", "%d", getpid());
    raw_text(file, "grid", "%u %u %u", config->grid[0], config->grid[1], config->grid[2]);
    raw_text(file, "block", "%u %u %u", config->block[0], config->block[1], config->block[2]);
    raw_text(file, "shared", "%u", config->shared_bytes);
    raw_text(file, "cooperative", "%d", launch->is_cooperative);
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const LaunchAttribute *attribute = &config->attributes[i];
        const unsigned *extent = attribute->value.cluster;
        if (attribute->id == ATTRIBUTE_CLUSTER)
            raw_text(file, "cluster", "%u %u %u", extent[0], extent[1], extent[2]);
        if (attribute->id == ATTRIBUTE_PROGRAMMATIC)
            raw_text(file, "programmatic", "%d", attribute->value.programmatic);
    }
    raw_text(file, "device", "%s", name);
    raw_text(file, "capability", "%d %d", major, minor);
    raw_text(file, "driver", "%d", version);
    if (!launch->kernel->is_kernel && driver_cuFuncGetAttribute
        && !driver_cuFuncGetAttribute(&carveout, CARVEOUT, launch->function) && carveout >= 0)
        raw_text(file, "carveout", "%d", carveout);
    if (!driver_cuCtxGetLimit(&limit, LIMIT_STACK)) raw_text(file, "stack_size", "%zu", limit);
    if (!driver_cuCtxGetLimit(&limit, LIMIT_HEAP)) raw_text(file, "heap_size", "%zu", limit);
    const char *cache = getenv("TRITON_CACHE_DIR");
    if (cache) raw_text(file, "triton_cache", "%s", cache);
    if (launch->stack) raw_text(file, "stack", "%s", launch->stack);
}

static CUresult parameter(const Launch *launch, size_t index, size_t *offset, size_t *size) {
    if (launch->kernel->is_kernel && driver_cuKernelGetParamInfo)
        return driver_cuKernelGetParamInfo(launch->function, index, offset, size);
    return driver_cuFuncGetParamInfo
               ? driver_cuFuncGetParamInfo(launch->function, index, offset, size)
               : -1;
}

/* Write the offset and the size of each parameter: those of PTX and of machine code can differ. */
static void layout(RawFile *file, const Launch *launch) {
    size_t count = 0, offset, size;
    while (count < MOST_PARAMETERS && !parameter(launch, count, &offset, &size)) count++;
    raw_section(file, "LAYO", count * 2 * sizeof(uint64_t));
    for (size_t i = 0; i < count && !parameter(launch, i, &offset, &size); i++) {
        uint64_t numbers[2] = {offset, size};
        raw_write(file, numbers, sizeof numbers);
    }
}

/* Pack the parameters as the driver does; return their size, or -1. */
static long packed(const Launch *launch, char *bytes) {
    void **extra = launch->extra;
    if (extra) {
        const void *data = 0;
        size_t size = 0;
        for (; *extra != (void *)END; extra += 2) {
            if (*extra == (void *)BUFFER_POINTER) data = extra[1];
            if (*extra == (void *)BUFFER_SIZE) size = *(size_t *)extra[1];
        }
        if (!data || size > MOST_PARAMETER_BYTES) return -1;
        memcpy(bytes, data, size);
        return size;
    }
    long end = 0;
    for (size_t i = 0; i < MOST_PARAMETERS; i++) {
        size_t offset, size;
        CUresult result = parameter(launch, i, &offset, &size);
        if (result < 0) return -1;
        if (result) break;
        if (offset + size > MOST_PARAMETER_BYTES || !launch->parameters) return -1;
        memcpy(bytes + offset, launch->parameters[i], size);
        if ((long)(offset + size) > end) end = offset + size;
    }
    return end;
}

/* Write the image to a file of its own, once in each process; return its name in the folder. */
static const char *image_file(const Image *image, char *name) {
    char path[PATH_BYTES];
    sprintf(name, "image-%d-%llx", getpid(), (unsigned long long)image);
    in_folder(path, "%s", name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return 0;
    size_t at = 0;
    while (at < image->size) {
        ssize_t written = write(file, image->data + at, image->size - at);
        if (written <= 0) break;
        at += written;
    }
    close(file);
    return at == image->size ? name : 0;
}

static void variables(Snapshot *snapshot, const Launch *launch, const char *image) {
    CUfunction function = launch->function;
    CUmodule module;
    if (launch->kernel->is_kernel) {
        CUresult (*of)(CUfunction *, CUkernel) =
            (CUresult(*)(CUfunction *, CUkernel))driver_function("cuKernelGetFunction");
        if (!of || of(&function, launch->function)) return;
    }
    if (!driver_cuFuncGetModule || driver_cuFuncGetModule(&module, function)) return;
    char architecture[16];
    CUdevice device = 0;
    int major = 0, minor = 0;
    driver_cuCtxGetDevice(&device);
    driver_cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, device);
    driver_cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, device);
    snprintf(architecture, sizeof architecture, "%d", 10 * major + minor);
    char *names = ask("variables", architecture, image), *rest = 0;
    for (char *name = names ? strtok_r(names, "\n", &rest) : 0; name;
         name = strtok_r(0, "\n", &rest)) {
        CUdeviceptr address;
        size_t size;
        if (!driver_cuModuleGetGlobal_v2(&address, &size, module, name) && size)
            snapshot_variable(snapshot, name, address, size);
    }
    free(names);
}

/* Write everything from before the launch; false if it cannot be recorded. */
static int before(Snapshot *snapshot, RawFile *file, const Launch *launch) {
    char bytes[MOST_PARAMETER_BYTES] = {0}, name[64];
    describe(file, launch);
    long size = packed(launch, bytes);
    const char *kernel = launch->kernel->name;
    if (size < 0) {
        note("parameters %s", kernel);
        return 0;
    }
    raw_section(file, "PARA", size);
    raw_write(file, bytes, size);
    layout(file, launch);
    write_tensor_maps(file, bytes, size);
    const Image *image = launch->kernel->image;
    if (!image || !image->data) {
        note("image %s", kernel);
        return 0;
    }
    if (!image_file(image, name)) {
        note("write the image of %s", kernel);
        return 0;
    }
    raw_text(file, "image", "%s", name);
    snapshot_follow(snapshot, bytes, size, 4);
    snapshot_objects(snapshot, bytes, size);
    variables(snapshot, launch, name);
    if (snapshot_copy(snapshot, control->max_bytes)) {
        raw_section(file, "BEFO", 0);
        return !file->error;
    }
    note("size %llu %s", (unsigned long long)snapshot->copied_bytes, kernel);
    return 0;
}

static CUresult run(
    Snapshot *snapshot, RawFile *file, const Launch *launch, CUresult (*again)(void *),
    void *context) {
    Slot *slot = begin_waiting(launch->kernel->name, launch->ordinal);
    CUresult result = again(context);
    CUresult status = result ? result : driver_cuCtxSynchronize();
    end_waiting(slot);
    if (!status) snapshot_changes(snapshot);
    raw_section(file, "STAT", sizeof status);
    raw_write(file, &status, sizeof status);
    return result;
}

CUresult record_launch(const Launch *launch, CUresult (*again)(void *), void *context) {
    static atomic_uint numbers;
    int mode = CAPTURE_MODE_RELAXED;
    RawFile file;
    Snapshot snapshot = {0};
    driver_cuThreadExchangeStreamCaptureMode(&mode);
    int recorded = 0;
    CUresult result;
    if (driver_cuCtxSynchronize()) {
        result = again(context);
    } else {
        int ready = raw_open(&file, atomic_fetch_add(&numbers, 1))
                    && snapshot_begin(&snapshot, &file) && before(&snapshot, &file, launch);
        result = ready ? run(&snapshot, &file, launch, again, context) : again(context);
        snapshot_end(&snapshot);
        recorded = raw_close(&file, ready);
        if (file.error) note("write %s", strerror(file.error));
    }
    if (recorded) atomic_fetch_add(&control->taken, 1);
    driver_cuThreadExchangeStreamCaptureMode(&mode);
    return result;
}
