/* A launch of another thread in the same context must not change memory that is being recorded.
 *
 * Launches only count themselves. A recording closes the gate, then waits until every count was 0.
 * Contexts are apart: kernels of several GPUs can wait for each other.
 */
#define _GNU_SOURCE
#include "gate.h"

#include <pthread.h>
#include <unistd.h>

#include "driver.h"

enum { GROUPS = 16, PAUSE_US = 20, MOST_PAUSES = 50000 };

Lane gate_lanes[LANES];
atomic_uint gate_closed;
__thread Lane *gate_lane __attribute__((tls_model("initial-exec")));

static pthread_mutex_t recording[GROUPS];
static atomic_uint assigned;

static void opened(void) {
    for (int i = 0; i < GROUPS; i++) pthread_mutex_init(&recording[i], 0);
    for (int i = 0; i < LANES; i++) atomic_store(&gate_lanes[i].launching, 0);
    atomic_store(&gate_closed, 0);
}

__attribute__((constructor)) static void prepare(void) {
    opened();
    pthread_atfork(0, 0, opened); /* a child has one thread, which is not launching */
}

Lane *gate_assign(void) {
    return gate_lane = &gate_lanes[atomic_fetch_add(&assigned, 1) % LANES];
}

static unsigned group_of_context(void) {
    CUcontext context = 0;
    driver_cuCtxGetCurrent(&context);
    return ((uint64_t)context >> 6) % GROUPS;
}

void gate_wait(void) {
    pthread_mutex_t *lock = &recording[group_of_context()];
    Lane *lane = gate_lane ? gate_lane : gate_assign();
    pthread_mutex_lock(lock);
    atomic_fetch_add(&lane->launching, 1);
    pthread_mutex_unlock(lock);
}

unsigned gate_close(void) {
    unsigned group = group_of_context();
    pthread_mutex_lock(&recording[group]);
    atomic_fetch_or(&gate_closed, 1u << group);
    /* Not forever: a full queue of another GPU can wait for this thread's kernel. */
    for (int i = 0, pauses = 0; i < LANES && pauses < MOST_PAUSES;)
        if (!atomic_load(&gate_lanes[i].launching))
            i++;
        else
            usleep(PAUSE_US), pauses++;
    return group;
}

void gate_open(unsigned group) {
    atomic_fetch_and(&gate_closed, ~(1u << group));
    pthread_mutex_unlock(&recording[group]);
}
