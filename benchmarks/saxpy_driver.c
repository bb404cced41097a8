/* What `cudarun launch samples/saxpy.ptx` does, by hand in C against the driver API: the floor that
 * launch.py measures cudarun against.
 *
 * Usage: saxpy_driver IMAGE N     (IMAGE: samples/saxpy.ptx, or a cubin made of samples/saxpy.cu)
 *
 * Reads the image, fills x with 0, 1, 2, ... and y with ones, computes y = 2x + y on device 0, copies
 * y back and compares every element. Exit status 0 when all are right. N is at most 2^23, so that
 * every value is exact in a float.
 */

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 256

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
    if (argc != 3) {
        fprintf(stderr, "usage: %s IMAGE N\n", argv[0]);
        return 2;
    }
    char *image = read_image(argv[1]);
    int n = atoi(argv[2]);
    size_t bytes = n * sizeof(float);

    float *x = malloc(bytes);
    float *y = malloc(bytes);
    for (int i = 0; i < n; ++i) {
        x[i] = i;
        y[i] = 1.0f;
    }

    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));

    CUlibrary library;
    CUkernel kernel;
    CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "saxpy"));

    CUdeviceptr device_x, device_y;
    CHECK(cuMemAlloc(&device_x, bytes));
    CHECK(cuMemAlloc(&device_y, bytes));
    CHECK(cuMemcpyHtoD(device_x, x, bytes));
    CHECK(cuMemcpyHtoD(device_y, y, bytes));

    float a = 2.0f;
    void *arguments[] = {&a, &device_x, &device_y, &n};
    unsigned int grid = (n + BLOCK - 1) / BLOCK;
    CHECK(cuLaunchKernel((CUfunction)kernel, grid, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(y, device_y, bytes));

    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        wrong += y[i] != 2.0f * i + 1.0f;
    }

    CHECK(cuMemFree(device_x));
    CHECK(cuMemFree(device_y));
    CHECK(cuLibraryUnload(library));
    CHECK(cuDevicePrimaryCtxRelease(device));

    if (wrong != 0) {
        fprintf(stderr, "%d of %d elements are wrong\n", wrong, n);
        return 1;
    }
    return 0;
}
