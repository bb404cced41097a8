/* The libraries of CUDA that the program gets: ours, whatever path it asks for (rtld-audit(7)). */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"libcuda.so.1", "libcuda.so", "libcudart.so.12", "libcudart.so.13"};

__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  (void)version;
  return LAV_CURRENT;
}

__attribute__((visibility("default"))) char *la_objsearch(const char *name, uintptr_t *cookie,
                                                          unsigned flag) {
  static __thread char path[4096];
  const char *folder = getenv("CUDARUN_EXEC_LIBRARIES"), *slash = strrchr(name, '/');
  const char *base = slash ? slash + 1 : name;
  (void)cookie, (void)flag;
  if (folder && strncmp(name, folder, strlen(folder)))
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
      if (!strcmp(base, names[i])) {
        snprintf(path, sizeof path, "%s/%s", folder, i == 1 ? names[0] : names[i]);
        return path;
      }
  return (char *)name;
}
