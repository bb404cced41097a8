/* The management library (NVML) of the emulated devices: what programs ask before they use a GPU.
 *
 * It answers by the driver library. Other queries, as those of temperatures, clocks and
 * links, are not supported, as all functions in tables/nvml.txt. */
#define _GNU_SOURCE
#include "client.h"
#include <stdio.h>
#include <string.h>

enum { SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND = 6, TOO_SMALL = 7 };
enum { NO_DRIVER = 9, UNKNOWN = 999 };
enum { MAJOR = 75, MINOR = 76 }; /* CUdevice_attribute */
enum { FEATURE_DISABLED };

typedef uintptr_t device; /* the number of a device, plus 1 */

int cuInit(unsigned);
int cuDriverGetVersion(int *);
int cuDeviceGetCount(int *);
int cuDeviceGetName(char *, int, int);
int cuDeviceGetUuid_v2(unsigned char[16], int);
int cuDeviceGetPCIBusId(char *, int, int);
int cuDeviceGetByPCIBusId(int *, const char *);
int cuDeviceTotalMem_v2(size_t *, int);
int cuDeviceGetAttribute(int *, int, int);
int cuCtxGetDevice(int *);
int cuMemGetInfo_v2(size_t *, size_t *);

static unsigned users;

EXPORT int nvmlInit_v2(void) {
  if (cuInit(0)) return NO_DRIVER;
  users++;
  return SUCCESS;
}
EXPORT int nvmlInit(void) { return nvmlInit_v2(); }
EXPORT int nvmlInitWithFlags(unsigned flags) { return (void)flags, nvmlInit_v2(); }
EXPORT int nvmlShutdown(void) { return users ? (void)users--, SUCCESS : UNINITIALIZED; }

EXPORT const char *nvmlErrorString(int error) {
  switch (error) {
    case SUCCESS: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
    case TOO_SMALL: return "Insufficient Size";
    case NO_DRIVER: return "Driver Not Loaded";
    default: return "Unknown Error";
  }
}

static int copied(char *to, unsigned size, const char *text) {
  if (!users) return UNINITIALIZED;
  if (!to) return INVALID_ARGUMENT;
  if (strlen(text) >= size) return TOO_SMALL;
  strcpy(to, text);
  return SUCCESS;
}

/* Return the error of a call for a device, or 0. */
static int check(device d, const void *result) {
  int count = 0;
  if (!users) return UNINITIALIZED;
  if (cuDeviceGetCount(&count)) return UNKNOWN;
  return d && d <= (device)count && result ? SUCCESS : INVALID_ARGUMENT;
}

/* --- the system ------------------------------------------------------------------------------- */

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version) {
  return !version ? INVALID_ARGUMENT : cuDriverGetVersion(version) ? UNKNOWN : SUCCESS;
}
EXPORT int nvmlSystemGetCudaDriverVersion(int *version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

/* The version of the emulated driver is that of CUDA; a display driver has another one. */
static int version(char *to, unsigned size, const char *format) {
  int number = 0;
  char text[32];
  if (cuDriverGetVersion(&number)) return UNKNOWN;
  snprintf(text, sizeof text, format, number / 1000, number % 1000 / 10);
  return copied(to, size, text);
}
EXPORT int nvmlSystemGetDriverVersion(char *to, unsigned size) { return version(to, size, "%d.%d"); }
EXPORT int nvmlSystemGetNVMLVersion(char *to, unsigned size) { return version(to, size, "%d.%d.0"); }

/* --- devices ---------------------------------------------------------------------------------- */

EXPORT int nvmlDeviceGetCount_v2(unsigned *count) {
  int found = 0;
  if (!users) return UNINITIALIZED;
  if (!count) return INVALID_ARGUMENT;
  if (cuDeviceGetCount(&found)) return UNKNOWN;
  *count = found;
  return SUCCESS;
}
EXPORT int nvmlDeviceGetCount(unsigned *count) { return nvmlDeviceGetCount_v2(count); }

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *d) {
  int error = check(index + 1ul, d);
  if (!error) *d = index + 1ul;
  return error;
}
EXPORT int nvmlDeviceGetHandleByIndex(unsigned index, device *d) {
  return nvmlDeviceGetHandleByIndex_v2(index, d);
}

EXPORT int nvmlDeviceGetIndex(device d, unsigned *index) {
  int error = check(d, index);
  if (!error) *index = d - 1;
  return error;
}
EXPORT int nvmlDeviceGetMinorNumber(device d, unsigned *number) {
  return nvmlDeviceGetIndex(d, number);
}

EXPORT int nvmlDeviceGetUUID(device d, char *to, unsigned size) {
  unsigned char b[16];
  char text[48] = "GPU-";
  int error = check(d, to);
  if (error) return error;
  if (cuDeviceGetUuid_v2(b, d - 1)) return UNKNOWN;
  for (int i = 0, at = 4; i < 16; i++)
    at += sprintf(text + at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
  return copied(to, size, text);
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, device *d) {
  unsigned count = 0;
  char own[48];
  int error = nvmlDeviceGetCount_v2(&count);
  if (error || !uuid || !d) return error ? error : INVALID_ARGUMENT;
  for (unsigned i = 1; i <= count; i++)
    if (!nvmlDeviceGetUUID(i, own, sizeof own) && !strcmp(own, uuid)) return *d = i, SUCCESS;
  return NOT_FOUND;
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *id, device *d) {
  int number;
  if (!users) return UNINITIALIZED;
  if (!id || !d) return INVALID_ARGUMENT;
  if (cuDeviceGetByPCIBusId(&number, id)) return NOT_FOUND;
  *d = number + 1;
  return SUCCESS;
}
EXPORT int nvmlDeviceGetHandleByPciBusId(const char *id, device *d) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, d);
}

struct pci {
  char legacy[16];
  unsigned domain, bus, device, number, subsystem;
  char id[32];
};

EXPORT int nvmlDeviceGetPciInfo_v3(device d, struct pci *to) {
  int error = check(d, to);
  struct pci found = {.number = 0x10de};
  if (error) return error;
  if (cuDeviceGetPCIBusId(found.legacy, sizeof found.legacy, d - 1)) return UNKNOWN;
  sscanf(found.legacy, "%x:%x:%x", &found.domain, &found.bus, &found.device);
  snprintf(found.id, sizeof found.id, "%08x:%02x:%02x.0", found.domain, found.bus, found.device);
  *to = found;
  return SUCCESS;
}

EXPORT int nvmlDeviceGetName(device d, char *to, unsigned size) {
  char name[256];
  int error = check(d, to);
  if (error) return error;
  return cuDeviceGetName(name, sizeof name, d - 1) ? UNKNOWN : copied(to, size, name);
}

EXPORT int nvmlDeviceGetCudaComputeCapability(device d, int *major, int *minor) {
  int error = check(d, major && minor ? major : 0);
  if (error) return error;
  error = cuDeviceGetAttribute(major, MAJOR, d - 1) || cuDeviceGetAttribute(minor, MINOR, d - 1);
  return error ? UNKNOWN : SUCCESS;
}

/* Return the memory of a device: used is what this process has allocated in its context. */
static int memory(device d, unsigned long long *total, unsigned long long *left) {
  size_t all, unused, whole;
  int current;
  if (cuDeviceTotalMem_v2(&all, d - 1)) return UNKNOWN;
  *total = *left = all;
  if (!cuCtxGetDevice(&current) && current == (int)d - 1 && !cuMemGetInfo_v2(&unused, &whole))
    *left = unused;
  return SUCCESS;
}

EXPORT int nvmlDeviceGetMemoryInfo(device d, unsigned long long total_free_used[3]) {
  int error = check(d, total_free_used);
  if (!error) error = memory(d, total_free_used, total_free_used + 1);
  if (!error) total_free_used[2] = total_free_used[0] - total_free_used[1];
  return error;
}

struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, left, used;
};

EXPORT int nvmlDeviceGetMemoryInfo_v2(device d, struct memory_v2 *to) {
  int error = check(d, to);
  if (!error) error = memory(d, &to->total, &to->left);
  if (!error) to->reserved = 0, to->used = to->total - to->left;
  return error;
}

/* No other process uses a device. */
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *count, void *infos) {
  int error = check(d, count);
  (void)infos;
  if (!error) *count = 0;
  return error;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses(device d, unsigned *count, void *infos) {
  return nvmlDeviceGetComputeRunningProcesses_v3(d, count, infos);
}

/* Declare a function about a switch, which is off, or a number, which is fixed. */
#define FIXED(name, value)                 \
  EXPORT int name(device d, unsigned *to) { \
    int error = check(d, to);              \
    if (!error) *to = value;               \
    return error;                          \
  }
FIXED(nvmlDeviceGetPersistenceMode, FEATURE_DISABLED)
FIXED(nvmlDeviceGetDisplayMode, FEATURE_DISABLED)
FIXED(nvmlDeviceGetDisplayActive, FEATURE_DISABLED)
FIXED(nvmlDeviceGetComputeMode, 0) /* NVML_COMPUTEMODE_DEFAULT */

EXPORT int nvmlDeviceGetMigMode(device d, unsigned *current, unsigned *pending) {
  (void)d, (void)current, (void)pending;
  return users ? NOT_SUPPORTED : UNINITIALIZED;
}

#define UNSUPPORTED(name) \
  EXPORT int name(void) { return users ? NOT_SUPPORTED : UNINITIALIZED; }
#include "names.inc"
