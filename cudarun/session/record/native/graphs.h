/* CUDA graphs that the program has instantiated. */
#ifndef CUDARUN_GRAPHS_H
#define CUDARUN_GRAPHS_H

#include "images.h"
#include "launches.h"

struct Graph;

typedef struct {
    CUgraphNode node;
    int type;
    struct Graph *child; /* null if it is no child graph */
    Kernel *kernel; /* null if it is no kernel */
    CUfunction function;
    LaunchConfig config; /* without a stream */
    LaunchAttribute cluster;
    int is_cooperative;
    void **parameters, **extra;
    uint64_t ordinal; /* of a launch of the graph; 0 if it is not apart */
} GraphNode;

typedef struct {
    CUgraphExec exec; /* null for a child graph with parts of its own */
    GraphNode *apart; /* the only node; null for a part whose nodes do not matter */
} GraphPart;

typedef struct Graph {
    CUgraph copy;         /* null if the driver cannot copy it; of a child, its parent's */
    int is_child;
    const char *obstacle; /* to launching nodes apart; null if there is none */
    size_t count;
    GraphNode *nodes; /* each after those that it depends on */
    GraphPart *parts; /* null until it is launched in parts */
    size_t part_count;
} Graph;

/* Read the nodes of a graph, and of its child graphs. */
int graph_read(Graph *graph, CUgraph source);

/* Make parts, in which each node with an ordinal is apart, also in child graphs; false if the driver refuses one. */
int graph_split(Graph *graph);
void graph_join(Graph *graph);

/* Launch all parts; each node that is apart by a call of `each`. */
typedef CUresult (*EachLaunch)(Launch *launch, CUresult (*again)(void *), void *context);
CUresult graph_launch_parts(Graph *graph, CUstream stream, const char *stack, EachLaunch each);

/* Free everything but the graph itself. */
void graph_free(Graph *graph);

#endif
