/* What `cudarun launch samples/saxpy.ptx` does, by hand in C against the driver API: the floor that
 * launch.py measures cudarun against.
 *
 * Usage: saxpy_driver IMAGE N [DEVICES]
 *
 * IMAGE is samples/saxpy.ptx, or a cubin made of samples/saxpy.cu; DEVICES says how many there are to
 * be, one by default. Reads the image, fills x with 0, 1, 2, ... and y with ones, computes
 * y = 2x + y on each of the devices, copies every y back and compares every element. Exit status 0
 * when all are right. N is at most 2^23, so that every value is exact in a float.
 */

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 256
#define MOST_DEVICES 16

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

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: %s IMAGE N [DEVICES]\n", argv[0]);
        return 2;
    }
    char *image = read_image(argv[1]);
    int n = atoi(argv[2]);
    int count = argc == 4 ? atoi(argv[3]) : 1;
    if (count < 1 || count > MOST_DEVICES) {
        fprintf(stderr, "DEVICES is 1 to %d\n", MOST_DEVICES);
        return 2;
    }
    size_t bytes = n * sizeof(float);

    float *x = malloc(bytes);
    float *y = malloc(bytes);
    for (int i = 0; i < n; ++i) {
        x[i] = i;
        y[i] = 1.0f;
    }

    CUdevice device[MOST_DEVICES];
    CUcontext context[MOST_DEVICES];
    CUdeviceptr device_x[MOST_DEVICES], device_y[MOST_DEVICES];
    CHECK(cuInit(0));
    for (int i = 0; i < count; ++i) {
        CHECK(cuDeviceGet(&device[i], i));
        CHECK(cuDevicePrimaryCtxRetain(&context[i], device[i]));
    }
    CHECK(cuCtxSetCurrent(context[0]));

    CUlibrary library;
    CUkernel kernel;
    CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "saxpy"));

    float a = 2.0f;
    unsigned int grid = (n + BLOCK - 1) / BLOCK;
    for (int i = 0; i < count; ++i) {
        CHECK(cuCtxSetCurrent(context[i]));
        CHECK(cuMemAlloc(&device_x[i], bytes));
        CHECK(cuMemAlloc(&device_y[i], bytes));
        CHECK(cuMemcpyHtoD(device_x[i], x, bytes));
        CHECK(cuMemcpyHtoD(device_y[i], y, bytes));
        void *arguments[] = {&a, &device_x[i], &device_y[i], &n};
        CHECK(cuLaunchKernel((CUfunction)kernel, grid, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
    }

    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        CHECK(cuCtxSetCurrent(context[i]));
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyDtoH(y, device_y[i], bytes));
        for (int k = 0; k < n; ++k) {
            wrong += y[k] != 2.0f * k + 1.0f;
        }
        CHECK(cuMemFree(device_x[i]));
        CHECK(cuMemFree(device_y[i]));
    }

    CHECK(cuLibraryUnload(library));
    for (int i = 0; i < count; ++i) {
        CHECK(cuDevicePrimaryCtxRelease(device[i]));
    }

    if (wrong != 0) {
        fprintf(stderr, "%d of %d elements are wrong\n", wrong, n * count);
        return 1;
    }
    return 0;
}
