/* A launch of a graph in parts: copies of it, each without the nodes of the other parts.
 *
 * A part is a run of nodes in an order that respects all dependencies. Each node stays as the driver
 * has it, with all attributes, whatever its type.
 */
#include <stdlib.h>

#include "graphs.h"

typedef struct {
    CUgraphExec exec;
    CUstream stream;
} Call;

static CUresult launch(void *context) {
    const Call *call = context;
    return driver_cuGraphLaunch(call->exec, call->stream);
}

/* Instantiate some nodes of a graph. */
static int instantiate(const Graph *graph, size_t first, size_t end, CUgraphExec *exec) {
    CUgraph part;
    CUgraphNode node;
    *exec = 0;
    if (driver_cuGraphClone(&part, graph->copy)) return 0;
    int complete = 1;
    for (size_t i = 0; i < graph->count && complete; i++)
        if (i < first || i >= end)
            complete = !driver_cuGraphNodeFindInClone(&node, graph->nodes[i].node, part)
                       && !driver_cuGraphDestroyNode(node);
    if (complete && driver_cuGraphInstantiateWithFlags(exec, part, 0)) complete = 0, *exec = 0;
    driver_cuGraphDestroy(part);
    return complete;
}

/* Whether a node is launched apart: it has an ordinal, or one in its child graph has. */
static int is_apart(const GraphNode *node) {
    if (node->ordinal) return 1;
    for (size_t i = 0; node->child && i < node->child->count; i++)
        if (is_apart(&node->child->nodes[i])) return 1;
    return 0;
}

static int add(Graph *graph, size_t first, size_t end, GraphNode *apart) {
    GraphPart *part = &graph->parts[graph->part_count];
    if (first == end) return 1;
    part->apart = apart;
    graph->part_count++;
    return apart && apart->child ? graph_split(apart->child)
                                 : instantiate(graph, first, end, &part->exec);
}

int graph_split(Graph *graph) {
    size_t first = 0;
    graph->parts = calloc(2 * graph->count + 1, sizeof *graph->parts);
    int complete = graph->parts && graph->copy;
    for (size_t i = 0; i < graph->count && complete; i++) {
        if (!is_apart(&graph->nodes[i])) continue;
        complete = add(graph, first, i, 0) && add(graph, i, i + 1, &graph->nodes[i]);
        first = i + 1;
    }
    if (complete && add(graph, first, graph->count, 0)) return 1;
    graph_join(graph);
    return 0;
}

void graph_join(Graph *graph) {
    for (size_t i = 0; i < graph->part_count; i++) {
        const GraphPart *part = &graph->parts[i];
        if (part->apart && part->apart->child) graph_join(part->apart->child);
        if (part->exec) driver_cuGraphExecDestroy(part->exec);
    }
    free(graph->parts);
    graph->parts = 0, graph->part_count = 0;
}

CUresult graph_launch_parts(Graph *graph, CUstream stream, const char *stack, EachLaunch each) {
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->part_count && !result; i++) {
        Call call = {graph->parts[i].exec, stream};
        const GraphNode *node = graph->parts[i].apart;
        if (!node || node->child) {
            result = node ? graph_launch_parts(node->child, stream, stack, each) : launch(&call);
            continue;
        }
        LaunchAttribute cluster = node->cluster;
        Launch found = {
            .kernel = node->kernel, .function = node->function, .config = node->config,
            .parameters = node->parameters, .extra = node->extra,
            .is_cooperative = node->is_cooperative, .ordinal = node->ordinal, .stack = stack};
        found.config.stream = stream, found.config.attributes = &cluster;
        result = each(&found, launch, &call);
    }
    return result;
}
