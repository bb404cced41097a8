/* The hash table: open addressing with linear probes; a removed entry keeps its place. */
#include "table.h"

#include <stdlib.h>

static const uint64_t REMOVED = UINT64_MAX;

int table_is_used(const Entry *entry) { return entry->key && entry->key != REMOVED; }

static size_t place(const Table *table, uint64_t key) {
    return (key * 0x9E3779B97F4A7C15u >> 20) & (table->capacity - 1);
}

Entry *table_find(const Table *table, uint64_t key) {
    if (!table->capacity) return 0;
    for (size_t at = place(table, key);; at = (at + 1) & (table->capacity - 1)) {
        Entry *entry = &table->entries[at];
        if (entry->key == key) return entry;
        if (!entry->key) return 0;
    }
}

static int grow(Table *table) {
    size_t live = 0;
    for (size_t i = 0; i < table->capacity; i++) live += table_is_used(&table->entries[i]);
    Table grown = {0, 64, 0};
    while (grown.capacity < 4 * live) grown.capacity *= 2;
    grown.entries = calloc(grown.capacity, sizeof *grown.entries);
    if (!grown.entries) return 0;
    for (size_t i = 0; i < table->capacity; i++) {
        Entry *old = &table->entries[i];
        if (table_is_used(old)) table_put(&grown, old->key, old->value, old->extra);
    }
    free(table->entries);
    *table = grown;
    return 1;
}

void table_put(Table *table, uint64_t key, uint64_t value, uint64_t extra) {
    if (!key || key == REMOVED) return;
    Entry *known = table_find(table, key);
    if (known) {
        known->value = value, known->extra = extra;
        return;
    }
    if (2 * (table->used + 1) > table->capacity && !grow(table)) return;
    size_t at = place(table, key);
    while (table->entries[at].key) at = (at + 1) & (table->capacity - 1);
    table->entries[at] = (Entry){key, value, extra};
    table->used++;
}

void table_remove(Table *table, uint64_t key) {
    Entry *known = key && key != REMOVED ? table_find(table, key) : 0;
    if (known) known->key = REMOVED;
}
