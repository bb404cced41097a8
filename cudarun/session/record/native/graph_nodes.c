/* The nodes of a graph: their kernels, and an order that respects their dependencies. */
#include <stdlib.h>
#include <string.h>

#include "graphs.h"
#include "table.h"

typedef struct {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
    CUkernel kernel;
    CUcontext context;
} KernelNodeParams; /* CUDA_KERNEL_NODE_PARAMS_v2 */

typedef struct {
    CUgraphNode *from, *to;
    size_t count;
} Edges;

static int edges_of(CUgraph graph, Edges *edges) {
    *edges = (Edges){0};
    uint64_t *data = 0; /* a CUgraphEdgeData has 8 bytes */
    CUresult result = driver_cuGraphGetEdges_v2
                          ? driver_cuGraphGetEdges_v2(graph, 0, 0, 0, &edges->count)
                          : driver_cuGraphGetEdges(graph, 0, 0, &edges->count);
    if (result) return 0;
    edges->from = calloc(edges->count + 1, sizeof *edges->from);
    edges->to = calloc(edges->count + 1, sizeof *edges->to);
    data = calloc(edges->count + 1, sizeof *data);
    int complete = edges->from && edges->to && data;
    if (complete && edges->count)
        complete =
            !(driver_cuGraphGetEdges_v2
                  ? driver_cuGraphGetEdges_v2(graph, edges->from, edges->to, data, &edges->count)
                  : driver_cuGraphGetEdges(graph, edges->from, edges->to, &edges->count));
    free(data);
    return complete;
}

/* Put each node after those that it depends on. */
static int order(CUgraphNode *nodes, size_t count, const Edges *edges) {
    Table numbers = {0}; /* of the nodes, from 1 */
    size_t *missing = calloc(count + 1, sizeof *missing); /* dependencies that are not placed */
    size_t *first = calloc(count + 2, sizeof *first); /* edge of each node in `next` */
    size_t *next = calloc(edges->count + 1, sizeof *next);
    CUgraphNode *ordered = calloc(count + 1, sizeof *ordered);
    size_t placed = 0;
    if (!missing || !first || !next || !ordered) goto end;
    for (size_t i = 0; i < count; i++) table_put(&numbers, (uint64_t)nodes[i], i + 1, 0);
#define NUMBER(node) ((size_t)table_find(&numbers, (uint64_t)(node))->value - 1)
    for (size_t i = 0; i < edges->count; i++) {
        missing[NUMBER(edges->to[i])]++;
        first[NUMBER(edges->from[i]) + 2]++;
    }
    for (size_t i = 2; i < count + 2; i++) first[i] += first[i - 1];
    for (size_t i = 0; i < edges->count; i++)
        next[first[NUMBER(edges->from[i]) + 1]++] = NUMBER(edges->to[i]);
    for (size_t i = 0; i < count; i++)
        if (!missing[i]) ordered[placed++] = nodes[i];
    for (size_t at = 0; at < placed; at++) {
        size_t number = NUMBER(ordered[at]);
        for (size_t i = first[number]; i < first[number + 1]; i++)
            if (!--missing[next[i]]) ordered[placed++] = nodes[next[i]];
    }
#undef NUMBER
    if (placed == count) memcpy(nodes, ordered, count * sizeof *nodes);
end:
    free(numbers.entries), free(missing), free(first), free(next), free(ordered);
    return placed == count;
}

static void read_kernel(GraphNode *node) {
    KernelNodeParams found = {0};
    LaunchAttribute cooperative = {0};
    if (!driver_cuGraphKernelNodeGetParams_v2
        || driver_cuGraphKernelNodeGetParams_v2(node->node, &found))
        return;
    int is_function = found.function && (!found.kernel || known_kernel(found.function));
    node->function = is_function ? found.function : found.kernel;
    node->kernel = kernel_of(node->function);
    memcpy(node->config.grid, found.grid, sizeof found.grid);
    memcpy(node->config.block, found.block, sizeof found.block);
    node->config.shared_bytes = found.shared_bytes;
    node->parameters = found.parameters, node->extra = found.extra;
    CUresult (*attribute)(CUgraphNode, int, void *) = driver_cuGraphKernelNodeGetAttribute;
    if (!attribute) return;
    node->cluster.id = ATTRIBUTE_CLUSTER;
    if (!attribute(node->node, ATTRIBUTE_CLUSTER, &node->cluster.value)
        && node->cluster.value.cluster[0])
        node->config.attribute_count = 1;
    if (!attribute(node->node, ATTRIBUTE_COOPERATIVE, &cooperative.value))
        node->is_cooperative = cooperative.value.cooperative;
}

static void read_child(GraphNode *node) {
    Graph *child = calloc(1, sizeof *child);
    if (!child) return;
    child->is_child = 1;
    if (driver_cuGraphChildGraphNodeGetGraph
        && !driver_cuGraphChildGraphNodeGetGraph(node->node, &child->copy)
        && graph_read(child, child->copy))
        node->child = child;
    else
        graph_free(child), free(child);
}

void graph_free(Graph *graph) {
    graph_join(graph);
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i].child) graph_free(graph->nodes[i].child), free(graph->nodes[i].child);
    if (graph->copy && !graph->is_child) driver_cuGraphDestroy(graph->copy);
    free(graph->nodes);
    *graph = (Graph){0};
}

int graph_read(Graph *graph, CUgraph source) {
    CUgraphNode *nodes = 0;
    Edges edges = {0};
    int complete = 0;
    graph->count = 0;
    if (driver_cuGraphGetNodes(source, 0, &graph->count)) return 0;
    nodes = calloc(graph->count + 1, sizeof *nodes);
    graph->nodes = calloc(graph->count + 1, sizeof *graph->nodes);
    if (nodes && graph->nodes && !driver_cuGraphGetNodes(source, nodes, &graph->count))
        complete = edges_of(source, &edges) && order(nodes, graph->count, &edges);
    for (size_t i = 0; complete && i < graph->count; i++) {
        graph->nodes[i].node = nodes[i];
        driver_cuGraphNodeGetType(nodes[i], &graph->nodes[i].type);
        if (graph->nodes[i].type == KERNEL_NODE) read_kernel(&graph->nodes[i]);
        if (graph->nodes[i].type == GRAPH_NODE) read_child(&graph->nodes[i]);
    }
    if (!complete) graph->count = 0;
    free(nodes), free(edges.from), free(edges.to);
    return complete;
}
