/* The driver library: what is not marshalled from the table. */
#define _GNU_SOURCE
#include "client.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>
#include "calls.inc"

enum { INVALID_VALUE = 1, NOT_FOUND = 500 };
enum { PER_THREAD = 2 }; /* the handle of the default stream of a thread */
enum { FOUND, NO_SUCH_SYMBOL, TOO_NEW };

/* Tell the server which library asks for a private table, and which call of it the program made:
 * a runtime that is linked statically, or a library of machine code. */
EXPORT int cuGetExportTable(const void **table, const void *id) {
  void *frames[64];
  Dl_info info, inner;
  const char *function = "";
  int count = backtrace(frames, 64);
  (void)id;
  *table = 0;
  if (dladdr(__builtin_return_address(0), &inner)) {
    for (int i = 1; i < count && dladdr(frames[i], &info); i++)
      if (info.dli_fbase == inner.dli_fbase && info.dli_sname) function = info.dli_sname;
    char data[8192];
    size_t size = strlen(inner.dli_fname) + 1, room = sizeof data - 1;
    if (size < room - 256) {
      strcpy(data, inner.dli_fname);
      strncpy(data + size, function, room - size);
      uint64_t w[1] = {0};
      cr_call_data(FOREIGN, 0, w, 0, data, size + strnlen(data + size, room - size));
    }
  }
  return NOT_FOUND;
}

static int launch(uint64_t caller, uint64_t w[11]) {
  const struct kernel *kernel = w[10] ? 0 : cr_kernel(GET_PARAMETERS, (void *)w[0]);
  char data[kernel ? kernel->bytes + 1 : 1];
  int is_packed = kernel && !kernel->error && cr_pack(kernel, (void **)w[9], data);
  if (!is_packed) return cr_call(NUMBER_cuLaunchKernel, caller, w, 11);
  return cr_launch(NUMBER_cuLaunchKernel, caller, w, 11, data, kernel->bytes);
}

#define LAUNCH_WITH(name, stream_used) \
  EXPORT int name(uint64_t function, uint32_t x, uint32_t y, uint32_t z, uint32_t bx, uint32_t by, \
                  uint32_t bz, uint32_t shared, uint64_t stream, uint64_t args, uint64_t extra) { \
    uint64_t w[11] = {function, x, y, z, bx, by, bz, shared, stream_used, args, extra}; \
    return launch(CALLER, w); \
  }
LAUNCH_WITH(cuLaunchKernel, stream)
LAUNCH_WITH(cuLaunchKernel_ptsz, stream ? stream : PER_THREAD)

EXPORT int cuGetProcAddress_v2(const char *, void **, int, uint64_t, unsigned *);
EXPORT int cuGetProcAddress(const char *, void **, int, uint64_t);

static const struct procedure {
  const char *name;
  void *plain, *per_thread;
  int since;
} procedures[] = {
#include "procedures.inc"
    {0, 0, 0, 0},
};

EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                               unsigned *status) {
  const struct procedure *best = 0;
  int is_known = 0;
  if (!name || !function) return INVALID_VALUE;
  for (const struct procedure *each = procedures; each->name; each++)
    if (!strcmp(each->name, name)) {
      is_known = 1;
      if (each->since <= version && (!best || each->since > best->since)) best = each;
    }
  *function = !best ? 0 : flags & 2 && best->per_thread ? best->per_thread : best->plain;
  if (status) *status = best ? FOUND : is_known ? TOO_NEW : NO_SUCH_SYMBOL;
  return best || status ? 0 : NOT_FOUND;
}

EXPORT int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, 0);
}
