/* A driver without a GPU: the calls that a small program and the recording library make.
 *
 * Device memory is memory of the process, a module is its PTX, and a kernel is a C function.
 */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch.h"

enum { ENDLESS = -1 };

typedef uint64_t Address;
typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned attribute_count;
} Config;

enum { SCALE = 1, GATHER, OVERRUN, TILE, TOUCH, FETCH, BORROW, KERNELS = BORROW };
static const char *const names[KERNELS] = {
    "scale", "gather", "overrun", "tile", "touch", "fetch", "borrow"};
static const size_t offsets[KERNELS][3] = {
    {0, 16}, {0, 8, 16}, {0, 8}, {48, 176}, {0}, {0, 8, 16}, {0, 8, 16}};
static const size_t sizes[KERNELS][3] = {
    {16, 4}, {8, 8, 4}, {8, 4}, {128, 8}, {8}, {8, 8, 8}, {8, 8, 8}};
static const size_t counts[KERNELS] = {2, 3, 2, 2, 1, 3, 3};
static float factor[2];
static unsigned launches;
static int fault;

static void scale(void **parameters, unsigned threads) {
    const float **pair = parameters[0];
    float *y = ((float **)parameters[0])[1];
    launches++;
    for (int i = 0; i < *(int *)parameters[1] && i < (int)threads; i++)
        y[i] = fmaf(factor[0], pair[0][i], factor[1]);
}

static void gather(void **parameters, unsigned threads) {
    float **table = *(float ***)parameters[0], *sum = *(float **)parameters[1];
    for (unsigned thread = 0; thread < threads; thread++) {
        sum[thread] = 0;
        for (int i = 0; i < *(int *)parameters[2]; i++) sum[thread] += table[i][thread];
    }
}

/* Arrays of f32, and objects whose handles are counted from 1. */
typedef struct {
    size_t width, height, depth;
    unsigned format, channels, flags;
    float *data;
} FloatArray;
enum { MOST_OBJECTS = 64 };
static FloatArray *objects[MOST_OBJECTS];
static uint64_t object_count;

int cuArray3DCreate_v2(FloatArray **array, const FloatArray *description) {
    *array = malloc(sizeof **array);
    **array = *description;
    (*array)->data = calloc(description->width * description->height, sizeof(float));
    return 0;
}
int cuArray3DGetDescriptor_v2(void *description, const FloatArray *array) {
    return memcpy(description, array, offsetof(FloatArray, data)), 0;
}
int cuMemcpy3D_v2(const uint64_t *copy) { /* whole arrays: the words of CUDA_MEMCPY3D */
    const FloatArray *from = (void *)copy[7], *to = (void *)copy[18];
    size_t size = copy[22] * copy[23];
    if (from) return memcpy((void *)copy[16], from->data, size), 0;
    return memcpy(to->data, (void *)copy[5], size), 0;
}
int cuTexObjectCreate(uint64_t *handle, const void **resource, const void *texture, const void *view) {
    objects[*handle = ++object_count] = (FloatArray *)resource[1];
    return !texture || view;
}
int cuSurfObjectCreate(uint64_t *handle, const void **resource) {
    return objects[*handle = ++object_count] = (FloatArray *)resource[1], 0;
}

static void fetch(void **parameters, unsigned threads) {
    const float *image = objects[*(uint64_t *)parameters[0]]->data;
    float *out = objects[*(uint64_t *)parameters[1]]->data, *y = *(float **)parameters[2];
    for (unsigned i = 0; i < threads; i++) y[i] = image[i], out[i] = image[i] + 1;
}

static void borrow(void **parameters, unsigned threads) {
    float **table = *(float ***)parameters[0], *direct = *(float **)parameters[1];
    float **y = *(float ***)parameters[2];
    y[1] = table[0];
    for (unsigned i = 0; i < threads; i++) ((float *)y)[i + 4] = table[0][0] + direct[1];
}

static int launch(uint64_t kernel, unsigned threads, void **parameters, void **extra) {
    void *found[3];
    if (fault) return fault;
    if (kernel < 1 || kernel > KERNELS) return 400;
    for (size_t i = 0; extra && i < counts[kernel - 1]; i++)
        found[i] = (char *)extra[1] + offsets[kernel - 1][i];
    parameters = extra ? found : parameters;
    if (kernel == SCALE) scale(parameters, threads);
    if (kernel == GATHER) gather(parameters, threads);
    if (kernel == BORROW) borrow(parameters, threads);
    if (kernel == FETCH) fetch(parameters, threads);
    for (unsigned i = 0; kernel == TILE && i < threads; i++) (*(float **)parameters[1])[i] = i;
    if (kernel == OVERRUN && getenv("STUB_KILLS")) raise(SIGKILL);
    if (kernel == OVERRUN) fault = getenv("STUB_HANGS") ? ENDLESS : 700;
    return 0;
}

size_t stub_parameter_count(void *function) { return counts[(uint64_t)function - 1]; }
size_t stub_parameter_size(void *function, size_t index) {
    return sizes[(uint64_t)function - 1][index];
}
int stub_launch(void *function, unsigned threads, void **parameters) {
    return launch((uint64_t)function, threads, parameters, 0);
}

int cuInit(unsigned flags) { return flags; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = (void *)64, device; }
int cuCtxSetCurrent(void *context) { return !context; }
int cuStreamCreate(void **stream, unsigned flags) { return *stream = (void *)16, flags > 1; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuCtxGetCurrent(void **context) { return *context = (void *)64, 0; }
int cuCtxGetDevice(int *device) { return *device = 0; }
int cuCtxGetLimit(size_t *size, int limit) { return *size = 1024u << limit, 0; }
int cuCtxSynchronize(void) {
    while (fault == ENDLESS) pause();
    return fault;
}
int cuStreamSynchronize(void *stream) { return cuCtxSynchronize() + 0 * !stream; }
int cuDeviceGetName(char *name, int length, int device) {
    return strncpy(name, "Stub", length), device;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    return *value = attribute == 75 ? 9 : 0, device;
}
int cuEventCreate(void **event, unsigned flags) { return *event = (void *)1, (int)flags; }
int cuEventRecord(void *event, void *stream) { return !event || stream; }
int cuEventQuery(void *event) { return !event; }
int cuEventElapsedTime(float *milliseconds, void *before, void *after) {
    return *milliseconds = 0.5f, !before || !after;
}
int cuFuncGetAttribute(int *value, int attribute, void *kernel) {
    return *value = -1, !kernel || attribute < 0;
}
int cuFuncGetModule(void **module, void *kernel) { return *module = (void *)32, !kernel; }
int cuFuncGetName(const char **name, void *kernel) { return *name = names[(uint64_t)kernel - 1], 0; }
int cuFuncGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *size) {
    size_t which = (uint64_t)kernel - 1;
    if (index >= counts[which]) return 1;
    return *offset = offsets[which][index], *size = sizes[which][index], 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) { return !mode; }

int cuMemAlloc_v2(Address *memory, size_t size) {
    size_t whole = (size + 4095) / 4096 * 4096;
    *memory = (Address)mmap(0, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return 0;
}
int cuMemFree_v2(Address memory) { return !memory; }
int cuMemcpyDtoH_v2(void *to, Address from, size_t size) { return memcpy(to, (void *)from, size), 0; }
int cuMemcpyHtoD_v2(Address to, const void *from, size_t size) {
    return memcpy((void *)to, from, size), 0;
}

int cuTensorMapEncodeTiled(
    void *map, int type, unsigned rank, void *address, const uint64_t *shape,
    const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave,
    int swizzle, int promotion, int fill) {
    uint64_t words[16] = {(uint64_t)address, type, rank, shape[0], strides[0], box[0], steps[0]};
    memcpy(map, words, sizeof words);
    return interleave + swizzle + promotion + fill;
}

int cuTensorMapEncodeIm2col(
    void *map, int type, unsigned rank, void *address, const uint64_t *shape,
    const uint64_t *strides, const int *lower, const int *upper, unsigned channels, unsigned pixels,
    const unsigned *steps, int interleave, int swizzle, int promotion, int fill) {
    uint64_t words[16] = {
        (uint64_t)address, type, rank, shape[0], strides[0], lower[0], upper[0], channels, pixels};
    memcpy(map, words, sizeof words);
    return steps[0] - 1 + interleave + swizzle + promotion + fill;
}

int cuModuleLoadData(void **module, const void *image) { return *module = (void *)32, !image; }
int cuModuleGetFunction(void **kernel, void *module, const char *name) {
    for (uint64_t i = 0; i < KERNELS; i++)
        if (!strcmp(names[i], name)) return *kernel = (void *)(i + 1), !module;
    return 500;
}
int cuModuleGetGlobal_v2(Address *address, size_t *size, void *module, const char *name) {
    int is_factor = !strcmp(name, "factor");
    *address = is_factor ? (Address)factor : (Address)&launches;
    *size = is_factor ? sizeof factor : sizeof launches;
    return !module || !(is_factor || !strcmp(name, "launches")) ? 500 : 0;
}

int cuLaunchKernel(
    void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, void *stream, void **parameters, void **extra) {
    int is_captured;
    cuStreamIsCapturing(stream, &is_captured);
    if (is_captured)
        return stub_capture(
            kernel, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, parameters);
    return launch((uint64_t)kernel, gx * gy * gz * bx * by * bz, parameters, extra) + 0 * shared;
}
int cuLaunchKernelEx(const Config *config, void *kernel, void **parameters, void **extra) {
    const unsigned *g = config->grid, *b = config->block;
    return cuLaunchKernel(
        kernel, g[0], g[1], g[2], b[0], b[1], b[2], config->shared, config->stream, parameters,
        extra);
}

void *dlsym(void *, const char *);
int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, int *status) {
    char versioned[128];
    extern void *dlopen(const char *, int);
    void *self = dlopen("libcuda.so.1", 1);
    if (status) *status = 0;
    *found = dlsym(self, strcat(strcpy(versioned, name), "_v2"));
    if (!*found) *found = dlsym(self, name);
    return *found && version && !flags ? 0 : 500;
}
