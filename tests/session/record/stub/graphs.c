/* Graphs of the stub: a capture of the stream 7, and nodes that run in the order of their edges. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { MOST = 16, CHILD = 4, ALLOCATION = 10, MOST_PARAMETERS = 3, PARAMETER_BYTES = 128 };

typedef struct {
    void *function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    void *kernel, *context;
} Params;

typedef struct Node {
    struct Graph *graph;
    struct Node *origin; /* in the graph that this one is a clone of */
    int type;
    Params params;
    char bytes[MOST_PARAMETERS][PARAMETER_BYTES];
    void *pointers[MOST_PARAMETERS];
    struct Node *after; /* the node that it depends on */
    struct Graph *child;
} Node;

typedef struct Graph {
    Node *nodes[MOST]; /* the last one first, so that an order must be found */
    size_t count;
} Graph;

static Graph *capture;
static Node *last_captured;

static void set(Node *node, const Params *params) {
    node->params = *params;
    size_t count = stub_parameter_count(params->function);
    for (size_t i = 0; i < count; i++) {
        memcpy(node->bytes[i], params->parameters[i], stub_parameter_size(params->function, i));
        node->pointers[i] = node->bytes[i];
    }
    node->params.parameters = node->pointers;
}

static Node *add(Graph *graph, int type, Node *after) {
    Node *node = calloc(1, sizeof *node);
    node->graph = graph, node->type = type, node->after = after;
    memmove(graph->nodes + 1, graph->nodes, graph->count++ * sizeof *graph->nodes);
    return graph->nodes[0] = node;
}

static Graph *clone(const Graph *graph) {
    Graph *copy = calloc(1, sizeof *copy);
    copy->count = graph->count;
    for (size_t i = 0; i < graph->count; i++) {
        Node *node = copy->nodes[i] = malloc(sizeof *node);
        *node = *graph->nodes[i];
        node->graph = copy, node->origin = graph->nodes[i];
        if (node->type == 0) set(node, &graph->nodes[i]->params);
        if (node->type == CHILD) node->child = clone(node->child);
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t j = 0; j < graph->count; j++)
            if (copy->nodes[i]->after == graph->nodes[j]) copy->nodes[i]->after = copy->nodes[j];
    return copy;
}

int stub_capture(void *function, const unsigned *grid, const unsigned *block, void **parameters) {
    Params params = {.function = function, .parameters = parameters};
    memcpy(params.grid, grid, sizeof params.grid);
    memcpy(params.block, block, sizeof params.block);
    set(last_captured = add(capture, 0, last_captured), &params);
    return 0;
}

int cuStreamIsCapturing(void *stream, int *status) {
    return *status = capture && stream == STUB_CAPTURED, 0;
}
int cuStreamBeginCapture_v2(void *stream, int mode) {
    capture = calloc(1, sizeof *capture), last_captured = 0;
    return stream != STUB_CAPTURED || mode;
}
int cuStreamEndCapture(void *stream, Graph **graph) {
    *graph = capture, capture = 0;
    return stream != STUB_CAPTURED;
}
int cuGraphAddMemAllocNode(Node **node, Graph *graph, void *const *after, size_t count, void *params) {
    return *node = add(graph, ALLOCATION, 0), count && !after && params ? 1 : 0;
}
int cuGraphCreate(Graph **graph, unsigned flags) { return *graph = calloc(1, sizeof **graph), flags; }
int cuGraphAddChildGraphNode(
    Node **node, Graph *graph, void *const *after, size_t count, const Graph *child) {
    *node = add(graph, CHILD, 0);
    return (*node)->child = clone(child), count && !after;
}
int cuGraphChildGraphNodeGetGraph(const Node *node, Graph **child) {
    return *child = node->child, node->type != CHILD;
}
int cuGraphClone(Graph **copy, const Graph *graph) {
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == ALLOCATION) return 801;
    return *copy = clone(graph), 0;
}
int cuGraphNodeFindInClone(Node **node, const Node *origin, const Graph *graph) {
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->origin == origin) return *node = graph->nodes[i], 0;
    return 1;
}
int cuGraphDestroyNode(Node *node) {
    Graph *graph = node->graph;
    size_t at = 0;
    while (graph->nodes[at] != node) at++;
    memmove(graph->nodes + at, graph->nodes + at + 1, (--graph->count - at) * sizeof node);
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->after == node) graph->nodes[i]->after = 0;
    free(node);
    return 0;
}
int cuGraphDestroy(Graph *graph) {
    while (graph->count) cuGraphDestroyNode(graph->nodes[0]);
    free(graph);
    return 0;
}
int cuGraphGetNodes(const Graph *graph, Node **nodes, size_t *count) {
    if (nodes) memcpy(nodes, graph->nodes, graph->count * sizeof *nodes);
    return *count = graph->count, 0;
}
int cuGraphGetEdges_v2(const Graph *graph, Node **from, Node **to, void *data, size_t *count) {
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        if (!graph->nodes[i]->after) continue;
        if (from) from[found] = graph->nodes[i]->after, to[found] = graph->nodes[i];
        found++;
    }
    return *count = found, from && !data;
}
int cuGraphNodeGetType(const Node *node, int *type) { return *type = node->type, 0; }
int cuGraphKernelNodeGetParams_v2(const Node *node, Params *params) {
    return *params = node->params, node->type;
}
int cuGraphKernelNodeSetParams_v2(Node *node, const Params *params) { return set(node, params), 0; }
int cuGraphExecKernelNodeSetParams_v2(Graph *exec, const Node *node, const Params *params) {
    Node *own;
    return cuGraphNodeFindInClone(&own, node, exec) || cuGraphKernelNodeSetParams_v2(own, params);
}
int cuGraphInstantiateWithFlags(Graph **exec, const Graph *graph, uint64_t flags) {
    return *exec = clone(graph), flags != 0;
}
int cuGraphExecDestroy(Graph *exec) { return cuGraphDestroy(exec); }
int cuGraphLaunch(Graph *exec, void *stream) {
    int result = stream == STUB_CAPTURED && capture;
    for (size_t i = exec->count; i-- && !result;) { /* they were added in a valid order */
        const Params *params = &exec->nodes[i]->params;
        const unsigned *g = params->grid, *b = params->block;
        if (exec->nodes[i]->type == CHILD) result = cuGraphLaunch(exec->nodes[i]->child, stream);
        if (exec->nodes[i]->type == 0)
            result = stub_launch(
                params->function, g[0] * g[1] * g[2] * b[0] * b[1] * b[2], params->parameters);
    }
    return result;
}
