/* The kernels that the program launches, with the layout of their parameters. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry {
  const void *key;
  struct kernel *kernel;
} *table;
static size_t used, slots;

static struct entry *slot_of(const void *key) {
  size_t at = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15ull >> 20;
  while (table[at & (slots - 1)].key && table[at & (slots - 1)].key != key) at++;
  return &table[at & (slots - 1)];
}

static struct kernel *known(const void *key) {
  pthread_mutex_lock(&lock);
  struct kernel *found = slots ? slot_of(key)->kernel : 0;
  pthread_mutex_unlock(&lock);
  return found;
}

static void remember(const void *key, struct kernel *kernel) {
  pthread_mutex_lock(&lock);
  if (2 * (used + 1) > slots) {
    struct entry *old = table;
    size_t count = slots;
    slots = slots ? 2 * slots : 256;
    table = calloc(slots, sizeof *table);
    for (size_t i = 0; i < count; i++)
      if (old[i].key) *slot_of(old[i].key) = old[i];
    free(old);
  }
  struct entry *slot = slot_of(key);
  used += !slot->key;
  *slot = (struct entry){key, kernel};
  pthread_mutex_unlock(&lock);
}

EXPORT void cr_forget_kernels(void) {
  pthread_mutex_lock(&lock);
  used = slots = 0;
  free(table);
  table = 0;
  pthread_mutex_unlock(&lock);
}

EXPORT struct kernel *cr_kernel(uint32_t id, const void *key) {
  struct kernel *kernel = known(key);
  if (kernel) return kernel;
  struct kernel *made = calloc(1, sizeof *made);
  uint64_t w[2] = {(uint64_t)key, (uint64_t)made};
  made->error = cr_call(id, 0, w, 2);
  if (made->error) made->handle = made->count = made->bytes = 0;
  kernel = realloc(made, offsetof(struct kernel, parameters) + 8ull * made->count);
  if (!kernel->error) remember(key, kernel);
  return kernel;
}

EXPORT int cr_pack(const struct kernel *kernel, void **args, char *buffer) {
  memset(buffer, 0, kernel->bytes);
  for (uint32_t i = 0; i < kernel->count; i++) {
    if (!args || !args[i]) return 0;
    memcpy(buffer + kernel->parameters[i].offset, args[i], kernel->parameters[i].size);
  }
  return 1;
}
