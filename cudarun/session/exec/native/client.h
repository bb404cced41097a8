/* The connection of a thread of the program with its server; see client.c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint64_t)__builtin_return_address(0))
#define PUT(slot, value) __builtin_memcpy(&w[slot], &(value), sizeof(value))

/* Of the number of a call: while it succeeds, a launch that has succeeded does so again. All the
 * requests below have it, too. */
#define NEUTRAL (1u << 30)
#define READS_ERROR (1u << 29) /* the same of a call that returns the last error */

/* Requests beside the calls of the tables; their numbers are those of process_server.py. */
enum {
  SYNC = 0xffffff00u, /* answered when everything before it has been received */
  REGISTER,           /* kind, handle, host address, size or pointer, then the name */
  SITE,               /* an error's call: number, result, offset in the file; then code and file */
  GET_KERNEL,         /* host function, where to store a struct kernel */
  INIT_MODULE,        /* handle: managed variables get their addresses */
  LAUNCH,             /* the words of cr_launch, result of the kernel's load; then parameters */
  FOREIGN,            /* a private table of the driver was asked for; then file and function */
  LINK,               /* a struct link, its inputs and their number: see nvjitlink.c */
  LAUNCH_BY_CALL,     /* a LAUNCH without <<<>>>, whose result the program gets */
  POST,               /* without an answer: the words of cr_launch, changes; then parameters */
  GET_PARAMETERS,     /* handle of a kernel or function, where to store a struct kernel */
};

struct kernel {
  uint64_t handle; /* 0 if it cannot be loaded: its launch fails with the error */
  uint32_t count, bytes;
  int32_t error, padding;
  struct {
    uint32_t offset, size;
  } parameters[4096];
};

/* Make a call; return its result. The slots of its arguments are n words. */
EXPORT int cr_call(uint32_t id, uint64_t caller, const uint64_t *w, uint32_t n);
EXPORT int cr_call_data(uint32_t id, uint64_t caller, const uint64_t *w, uint32_t n,
                        const void *data, uint32_t bytes);
/* Make the call of a launch. Its words begin with kernel, grid, block, shared memory and stream.
 *
 * The answer of a launch that must succeed, as an equal one has, is not waited for. */
EXPORT int cr_launch(uint32_t id, uint64_t caller, const uint64_t *w, uint32_t n,
                     const void *parameters, uint32_t bytes);
/* Return a kernel, which a request with an id returns for a key: asked for once. */
EXPORT struct kernel *cr_kernel(uint32_t id, const void *key);
/* Forget the kernels. */
EXPORT void cr_forget_kernels(void);
/* Pack the parameters of a launch in a buffer of kernel->bytes; return false without one. */
EXPORT int cr_pack(const struct kernel *kernel, void **args, char *buffer);
/* Keep a registration, which each process sends before its next call. */
EXPORT void cr_register(const uint64_t w[4], const char *name);
