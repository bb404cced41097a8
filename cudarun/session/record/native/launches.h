/* One launch, as the program requests it. */
#ifndef CUDARUN_LAUNCHES_H
#define CUDARUN_LAUNCHES_H

#include "images.h"

typedef struct {
    Kernel *kernel;
    CUfunction function;
    LaunchConfig config;
    void **parameters, **extra;
    int is_cooperative;
    uint64_t ordinal; /* among the matching launches, from 1 */
    const char *stack; /* of the launching thread; null unless it is recorded */
} Launch;

/* Record a launch that `again` makes: memory, launch, results. Returns the result of the launch. */
CUresult record_launch(const Launch *launch, CUresult (*again)(void *), void *context);

/* Count a launch and measure it with events around it. */
CUresult list_launch(const Launch *launch, CUresult (*again)(void *), void *context);

/* Count a launch of a kernel in a graph, which is not measured. */
void list_launch_of_graph(const Launch *launch);

/* Wait for a launch, so that a fault is known to be its own. */
CUresult watch_launch(Launch *launch, CUresult (*again)(void *), void *context);

/* Whether the stream is being captured in a graph, so that nothing is launched. */
int is_captured(CUstream stream);

/* The choice of launches to record: the answer of the parent, and the numbers of launches. */
int is_wanted(Kernel *kernel);
uint64_t next_ordinal(Kernel *kernel);
int is_to_record(uint64_t ordinal);
int all_recorded(void);

#endif
