/* The runtime library: what is not marshalled from the table.
 *
 * Registration and launches are as crt/host_runtime.h of the toolkit declares them, and as nvcc -keep
 * shows them. calls.inc is written from the table when the library is built. */
#define _GNU_SOURCE
#include "client.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "calls.inc"

enum {
  INVALID_VALUE = 1,
  MISSING_CONFIGURATION = 52,
  SYMBOL_NOT_FOUND = 500,
  PER_THREAD = 2, /* the handle of the default stream of a thread */
};

static const struct {
  int number;
  const char *name, *text;
} errors[] = {
#include "errors.inc"
};

#define SEARCH(error, field) \
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) \
    if (errors[i].number == error) return errors[i].field; \
  return "unrecognized error code"

EXPORT const char *cudaGetErrorName(int error) { SEARCH(error, name); }
EXPORT const char *cudaGetErrorString(int error) { SEARCH(error, text); }

EXPORT int cudaRuntimeGetVersion(int *version) {
  if (!version) return INVALID_VALUE;
  *version = RUNTIME_VERSION;
  return 0;
}

EXPORT struct s20 cudaCreateChannelDesc(int x, int y, int z, int w, unsigned kind) {
  return (struct s20){{x, y, z, w, kind}};
}

EXPORT int cudaGetExportTable(const void **table, const void *id) {
  (void)id;
  *table = 0;
  return INVALID_VALUE;
}

/* --- driver functions by name ------------------------------------------------------------------ */

static int entry_point(const char *name, void **function, unsigned version, uint64_t flags,
                       unsigned *found) {
  static int (*look_up)(const char *, void **, int, uint64_t, unsigned *);
  unsigned status = 1;
  if (!look_up) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver) *(void **)&look_up = dlsym(driver, "cuGetProcAddress_v2");
  }
  int error = look_up ? look_up(name, function, version, flags, &status) : SYMBOL_NOT_FOUND;
  if (found) *found = status;
  return error;
}

EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                            uint64_t flags, unsigned *found) {
  return entry_point(name, function, version, flags, found);
}

EXPORT int cudaGetDriverEntryPoint(const char *name, void **function, uint64_t flags,
                                   unsigned *found) {
  return entry_point(name, function, RUNTIME_VERSION, flags, found);
}

EXPORT int cudaGetDriverEntryPoint_ptsz(const char *name, void **function, uint64_t flags,
                                        unsigned *found) {
  return entry_point(name, function, RUNTIME_VERSION, flags ? flags : 2, found);
}

EXPORT int cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **function,
                                                 unsigned version, uint64_t flags,
                                                 unsigned *found) {
  return entry_point(name, function, version, flags ? flags : 2, found);
}

/* --- registration ------------------------------------------------------------------------------ */

enum { FATBIN, FUNCTION, VARIABLE, MANAGED, UNREGISTER };

struct wrapper { /* version 2 has the fat binaries of separate compilation (-rdc=true) */
  int magic, version;
  const void *data;
  void *linked;
};

static void keep(uint64_t kind, void *handle, const void *host, uint64_t size, const char *name) {
  uint64_t w[4] = {kind, (uint64_t)handle, (uint64_t)host, size};
  cr_register(w, name);
}

EXPORT void **__cudaRegisterFatBinary(void *binary) {
  struct wrapper *wrapper = binary;
  void **handle = malloc(sizeof *handle);
  *handle = binary;
  keep(FATBIN, handle, wrapper->data, wrapper->version >= 2 ? (uint64_t)wrapper->linked : 0, 0);
  return handle;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int limit, void *t, void *b, void *bd, void *gd, int *warp) {
  (void)device, (void)limit, (void)t, (void)b, (void)bd, (void)gd, (void)warp;
  keep(FUNCTION, handle, host, 0, name);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                              size_t size, int constant, int global) {
  (void)device, (void)ext, (void)constant, (void)global;
  keep(VARIABLE, handle, host, size, name);
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                     int ext, size_t size, int constant, int global) {
  (void)device, (void)ext, (void)constant, (void)global;
  keep(MANAGED, handle, host, size, name);
}

EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
  (void)handle, (void)name, (void)host, (void)size;
}

EXPORT void __cudaRegisterUnifiedTable(void) {}
EXPORT int __cudaGetProcAddress(void) { return SYMBOL_NOT_FOUND; }

EXPORT char __cudaInitModule(void **handle) {
  uint64_t w[1] = {(uint64_t)handle};
  return cr_call(INIT_MODULE, CALLER, w, 1) == 0;
}

/* --- launches ---------------------------------------------------------------------------------- */

struct configuration {
  struct s12 grid, block;
  size_t shared;
  void *stream;
};

static __thread struct configuration pushed[16];
static __thread unsigned depth;
static __thread uint64_t launcher; /* the code with <<<>>>, which calls the stub of the kernel */

EXPORT unsigned __cudaPushCallConfiguration(struct s12 grid, struct s12 block, size_t shared,
                                            void *stream) {
  if (depth == sizeof pushed / sizeof *pushed) return 1;
  pushed[depth++] = (struct configuration){grid, block, shared, stream};
  launcher = CALLER;
  return 0;
}

EXPORT int __cudaPopCallConfiguration(struct s12 *grid, struct s12 *block, size_t *shared,
                                      void *stream) {
  if (!depth) return MISSING_CONFIGURATION;
  struct configuration *last = &pushed[--depth];
  *grid = last->grid, *block = last->block, *shared = last->shared;
  memcpy(stream, &last->stream, sizeof last->stream);
  return 0;
}

EXPORT void __cudaUnregisterFatBinary(void **handle) {
  keep(UNREGISTER, handle, 0, 0, 0);
  cr_forget_kernels(); /* another library can be loaded at the addresses of its host functions */
}

static struct kernel *kernel_of(const void *function) { return cr_kernel(GET_KERNEL, function); }

static int launch(uint64_t caller, struct kernel *kernel, struct s12 grid, struct s12 block,
                  void **args, size_t shared, void *stream) {
  char data[kernel->bytes + 1];
  uint32_t error = cr_pack(kernel, args, data) ? kernel->error : INVALID_VALUE;
  uint64_t from = launcher;
  launcher = 0;
  uint64_t w[10] = {kernel->handle, grid.w[0], grid.w[1], grid.w[2], block.w[0],
                    block.w[1],     block.w[2], shared,   (uint64_t)stream, error};
  return (error ? cr_call_data : cr_launch)(from ? LAUNCH : LAUNCH_BY_CALL, from ? from : caller, w,
                                            10, data, kernel->bytes);
}

EXPORT int __cudaGetKernel(void **kernel, const void *function) {
  struct kernel *found = kernel_of(function);
  *kernel = found;
  return found->error;
}

#define LAUNCH_WITH(name, handle, kernel, stream_used) \
  EXPORT int name(handle, struct s12 grid, struct s12 block, void **args, size_t shared, \
                  void *stream) { \
    return launch(CALLER, kernel, grid, block, args, shared, stream_used); \
  }
#define OWN_STREAM (stream ? stream : (void *)PER_THREAD)
LAUNCH_WITH(__cudaLaunchKernel, void *kernel, kernel, stream)
LAUNCH_WITH(__cudaLaunchKernel_ptsz, void *kernel, kernel, OWN_STREAM)

LAUNCH_WITH(cudaLaunchKernel, void *function, kernel_of(function), stream)
LAUNCH_WITH(cudaLaunchKernel_ptsz, void *function, kernel_of(function), OWN_STREAM)
