/* A program as nvcc writes one: it registers a fat binary, and calls the runtime by its functions.
   The first argument says what it does; the declarations are those of the toolkit's headers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;
typedef struct { int x, y, z, w, kind; } channels;
typedef void *stream;

int cudaMalloc(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaHostAlloc(void **, size_t, unsigned);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMallocArray(void **, const channels *, size_t, size_t, unsigned);
int cudaMemcpyToArray(void *, size_t, size_t, const void *, size_t, int);
int cudaMemcpyFromArray(void *, const void *, size_t, size_t, size_t, int);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaSetDevice(int);
int cudaLaunchHostFunc(stream, void (*)(void *), void *);
int cudaStreamAddCallback(stream, void (*)(stream, int, void *), void *, unsigned);
int cudaStreamCreate(stream *);
int cudaStreamCreateWithFlags(stream *, unsigned);
int cudaStreamSynchronize(stream);
int cudaMemcpyAsync(void *, const void *, size_t, int, stream);
int cudaStreamEndCapture(stream, void **);
int cudaGraphCreate(void **, unsigned);
int cudaGraphAddKernelNode(void **, void *, void **, size_t, void *);
int cudaGraphKernelNodeGetParams(void *, void *);
int cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cudaGraphExecKernelNodeSetParams(void *, void *, const void *);
int cudaGraphExecUpdate(void *, void *, void *);
int cudaGraphLaunch(void *, stream);
int cudaGetKernel(void **, const void *);
int cudaFuncGetName(const char **, const void *);
int cudaFuncGetAttributes(void *, const void *);
int cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, uint64_t, void *);
int cudaGraphExecDestroy(void *);
int cudaGraphConditionalHandleCreate(uint64_t *, void *, unsigned, unsigned);
int cudaGraphAddNode(void **, void *, void **, const void *, size_t, void *); /* of CUDA 13 */
int cudaGraphNodeSetParams(void *, void *);
int cudaGraphDebugDotPrint(void *, const char *, unsigned);
int cudaMemcpyBatchAsync(void **, void **, size_t *, size_t, void *, size_t *, size_t, stream);
int cudaMemPoolCreate(void **, void *);
int cudaCreateTextureObject(uint64_t *, void *, void *, void *);
typedef struct { char bytes[64]; } ipc_handle;
int cudaIpcGetMemHandle(ipc_handle *, void *);
int cudaIpcOpenMemHandle(void **, ipc_handle, unsigned);
int cudaIpcCloseMemHandle(void *);
int cudaIpcGetEventHandle(ipc_handle *, void *);
int cudaIpcOpenEventHandle(void **, ipc_handle);
int cudaEventCreateWithFlags(void **, unsigned);
int cudaEventRecord(void *, stream);
int cudaEventSynchronize(void *);
int cudaStreamWaitEvent(stream, void *, unsigned);
int cudaMemRangeGetAttributes(void **, size_t *, int *, size_t, const void *, size_t);
int cudaGraphAddEmptyNode(void **, void *, void *const *, size_t);
int cudaGraphGetRootNodes(void *, void **, size_t *);
int cudaGraphNodeGetDependencies(void *, void **, size_t *); /* of CUDA 12 */
int cudaGraphNodeGetDependentNodes(void *, void **, size_t *);
int cudaStreamBeginCapture(stream, int);
__attribute__((weak)) /* it is of CUDA 12 */
int cudaStreamGetCaptureInfo_v2(stream, int *, uint64_t *, void **, void ***, size_t *);
int cudaGraphicsGLRegisterBuffer(void);
const char *cudaGetErrorName(int);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, stream);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, stream);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *,
                            void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);

enum { TO_DEVICE = 1, TO_HOST = 2 };

static const unsigned char image[] = {
#include "image.inc"
};
static struct { int magic, version; const void *data, *more; } wrapper = {0x466243b1, 1, image, 0};

static void scale(void) {}
static void wait_for(void) {}
static void hello(void) {}
static void count_down(void) {}
static int factor;

__attribute__((constructor)) static void register_code(void) {
  void **handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, (char *)scale, "scale", "scale", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(handle, (char *)wait_for, "_Z8wait_forPViPi", "_Z8wait_forPViPi", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(handle, (char *)hello, "hello", "hello", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(handle, (char *)count_down, "count_down", "count_down", -1, 0, 0, 0, 0, 0);
  __cudaRegisterVar(handle, (char *)&factor, "factor", "factor", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
}

static void check(int error, int line) {
  if (!error) return;
  printf("line %d: %s\n", line, cudaGetErrorName(error));
  exit(3);
}
#define CHECK(call) check(call, __LINE__)

static int launch(const void *function, unsigned threads, void **args, stream s) {
  return cudaLaunchKernel(function, (dim3){1, 1, 1}, (dim3){threads, 1, 1}, args, 0, s);
}

static int *scaled(unsigned threads, int *host) {
  int *device, by = 3;
  void *args[] = {&device};
  CHECK(cudaMalloc((void **)&device, 32 * sizeof *device));
  CHECK(cudaMemcpy(device, host, 32 * sizeof *host, TO_DEVICE));
  CHECK(cudaMemcpyToSymbol(&factor, &by, sizeof by, 0, TO_DEVICE));
  CHECK(launch(scale, threads, args, 0));
  return device;
}

static volatile int go;
static void wait_for_main(void *seen) {
  while (!go) usleep(100);
  *(int *)seen = 1;
}

static void add_one(stream s, int error, void *seen) {
  (void)s;
  *(int *)seen += 1 + error;
}

static void exit_with_error(void *unused) {
  (void)unused;
  void *p;
  exit(cudaMalloc(&p, 4) == 800 ? 42 : 1);
}

static void nothing(void *unused) { (void)unused; }

static void work_long(void *unused) { (void)unused, usleep(300000); }

/* Launch a kernel that never ends; return once it runs. */
static void start_endless(void) {
  int *zero, *out;
  CHECK(cudaMallocManaged((void **)&zero, 4, 1));
  CHECK(cudaMallocManaged((void **)&out, 4, 1));
  *zero = *out = 0;
  void *args[] = {&zero, &out};
  CHECK(launch(wait_for, 1, args, 0));
  while (!*(volatile int *)out) usleep(100);
}

static void *in_thread(void *host) {
  int *device = scaled(32, host);
  CHECK(cudaMemcpy(host, device, 32 * sizeof *device, TO_HOST));
  return 0;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
  int host[32];
  for (int i = 0; i < 32; i++) host[i] = i;
  if (!strcmp(what, "scale")) {
    int *device = scaled(32, host), rows[2][8] = {{0}};
    CHECK(cudaMemcpy(host, device, sizeof host, TO_HOST));
    CHECK(cudaMemcpy2D(rows, 32, device, 16, 16, 2, TO_HOST)); /* 4 of 8 in each row */
    printf("%d %d %d %d\n", host[31], rows[0][3], rows[0][4], rows[1][0]);
    return 4;
  }
  if (!strcmp(what, "fault")) {
    scaled(33, host);
    return cudaDeviceSynchronize() != 700;
  }
  if (!strcmp(what, "ignored")) {
    void *args[] = {host};
    __cudaPushCallConfiguration((dim3){1, 1, 1}, (dim3){2000, 1, 1}, 0, 0); /* as of <<<>>> */
    cudaMalloc((void **)&args[0], 1ull << 50);
    launch(scale, 2000, args, 0);
    return 0;
  }
  if (!strcmp(what, "probing")) {
    void *p, *args[] = {&p};
    if (cudaMalloc(&p, 1ull << 50) == 0) return 1;
    if (launch(scale, 2000, args, 0) != 9) return 1;
    cudaSetDevice(99);
    if (cudaGetLastError() == 0) return 1;
    return cudaGraphicsGLRegisterBuffer() != 801;
  }
  if (!strcmp(what, "streams")) { /* each waits for what the program does next */
    int seen = 0, *flag, *out;
    stream s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaLaunchHostFunc(s, wait_for_main, &seen));
    CHECK(cudaStreamAddCallback(s, add_one, &seen, 0));
    CHECK(cudaHostAlloc((void **)&flag, 4, 2));
    CHECK(cudaMallocManaged((void **)&out, 4, 1));
    *flag = *out = 0;
    void *args[] = {&flag, &out};
    CHECK(launch(wait_for, 1, args, (stream)2));
    go = *flag = 1;
    CHECK(cudaDeviceSynchronize());
    printf("%d %d\n", seen, *out);
    return 0;
  }
  if (!strcmp(what, "registered")) {
    int *own = malloc(64 << 10), *at = own + 5000;
    void *args[] = {&at};
    for (int i = 0; i < 32; i++) at[i] = i;
    int by = 3;
    CHECK(cudaMemcpyToSymbol(&factor, &by, sizeof by, 0, TO_DEVICE));
    CHECK(cudaHostRegister(at, 128, 2));
    CHECK(launch(scale, 32, args, 0));
    CHECK(cudaDeviceSynchronize());
    printf("%d ", at[31]);
    at += 64; /* another range on the same page */
    *at = 5;
    CHECK(cudaHostRegister(at, 128, 2));
    CHECK(launch(scale, 1, args, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(at - 64));
    CHECK(launch(scale, 1, args, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(at));
    printf("%d %d\n", at[-33], *at);
    free(own);
    return 0;
  }
  if (!strcmp(what, "threads")) {
    pthread_t threads[4];
    int values[4][32];
    for (int i = 0; i < 4; i++) {
      for (int k = 0; k < 32; k++) values[i][k] = i + k;
      pthread_create(&threads[i], 0, in_thread, values[i]);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    printf("%d %d\n", values[0][31], values[3][31]);
    return 0;
  }
  if (!strcmp(what, "fork")) { /* a child may use CUDA unless its parent has done so */
    for (int used = 0; used < 2; used++) {
      fflush(stdout);
      pid_t child = fork();
      if (!child) {
        void *p;
        printf("%s\n", cudaGetErrorName(cudaMalloc(&p, 4)));
        exit(0);
      }
      waitpid(child, 0, 0);
      CHECK(cudaFree(0));
    }
    return 0;
  }
  if (!strcmp(what, "array")) { /* 4 rows of 8, from the sixth element on */
    void *array;
    int back[27] = {0};
    channels ints = {32, 0, 0, 0, 0};
    CHECK(cudaMallocArray(&array, &ints, 8, 4, 0));
    CHECK(cudaMemcpyToArray(array, 0, 0, host, sizeof host, TO_DEVICE));
    CHECK(cudaMemcpyFromArray(back, array, 20, 0, sizeof back, TO_HOST));
    printf("%d %d %d\n", back[0], back[3], back[26]);
    return 0;
  }
  if (!strcmp(what, "names")) {
    const char *of_function, *of_kernel;
    void *kernel, *entry;
    CHECK(cudaFuncGetName(&of_function, (void *)wait_for));
    CHECK(cudaGetKernel(&kernel, (void *)scale));
    CHECK(cudaGetDriverEntryPointByVersion("cuKernelGetName", &entry, 13000, 0, 0));
    CHECK(((int (*)(const char **, void *))entry)(&of_kernel, kernel));
    printf("%s %s\n", of_function, of_kernel);
    return 0;
  }
  if (!strcmp(what, "attributes")) { /* Thrust and CUB ask for these */
    struct {
      size_t shared, constant, local;
      int threads, registers, ptx, rest[27];
    } attributes;
    CHECK(cudaFuncGetAttributes(&attributes, (void *)scale));
    printf("%zu %d %d\n", attributes.shared, attributes.threads, attributes.ptx);
    return 0;
  }
  if (!strcmp(what, "hello")) {
    printf("before, ");
    CHECK(launch(hello, 1, 0, 0));
    CHECK(cudaDeviceSynchronize());
    printf("after\n");
    return 0;
  }
  if (!strcmp(what, "endless")) {
    start_endless();
    stream other;
    CHECK(cudaStreamCreateWithFlags(&other, 1 /* non-blocking */));
    int *unused = 0;
    void *args[] = {&unused, &unused};
    CHECK(launch(wait_for, 1, args, other)); /* which does not begin */
    CHECK(cudaStreamCreate(&other)); /* answered when the launch has been submitted */
    printf("running\n");
    fflush(stdout); /* the time limit kills this process */
    CHECK(cudaDeviceSynchronize());
  }
  if (!strcmp(what, "unfinished")) { /* the kernel and a child process go on */
    start_endless();
    pid_t child = fork();
    if (!child) {
      fclose(stdout);
      fclose(stderr);
      sleep(600);
    }
    printf("%d\n", child);
    return 0;
  }
  if (!strcmp(what, "exit in a callback")) {
    CHECK(cudaLaunchHostFunc(0, exit_with_error, 0));
    CHECK(cudaDeviceSynchronize());
  }
  if (!strcmp(what, "callback at the end")) {
    CHECK(cudaLaunchHostFunc(0, nothing, 0));
    _exit(4);
  }
  if (!strcmp(what, "invalid")) { /* addresses of nothing */
    void *graph, *node, *p;
    CHECK(cudaMalloc(&p, 4));
    CHECK(cudaGraphCreate(&graph, 0));
    printf("%s\n", cudaGetErrorName(cudaMemcpy(p, (void *)8, 4, TO_DEVICE)));
    printf("%s\n", cudaGetErrorName(cudaGraphAddKernelNode(&node, graph, 0, 0, (void *)8)));
    printf("%s\n", cudaGetErrorName(cudaGraphAddEmptyNode(&node, graph, 0, 5)));
    printf("%s\n", cudaGetErrorName(cudaGraphAddEmptyNode(&node, graph, &node, -1)));
    printf("%s\n", cudaGetErrorName(cudaGraphDebugDotPrint(graph, 0, 0)));
    CHECK(cudaMallocManaged(&p, 4, 1));
    void *nowhere[] = {0};
    size_t bytes[] = {4};
    int kinds[] = {1}, params[64] = {99};
    printf("%s\n", cudaGetErrorName(cudaMemRangeGetAttributes(nowhere, bytes, kinds, 1, p, 4)));
    stream s; /* params has a number that no enumeration has */
    size_t first = 0;
    uint64_t texture;
    CHECK(cudaStreamCreate(&s));
    printf("%s\n", cudaGetErrorName(cudaGraphAddNode(&node, graph, 0, 0, 0, params)));
    printf("%s\n", cudaGetErrorName(cudaMemPoolCreate(&node, params)));
    printf("%s\n", cudaGetErrorName(cudaCreateTextureObject(&texture, params, params, 0)));
    printf("%s\n", cudaGetErrorName(cudaMemcpyBatchAsync(&p, &p, bytes, 1, params, &first, 1, s)));
    return 0;
  }
  if (!strcmp(what, "nodes")) { /* of a graph: first their number */
    void *graph, *first, *node, *found[2] = {0};
    size_t roots = 9, before = 9, after = 9;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEmptyNode(&first, graph, 0, 0));
    CHECK(cudaGraphAddEmptyNode(&node, graph, &first, 1));
    CHECK(cudaGraphGetRootNodes(graph, 0, &roots));
    CHECK(cudaGraphNodeGetDependencies(node, 0, &before));
    CHECK(cudaGraphNodeGetDependentNodes(node, 0, &after));
    printf("%zu %zu %zu ", roots, before, after);
    CHECK(cudaGraphNodeGetDependencies(node, found, &before));
    printf("%zu %d %d\n", before, found[0] == first, found[1] == 0);
    return 0;
  }
  if (!strcmp(what, "kernel node")) { /* its parameters are what the program passed */
    struct { void *function; dim3 grid, block; unsigned shared; void **values, **more; } given = {
        scale, {1, 1, 1}, {32, 1, 1}, 0, 0, 0}, found;
    uint64_t more[3] = {0}; /* what an update writes */
    int *device = scaled(32, host);
    void *values[] = {&device}, *graph, *node, *executable;
    given.values = values;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, 0, 0, &given));
    CHECK(cudaGraphKernelNodeGetParams(node, &found));
    printf("%d %d ", found.function == (void *)scale, *(int **)found.values[0] == device);
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    found.block.x = 1;
    CHECK(cudaGraphExecKernelNodeSetParams(executable, node, &found));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaMemcpy(host, device, sizeof host, TO_HOST));
    printf("%d %d ", host[0], host[31]);
    CHECK(cudaGraphExecUpdate(executable, graph, more));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaMemcpy(host, device, sizeof host, TO_HOST));
    CHECK(cudaGraphAddEmptyNode(&node, graph, 0, 0));
    int error = cudaGraphExecUpdate(executable, graph, more); /* which writes the reason */
    printf("%d %d %d\n", host[31], error, *(int *)more);
    return 0;
  }
  if (!strcmp(what, "processes")) { /* a child scales memory of its parent, after its parent */
    ipc_handle handles[2];
    int to_child[2], to_parent[2], by = 2, *device, *again;
    void *event, *args[] = {&device};
    if (pipe(to_child) || pipe(to_parent)) return 1;
    if (!fork()) {
      if (read(to_child[0], handles, sizeof handles) != sizeof handles) _exit(1);
      CHECK(cudaIpcOpenMemHandle((void **)&device, handles[0], 1));
      CHECK(cudaIpcOpenMemHandle((void **)&again, handles[0], 1));
      CHECK(cudaIpcCloseMemHandle(again));
      CHECK(cudaIpcOpenEventHandle(&event, handles[1]));
      CHECK(cudaMemcpyToSymbol(&factor, &by, sizeof by, 0, TO_DEVICE));
      CHECK(cudaStreamWaitEvent(0, event, 0));
      CHECK(launch(scale, 32, args, 0));
      CHECK(cudaEventRecord(event, 0));
      CHECK(cudaDeviceSynchronize());
      /* The rest of the page belongs to others. */
      int is_outside = cudaMemcpy(host, device + 32, 4, TO_HOST) != 0;
      CHECK(cudaIpcCloseMemHandle(device));
      printf("%d %d ", again == device, is_outside);
      fflush(stdout);
      _exit(write(to_parent[1], "", 1) != 1);
    }
    CHECK(cudaMalloc((void **)&again, 100)); /* on the same page */
    CHECK(cudaEventCreateWithFlags(&event, 6));
    device = scaled(32, host);
    CHECK(cudaEventRecord(event, 0));
    CHECK(cudaIpcGetMemHandle(&handles[0], device));
    CHECK(cudaIpcGetEventHandle(&handles[1], event));
    if (write(to_child[1], handles, sizeof handles) < 0 || read(to_parent[0], &by, 1) != 1) return 1;
    CHECK(cudaEventSynchronize(event));
    CHECK(cudaMemcpy(host, device, sizeof host, TO_HOST));
    printf("%d %s\n", host[31], cudaGetErrorName(cudaIpcOpenMemHandle((void **)&again, handles[0], 1)));
    wait(0);
    return 0;
  }
  if (!strcmp(what, "loop")) { /* a conditional node, whose graph the library creates */
    enum { KERNEL = 0, CONDITIONAL = 13, WHILE = 1 };
    struct {
      int type, reserved[3];
      union {
        struct { uint64_t handle; int type; unsigned size; void ***graphs; } condition;
        struct { void *function; dim3 grid, block; unsigned shared; void **values; } kernel;
        long long room[29];
      };
      long long more;
    } loop = {CONDITIONAL}, kernel = {KERNEL};
    int *left, *other;
    void *graph, *node, *executable, *values[] = {&loop.condition.handle, &left};
    CHECK(cudaMallocManaged((void **)&left, 4, 1));
    CHECK(cudaMallocManaged((void **)&other, 4, 1));
    *left = *other = 3;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&loop.condition.handle, graph, 1, 1));
    loop.condition.type = WHILE, loop.condition.size = 1;
    CHECK(cudaGraphAddNode(&node, graph, 0, 0, 0, &loop));
    kernel.kernel.function = count_down, kernel.kernel.values = values;
    kernel.kernel.grid = kernel.kernel.block = (dim3){1, 1, 1};
    CHECK(cudaGraphAddNode(&node, loop.condition.graphs[0], 0, 0, 0, &kernel));
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    printf("%d %d", *left, *other);
    values[1] = &other;
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphNodeSetParams(node, &kernel));
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    printf(" %d\n", *other);
    return 0;
  }
  if (!strcmp(what, "batch")) { /* two copies, whose source is read before the call returns */
    struct { int order, places[4]; unsigned flags; } during = {2, {0}, 0};
    char *to, back[8];
    int kinds[] = {1, 3}, mostly = 9, devices[2];
    size_t sizes[] = {1, 2}, first = 0, bytes[] = {4, 8};
    void *results[] = {&mostly, devices};
    stream s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMallocManaged((void **)&to, 8, 1));
    memset(to, 9, 8);
    char from[] = {1, 2, 3};
    void *targets[] = {to, to + 4}, *sources[] = {from, from + 1};
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &during, &first, 1, s));
    memset(from, 0, sizeof from);
    CHECK(cudaStreamSynchronize(s));
    memcpy(back, to, 8);
    CHECK(cudaMemRangeGetAttributes(results, bytes, kinds, 2, to, 8));
    printf("%d %d %d %d %d %d %d\n", back[0], back[1], back[4], back[5], mostly, devices[0],
           devices[1]);
    return 0;
  }
  if (!strcmp(what, "capture")) {
    void *graph = 0, **nodes = 0, *found;
    int status;
    uint64_t number = 0;
    size_t count = 9, all = 9;
    stream s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamGetCaptureInfo_v2(s, &status, 0, 0, 0, &count));
    printf("%d %zu ", status, count);
    CHECK(cudaStreamBeginCapture(s, 0));
    CHECK(cudaLaunchHostFunc(s, nothing, 0));
    CHECK(cudaStreamGetCaptureInfo_v2(s, &status, &number, &graph, &nodes, &count));
    all = 1;
    CHECK(cudaGraphGetRootNodes(graph, &found, &all));
    printf("%d %d %zu %d\n", status, number > 0, count, found == nodes[0]);
    return 0;
  }
  if (!strcmp(what, "pageable")) { /* the target of a copy in a graph, behind a function that takes long */
    void *device, *graph, *executable;
    stream s;
    int one = 1, value = 0;
    CHECK(cudaMalloc(&device, 4));
    CHECK(cudaMemcpy(device, &one, 4, 1));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, 0));
    CHECK(cudaLaunchHostFunc(s, work_long, 0));
    CHECK(cudaMemcpyAsync(&value, device, 4, 2, s));
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, s));
    printf("%d\n", value);
    return 0;
  }
  if (!strcmp(what, "no place")) { /* for the result */
    printf("%s\n", cudaGetErrorName(cudaMalloc(0, 4)));
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    printf("%s\n", cudaGetErrorName(cudaStreamCreate(0)));
    return 0;
  }
  if (!strcmp(what, "last error")) { /* once by each call that fails */
    printf("%d", cudaGetLastError());
    cudaSetDevice(99);
    printf(" %d", cudaPeekAtLastError());
    for (int i = 0; i < 3; i++) printf(" %d", cudaGetLastError());
    cudaStreamCreate(0);
    for (int i = 0; i < 3; i++) printf(" %d", cudaGetLastError());
    return 0;
  }
  if (!strcmp(what, "malformed")) { /* a call without its arguments */
    check(cudaFree(0), __LINE__);
    int (*cr_call)(uint32_t, uint64_t, const uint64_t *, uint32_t) = dlsym(RTLD_DEFAULT, "cr_call");
    uint32_t call = 0;
    while (call < 1000 && cr_call(call, 0, 0, 0) != 999) call++;
    return call == 1000;
  }
  if (!strcmp(what, "abort")) {
    scaled(32, host);
    abort();
  }
  return 9;
}
