/* The connection of a thread of the program with its server; see client.c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint64_t)__builtin_return_address(0))
#define PUT(slot, value) __builtin_memcpy(&w[slot], &(value), sizeof(value))

/* Requests beside the calls of the tables; their numbers are those of process_server.py. */
enum {
  SYNC = 0xffffff00u, /* answered when everything before it has been received */
  REGISTER,           /* kind, handle, host address, size or pointer, then the name */
  SITE,               /* an error's call: number, result, offset in the file; then code and file */
  GET_KERNEL,         /* host function, where to store a struct kernel */
  INIT_MODULE,        /* handle: managed variables get their addresses */
  LAUNCH,             /* kernel, result of its load, grid, block, shared, stream; then parameters */
  FOREIGN,            /* a private table of the driver was asked for; then file and function */
  LINK,               /* a struct link, its inputs and their number: see nvjitlink.c */
  LAUNCH_BY_CALL,     /* a LAUNCH without <<<>>>, whose result the program gets */
};

/* Make a call; return its result. The slots of its arguments are n words. */
EXPORT int cr_call(uint32_t id, uint64_t caller, const uint64_t *w, uint32_t n);
EXPORT int cr_call_data(uint32_t id, uint64_t caller, const uint64_t *w, uint32_t n,
                        const void *data, uint32_t bytes);
/* Keep a registration, which each process sends before its next call. */
EXPORT void cr_register(const uint64_t w[4], const char *name);
