/* Calls that instantiate, change and launch CUDA graphs.
 *
 * The launches that a stream captures are none yet. Those of a graph count when it is launched.
 */
#define _GNU_SOURCE
#include "graphs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "gate.h"
#include "interpose.h"
#include "stack.h"
#include "table.h"

typedef struct {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
} KernelNodeParams1; /* CUDA_KERNEL_NODE_PARAMS_v1, the start of the second version */

#define UNKNOWN_OBSTACLE "a node that the driver cannot copy"

static Table graphs; /* by CUgraphExec */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table */
static pthread_mutex_t apart = PTHREAD_MUTEX_INITIALIZER; /* of ordinals and parts */

static void before_fork(void) { pthread_mutex_lock(&lock), pthread_mutex_lock(&apart); }
static void after_fork(void) { pthread_mutex_unlock(&apart), pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
}

static Graph *graph_of(CUgraphExec exec) {
    pthread_mutex_lock(&lock);
    Entry *found = table_find(&graphs, (uint64_t)exec);
    Graph *graph = found ? (Graph *)found->value : 0;
    pthread_mutex_unlock(&lock);
    return graph;
}

static void forget(CUgraphExec exec) {
    Graph *graph = control ? graph_of(exec) : 0;
    if (!graph) return;
    pthread_mutex_lock(&lock);
    table_remove(&graphs, (uint64_t)exec);
    pthread_mutex_unlock(&lock);
    graph_free(graph);
    free(graph);
}

/* The first node that keeps the driver from copying a graph. */
static const char *obstacle_in(const Graph *graph) {
    static const char *const types[] = {
        [MEM_ALLOC_NODE] = "a memory allocation node", [MEM_FREE_NODE] = "a memory free node",
        [BATCH_MEM_OP_NODE] = "a batch memory operation node",
        [CONDITIONAL_NODE] = "a conditional node"};
    for (size_t i = 0; i < graph->count; i++) {
        int type = graph->nodes[i].type;
        if (type >= 0 && type <= CONDITIONAL_NODE && types[type]) return types[type];
    }
    return UNKNOWN_OBSTACLE;
}

static void instantiated(CUgraphExec exec, CUgraph source) {
    int mode = CAPTURE_MODE_RELAXED;
    if (!control || !driver_ready() || !driver_cuGraphGetNodes) return;
    Graph *graph = calloc(1, sizeof *graph);
    if (!graph) return;
    driver_cuThreadExchangeStreamCaptureMode(&mode);
    if (!driver_cuGraphClone || driver_cuGraphClone(&graph->copy, source)) graph->copy = 0;
    int complete = graph_read(graph, graph->copy ? graph->copy : source);
    driver_cuThreadExchangeStreamCaptureMode(&mode);
    if (!graph->copy) graph->obstacle = obstacle_in(graph);
    if (!complete) {
        graph_free(graph), free(graph);
        return;
    }
    pthread_mutex_lock(&lock);
    table_put(&graphs, (uint64_t)exec, (uint64_t)graph, 0);
    pthread_mutex_unlock(&lock);
}

/* Repeat a change of a kernel node in the copy. */
static void changed_kernel(CUgraphExec exec, CUgraphNode node, const void *params) {
    Graph *graph = control ? graph_of(exec) : 0;
    CUgraphNode own;
    if (!graph || !graph->copy) return;
    pthread_mutex_lock(&apart);
    if (driver_cuGraphNodeFindInClone(&own, node, graph->copy)
        || driver_cuGraphKernelNodeSetParams_v2(own, params))
        graph->obstacle = "a node that was changed";
    CUgraph copy = graph->copy;
    graph->copy = 0;
    const char *obstacle = graph->obstacle;
    graph_free(graph);
    graph->obstacle = obstacle, graph->copy = copy;
    graph_read(graph, copy);
    pthread_mutex_unlock(&apart);
}

static void changed(CUgraphExec exec) {
    Graph *graph = control ? graph_of(exec) : 0;
    if (graph) graph->obstacle = "a node that was changed";
}

/* Count the launches of the kernels for --list. */
static void list(const Graph *graph, CUstream stream) {
    for (size_t i = 0; i < graph->count; i++) {
        const GraphNode *node = &graph->nodes[i];
        Launch launch = {.kernel = node->kernel, .config = node->config};
        launch.config.stream = stream;
        if (node->kernel) list_launch_of_graph(&launch);
        if (node->child) list(node->child, stream);
    }
}

/* Give each node to record its number; return one of their kernels, or null. */
static Kernel *choose(Graph *graph) {
    Kernel *chosen = 0;
    for (size_t i = 0; i < graph->count; i++) {
        GraphNode *node = &graph->nodes[i];
        Kernel *inside = node->child ? choose(node->child) : 0;
        node->ordinal = node->kernel && is_wanted(node->kernel) ? next_ordinal(node->kernel) : 0;
        if (node->ordinal && !is_to_record(node->ordinal)) node->ordinal = 0;
        if (node->ordinal || inside) chosen = node->ordinal ? node->kernel : inside;
    }
    return chosen;
}

static CUresult record_each(Launch *launch, CUresult (*again)(void *), void *context) {
    return record_launch(launch, again, context);
}

/* Record the chosen kernels of a graph; false if it is to be launched as a whole. */
static int record(Graph *graph, CUstream stream, CUresult *result) {
    if (all_recorded()) return 0;
    pthread_mutex_lock(&apart);
    Kernel *chosen = choose(graph);
    int split = chosen && !graph->obstacle && graph_split(graph);
    if (chosen && !split)
        note("graph %s %s", chosen->name, graph->obstacle ? graph->obstacle : UNKNOWN_OBSTACLE);
    if (split) {
        char *stack = launching_stack();
        unsigned group = gate_close();
        *result = graph_launch_parts(graph, stream, stack, record_each);
        gate_open(group);
        free(stack);
        graph_join(graph);
    }
    pthread_mutex_unlock(&apart);
    return split;
}

static void choose_all(Graph *graph) {
    for (size_t i = 0; i < graph->count; i++) {
        graph->nodes[i].ordinal = graph->nodes[i].kernel != 0;
        if (graph->nodes[i].child) choose_all(graph->nodes[i].child);
    }
}

/* Wait for each kernel of a graph; false if it is to be launched as a whole. */
static int watch(Graph *graph, CUstream stream, CUresult *result) {
    pthread_mutex_lock(&apart);
    choose_all(graph);
    int split = graph->parts || (!graph->obstacle && graph_split(graph));
    if (split) *result = graph_launch_parts(graph, stream, 0, watch_launch);
    pthread_mutex_unlock(&apart);
    return split;
}

static CUresult launch(CUgraphExec exec, CUstream stream, CUresult (*real)(CUgraphExec, CUstream)) {
    CUresult result = CUDA_SUCCESS;
    if (!control || !driver_ready() || is_captured(stream)) return real(exec, stream);
    Graph *graph = graph_of(exec);
    if (control->mode == MODE_SKIP) return CUDA_SUCCESS;
    if (graph && control->mode == MODE_LIST) list(graph, stream);
    if (graph && control->mode == MODE_WATCH && watch(graph, stream, &result)) return result;
    if (control->mode != MODE_RECORD) return real(exec, stream);
    if (graph && record(graph, stream, &result)) return result;
    if (!gate_enter()) gate_wait();
    result = real(exec, stream);
    gate_leave();
    return result;
}

#define LAUNCH(name, null_stream)                                                                  \
    EXPORT CUresult name(CUgraphExec exec, CUstream stream) {                                      \
        REAL(name, CUgraphExec, CUstream);                                                         \
        return launch(exec, stream ? stream : null_stream, real);                                  \
    }
LAUNCH(cuGraphLaunch, 0)
LAUNCH(cuGraphLaunch_ptsz, STREAM_PER_THREAD)

#define INSTANTIATE(name, types, parameters, ...)                                                  \
    EXPORT CUresult name parameters {                                                              \
        REAL(name, types);                                                                         \
        CUresult result = real(__VA_ARGS__);                                                       \
        if (!result) instantiated(*exec, source);                                                  \
        return result;                                                                             \
    }
#define TYPES(...) __VA_ARGS__
INSTANTIATE(
    cuGraphInstantiate, TYPES(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t),
    (CUgraphExec *exec, CUgraph source, CUgraphNode *node, char *log, size_t size), exec, source,
    node, log, size)
INSTANTIATE(
    cuGraphInstantiate_v2, TYPES(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t),
    (CUgraphExec *exec, CUgraph source, CUgraphNode *node, char *log, size_t size), exec, source,
    node, log, size)
INSTANTIATE(
    cuGraphInstantiateWithFlags, TYPES(CUgraphExec *, CUgraph, uint64_t),
    (CUgraphExec *exec, CUgraph source, uint64_t flags), exec, source, flags)
INSTANTIATE(
    cuGraphInstantiateWithParams, TYPES(CUgraphExec *, CUgraph, void *),
    (CUgraphExec *exec, CUgraph source, void *params), exec, source, params)
INSTANTIATE(
    cuGraphInstantiateWithParams_ptsz, TYPES(CUgraphExec *, CUgraph, void *),
    (CUgraphExec *exec, CUgraph source, void *params), exec, source, params)

EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
    REAL(cuGraphExecDestroy, CUgraphExec);
    forget(exec);
    return real(exec);
}

EXPORT CUresult cuGraphExecUpdate(
    CUgraphExec exec, CUgraph source, CUgraphNode *node, int *outcome) {
    REAL(cuGraphExecUpdate, CUgraphExec, CUgraph, CUgraphNode *, int *);
    CUresult result = real(exec, source, node, outcome);
    if (!result) forget(exec), instantiated(exec, source);
    return result;
}

EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph source, void *outcome) {
    REAL(cuGraphExecUpdate_v2, CUgraphExec, CUgraph, void *);
    CUresult result = real(exec, source, outcome);
    if (!result) forget(exec), instantiated(exec, source);
    return result;
}

EXPORT CUresult cuGraphExecKernelNodeSetParams(
    CUgraphExec exec, CUgraphNode node, const void *params) {
    REAL(cuGraphExecKernelNodeSetParams, CUgraphExec, CUgraphNode, const void *);
    CUresult result = real(exec, node, params);
    struct {
        KernelNodeParams1 first;
        void *kernel, *context;
    } second = {0};
    if (!result) memcpy(&second.first, params, sizeof second.first);
    if (!result) changed_kernel(exec, node, &second);
    return result;
}

EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(
    CUgraphExec exec, CUgraphNode node, const void *params) {
    REAL(cuGraphExecKernelNodeSetParams_v2, CUgraphExec, CUgraphNode, const void *);
    CUresult result = real(exec, node, params);
    if (!result) changed_kernel(exec, node, params);
    return result;
}

#define CHANGE(name, types, parameters, ...)                                                       \
    EXPORT CUresult name parameters {                                                              \
        REAL(name, types);                                                                         \
        CUresult result = real(__VA_ARGS__);                                                       \
        if (!result) changed(exec);                                                                \
        return result;                                                                             \
    }
#define CHANGE_IN_CONTEXT(name)                                                                    \
    CHANGE(                                                                                        \
        name, TYPES(CUgraphExec, CUgraphNode, const void *, CUcontext),                            \
        (CUgraphExec exec, CUgraphNode node, const void *params, CUcontext context), exec, node,   \
        params, context)
#define CHANGE_TO(name)                                                                            \
    CHANGE(                                                                                        \
        name, TYPES(CUgraphExec, CUgraphNode, void *),                                             \
        (CUgraphExec exec, CUgraphNode node, void *to), exec, node, to)
CHANGE_IN_CONTEXT(cuGraphExecMemcpyNodeSetParams)
CHANGE_IN_CONTEXT(cuGraphExecMemsetNodeSetParams)
CHANGE_TO(cuGraphExecHostNodeSetParams)
CHANGE_TO(cuGraphExecChildGraphNodeSetParams)
CHANGE_TO(cuGraphExecEventRecordNodeSetEvent)
CHANGE_TO(cuGraphExecEventWaitNodeSetEvent)
CHANGE_TO(cuGraphExecNodeSetParams)
CHANGE(
    cuGraphNodeSetEnabled, TYPES(CUgraphExec, CUgraphNode, unsigned),
    (CUgraphExec exec, CUgraphNode node, unsigned is_enabled), exec, node, is_enabled)
