/* The memory that a launch can reach, before it and after it. */
#ifndef CUDARUN_SNAPSHOT_H
#define CUDARUN_SNAPSHOT_H

#include "allocations.h"
#include "objects.h"
#include "rawfile.h"
#include "table.h"

typedef struct {
    Range range;
    uint64_t offset; /* of its bytes in the raw file */
    int is_reached, is_copied;
} Part;

typedef struct {
    ArrayShape shape;
    size_t size;
    uint64_t offset; /* of its contents in the raw file */
} SavedArray;

typedef struct {
    RawFile *file;
    Part *parts; /* by address: all ranges, of which some are reached */
    size_t count;
    size_t *queue, queued;
    Part *variables;
    size_t variable_count;
    Table objects; /* the handles that were found, and their arrays */
    SavedArray *arrays;
    size_t array_count;
    uint64_t copied_bytes;
    char *buffer, *other;
} Snapshot;

int snapshot_begin(Snapshot *snapshot, RawFile *file);

/* Follow all pointers in some bytes, at steps of 4 or 8 bytes. */
void snapshot_follow(Snapshot *snapshot, const void *data, size_t size, size_t step);

/* Copy the arrays of all texture and surface objects whose handles are in some bytes. */
void snapshot_objects(Snapshot *snapshot, const void *data, size_t size);

/* Copy a variable of the module, and follow its pointers and handles. */
void snapshot_variable(Snapshot *snapshot, const char *name, uint64_t address, size_t size);

/* Copy all that is reached. False if it exceeds `most` bytes. */
int snapshot_copy(Snapshot *snapshot, uint64_t most);

/* Write what has changed since. */
void snapshot_changes(Snapshot *snapshot);

void snapshot_end(Snapshot *snapshot);

#endif
