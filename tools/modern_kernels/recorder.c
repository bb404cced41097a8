// Records kernel launches of a CUDA program: the image, the geometry, the parameters, and all device
// memory before and after the launch. Preloaded (LD_PRELOAD), it replaces dlsym and cuGetProcAddress,
// through which the runtime, PyTorch and Triton find the driver's functions.
//
// Environment: RECORD_TO, the folder; RECORD_MATCH, a part of the kernel's name; RECORD_COUNT, the number
// of launches (1); RECORD_SKIP, matching launches to skip first (0); RECORD_BYTES, the most memory that
// is recorded (256 MiB).
//
// cc -shared -fPIC -O1 -w -o recorder.so recorder.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
typedef int Result;
typedef void *Pointer;
typedef unsigned long long Address;
static Pointer (*real_dlsym)(Pointer, const char *);
static Pointer lib(void) {
    static Pointer l;
    if (!l)
        l = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return l;
}
static Pointer fn(const char *s) {
    if (!real_dlsym)
        dlsym(NULL, "x");
    return real_dlsym(lib(), s);
}
#define CALL(name, ...) ((Result (*)())fn(name))(__VA_ARGS__)
struct range {
    Address a;
    size_t n;
    int live;
    char name[128];
};
static struct range mem[65536];
static int n_mem;
static struct image {
    Pointer handle;
    int index;
} images[4096];
static int n_images, n_files, n_rec, n_seen;
static const char *dir(void) {
    const char *d = getenv("RECORD_TO");
    return d ? d : "/tmp/rec";
}
static void add(Address a, size_t n, const char *name) {
    if (*name)
        for (int i = 0; i < n_mem; i++)
            if (mem[i].live && mem[i].a == a)
                return;
    if (n_mem < 65536) {
        mem[n_mem].a = a;
        mem[n_mem].n = n;
        mem[n_mem].live = 1;
        snprintf(mem[n_mem].name, 128, "%s", name);
        n_mem++;
    }
}
static void drop(Address a) {
    for (int i = n_mem - 1; i >= 0; i--)
        if (mem[i].live && mem[i].a == a) {
            mem[i].live = 0;
            return;
        }
}
static size_t image_size(const unsigned char *p) {
    if (*(uint32_t *)p == 0xBA55ED50)
        return *(uint16_t *)(p + 6) + *(uint64_t *)(p + 8);
    if (!memcmp(p, "\177ELF", 4)) {
        uint64_t shoff = *(uint64_t *)(p + 40);
        size_t end = shoff + (size_t)*(uint16_t *)(p + 58) * *(uint16_t *)(p + 60);
        uint64_t phoff = *(uint64_t *)(p + 32);
        size_t e2 = phoff + (size_t)*(uint16_t *)(p + 54) * *(uint16_t *)(p + 56);
        if (e2 > end)
            end = e2;
        for (int i = 0; i < *(uint16_t *)(p + 60); i++) {
            const unsigned char *s = p + shoff + i * *(uint16_t *)(p + 58);
            if (*(uint32_t *)(s + 4) != 8 && *(uint32_t *)(s + 4) != 0x7000000a) {
                size_t e = *(uint64_t *)(s + 24) + *(uint64_t *)(s + 32);
                if (e > end && e < (1u << 30))
                    end = e;
            }
        }
        return end;
    }
    return strlen((const char *)p);
}
static void image(Pointer handle, const void *code) {
    const unsigned char *p = code;
    if (!p)
        return;
    if (*(uint32_t *)p == 0x466243b1)
        p = *(const unsigned char **)(p + 8);
    char path[512];
    mkdir(dir(), 0777);
    snprintf(path, 512, "%s/image%d", dir(), n_files);
    FILE *f = fopen(path, "wb");
    if (f) {
        fwrite(p, 1, image_size(p), f);
        fclose(f);
    }
    if (n_images < 4096) {
        images[n_images].handle = handle;
        images[n_images].index = n_files;
        n_images++;
    }
    n_files++;
}
static int image_of(Pointer h) {
    for (int i = n_images - 1; i >= 0; i--)
        if (images[i].handle == h)
            return images[i].index;
    return -1;
}
static void dump(FILE *f) {
    for (int i = 0; i < n_mem; i++)
        if (mem[i].live) {
            void *b = malloc(mem[i].n);
            Result r = CALL("cuMemcpyDtoH_v2", b, mem[i].a, mem[i].n);
            if (r)
                memset(b, 0, mem[i].n);
            fwrite(b, 1, mem[i].n, f);
            free(b);
        }
}
static FILE *before(Pointer f, unsigned *g, unsigned smem, unsigned *cluster, int coop, Pointer *k,
                    Pointer *extra) {
    const char *name = NULL;
    Pointer owner = NULL, kern = NULL;
    int is_kernel = 0;
    if (CALL("cuKernelGetName", &name, f) == 0 && name)
        is_kernel = 1;
    else {
        name = NULL;
        CALL("cuFuncGetName", &name, f);
    }
    if (!name)
        return NULL;
    const char *m = getenv("RECORD_MATCH");
    if (m && !strstr(name, m))
        return NULL;
    const char *x = getenv("RECORD_COUNT"), *s = getenv("RECORD_SKIP");
    n_seen++;
    if (s && n_seen <= atoi(s))
        return NULL;
    if (n_rec >= (x ? atoi(x) : 1))
        return NULL;
    size_t total = 0;
    for (int i = 0; i < n_mem; i++)
        if (mem[i].live)
            total += mem[i].n;
    const char *lim = getenv("RECORD_BYTES");
    if (total > (lim ? atoll(lim) : 256ll << 20)) {
        fprintf(stderr, "recorder: %zu bytes, too many\n", total);
        return NULL;
    }
    CALL("cuCtxSynchronize");
    int idx = -1;
    if (is_kernel && CALL("cuKernelGetLibrary", &owner, f) == 0)
        idx = image_of(owner);
    if (idx < 0 && CALL("cuFuncGetModule", &owner, f) == 0)
        idx = image_of(owner);
    char path[512];
    mkdir(dir(), 0777);
    snprintf(path, 512, "%s/launch%d", dir(), n_rec++);
    FILE *o = fopen(path, "wb");
    if (!o)
        return NULL;
    fprintf(
        o,
        "kernel %s\nimage %d\ngrid %u %u %u\nblock %u %u %u\nshared %u\ncluster %u %u %u\ncooperative %d\n",
        name, idx, g[0], g[1], g[2], g[3], g[4], g[5], smem, cluster[0], cluster[1], cluster[2], coop);
    unsigned char buf[8192];
    size_t end = 0;
    if (extra) {
        void *p = NULL;
        size_t n = 0;
        for (int i = 0; extra[i]; i += 2) {
            if ((size_t)extra[i] == 1)
                p = extra[i + 1];
            if ((size_t)extra[i] == 2)
                n = *(size_t *)extra[i + 1];
        }
        memcpy(buf, p, n);
        end = n;
        fprintf(o, "packed %zu\n", n);
    } else
        for (size_t i = 0; i < 4096; i++) {
            size_t off, n;
            Result r = is_kernel ? CALL("cuKernelGetParamInfo", f, i, &off, &n)
                                 : CALL("cuFuncGetParamInfo", f, i, &off, &n);
            if (r)
                break;
            while (end < off)
                buf[end++] = 0;
            memcpy(buf + off, k[i], n);
            end = off + n;
            fprintf(o, "parameter %zu %zu\n", off, n);
        }
    fprintf(o, "bytes ");
    for (size_t i = 0; i < end; i++)
        fprintf(o, "%02x", buf[i]);
    fprintf(o, "\n");
    for (int i = 0; i < n_mem; i++)
        if (mem[i].live)
            fprintf(o, "memory %llx %zu %s\n", mem[i].a, mem[i].n, *mem[i].name ? mem[i].name : "-");
    fprintf(o, "end\n");
    dump(o);
    (void)kern;
    return o;
}
static void after(FILE *o) {
    if (!o)
        return;
    Result r = CALL("cuCtxSynchronize");
    dump(o);
    fclose(o);
    if (r)
        fprintf(stderr, "recorder: error %d\n", r);
}
static Result (*r_launch)(Pointer, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          Pointer, Pointer *, Pointer *);
static Result h_launch(Pointer f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                       unsigned s, Pointer st, Pointer *k, Pointer *x) {
    unsigned geo[6] = {a, b, c, d, e, g}, cl[3] = {0, 0, 0};
    FILE *o = before(f, geo, s, cl, 0, k, x);
    Result r = r_launch(f, a, b, c, d, e, g, s, st, k, x);
    after(o);
    return r;
}
static Result (*r_coop)(Pointer, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        Pointer, Pointer *);
static Result h_coop(Pointer f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                     unsigned s, Pointer st, Pointer *k) {
    unsigned geo[6] = {a, b, c, d, e, g}, cl[3] = {0, 0, 0};
    FILE *o = before(f, geo, s, cl, 1, k, NULL);
    Result r = r_coop(f, a, b, c, d, e, g, s, st, k);
    after(o);
    return r;
}
struct attr {
    unsigned id;
    char pad[4];
    unsigned char v[64];
};
struct config {
    unsigned g[6], smem;
    Pointer stream;
    struct attr *attrs;
    unsigned n;
};
static Result (*r_launchx)(struct config *, Pointer, Pointer *, Pointer *);
static Result h_launchx(struct config *c, Pointer f, Pointer *k, Pointer *x) {
    unsigned cl[3] = {0, 0, 0};
    int coop = 0;
    for (unsigned i = 0; i < c->n; i++) {
        if (c->attrs[i].id == 4)
            memcpy(cl, c->attrs[i].v, 12);
        if (c->attrs[i].id == 2)
            coop = *(int *)c->attrs[i].v;
    }
    FILE *o = before(f, c->g, c->smem, cl, coop, k, x);
    Result r = r_launchx(c, f, k, x);
    after(o);
    return r;
}
static Result (*r_mod)(Pointer *, const void *);
static Result h_mod(Pointer *m, const void *i) {
    Result r = r_mod(m, i);
    if (!r)
        image(*m, i);
    return r;
}
static Result (*r_modx)(Pointer *, const void *, unsigned, Pointer, Pointer);
static Result h_modx(Pointer *m, const void *i, unsigned n, Pointer o, Pointer v) {
    Result r = r_modx(m, i, n, o, v);
    if (!r)
        image(*m, i);
    return r;
}
static Result (*r_fat)(Pointer *, const void *);
static Result h_fat(Pointer *m, const void *i) {
    Result r = r_fat(m, i);
    if (!r)
        image(*m, i);
    return r;
}
static Result (*r_lib)(Pointer *, const void *, Pointer, Pointer, unsigned, Pointer, Pointer, unsigned);
static Result h_lib(Pointer *l, const void *c, Pointer a, Pointer b, unsigned n, Pointer d, Pointer e,
                    unsigned m) {
    Result r = r_lib(l, c, a, b, n, d, e, m);
    if (!r)
        image(*l, c);
    return r;
}
static Result (*r_libmod)(Pointer *, Pointer);
static Result h_libmod(Pointer *m, Pointer l) {
    Result r = r_libmod(m, l);
    if (!r && n_images < 4096) {
        images[n_images].handle = *m;
        images[n_images++].index = image_of(l);
    }
    return r;
}
static Result (*r_alloc)(Address *, size_t);
static Result h_alloc(Address *p, size_t n) {
    Result r = r_alloc(p, n);
    if (!r)
        add(*p, n, "");
    return r;
}
static Result (*r_pitch)(Address *, size_t *, size_t, size_t, unsigned);
static Result h_pitch(Address *p, size_t *q, size_t w, size_t h, unsigned e) {
    Result r = r_pitch(p, q, w, h, e);
    if (!r)
        add(*p, *q * h, "");
    return r;
}
static Result (*r_async)(Address *, size_t, Pointer);
static Result h_async(Address *p, size_t n, Pointer s) {
    Result r = r_async(p, n, s);
    if (!r)
        add(*p, n, "");
    return r;
}
static Result (*r_free)(Address);
static Result h_free(Address p) {
    drop(p);
    return r_free(p);
}
static Result (*r_freea)(Address, Pointer);
static Result h_freea(Address p, Pointer s) {
    drop(p);
    return r_freea(p, s);
}
static Result (*r_lg)(Address *, size_t *, Pointer, const char *);
static Result h_lg(Address *p, size_t *n, Pointer l, const char *s) {
    Address a;
    size_t b;
    Result r = r_lg(&a, &b, l, s);
    if (!r) {
        add(a, b, s);
        if (p)
            *p = a;
        if (n)
            *n = b;
    }
    return r;
}
static Result (*r_mg)(Address *, size_t *, Pointer, const char *);
static Result h_mg(Address *p, size_t *n, Pointer l, const char *s) {
    Address a;
    size_t b;
    Result r = r_mg(&a, &b, l, s);
    if (!r) {
        add(a, b, s);
        if (p)
            *p = a;
        if (n)
            *n = b;
    }
    return r;
}
static Pointer swap(const char *s, Pointer real) {
    if (!real)
        return real;
#define S(n, h, r)                                                                                           \
    if (!strcmp(s, n)) {                                                                                     \
        if (real != (Pointer)h)                                                                              \
            r = (typeof(r))real;                                                                             \
        return (Pointer)h;                                                                                   \
    }
    S("cuLaunchKernel", h_launch, r_launch)
    S("cuLaunchKernelEx", h_launchx, r_launchx)
    S("cuLaunchCooperativeKernel", h_coop, r_coop) S("cuModuleLoadData", h_mod, r_mod)
        S("cuModuleLoadDataEx", h_modx, r_modx) S("cuModuleLoadFatBinary", h_fat, r_fat)
            S("cuLibraryLoadData", h_lib, r_lib) S("cuLibraryGetModule", h_libmod, r_libmod)
                S("cuMemAlloc", h_alloc, r_alloc) S("cuMemAlloc_v2", h_alloc, r_alloc)
                    S("cuMemAllocPitch", h_pitch, r_pitch) S("cuMemAllocPitch_v2", h_pitch, r_pitch)
                        S("cuMemAllocAsync", h_async, r_async) S("cuMemFree", h_free, r_free)
                            S("cuMemFree_v2", h_free, r_free) S("cuMemFreeAsync", h_freea, r_freea)
                                S("cuLibraryGetGlobal", h_lg, r_lg) S("cuModuleGetGlobal", h_mg, r_mg)
                                    S("cuModuleGetGlobal_v2", h_mg, r_mg) return real;
}
static Result (*r_gpa2)(const char *, Pointer *, int, unsigned long long, Pointer);
static Result h_gpa2(const char *s, Pointer *f, int v, unsigned long long fl, Pointer st) {
    Result r = r_gpa2(s, f, v, fl, st);
    if (!r && f && *f) {
        if (!strcmp(s, "cuGetProcAddress") || !strcmp(s, "cuGetProcAddress_v2"))
            *f = (Pointer)h_gpa2;
        else
            *f = swap(s, *f);
    }
    return r;
}
Pointer dlsym(Pointer h, const char *s) {
    if (!real_dlsym)
        real_dlsym = (Pointer (*)(Pointer, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!real_dlsym)
        real_dlsym = (Pointer (*)(Pointer, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    Pointer p = real_dlsym(h, s);
    if (!p || s[0] != 'c' || s[1] != 'u')
        return p;
    if (!strcmp(s, "cuGetProcAddress_v2") || !strcmp(s, "cuGetProcAddress")) {
        if (p != (Pointer)h_gpa2)
            r_gpa2 = (typeof(r_gpa2))p;
        return (Pointer)h_gpa2;
    }
    return swap(s, p);
}
// A program that links libcuda itself:
#define EXPORT(name, sym) __attribute__((visibility("default")))
