/* The slots of waiting threads in the shared page. */
#define _GNU_SOURCE
#include "waiting.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

Slot *begin_waiting(const char *kernel, uint64_t ordinal) {
    for (int i = 0; i < SLOTS; i++) {
        Slot *slot = &control->slots[i];
        uint32_t none = 0;
        if (!atomic_compare_exchange_strong(&slot->process, &none, getpid())) continue;
        slot->ordinal = ordinal;
        strncpy(slot->kernel, kernel, sizeof slot->kernel - 1);
        atomic_store(&slot->started_ns, nanoseconds());
        return slot;
    }
    return 0;
}

void end_waiting(Slot *slot) {
    if (!slot) return;
    atomic_store(&slot->started_ns, 0);
    atomic_store(&slot->process, 0);
}
