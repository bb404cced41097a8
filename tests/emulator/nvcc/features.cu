// What the compiler makes of the features of CUDA C++, one kernel each. `features.ptx` beside it is
// what nvcc 13.0 gave for it: nvcc -ptx -arch=sm_75 features.cu
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Record {
    int a[6];
    double d;
    float f[3];
};

// --- calls ---------------------------------------------------------------------------------------

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(int* out) {
    out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

__device__ __noinline__ int deep(volatile int* n, int k) {
    volatile int kept[8];
    kept[k % 8] = k;
    return k == *n ? 0 : deep(n, k + 1) + kept[k % 8];
}

extern "C" __global__ void overflow(int* n, int* out) {
    out[threadIdx.x] = deep(n, 0);
}

__device__ __noinline__ Record twist(Record r, int i) {
    r.a[i % 6] += i;
    r.d *= 2;
    r.f[i % 3] += 1;
    return r;
}

extern "C" __global__ void structs(Record r, double* out) {
    Record twisted = twist(r, threadIdx.x);
    double sum = twisted.d;
    for (int i = 0; i < 6; i++) sum += twisted.a[i];
    for (int i = 0; i < 3; i++) sum += twisted.f[i];
    out[threadIdx.x] = sum;
}

extern "C" __global__ void grid_constant(const __grid_constant__ Record r, double* out) {
    out[threadIdx.x] = r.a[threadIdx.x % 6] + r.f[threadIdx.x % 3];
}

__device__ __noinline__ float more(float x) { return x + 1; }
__device__ __noinline__ float twice(float x) { return x * 2; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ float (*table[3])(float) = {more, twice, square};

extern "C" __global__ void function_pointers(float* x, const int* which) {
    x[threadIdx.x] = table[which[threadIdx.x]](x[threadIdx.x]);
}

struct Shape {
    __device__ virtual int area() const { return 0; }
};
struct Square : Shape {
    int side;
    __device__ Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Box : Shape {
    int w, h;
    __device__ Box(int a, int b) : w(a), h(b) {}
    __device__ int area() const override { return w * h; }
};

extern "C" __global__ void virtual_functions(int* out) {
    int i = threadIdx.x;
    Square square(i);
    Box box(i, 3);
    const Shape* shape = i % 2 ? static_cast<const Shape*>(&square) : &box;
    out[i] = shape->area();
}

extern "C" __global__ void choices(int* x) {
    int i = threadIdx.x, r;
    switch (x[i]) {
        case 0: r = 10; break;
        case 1: r = i * 3; break;
        case 2: r = x[i] + 7; break;
        case 3: r = i - 5; break;
        case 4: r = i ^ 77; break;
        case 5: r = i << 3; break;
        case 6: r = 123; break;
        default: r = -1;
    }
    x[i] = r;
}

// --- arithmetic ----------------------------------------------------------------------------------

extern "C" __global__ void functions_f32(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    y[i * 6] = sinf(v);
    y[i * 6 + 1] = expf(v);
    y[i * 6 + 2] = logf(fabsf(v));
    y[i * 6 + 3] = powf(fabsf(v), 1.5f);
    y[i * 6 + 4] = tanhf(v);
    y[i * 6 + 5] = fmodf(v, 3.1f);
}

extern "C" __global__ void functions_f64(const double* x, double* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = x[i];
    y[i * 4] = cos(v);
    y[i * 4 + 1] = exp(v);
    y[i * 4 + 2] = log(fabs(v));
    y[i * 4 + 3] = 1.0 / v + sqrt(fabs(v));
}

extern "C" __global__ void halves(const __half* a, const __half* b, __half* c,
                                  const __nv_bfloat16* d, __nv_bfloat16* e) {
    int i = threadIdx.x;
    c[i] = __hfma(a[i], b[i], __hadd(a[i], b[i]));
    __half2 pair = __halves2half2(a[i], b[i]);
    c[i + 32] = __high2half(__hmul2(pair, pair));
    c[i + 64] = a[i] < b[i] ? a[i] : b[i];
    e[i] = __float2bfloat16(__bfloat162float(d[i]) * 2.5f);
    e[i + 32] = __hmul(d[i], d[i]);
}

extern "C" __global__ void integers_64(long long* x, unsigned long long* y) {
    int i = threadIdx.x;
    x[i] = x[i] / 7 + x[i] % 11;
    unsigned long long b = y[i];
    y[i] = b / 13ull + __umul64hi(b, b) + __popcll(b) + __clzll(b);
}

// --- memory --------------------------------------------------------------------------------------

extern "C" __global__ void dynamic_shared(int* out, int n) {
    extern __shared__ int dynamic[];
    __shared__ int fixed[4];
    int i = threadIdx.x;
    dynamic[i] = i;
    if (i < 4) fixed[i] = i * 10;
    __syncthreads();
    out[i] = dynamic[n - 1 - i] + fixed[i % 4];
}

extern "C" __global__ void local_array(int* out, const int* index) {
    int a[16], sum = 0;
    for (int i = 0; i < 16; i++) a[i] = i * threadIdx.x;
    a[index[threadIdx.x]] = 1000;
    for (int i = 0; i < 16; i++) sum += a[(i * 5 + index[threadIdx.x]) & 15];
    out[threadIdx.x] = sum;
}

__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ int* pointer = &counter;

extern "C" __global__ void variables(float* out) {
    out[threadIdx.x] = coefficients[threadIdx.x & 3] + *pointer;
    if (threadIdx.x == 0) atomicAdd(&counter, 3);
}

extern "C" __global__ void generic_pointers(int* global, int* out) {
    __shared__ int shared[32];
    int local[4];
    int i = threadIdx.x;
    shared[i] = i;
    local[i & 3] = i * 2;
    __syncthreads();
    int* p = i % 3 == 0 ? global + i : i % 3 == 1 ? shared + i : local + (i & 3);
    *p += 1;
    out[i] = *p;
}

extern "C" __global__ void heap(int* out) {
    int i = threadIdx.x, sum = 0;
    int* p = static_cast<int*>(malloc(sizeof(int) * (i + 1)));
    for (int k = 0; k <= i; k++) p[k] = i * 100 + k;
    for (int k = 0; k <= i; k++) sum += p[k];
    out[i] = sum;
    free(p);
}

// --- threads together ----------------------------------------------------------------------------

extern "C" __global__ void lock(int* mutex, volatile int* counted) {
    while (atomicCAS(mutex, 0, 1) != 0) {}
    __threadfence();
    *counted = *counted + 1;
    __threadfence();
    atomicExch(mutex, 0);
}

extern "C" __global__ void hand_over(volatile int* flag, int* out) {
    if (threadIdx.x == 0) {
        while (*flag == 0) {}
        out[0] = 1;
    } else if (threadIdx.x == 40) {
        for (int i = 0; i < 1000; i++) out[1] = i;
        __threadfence();
        *flag = 1;
    }
}

extern "C" __global__ void grid_barrier(volatile int* arrived, int* out) {
    if (threadIdx.x == 0) {
        atomicAdd(const_cast<int*>(arrived), 1);
        while (*arrived < gridDim.x) {}
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = *arrived;
}

extern "C" __global__ void block_votes(int* out) {
    int i = threadIdx.x;
    int count = __syncthreads_count(i % 3 == 0);
    int every = __syncthreads_and(i < 1000);
    int any = __syncthreads_or(i == 7);
    out[i] = count * 100 + every * 10 + any;
}

// --- printing ------------------------------------------------------------------------------------

extern "C" __global__ void print(int n) {
    printf("%d|%5d|%-5d|%05d|%+d|%x|%#X|%o|%c|%s|%%|%f|%.3f|%10.2e|%g|%lld|%llu|%p|%*d\n", n, n, n, n,
           n, n, n, n, 'A' + n, "text", 1.5 * n, 1.0 / 3, 12345.678, 0.0001, -5000000000LL,
           5000000000ULL, (void*)0x1234, 6, n);
    if (threadIdx.x == 1) printf("nothing\n");
}
