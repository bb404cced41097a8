/* Launches that a thread waits for, so that the parent sees one that does not end. */
#ifndef CUDARUN_WAITING_H
#define CUDARUN_WAITING_H

#include "control.h"

/* Take a slot; null if all are taken. */
Slot *begin_waiting(const char *kernel, uint64_t ordinal);
void end_waiting(Slot *slot);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t nanoseconds(void);

#endif
