/* A hash table from numbers that are not 0, such as handles and addresses, to values. */
#ifndef CUDARUN_TABLE_H
#define CUDARUN_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t key, value, extra;
} Entry;

typedef struct {
    Entry *entries;
    size_t capacity, used; /* used counts removed entries, too */
} Table;

/* The entry of a key, or null. */
Entry *table_find(const Table *table, uint64_t key);

/* Set the entry of a key; without memory nothing happens. */
void table_put(Table *table, uint64_t key, uint64_t value, uint64_t extra);

/* Remove the entry of a key, if there is one. */
void table_remove(Table *table, uint64_t key);

/* Whether an entry of `entries` is one; others are free. */
int table_is_used(const Entry *entry);

#endif
