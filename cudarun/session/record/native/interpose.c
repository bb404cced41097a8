/* Between the program and the driver: dlsym and cuGetProcAddress return this library's functions.
 *
 * Programs find the driver's functions in three ways: the linker binds them (this library is loaded
 * first and exports their names), dlsym returns them, or cuGetProcAddress does.
 */
#define _GNU_SOURCE
#include "interpose.h"

#include <dlfcn.h>
#include <string.h>

#define DEFINE(name, parameters) CUresult(*driver_##name) parameters;
DRIVER_CALLS(DEFINE)
#undef DEFINE

/* The addresses of this library's functions, whatever their types. */
#define DECLARE(name) extern char own_##name __asm__(#name);
REPLACED(DECLARE)
#undef DECLARE

typedef void *(*Lookup)(void *, const char *);

static struct {
    const char *name;
    void *ours, *theirs;
} replaced[] = {
#define ROW(name) {#name, &own_##name, 0},
    REPLACED(ROW)
#undef ROW
};
enum { COUNT = sizeof replaced / sizeof *replaced, PER_THREAD_STREAM = 2 };

static Lookup lookup;

/* AddressSanitizer calls dlsym before it can check memory. */
#define UNCHECKED __attribute__((no_sanitize("address")))

UNCHECKED static void find_lookup(void) {
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (int i = 0; i < 3 && !lookup; i++)
        lookup = (Lookup)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
}

static void *libcuda(void) {
    static void *handle;
    if (!handle) handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return handle;
}

void *driver_function(const char *name) {
    if (!lookup) find_lookup();
    void *handle = libcuda();
    return handle ? lookup(handle, name) : 0;
}

int driver_ready(void) {
    static int ready;
    if (ready || !libcuda()) return ready;
#define LOAD(name, parameters) driver_##name = (CUresult(*) parameters)driver_function(#name);
    DRIVER_CALLS(LOAD)
#undef LOAD
    for (int i = 0; i < COUNT; i++) replaced[i].theirs = driver_function(replaced[i].name);
    return ready = 1;
}

/* This library's function for a name as the driver exports it; null if it replaces none. */
static void *ours(const char *name) {
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(replaced[i].name, name)) return replaced[i].ours;
    return 0;
}

EXPORT UNCHECKED void *dlsym(void *handle, const char *name) {
    if (!lookup) find_lookup();
    /* A tail call: with RTLD_NEXT the result depends on the caller's address. */
    if (handle == RTLD_NEXT || name[0] != 'c' || name[1] != 'u') return lookup(handle, name);
    void *found = lookup(handle, name);
    void *own = found ? ours(name) : 0;
    return own ? own : found;
}

/* This library's function for one that cuGetProcAddress returns, which has no version in its name.
 */
static void *replacement(const char *symbol, void *found, int version, uint64_t flags) {
    static const char *const endings[] = {"_ptsz", "_v2", ""};
    if (!found || !driver_ready()) return found;
    for (int i = 0; i < COUNT; i++)
        if (replaced[i].theirs == found) return replaced[i].ours;
    if (!strcmp(symbol, "cuGetProcAddress"))
        return ours(version < 12000 ? symbol : "cuGetProcAddress_v2");
    for (int i = flags & PER_THREAD_STREAM ? 0 : 1; i < 3; i++) {
        char name[128];
        if (strlen(symbol) + 16 > sizeof name) return found;
        void *own = ours(strcat(strcpy(name, symbol), endings[i]));
        if (own) return own;
    }
    return found;
}

EXPORT CUresult cuGetProcAddress(const char *symbol, void **found, int version, uint64_t flags) {
    REAL(cuGetProcAddress, const char *, void **, int, uint64_t);
    CUresult result = real(symbol, found, version, flags);
    if (!result && found) *found = replacement(symbol, *found, version, flags);
    return result;
}

EXPORT CUresult cuGetProcAddress_v2(
    const char *symbol, void **found, int version, uint64_t flags, int *status) {
    REAL(cuGetProcAddress_v2, const char *, void **, int, uint64_t, int *);
    CUresult result = real(symbol, found, version, flags, status);
    if (!result && found) *found = replacement(symbol, *found, version, flags);
    return result;
}
