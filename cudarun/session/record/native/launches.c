/* Calls that launch kernels, and the choice of those to record. */
#include "launches.h"

#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "gate.h"
#include "interpose.h"
#include "stack.h"
#include "waiting.h"

static atomic_int captures; /* whether the program has begun to capture a stream */

int is_captured(CUstream stream) {
    int status = 0;
    return atomic_load(&captures) && !driver_cuStreamIsCapturing(stream, &status) && status;
}

int is_wanted(Kernel *kernel) {
    int known = atomic_load(&kernel->is_wanted);
    if (known >= 0) return known;
    char *answer = ask("kernel", kernel->name, "");
    int is_wanted = answer && *answer == '1';
    atomic_store(&kernel->is_wanted, is_wanted);
    free(answer);
    return is_wanted;
}

uint64_t next_ordinal(Kernel *kernel) {
    if (!control->each_kernel) return atomic_fetch_add(&control->matched, 1) + 1;
    atomic_fetch_add(&control->matched, 1);
    return atomic_fetch_add(&kernel->launches, 1) + 1;
}

int is_to_record(uint64_t ordinal) {
    return ordinal >= control->nth && ordinal < control->nth + control->count;
}

int all_recorded(void) {
    return !control->each_kernel && atomic_load(&control->taken) >= control->count;
}

CUresult watch_launch(Launch *launch, CUresult (*again)(void *), void *context) {
    launch->ordinal = atomic_fetch_add(&launch->kernel->launches, 1) + 1;
    Slot *slot = begin_waiting(launch->kernel->name, launch->ordinal);
    CUresult result = again(context);
    int mode = CAPTURE_MODE_RELAXED;
    driver_cuThreadExchangeStreamCaptureMode(&mode);
    CUresult status = result ? 0 : driver_cuStreamSynchronize(launch->config.stream);
    driver_cuThreadExchangeStreamCaptureMode(&mode);
    uint32_t none = 0;
    int is_fault = status && status < FIRST_ERROR_OF_CAPTURES;
    if (is_fault && atomic_compare_exchange_strong(&control->fault_claimed, &none, 1)) {
        control->fault_ordinal = launch->ordinal;
        strncpy(control->fault_kernel, launch->kernel->name, NAME_BYTES - 1);
        atomic_store(&control->fault_status, status);
    }
    end_waiting(slot);
    return result;
}

static CUresult pass_on(CUresult (*again)(void *), void *context) {
    if (!gate_enter()) gate_wait();
    CUresult result = again(context);
    gate_leave();
    return result;
}

/* Begin a launch of a kernel that is not wanted, which costs nothing else; gate_leave ends it. */
static inline int passes(CUfunction function) {
    const Kernel *kernel = cached_kernel(function);
    return kernel && !atomic_load_explicit(&kernel->is_wanted, memory_order_relaxed)
           && gate_enter();
}

static CUresult observe(Launch *launch, CUresult (*again)(void *), void *context) {
    if (!control || !driver_ready() || control->mode == MODE_OFF) return again(context);
    if (!(launch->kernel = kernel_of(launch->function))) return again(context);
    if (control->mode == MODE_SKIP) /* PyTorch copies tensors by kernels */
        return strstr(launch->kernel->name, "2at6native") ? again(context) : CUDA_SUCCESS;
    if (control->mode == MODE_RECORD && all_recorded()) return again(context);
    if (control->mode == MODE_RECORD && !is_wanted(launch->kernel)) return pass_on(again, context);
    if (is_captured(launch->config.stream)) return again(context);
    if (control->mode == MODE_LIST) return list_launch(launch, again, context);
    if (control->mode == MODE_WATCH) return watch_launch(launch, again, context);
    launch->ordinal = next_ordinal(launch->kernel);
    if (!is_to_record(launch->ordinal)) return pass_on(again, context);
    char *stack = launching_stack(); /* with the gate open: it waits for Python's lock */
    launch->stack = stack;
    unsigned group = gate_close();
    CUresult result = record_launch(launch, again, context);
    gate_open(group);
    free(stack);
    return result;
}

typedef CUresult (*LaunchKernel)(
    CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
    void **, void **);
typedef CUresult (*LaunchCooperative)(
    CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
    void **);
typedef CUresult (*LaunchEx)(const LaunchConfig *, CUfunction, void **, void **);

typedef struct {
    const Launch *launch;
    LaunchKernel plain;
    LaunchCooperative cooperative;
    LaunchEx with_attributes;
    const LaunchConfig *config; /* the program's own */
} Call;

static CUresult make(void *context) {
    const Call *call = context;
    const Launch *launch = call->launch;
    const LaunchConfig *it = &launch->config;
    const unsigned *g = it->grid, *b = it->block;
    if (call->with_attributes)
        return call->with_attributes(
            call->config, launch->function, launch->parameters, launch->extra);
    if (call->cooperative)
        return call->cooperative(
            launch->function, g[0], g[1], g[2], b[0], b[1], b[2], it->shared_bytes, it->stream,
            launch->parameters);
    return call->plain(
        launch->function, g[0], g[1], g[2], b[0], b[1], b[2], it->shared_bytes, it->stream,
        launch->parameters, launch->extra);
}

#define EXTENTS                                                                                    \
    unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
        CUstream stream
#define EXTENT_TYPES                                                                               \
    unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream
#define CONFIG(null_stream)                                                                        \
    {                                                                                              \
        .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared,                       \
        .stream = stream ? stream : null_stream                                                    \
    }

#define LAUNCH_KERNEL(name, null_stream)                                                           \
    EXPORT CUresult name(CUfunction function, EXTENTS, void **parameters, void **extra) {          \
        REAL(name, CUfunction, EXTENT_TYPES, void **, void **);                                    \
        int is_passed = control && passes(function);                                               \
        if (!control || is_passed) {                                                               \
            CUresult result =                                                                      \
                real(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);         \
            if (is_passed) gate_leave();                                                           \
            return result;                                                                         \
        }                                                                                          \
        Launch launch = {                                                                          \
            .function = function, .config = CONFIG(null_stream), .parameters = parameters,         \
            .extra = extra};                                                                       \
        Call call = {.launch = &launch, .plain = real};                                            \
        return observe(&launch, make, &call);                                                      \
    }
LAUNCH_KERNEL(cuLaunchKernel, 0)
LAUNCH_KERNEL(cuLaunchKernel_ptsz, STREAM_PER_THREAD)

#define LAUNCH_COOPERATIVE(name, null_stream)                                                      \
    EXPORT CUresult name(CUfunction function, EXTENTS, void **parameters) {                        \
        REAL(name, CUfunction, EXTENT_TYPES, void **);                                             \
        Launch launch = {                                                                          \
            .function = function, .config = CONFIG(null_stream), .parameters = parameters,         \
            .is_cooperative = 1};                                                                  \
        Call call = {.launch = &launch, .cooperative = real};                                      \
        return observe(&launch, make, &call);                                                      \
    }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, 0)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, STREAM_PER_THREAD)

#define LAUNCH_EX(name, null_stream)                                                               \
    EXPORT CUresult name(                                                                          \
        const LaunchConfig *config, CUfunction function, void **parameters, void **extra) {        \
        REAL(name, const LaunchConfig *, CUfunction, void **, void **);                            \
        int is_passed = control && config && passes(function);                                     \
        if (!control || !config || is_passed) {                                                    \
            CUresult result = real(config, function, parameters, extra);                           \
            if (is_passed) gate_leave();                                                           \
            return result;                                                                         \
        }                                                                                          \
        Launch launch = {                                                                          \
            .function = function, .config = *config, .parameters = parameters, .extra = extra};    \
        if (!config->stream) launch.config.stream = null_stream;                                   \
        for (unsigned i = 0; i < config->attribute_count; i++)                                     \
            if (config->attributes[i].id == ATTRIBUTE_COOPERATIVE)                                 \
                launch.is_cooperative = config->attributes[i].value.cooperative;                   \
        Call call = {.launch = &launch, .with_attributes = real, .config = config};                \
        return observe(&launch, make, &call);                                                      \
    }
LAUNCH_EX(cuLaunchKernelEx, 0)
LAUNCH_EX(cuLaunchKernelEx_ptsz, STREAM_PER_THREAD)

#define BEGIN_CAPTURE(name)                                                                        \
    EXPORT CUresult name(CUstream stream, int mode) {                                              \
        REAL(name, CUstream, int);                                                                 \
        atomic_store(&captures, 1);                                                                \
        return real(stream, mode);                                                                 \
    }
BEGIN_CAPTURE(cuStreamBeginCapture)
BEGIN_CAPTURE(cuStreamBeginCapture_ptsz)
BEGIN_CAPTURE(cuStreamBeginCapture_v2)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz)

#define BEGIN_CAPTURE_TO_GRAPH(name)                                                               \
    EXPORT CUresult name(                                                                          \
        CUstream stream, CUgraph graph, const CUgraphNode *nodes, const void *edges, size_t count, \
        int mode) {                                                                                \
        REAL(name, CUstream, CUgraph, const CUgraphNode *, const void *, size_t, int);             \
        atomic_store(&captures, 1);                                                                \
        return real(stream, graph, nodes, edges, count, mode);                                     \
    }
BEGIN_CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph)
BEGIN_CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz)
