/* Programs to record. Usage: program TASK PTX; each checks its own results. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t Address;
typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned attribute_count;
} Config;

enum { N = 1000, THREADS = 8 };

static int (*alloc)(Address *, size_t), (*upload)(Address, const void *, size_t);
static int (*download)(void *, Address, size_t), (*load)(void **, const void *);
static int (*kernel_of)(void **, void *, const char *), (*synchronize)(void);
static int (*global_of)(Address *, size_t *, void *, const char *);
static int (*launch)(
    void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
    void **);
static int (*launch_ex)(const Config *, void *, void **, void **);
static int (*encode)(
    void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *,
    const unsigned *, int, int, int, int);
static int (*encode_im2col)(
    void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const int *, const int *,
    unsigned, unsigned, const unsigned *, int, int, int, int);
static int (*begin_capture)(void *, int), (*end_capture)(void *, void **);
static int (*instantiate)(void **, void *, uint64_t), (*launch_graph)(void *, void *);
static int (*destroy_graph)(void *), (*nodes_of)(void *, void **, size_t *);
static int (*params_of)(void *, void *), (*set_params)(void *, void *, const void *);
static int (*create_array)(void **, const void *), (*copy_array)(const void *);
static int (*create_texture)(uint64_t *, const void *, const void *, const void *);
static int (*create_surface)(uint64_t *, const void *);
static int (*create_graph)(void **, unsigned);
static int (*add_child)(void **, void *, void *const *, size_t, void *);
static int (*add_allocation)(void **, void *, void *const *, size_t, void *);
static void *module;

/* All calls but two come from cuGetProcAddress, as the runtime gets them. */
static void bind(const char *path) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*find)(const char *, void **, int, uint64_t, int *) =
        driver ? dlsym(driver, "cuGetProcAddress_v2") : 0;
    if (!find) exit(90);
    alloc = dlsym(driver, "cuMemAlloc_v2");
    launch = dlsym(driver, "cuLaunchKernel");
    find("cuMemcpyHtoD", (void **)&upload, 12000, 0, 0);
    find("cuMemcpyDtoH", (void **)&download, 12000, 0, 0);
    find("cuModuleLoadData", (void **)&load, 12000, 0, 0);
    find("cuModuleGetFunction", (void **)&kernel_of, 12000, 0, 0);
    find("cuModuleGetGlobal", (void **)&global_of, 12000, 0, 0);
    find("cuLaunchKernelEx", (void **)&launch_ex, 12000, 0, 0);
    find("cuTensorMapEncodeTiled", (void **)&encode, 12000, 0, 0);
    find("cuTensorMapEncodeIm2col", (void **)&encode_im2col, 12000, 0, 0);
    find("cuCtxSynchronize", (void **)&synchronize, 12000, 0, 0);
    find("cuStreamBeginCapture", (void **)&begin_capture, 12000, 0, 0);
    find("cuStreamEndCapture", (void **)&end_capture, 12000, 0, 0);
    find("cuGraphInstantiateWithFlags", (void **)&instantiate, 12000, 0, 0);
    find("cuGraphLaunch", (void **)&launch_graph, 12000, 0, 0);
    find("cuGraphDestroy", (void **)&destroy_graph, 12000, 0, 0);
    find("cuGraphGetNodes", (void **)&nodes_of, 12000, 0, 0);
    find("cuGraphKernelNodeGetParams", (void **)&params_of, 12000, 0, 0);
    find("cuGraphExecKernelNodeSetParams", (void **)&set_params, 12000, 0, 0);
    find("cuGraphCreate", (void **)&create_graph, 12000, 0, 0);
    find("cuGraphAddChildGraphNode", (void **)&add_child, 12000, 0, 0);
    find("cuGraphAddMemAllocNode", (void **)&add_allocation, 12000, 0, 0);
    find("cuArray3DCreate", (void **)&create_array, 12000, 0, 0);
    find("cuMemcpy3D", (void **)&copy_array, 12000, 0, 0);
    find("cuTexObjectCreate", (void **)&create_texture, 12000, 0, 0);
    find("cuSurfObjectCreate", (void **)&create_surface, 12000, 0, 0);
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    if (!file || !fread(text, 1, (1 << 16) - 1, file)) exit(91);
    fclose(file);
    load(&module, text);
    free(text);
}

/* Memory with some data, and behind it as much noise as the environment says. */
static Address filled(const float *data, size_t count) {
    Address memory;
    size_t size = count * sizeof *data, noise = atoi(getenv("NOISE") ? getenv("NOISE") : "0");
    alloc(&memory, size + noise);
    upload(memory, data, size);
    for (size_t i = 0; i < noise; i++) {
        char byte = rand() >> 8;
        upload(memory + size + i, &byte, 1);
    }
    return memory;
}

static Address numbers(float first) {
    float data[N];
    for (int i = 0; i < N; i++) data[i] = first + i;
    return filled(data, N);
}

/* A struct with pointers; `way` selects kernelParams, packed parameters, or a launch config. */
static int scale(int way) {
    void *kernel;
    Address constant, pair[2] = {numbers(1), numbers(0)};
    size_t size;
    float values[2] = {2, 0.5}, result[N];
    int n = N;
    kernel_of(&kernel, module, "scale");
    global_of(&constant, &size, module, "factor");
    upload(constant, values, sizeof values);
    if (way == 1) {
        char packed[20];
        size_t length = sizeof packed;
        memcpy(packed, pair, 16);
        memcpy(packed + 16, &n, 4);
        void *extra[] = {(void *)1, packed, (void *)2, &length, 0};
        launch(kernel, 4, 1, 1, 256, 1, 1, 0, 0, 0, extra);
    } else {
        void *parameters[] = {pair, &n};
        struct {
            int id, padding, programmatic;
            char others[60];
        } attribute = {6, 0, 1};
        Config config = {{4, 1, 1}, {256, 1, 1}, 0, 0, &attribute, 1};
        if (way == 2)
            launch_ex(&config, kernel, parameters, 0);
        else
            launch(kernel, 4, 1, 1, 256, 1, 1, 0, 0, parameters, 0);
    }
    synchronize();
    download(result, pair[1], sizeof result);
    for (int i = 0; i < N; i++)
        if (result[i] != 2 * (1 + i) + 0.5f) return 80;
    return 0;
}

/* Memory that only other memory points to. */
static int gather(void) {
    void *kernel;
    Address rows[3] = {numbers(0), numbers(1), numbers(2)}, table, sum = numbers(0);
    float result[N];
    int n = 3;
    numbers(9); /* not reachable */
    alloc(&table, sizeof rows);
    upload(table, rows, sizeof rows);
    kernel_of(&kernel, module, "gather");
    void *parameters[] = {&table, &sum, &n};
    launch(kernel, 1, 1, 1, 32, 1, 1, 0, 0, parameters, 0);
    download(result, sum, sizeof result);
    return result[31] == 31 * 3 + 3 ? 0 : 81;
}

/* A tensor map in the parameters: of boxes, or of columns of pixels. */
static int tile(int is_im2col) {
    void *kernel;
    Address x = numbers(5), y = numbers(7);
    uint64_t map[16], shape[] = {52, 19}, strides[] = {208};
    unsigned box[] = {8, 4}, steps[] = {1, 1};
    float result[N];
    if (is_im2col) {
        uint64_t sides[] = {16, 8, 7, 1}, rows[] = {64, 512, 3584};
        int lower[] = {-1, -2}, upper[] = {-1, 0};
        unsigned ones[] = {1, 1, 1, 1};
        encode_im2col(
            map, 7, 4, (void *)x, sides, rows, lower, upper, 16, 8, ones, 0, 0, 0, 0);
    } else {
        encode(map, 7, 2, (void *)x, shape, strides, box, steps, 0, 0, 0, 0);
    }
    kernel_of(&kernel, module, "tile");
    void *parameters[] = {map, &y};
    launch(kernel, 1, 1, 1, 32, 1, 1, 0, 0, parameters, 0);
    download(result, y, sizeof result);
    return result[31] == 31 ? 0 : 85;
}

/* A texture object over an array of 16 x 8, and a surface object over another one, in a struct of
 * handles; a third object is not used. */
static int fetch(void) {
    struct {
        size_t width, height, depth;
        unsigned format, channels, flags;
    } shape = {16, 8, 0, 0x20, 1, 2};
    void *kernel, *image, *target, *unused;
    uint64_t handles[3], copy[25] = {0}, resource[18] = {0};
    int texture[26] = {2, 2, 2}; /* of CU_TR_ADDRESS_MODE_MIRROR */
    float data[128], result[N];
    Address y = numbers(3);
    create_array(&image, &shape), create_array(&target, &shape), create_array(&unused, &shape);
    for (int i = 0; i < 128; i++) data[i] = 2 * i;
    copy[5] = (uint64_t)data, copy[18] = (uint64_t)image, copy[22] = 64, copy[23] = 8;
    copy_array(copy);
    resource[1] = (uint64_t)unused, create_texture(&handles[2], resource, texture, 0);
    resource[1] = (uint64_t)image, create_texture(&handles[0], resource, texture, 0);
    resource[1] = (uint64_t)target, create_surface(&handles[1], resource);
    kernel_of(&kernel, module, "fetch");
    void *parameters[] = {&handles[0], &handles[1], &y};
    launch(kernel, 8, 1, 1, 16, 1, 1, 0, 0, parameters, 0);
    download(result, y, sizeof result);
    return result[127] == 254 ? 0 : 89;
}

/* Pointers to a variable of the image, in a parameter and in memory. */
static int borrow(void) {
    void *kernel;
    Address constant, y = numbers(0), table = numbers(0);
    size_t size;
    float values[2] = {7, 0.5}, result[N];
    kernel_of(&kernel, module, "borrow");
    global_of(&constant, &size, module, "factor");
    upload(constant, values, sizeof values);
    upload(table, &constant, sizeof constant);
    void *parameters[] = {&table, &constant, &y};
    launch(kernel, 1, 1, 1, 32, 1, 1, 0, 0, parameters, 0);
    download(result, y, sizeof result);
    return result[35] == 7.5f ? 0 : 79;
}

static int overrun(void) {
    void *kernel;
    Address x = numbers(0);
    int n = N;
    kernel_of(&kernel, module, "overrun");
    void *parameters[] = {&x, &n};
    launch(kernel, 4, 1, 1, 256, 1, 1, 0, 0, parameters, 0);
    return synchronize() == 700 ? 70 : 82;
}

/* A captured graph of two kernels, launched three times; the second one uses the first one's
 * results. Ways: a change of a node before the last launch, an allocation node, a fault, a child
 * graph. */
static int graph(const char *way) {
    enum { STREAM = 7 };
    void *kernel, *captured, *exec, *nodes[4], *stream = (void *)STREAM;
    Address constant, memory[3] = {numbers(1), numbers(0), numbers(0)};
    float values[2] = {2, 0.5}, result[N];
    size_t size, count = 4;
    int n = N;
    kernel_of(&kernel, module, strcmp(way, "fault") ? "scale" : "overrun");
    global_of(&constant, &size, module, "factor");
    upload(constant, values, sizeof values);
    begin_capture(stream, 0);
    void *first[] = {memory, &n}, *second[] = {memory + 1, &n};
    launch(kernel, 4, 1, 1, 256, 1, 1, 0, stream, first, 0);
    launch(kernel, 4, 1, 1, 256, 1, 1, 0, stream, second, 0);
    end_capture(stream, &captured);
    if (!strcmp(way, "allocation")) add_allocation(nodes, captured, 0, 0, 0);
    if (!strcmp(way, "child")) {
        void *parent;
        create_graph(&parent, 0);
        add_child(nodes, parent, 0, 0, captured);
        captured = parent;
    }
    if (instantiate(&exec, captured, 0)) return 86;
    for (int i = 0; i < 3; i++) {
        float data[N];
        struct {
            char start[40];
            void **parameters, *rest[3];
        } params;
        for (int j = 0; j < N; j++) data[j] = i + j;
        upload(memory[0], data, sizeof data);
        if (i == 2 && !strcmp(way, "change")) {
            int half = n / 2;
            nodes_of(captured, nodes, &count);
            params_of(nodes[count - 1], &params); /* the stub's first node is the last in its list */
            params.parameters = (void *[]){memory, &half};
            set_params(exec, nodes[count - 1], &params);
        }
        if (launch_graph(exec, stream)) return 87;
    }
    if (synchronize()) return 70;
    destroy_graph(captured);
    download(result, memory[2], sizeof result);
    for (int i = 0; i < N; i++) {
        int changed = i >= N / 2 && !strcmp(way, "change"); /* the result of the launch before */
        if (result[i] != 2 * (2 * (i + 2 - changed) + 0.5f) + 0.5f) return 88;
    }
    return 0;
}

static void *thread(void *failed) {
    for (int i = 0; i < 50; i++)
        if (scale(i % 3)) *(int *)failed = 1;
    return 0;
}

static int threads(void) {
    pthread_t started[THREADS];
    int failed = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&started[i], 0, thread, &failed);
    for (int i = 0; i < THREADS; i++) pthread_join(started[i], 0);
    return failed ? 83 : 0;
}

int main(int count, char **words) {
    if (count < 3) return 92;
    const char *task = words[1];
    if (!strcmp(task, "fork")) { /* workers, each with a driver of its own */
        for (int i = 0; i < 2; i++) {
            if (!fork()) {
                bind(words[2]);
                _exit(scale(0));
            }
        }
        int status, worst = 0;
        while (wait(&status) > 0) worst |= status;
        return worst ? 84 : 0;
    }
    bind(words[2]);
    puts("the program's output");
    if (!strcmp(task, "scale")) return scale(0);
    if (!strcmp(task, "packed")) return scale(1);
    if (!strcmp(task, "config")) return scale(2);
    if (!strcmp(task, "gather")) return gather();
    if (!strcmp(task, "tile")) return tile(0);
    if (!strcmp(task, "im2col")) return tile(1);
    if (!strcmp(task, "fetch")) return fetch();
    if (!strcmp(task, "borrow")) return borrow();
    if (!strcmp(task, "threads")) return threads();
    if (!strncmp(task, "graph", 5)) return graph(task + 5 + (task[5] == '-'));
    if (!strcmp(task, "status")) return scale(0) ? 93 : 7;
    if (!strcmp(task, "twice")) return scale(0) || gather() || scale(2);
    return !strcmp(task, "fault") ? (scale(0), overrun()) : 94;
}
