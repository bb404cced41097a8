/* What `cudarun launch benchmarks/program.ptx ... --then ... --then ... --graph --repeat RUNS` does,
 * by hand in C against the driver API: program_graph.py compares the times of both.
 *
 * Usage: program_driver IMAGE N WARMUP RUNS [--launches]
 *
 * IMAGE is program.ptx or a cubin of program.cu. Captures the launches of ramp, smooth and scale over
 * N elements as a graph, and launches the graph WARMUP + RUNS times, in batches of 100. Before each
 * run, outside of the timed interval, it overwrites both buffers and writes 256 MiB, which flushes the
 * L2 cache. Prints the milliseconds of each of the RUNS between two events, a line each. With
 * --launches the kernels are launched one by one. Exit status 0 when every element is right.
 */

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256
#define BATCH 100
#define FLUSH_BYTES ((size_t)256 << 20)

static void check(CUresult result, const char *call) {
    if (result != CUDA_SUCCESS) {
        const char *name = NULL;
        cuGetErrorName(result, &name);
        fprintf(stderr, "%s: %s (%d)\n", call, name ? name : "?", result);
        exit(1);
    }
}

#define CHECK(call) check(call, #call)

/* The whole file with a NUL after it, which PTX needs. */
static char *read_image(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *image = malloc(size + 1);
    if (image == NULL || fread(image, 1, size, file) != (size_t)size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    image[size] = '\0';
    fclose(file);
    return image;
}

static CUkernel ramp, smooth, scale;
static CUdeviceptr x, y;
static int n;

static void launch_steps(CUstream stream) {
    static float a = 0.25f;
    unsigned int grid = (n + BLOCK - 1) / BLOCK;
    void *first[] = {&x, &n}, *second[] = {&x, &y, &n}, *third[] = {&y, &a, &n};
    CHECK(cuLaunchKernel((CUfunction)ramp, grid, 1, 1, BLOCK, 1, 1, 0, stream, first, NULL));
    CHECK(cuLaunchKernel((CUfunction)smooth, grid, 1, 1, BLOCK, 1, 1, 0, stream, second, NULL));
    CHECK(cuLaunchKernel((CUfunction)scale, grid, 1, 1, BLOCK, 1, 1, 0, stream, third, NULL));
}

int main(int argc, char **argv) {
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: %s IMAGE N WARMUP RUNS [--launches]\n", argv[0]);
        return 2;
    }
    char *image = read_image(argv[1]);
    n = atoi(argv[2]);
    int warmup = atoi(argv[3]), runs = atoi(argv[4]);
    int by_launches = argc == 6 && strcmp(argv[5], "--launches") == 0;
    size_t bytes = n * sizeof(float);

    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));

    CUlibrary library;
    CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&ramp, library, "ramp"));
    CHECK(cuLibraryGetKernel(&smooth, library, "smooth"));
    CHECK(cuLibraryGetKernel(&scale, library, "scale"));

    CUdeviceptr flushed;
    CUstream stream;
    CHECK(cuMemAlloc(&x, bytes));
    CHECK(cuMemAlloc(&y, bytes));
    CHECK(cuMemAlloc(&flushed, FLUSH_BYTES));
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));

    CUgraph graph;
    CUgraphExec executable;
    launch_steps(stream);
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_steps(stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    CHECK(cuGraphUpload(executable, stream));

    CUevent starts[BATCH], ends[BATCH];
    for (int i = 0; i < BATCH; ++i) {
        CHECK(cuEventCreate(&starts[i], CU_EVENT_DEFAULT));
        CHECK(cuEventCreate(&ends[i], CU_EVENT_DEFAULT));
    }
    for (int done = -warmup; done < runs;) {
        int left = done < 0 ? -done : runs - done;
        int count = left < BATCH ? left : BATCH;
        for (int i = 0; i < count; ++i) {
            CHECK(cuMemsetD8Async(x, 0xff, bytes, stream));
            CHECK(cuMemsetD8Async(y, 0xff, bytes, stream));
            CHECK(cuMemsetD8Async(flushed, 0, FLUSH_BYTES, stream));
            CHECK(cuEventRecord(starts[i], stream));
            if (by_launches) {
                launch_steps(stream);
            } else {
                CHECK(cuGraphLaunch(executable, stream));
            }
            CHECK(cuEventRecord(ends[i], stream));
        }
        CHECK(cuStreamSynchronize(stream));
        for (int i = 0; i < count && done >= 0; ++i) {
            float milliseconds;
            CHECK(cuEventElapsedTime(&milliseconds, starts[i], ends[i]));
            printf("%.6f\n", milliseconds);
        }
        done += count;
    }

    float *copy = malloc(bytes);
    CHECK(cuMemcpyDtoH(copy, y, bytes));
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        int before = i > 0 ? i - 1 : 0, after = i < n - 1 ? i + 1 : n - 1;
        wrong += copy[i] != 0.25f * (before % 1024 + i % 1024 + after % 1024);
    }
    if (wrong != 0) {
        fprintf(stderr, "%d of %d elements are wrong\n", wrong, n);
        return 1;
    }
    return 0;
}
