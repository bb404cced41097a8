/* The gate that every launch passes, and that a recording closes for its context. */
#ifndef CUDARUN_GATE_H
#define CUDARUN_GATE_H

#include <stdatomic.h>

enum { LANES = 64 };

/* The number of launches that threads are making; a cache line for few threads each. */
typedef struct {
    _Alignas(64) atomic_uint launching;
} Lane;

extern Lane gate_lanes[LANES];
extern atomic_uint gate_closed; /* a bit for each group of contexts that is recorded */
extern __thread Lane *gate_lane __attribute__((tls_model("initial-exec")));

/* The lane of a new thread. */
Lane *gate_assign(void);

/* Begin a launch; false if another thread may be recording, see gate_wait. */
static inline int gate_enter(void) {
    Lane *lane = gate_lane ? gate_lane : gate_assign();
    atomic_fetch_add(&lane->launching, 1);
    if (__builtin_expect(!atomic_load(&gate_closed), 1)) return 1;
    atomic_fetch_sub(&lane->launching, 1);
    return 0;
}

/* Begin a launch when no other thread is recording in the current context. */
void gate_wait(void);

/* End a launch. */
static inline void gate_leave(void) {
    atomic_fetch_sub_explicit(&gate_lane->launching, 1, memory_order_release);
}

/* Wait for the launches that other threads are making, and let no other begin in the current
 * context. Returns what gate_open needs. */
unsigned gate_close(void);
void gate_open(unsigned group);

#endif
