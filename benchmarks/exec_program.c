/* The calls that exec.py measures: program WHAT COUNT prints the seconds of one. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COPIED = 64 << 20 };

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }\n";

static void *library;

static int (*call(const char *name))() {
  int (*found)();
  *(void **)&found = dlsym(library, name);
  if (!found) fprintf(stderr, "%s is missing\n", name), exit(1);
  return found;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define CHECK(result) if (result) fprintf(stderr, "line %d failed\n", __LINE__), exit(1)

int main(int argc, char **words) {
  const char *what = words[1];
  int count = atoi(words[2]), device;
  void *context, *module, *kernel;
  uint64_t memory;
  (void)argc;
  if (!strcmp(what, "nothing")) return 0;
  if (!(library = dlopen("libcuda.so.1", RTLD_NOW))) return 1;
  CHECK(call("cuInit")(0));
  CHECK(call("cuDevicePrimaryCtxRetain")(&context, 0));
  CHECK(call("cuCtxSetCurrent")(context));
  CHECK(call("cuModuleLoadData")(&module, ptx));
  CHECK(call("cuModuleGetFunction")(&kernel, module, "empty"));
  CHECK(call("cuMemAlloc_v2")(&memory, (size_t)COPIED));
  int (*get_device)() = call("cuCtxGetDevice"), (*launch)() = call("cuLaunchKernel");
  int (*wait)() = call("cuCtxSynchronize"), (*copy)() = call("cuMemcpyHtoD_v2");
  char *host = malloc(COPIED);
  memset(host, 1, COPIED);
  double start = now();
  for (int i = 0; i < count; i++) {
    if (!strcmp(what, "call")) CHECK(get_device(&device));
    if (!strcmp(what, "launch")) CHECK(launch(kernel, 1, 1, 1, 32, 1, 1, 0, (void *)0, (void *)0, (void *)0));
    if (!strcmp(what, "copy")) CHECK(copy(memory, host, (size_t)COPIED));
  }
  CHECK(wait());
  printf("%.9f\n", (now() - start) / (count ? count : 1));
  return 0;
}
