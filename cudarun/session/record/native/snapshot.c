/* Copies of memory: every range to which a value in parameters, variables or copied memory points.
 *
 * No layout is known, so that every aligned value that is an address of the program's memory counts
 * as a pointer.
 */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "driver.h"

enum { CHUNK = 16 << 20, PAGE = 2 << 20, BLOCK = 4096 };

int snapshot_begin(Snapshot *snapshot, RawFile *file) {
    *snapshot = (Snapshot){.file = file};
    size_t count;
    Range *ranges = live_ranges(&count);
    snapshot->parts = calloc(count + 1, sizeof *snapshot->parts);
    snapshot->queue = calloc(count + 1, sizeof *snapshot->queue);
    snapshot->buffer = malloc(CHUNK);
    snapshot->other = malloc(CHUNK);
    int complete =
        ranges && snapshot->parts && snapshot->queue && snapshot->buffer && snapshot->other;
    for (size_t i = 0; complete && i < count; i++) snapshot->parts[i].range = ranges[i];
    snapshot->count = complete ? count : 0;
    free(ranges);
    return complete;
}

void snapshot_end(Snapshot *snapshot) {
    free(snapshot->parts);
    free(snapshot->queue);
    free(snapshot->variables);
    free(snapshot->objects.entries);
    free(snapshot->arrays);
    free(snapshot->buffer);
    free(snapshot->other);
}

static void reach(Snapshot *snapshot, uint64_t address) {
    size_t low = 0, high = snapshot->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (snapshot->parts[middle].range.base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    Part *part = low ? &snapshot->parts[low - 1] : 0;
    if (!part || part->is_reached || address - part->range.base >= part->range.size) return;
    part->is_reached = 1;
    snapshot->queue[snapshot->queued++] = low - 1;
}

void snapshot_follow(Snapshot *snapshot, const void *data, size_t size, size_t step) {
    if (!snapshot->count) return;
    const Part *last = &snapshot->parts[snapshot->count - 1];
    uint64_t first = snapshot->parts[0].range.base, span = last->range.base + last->range.size;
    span -= first;
    for (size_t i = 0; i + 8 <= size; i += step) {
        uint64_t value;
        memcpy(&value, (const char *)data + i, 8);
        if (value - first < span) reach(snapshot, value);
    }
}

static int load(const Part *part, uint64_t at, void *data, size_t size) {
    uint64_t address = part->range.base + at;
    if (part->range.kind == HOST) {
        memcpy(data, (const void *)address, size);
        return 1;
    }
    return !driver_cuMemcpyDtoH_v2(data, address, size);
}

static size_t chunk_at(const Part *part, uint64_t at) {
    uint64_t left = part->range.size - at;
    uint64_t most = part->range.kind == MAPPED ? PAGE : CHUNK; /* a copy within one mapping */
    return left < most ? left : most;
}

static void copy(Snapshot *snapshot, Part *part) {
    uint64_t head[2] = {part->range.base, part->range.size};
    for (uint64_t at = 0; at < part->range.size; at += chunk_at(part, at)) {
        size_t size = chunk_at(part, at);
        if (!load(part, at, snapshot->buffer, size)) {
            if (!at) { /* freed with its context, or not accessible */
                note("unreadable");
                return;
            }
            memset(snapshot->buffer, 0, size);
        }
        if (!at) {
            raw_section(snapshot->file, "MEMO", sizeof head + part->range.size);
            raw_write(snapshot->file, head, sizeof head);
            part->offset = snapshot->file->end;
            part->is_copied = 1;
        }
        raw_write(snapshot->file, snapshot->buffer, size);
        snapshot_follow(snapshot, snapshot->buffer, size, 8);
    }
}

static void copy_array(Snapshot *snapshot, uint64_t array) {
    SavedArray found = {0};
    if (table_find(&snapshot->objects, array)) return;
    table_put(&snapshot->objects, array, 1, 0);
    found.size = array_shape(array, &found.shape);
    char *data = found.size ? malloc(found.size) : 0;
    SavedArray *grown = realloc(snapshot->arrays, (snapshot->array_count + 1) * sizeof found);
    if (grown) snapshot->arrays = grown;
    if (grown && data && array_load(&found.shape, data)) {
        raw_section(snapshot->file, "ARRA", sizeof found.shape + found.size);
        raw_write(snapshot->file, &found.shape, sizeof found.shape);
        found.offset = snapshot->file->end;
        raw_write(snapshot->file, data, found.size);
        snapshot->copied_bytes += found.size;
        grown[snapshot->array_count++] = found;
    } else {
        note("array");
    }
    free(data);
}

void snapshot_objects(Snapshot *snapshot, const void *data, size_t size) {
    for (size_t i = 0; i + 8 <= size; i += 8) {
        Object object;
        uint64_t handle;
        memcpy(&handle, (const char *)data + i, 8);
        if (!object_of(handle, &object) || table_find(&snapshot->objects, handle)) continue;
        table_put(&snapshot->objects, handle, 1, 0);
        if (object.resource.type == RESOURCE_ARRAY)
            copy_array(snapshot, object.resource.memory);
        else if (object.resource.type == RESOURCE_MIPMAPPED)
            note("array");
        else
            reach(snapshot, object.resource.memory);
        raw_section(snapshot->file, "OBJE", sizeof object);
        raw_write(snapshot->file, &object, sizeof object);
    }
}

void snapshot_variable(Snapshot *snapshot, const char *name, uint64_t address, size_t size) {
    Part part = {.range = {address, size, DEVICE}, .is_copied = 1};
    char *data = malloc(size + 1);
    Part *grown = realloc(snapshot->variables, (snapshot->variable_count + 1) * sizeof part);
    if (grown) snapshot->variables = grown;
    if (grown && data && load(&part, 0, data, size)) {
        uint64_t head[2] = {address, size};
        raw_section(snapshot->file, "VARI", sizeof head + size + strlen(name) + 1);
        raw_write(snapshot->file, head, sizeof head);
        raw_write(snapshot->file, name, strlen(name) + 1);
        part.offset = snapshot->file->end;
        raw_write(snapshot->file, data, size);
        snapshot_follow(snapshot, data, size, 8);
        snapshot_objects(snapshot, data, size);
        grown[snapshot->variable_count++] = part;
    }
    free(data);
}

int snapshot_copy(Snapshot *snapshot, uint64_t most) {
    for (size_t next = 0; next < snapshot->queued && !snapshot->file->error; next++) {
        Part *part = &snapshot->parts[snapshot->queue[next]];
        snapshot->copied_bytes += part->range.size;
        if (snapshot->copied_bytes > most) return 0;
        copy(snapshot, part);
    }
    return 1;
}

/* Write a section for each run of changed blocks of a chunk. */
static void compare(Snapshot *snapshot, const Part *part, uint64_t at, size_t size) {
    const char *now = snapshot->buffer, *before = snapshot->other;
    for (size_t start = 0; start < size;) {
        size_t end = start;
        while (end < size) {
            size_t block = size - end < BLOCK ? size - end : BLOCK;
            if (!memcmp(now + end, before + end, block)) break;
            end += block;
        }
        if (end > start) {
            uint64_t address = part->range.base + at + start;
            raw_section(snapshot->file, "AFTR", sizeof address + end - start);
            raw_write(snapshot->file, &address, sizeof address);
            raw_write(snapshot->file, now + start, end - start);
        }
        start = end > start ? end : start + BLOCK;
    }
}

static void changes(Snapshot *snapshot, const Part *part) {
    for (uint64_t at = 0; part->is_copied && at < part->range.size; at += chunk_at(part, at)) {
        size_t size = chunk_at(part, at);
        if (!load(part, at, snapshot->buffer, size)) return;
        if (!raw_read(snapshot->file, part->offset + at, snapshot->other, size)) return;
        compare(snapshot, part, at, size);
    }
}

static void changed_array(Snapshot *snapshot, const SavedArray *array) {
    char *now = malloc(array->size), *before = malloc(array->size);
    if (now && before && array_load(&array->shape, now)
        && raw_read(snapshot->file, array->offset, before, array->size)
        && memcmp(now, before, array->size)) {
        raw_section(snapshot->file, "AFTA", sizeof array->shape.array + array->size);
        raw_write(snapshot->file, &array->shape.array, sizeof array->shape.array);
        raw_write(snapshot->file, now, array->size);
    }
    free(now), free(before);
}

void snapshot_changes(Snapshot *snapshot) {
    for (size_t i = 0; i < snapshot->array_count; i++) changed_array(snapshot, &snapshot->arrays[i]);
    for (size_t i = 0; i < snapshot->variable_count; i++) changes(snapshot, &snapshot->variables[i]);
    for (size_t i = 0; i < snapshot->queued; i++)
        changes(snapshot, &snapshot->parts[snapshot->queue[i]]);
}
