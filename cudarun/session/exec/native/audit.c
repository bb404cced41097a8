/* The libraries of CUDA that the program gets: ours, whatever path it asks for (rtld-audit(7)).
 *
 * NVRTC stays NVIDIA's, but gives its PTX where the program asks for machine code; a name that ends
 * with @nvidia is the library that the program has asked for before it got ours. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

static const char *const names[] = {"libcuda.so.1",    "libcuda.so",         "libcudart.so.12",
                                    "libcudart.so.13", "libnvJitLink.so.12", "libnvJitLink.so.13",
                                    "cyruntime.",      "libnvidia-ml.so.1",  "libnvidia-ml.so"};
enum { DRIVER_LINK = 1, PYTHON_MODULE = 6, MANAGEMENT = 7, MANAGEMENT_LINK = 8 }; /* places in the table */

static const char *const replaced[][2] = {{"nvrtcGetCUBIN", "nvrtcGetPTX"},
                                          {"nvrtcGetCUBINSize", "nvrtcGetPTXSize"}};

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

VISIBLE unsigned la_version(unsigned version) {
  (void)version;
  return LAV_CURRENT;
}

VISIBLE char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  static __thread char path[4096];
  static char asked[sizeof names / sizeof *names][4096];
  const char *folder = getenv("CUDARUN_EXEC_LIBRARIES"), *base = base_name(name);
  (void)cookie;
  if (!folder || flag != LA_SER_ORIG || !strncmp(name, folder, strlen(folder))) return (char *)name;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    size_t size = strlen(names[i]);
    if (strncmp(base, names[i], size)) continue;
    if (!strcmp(base + size, "@nvidia")) return asked[i][0] ? asked[i] : (char *)names[i];
    int is_module = i == PYTHON_MODULE && strstr(name, "/cuda/bindings/");
    if (i == PYTHON_MODULE ? !is_module : base[size]) continue;
    if (strlen(name) < sizeof asked[i]) strcpy(asked[i], name);
    unsigned found = i == DRIVER_LINK ? 0 : i == MANAGEMENT_LINK ? MANAGEMENT : i;
    const char *ours = is_module ? "libcudarun_python.so" : names[found];
    snprintf(path, sizeof path, "%s/%s", folder, ours);
    return path;
  }
  return (char *)name;
}

VISIBLE unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie) {
  (void)lmid;
  *cookie = (uintptr_t)map;
  int is_nvrtc = !strncmp(base_name(map->l_name), "libnvrtc.so", 11);
  return is_nvrtc ? LA_FLG_BINDFROM | LA_FLG_BINDTO : LA_FLG_BINDFROM;
}

/* Return the address of a function that a library exports: its GNU hash table has the number of the
 * symbol (the loader has made the addresses in the dynamic section absolute). */
static uintptr_t exported(const struct link_map *map, const char *name) {
  const uint32_t *table = 0;
  const ElfW(Sym) *symbols = 0;
  const char *strings = 0;
  for (const ElfW(Dyn) *each = map->l_ld; each->d_tag != DT_NULL; each++)
    if (each->d_tag == DT_GNU_HASH) table = (void *)each->d_un.d_ptr;
    else if (each->d_tag == DT_SYMTAB) symbols = (void *)each->d_un.d_ptr;
    else if (each->d_tag == DT_STRTAB) strings = (void *)each->d_un.d_ptr;
  if (!table || !symbols || !strings) return 0;
  uint32_t hash = 5381, count = table[0], first = table[1], filters = table[2];
  for (const char *at = name; *at; at++) hash = 33 * hash + (unsigned char)*at;
  const uint32_t *buckets = table + 4 + filters * (sizeof(ElfW(Addr)) / 4);
  const uint32_t *chains = buckets + count;
  uint32_t i = count ? buckets[hash % count] : 0;
  for (int is_last = i < first; !is_last; i++) {
    is_last = chains[i - first] & 1;
    if (!strcmp(strings + symbols[i].st_name, name)) return map->l_addr + symbols[i].st_value;
  }
  return 0;
}

VISIBLE uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned number, uintptr_t *from, uintptr_t *to,
                               unsigned *flags, const char *name) {
  (void)number, (void)from, (void)flags;
  for (unsigned i = 0; i < sizeof replaced / sizeof *replaced; i++)
    if (!strcmp(name, replaced[i][0])) {
      uintptr_t found = exported((void *)*to, replaced[i][1]);
      if (found) return found;
    }
  return symbol->st_value;
}
