// Graphs as adjacency lists: breadth-first search with a work queue, connected components by union-find,
// shortest paths by relaxation until nothing changes.
// nvcc -arch=compute_80

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Level by level: a vertex claimed by compare-and-swap goes to the next queue. ``sizes`` has a place for
// each level. Places in a queue are taken once per group of lanes that come together.
__device__ int take_place(int *size)
{
    cg::coalesced_group lanes = cg::coalesced_threads();
    int first;
    if (lanes.thread_rank() == 0)
        first = atomicAdd(size, lanes.size());
    return lanes.shfl(first, 0) + lanes.thread_rank();
}

extern "C" __global__ void breadth_first(const int *starts, const int *neighbours, int *distance,
                                         int *queue, int *next_queue, int *sizes, int source,
                                         int *levels)
{
    cg::grid_group grid = cg::this_grid();
    if (grid.thread_rank() == 0) {
        distance[source] = 0;
        queue[0] = source;
        sizes[0] = 1;
    }
    grid.sync();
    int level = 0;
    for (int size; (size = *(volatile int *)(sizes + level)) > 0; level++) {
        for (int i = grid.thread_rank(); i < size; i += grid.size()) {
            int vertex = queue[i];
            for (int edge = starts[vertex]; edge < starts[vertex + 1]; edge++) {
                int other = neighbours[edge];
                if (atomicCAS(distance + other, -1, level + 1) == -1)
                    next_queue[take_place(sizes + level + 1)] = other;
            }
        }
        int *swap = queue; queue = next_queue; next_queue = swap;
        grid.sync();
    }
    if (grid.thread_rank() == 0)
        *levels = level;
}

// Union-find without locks: the smaller root becomes the parent. Each thread has an edge. How deep the trees
// get depends on who comes first, so in the end every vertex is given its root.
__device__ int find(int *parents, int vertex)
{
    int parent = ((volatile int *)parents)[vertex];
    while (parent != vertex) {
        int above = ((volatile int *)parents)[parent];
        atomicCAS(parents + vertex, parent, above);  // halve the path
        vertex = parent;
        parent = above;
    }
    return vertex;
}

extern "C" __global__ void unite(const int2 *edges, int n, int *parents, int vertices)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    if (i < n) {
        int a = find(parents, edges[i].x), b = find(parents, edges[i].y);
        while (a != b) {
            int small = min(a, b), large = max(a, b);
            int was = atomicCAS(parents + large, large, small);
            if (was == large)
                break;
            a = find(parents, small);
            b = find(parents, was);
        }
    }
    grid.sync();
    for (int vertex = i; vertex < vertices; vertex += grid.size())
        atomicExch(parents + vertex, find(parents, vertex));
}

// One block; `__syncthreads_or` tells every thread whether any of them changed something.
extern "C" __global__ void shortest_paths(const int3 *edges, int n, unsigned *distance, int *rounds)
{
    int round = 0, changed;
    do {
        changed = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            int3 edge = edges[i];  // from, to, length
            unsigned here = ((volatile unsigned *)distance)[edge.x];
            if (here != ~0u && atomicMin(distance + edge.y, here + edge.z) > here + edge.z)
                changed = 1;
        }
        round++;
    } while (__syncthreads_or(changed));
    if (threadIdx.x == 0)
        *rounds = round;
}
