/* The linker library: inputs are kept until the link is complete, which the server does.
 *
 * NVIDIA's library, if the program has it, makes PTX of LTO-IR first. */
#define _GNU_SOURCE
#include "client.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SUCCESS,
  UNRECOGNIZED_OPTION,
  MISSING_ARCH,
  INVALID_INPUT,
  INTERNAL = 6,
  UNRECOGNIZED_INPUT = 8,
  NULL_INPUT = 10,
  INCOMPATIBLE_OPTIONS,
  INCORRECT_INPUT_TYPE,
};
enum { CUBIN = 1, PTX, LTO_IR, INDEX = 7, ANY = 10 };

/* What the server reads of an input, and what it writes of a link; both are known to linking.py. */
struct input {
  uint64_t type, size;
  char *data, *name;
};
struct link {
  uint64_t image, image_size, log, log_size;
  struct input *inputs;
  uint64_t count;
  char **words; /* the options */
  uint32_t words_count;
  int makes_ptx, is_complete;
  uint64_t most_registers; /* of a thread; 0 without a limit */
  char *own_log; /* the log, if the server has not made it */
};

static const char *const options[] = {
    "-arch=", "-maxrregcount=", "-time", "-verbose", "-lto", "-ptx", "-O", "-g", "-lineinfo",
    "-ftz=", "-prec-div=", "-prec-sqrt=", "-fma=", "-kernels-used=", "-variables-used=",
    "-optimize-unused-variables", "-Xptxas=", "-Xnvvm=", "-nvvm-latest", "-split-compile",
    "-jump-table-density=", "-no-cache", "-device-stack-protector",
};

static int is_option(const char *word) {
  for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
    if (!strncmp(word, options[i], strlen(options[i]))) return 1;
  return 0;
}

/* A function under its own name and those that the headers of versions of the library give it. */
#define ALIAS(name, version) \
  EXPORT __typeof__(nvJitLink##name) __nvJitLink##name##_##version \
      __attribute__((alias("nvJitLink" #name)));
#if LINKER_VERSION < 13
#define LINKER_NAME "libnvJitLink.so.12"
#define VERSIONS(name)                                                                          \
  ALIAS(name, 12_0) ALIAS(name, 12_1) ALIAS(name, 12_2) ALIAS(name, 12_3) ALIAS(name, 12_4)      \
  ALIAS(name, 12_5) ALIAS(name, 12_6) ALIAS(name, 12_7) ALIAS(name, 12_8) ALIAS(name, 12_9)
#else
#define LINKER_NAME "libnvJitLink.so.13"
#define VERSIONS(name)                                                                          \
  ALIAS(name, 13_0) ALIAS(name, 13_1) ALIAS(name, 13_2) ALIAS(name, 13_3) ALIAS(name, 13_4)      \
  ALIAS(name, 13_5) ALIAS(name, 13_6) ALIAS(name, 13_7) ALIAS(name, 13_8) ALIAS(name, 13_9)
#endif

EXPORT int nvJitLinkVersion(unsigned *major, unsigned *minor) {
  if (!major || !minor) return NULL_INPUT;
  *major = LINKER_VERSION, *minor = LINKER_VERSION < 13 ? 9 : 0;
  return SUCCESS;
}

EXPORT int nvJitLinkCreate(struct link **made, uint32_t count, const char *const *words) {
  int has_arch = 0, is_lto = 0, makes_ptx = 0;
  unsigned most_registers = 0;
  if (!made || !count || !words) return NULL_INPUT;
  for (uint32_t i = 0; i < count; i++) {
    if (!is_option(words[i])) return UNRECOGNIZED_OPTION;
    has_arch |= !strncmp(words[i], "-arch=", 6);
    is_lto |= !strcmp(words[i], "-lto");
    makes_ptx |= !strcmp(words[i], "-ptx");
    sscanf(words[i], "-maxrregcount=%u", &most_registers);
  }
  if (!has_arch) return MISSING_ARCH;
  if (makes_ptx && !is_lto) return INCOMPATIBLE_OPTIONS;
  struct link *link = *made = calloc(1, sizeof *link);
  if (!link) return INTERNAL;
  link->makes_ptx = makes_ptx;
  link->most_registers = most_registers;
  link->words = calloc(count + 2, sizeof *link->words); /* room for those of `lto_ptx` */
  for (; link->words && link->words_count < count; link->words_count++)
    link->words[link->words_count] = strdup(words[link->words_count]);
  return link->words ? SUCCESS : INTERNAL;
}
VERSIONS(Create)

EXPORT int nvJitLinkDestroy(struct link **link) {
  if (!link || !*link) return NULL_INPUT;
  for (uint64_t i = 0; i < (*link)->count; i++) {
    free((*link)->inputs[i].data);
    free((*link)->inputs[i].name);
  }
  for (uint32_t i = 0; i < (*link)->words_count; i++) free((*link)->words[i]);
  free((*link)->words);
  free((*link)->own_log);
  free((*link)->inputs);
  free(*link);
  *link = 0;
  return SUCCESS;
}
VERSIONS(Destroy)

/* Keep a text as the error log. */
static void set_log(struct link *link, const char *text, size_t size) {
  char *copy = malloc(size);
  if (!copy) return;
  free(link->own_log);
  link->own_log = memcpy(copy, text, size);
  link->log = (uint64_t)copy;
  link->log_size = size;
}

static int is_of_type(int type, const void *data, size_t size) {
  if (type == PTX) return memmem(data, size, ".version", 8) != 0;
  if (type == CUBIN) return size > 4 && !memcmp(data, "\177ELF", 4);
  return (type >= LTO_IR && type <= INDEX) || type == ANY;
}

EXPORT int nvJitLinkAddData(struct link *link, int type, const void *data, size_t size,
                            const char *name) {
  if (!link) return NULL_INPUT;
  if (!data || !size) return INVALID_INPUT;
  if (link->is_complete) return INTERNAL;
  if (!is_of_type(type, data, size)) {
    char log[512];
    snprintf(log, sizeof log, "bad input: %s is not of its type", name ? name : "it");
    return set_log(link, log, strlen(log) + 1), INCORRECT_INPUT_TYPE;
  }
  struct input *grown = realloc(link->inputs, (link->count + 1) * sizeof *grown);
  char *copy = malloc(size);
  if (grown) link->inputs = grown;
  if (!grown || !copy) return free(copy), INTERNAL;
  memcpy(copy, data, size);
  grown[link->count++] = (struct input){type, size, copy, strdup(name ? name : "")};
  return SUCCESS;
}
VERSIONS(AddData)

EXPORT int nvJitLinkAddFile(struct link *link, int type, const char *name) {
  FILE *file = name ? fopen(name, "rb") : 0;
  char *data = 0;
  size_t size = 0, n, room = 0;
  int result = INVALID_INPUT;
  if (!file) return result;
  do {
    room += 1 << 20;
    char *grown = realloc(data, room);
    if (!grown) break;
    data = grown;
    size += n = fread(data + size, 1, room - size, file);
  } while (size == room);
  if (!ferror(file) && size < room) result = nvJitLinkAddData(link, type, data, size, name);
  fclose(file);
  free(data);
  return result;
}
VERSIONS(AddFile)

/* Replace all inputs of LTO-IR by PTX, which NVIDIA's linker makes of them. */
static int lto_ptx(struct link *link) {
  static const char missing[] = "LTO-IR needs NVIDIA's library, which is not installed";
  int (*create)(void **, uint32_t, char **), (*destroy)(void **), (*complete)(void *);
  int (*add)(void *, int, const void *, size_t, const char *);
  int (*size_of)(void *, size_t *), (*copy)(void *, void *);
  void *library = dlopen(LINKER_NAME "@nvidia", RTLD_NOW | RTLD_LOCAL), *real = 0;
  if (!library) return set_log(link, missing, sizeof missing), UNRECOGNIZED_INPUT;
#define FOUND(function, name) (*(void **)&function = dlsym(library, "nvJitLink" name)) != 0
  if (!(FOUND(create, "Create") && FOUND(destroy, "Destroy") && FOUND(complete, "Complete") &&
        FOUND(add, "AddData")))
    return set_log(link, missing, sizeof missing), UNRECOGNIZED_INPUT;
  uint32_t count = link->words_count;
  link->words[count] = "-lto", link->words[count + 1] = "-ptx";
  int result = create(&real, count + 2, link->words);
  if (result) return result;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < link->count; i++) {
    struct input each = link->inputs[i];
    if (each.type != LTO_IR) {
      link->inputs[kept++] = each;
      continue;
    }
    if (!result) result = add(real, LTO_IR, each.data, each.size, each.name);
    free(each.data), free(each.name);
  }
  link->count = kept;
  if (!result) result = complete(real);
  size_t size = 0;
  char *text = 0;
  const char *size_name = result ? "nvJitLinkGetErrorLogSize" : "nvJitLinkGetLinkedPtxSize";
  const char *copy_name = result ? "nvJitLinkGetErrorLog" : "nvJitLinkGetLinkedPtx";
  *(void **)&size_of = dlsym(library, size_name), *(void **)&copy = dlsym(library, copy_name);
  int has_size = size_of && copy && !size_of(real, &size) && size;
  if (has_size && (text = malloc(size)) && !copy(real, text)) {
    if (result) set_log(link, text, size);
    else result = nvJitLinkAddData(link, PTX, text, size, "LTO");
  } else if (!result) result = INTERNAL; /* the code of the LTO-IR is missing */
  free(text);
  destroy(&real);
  return result;
}

EXPORT int nvJitLinkComplete(struct link *link) {
  if (!link) return NULL_INPUT;
  if (link->is_complete) return INTERNAL;
  for (uint64_t i = 0; i < link->count; i++)
    if (link->inputs[i].type == LTO_IR) {
      int result = lto_ptx(link);
      if (result) return link->is_complete = 1, result; /* inputs may be missing */
      break;
    }
  link->is_complete = 1;
  uint64_t w[4] = {(uint64_t)link, (uint64_t)link->inputs, link->count, link->most_registers};
  return cr_call(LINK, 0, w, 4);
}
VERSIONS(Complete)

/* A result is missing without an address; a log has then no bytes. */
static int size_of(uint64_t from, uint64_t size, int is_log, size_t *to) {
  if (!to) return NULL_INPUT;
  if (from || is_log) *to = from ? size : 0;
  return from || is_log ? SUCCESS : INVALID_INPUT;
}

static int copy_of(uint64_t from, uint64_t size, int is_log, void *to) {
  if (!to) return NULL_INPUT;
  if (from) memcpy(to, (void *)from, size);
  return from || is_log ? SUCCESS : INVALID_INPUT;
}

/* The linked machine code is PTX. */
#define RESULT(name, from, size, is_log)                                                        \
  EXPORT int nvJitLinkGet##name##Size(struct link *link, size_t *to) {                           \
    return link ? size_of(from, size, is_log, to) : NULL_INPUT;                                 \
  }                                                                                             \
  VERSIONS(Get##name##Size)                                                                     \
  EXPORT int nvJitLinkGet##name(struct link *link, void *to) {                                   \
    return link ? copy_of(from, size, is_log, to) : NULL_INPUT;                                 \
  }                                                                                             \
  VERSIONS(Get##name)

RESULT(LinkedCubin, link->image, link->image_size, 0)
RESULT(LinkedPtx, link->makes_ptx ? link->image : 0, link->image_size, 0)
RESULT(LinkedLTOIR, 0, 0, 0)
RESULT(ErrorLog, link->log, link->log_size, 1)
RESULT(InfoLog, 0, 0, 1)
