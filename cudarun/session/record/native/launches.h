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

/* Whether the stream is being captured in a graph, so that nothing can wait for it. */
int is_captured(CUstream stream);

#endif
