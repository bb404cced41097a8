/* Microseconds of a launch, over many of them, and of processor time.
 *
 * Usage: launch_loop LAUNCHES THREADS MIB
 *
 * Each thread launches a small kernel on a stream of its own. The kernel can reach MIB of device
 * memory, filled with a sequence. CUDA's headers are not needed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry touch(.param .u64 p) {\n"
    "    .reg .b64 %p;\n    .reg .b32 %v;\n"
    "    ld.param.u64 %p, [p];\n    cvta.to.global.u64 %p, %p;\n"
    "    ld.global.u32 %v, [%p];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%p], %v;\n"
    "    ret;\n}\n";

#define CALLS(X)                                                                                   \
    X(cuInit, (unsigned))                                                                          \
    X(cuDeviceGet, (int *, int))                                                                   \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                    \
    X(cuCtxSetCurrent, (void *))                                                                   \
    X(cuModuleLoadData, (void **, const void *))                                                   \
    X(cuModuleGetFunction, (void **, void *, const char *))                                        \
    X(cuMemAlloc_v2, (uint64_t *, size_t))                                                         \
    X(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                                           \
    X(cuStreamCreate, (void **, unsigned))                                                         \
    X(cuStreamSynchronize, (void *))                                                               \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                       unsigned, void *, void **, void **))
#define DECLARE(name, parameters) static int (*name) parameters;
CALLS(DECLARE)

static void *context, *kernel;
static uint64_t memory;
static int launches;

static void check(int result) {
    if (result) {
        fprintf(stderr, "CUDA error %d\n", result);
        exit(1);
    }
}

static void *run(void *unused) {
    void *stream, *parameters[] = {&memory};
    check(cuCtxSetCurrent(context));
    check(cuStreamCreate(&stream, 1));
    for (int i = 0; i < launches; i++) {
        check(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, 0));
        if (i % 512 == 511) check(cuStreamSynchronize(stream));
    }
    check(cuStreamSynchronize(stream));
    return unused;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **words) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *module;
    int device;
    if (count != 4 || !driver) return 3;
#define LOAD(name, parameters) name = (int(*) parameters)dlsym(driver, #name);
    CALLS(LOAD)
    int threads = atoi(words[2]);
    size_t size = (size_t)atoi(words[3]) << 20;
    check(cuInit(0));
    check(cuDeviceGet(&device, 0));
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxSetCurrent(context));
    check(cuModuleLoadData(&module, ptx));
    check(cuModuleGetFunction(&kernel, module, "touch"));
    check(cuMemAlloc_v2(&memory, size));
    uint32_t *data = malloc(size);
    for (size_t i = 0; i < size / 4; i++) data[i] = i;
    check(cuMemcpyHtoD_v2(memory, data, size));
    pthread_t started[threads];
    launches = 1000;
    run(0);
    launches = atoi(words[1]);
    double start = seconds(CLOCK_MONOTONIC), worked = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < threads; i++) pthread_create(&started[i], 0, run, 0);
    for (int i = 0; i < threads; i++) pthread_join(started[i], 0);
    worked = seconds(CLOCK_PROCESS_CPUTIME_ID) - worked, start = seconds(CLOCK_MONOTONIC) - start;
    double count_of_all = (double)launches * threads;
    printf("%.4f %.4f\n", start * 1e6 / count_of_all, worked * 1e6 / count_of_all);
    return 0;
}
