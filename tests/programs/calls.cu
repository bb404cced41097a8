// Calls: recursion, pointers to functions, virtual functions, results by struct.
// nvcc -arch=compute_80

// Ackermann's function, and the moves of the towers of Hanoi written down.
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

struct Moves {
    unsigned char *places;  // where each disc lies
    int count;
};

__device__ __noinline__ void hanoi(Moves &moves, int disc, int to, int spare)
{
    if (disc < 0)
        return;
    int from = moves.places[disc];
    hanoi(moves, disc - 1, spare, to);
    moves.places[disc] = to;
    moves.count++;
    hanoi(moves, disc - 1, to, from);
}

extern "C" __global__ void recurse(const uint2 *arguments, unsigned *values, unsigned char *places,
                                   int *moves, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    values[i] = ackermann(arguments[i].x, arguments[i].y);
    Moves all = {places + 8 * i, 0};
    hanoi(all, i % 8, 2, 1);
    moves[i] = all.count;
}

// Quicksort by recursion, a row for each thread.
__device__ __noinline__ void quicksort(int *first, int *last)
{
    while (last - first > 1) {
        int pivot = first[(last - first) / 2], *low = first, *high = last - 1;
        while (low <= high) {
            while (*low < pivot)
                low++;
            while (*high > pivot)
                high--;
            if (low <= high) {
                int swap = *low;
                *low++ = *high;
                *high-- = swap;
            }
        }
        quicksort(first, high + 1);
        first = low;
    }
}

extern "C" __global__ void quicksort_rows(int *rows, int columns)
{
    int *row = rows + columns * (blockIdx.x * blockDim.x + threadIdx.x);
    quicksort(row, row + columns);
}

// A table of functions, indexed by data; lanes of a warp call different ones.
typedef double (*Function)(double, double);

__device__ __noinline__ double add(double x, double y) { return x + y; }
__device__ __noinline__ double subtract(double x, double y) { return x - y; }
__device__ __noinline__ double multiply(double x, double y) { return x * y; }
__device__ __noinline__ double larger(double x, double y) { return x > y ? x : y; }
__device__ __noinline__ double apply_twice(Function f, double x, double y) { return f(f(x, y), y); }

__device__ Function TABLE[4] = {add, subtract, multiply, larger};

extern "C" __global__ void call_table(const unsigned char *which, const double *x, const double *y,
                                      double *once, double *twice, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    once[i] = TABLE[which[i] % 4](x[i], y[i]);
    twice[i] = apply_twice(TABLE[which[i] / 4 % 4], x[i], y[i]);
}

// Virtual functions: shapes made on the device by placement in local memory.
struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual float perimeter() const { return 0; }
};

struct Circle : Shape {
    float radius;
    __device__ Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3.14159265f * radius * radius; }
    __device__ float perimeter() const override { return 6.28318531f * radius; }
};

struct Rectangle : Shape {
    float width, height;
    __device__ Rectangle(float w, float h) : width(w), height(h) {}
    __device__ float area() const override { return width * height; }
    __device__ float perimeter() const override { return 2 * (width + height); }
};

struct Square final : Rectangle {
    __device__ Square(float side) : Rectangle(side, side) {}
    __device__ float perimeter() const override { return 4 * width; }
};

struct Point : Shape {
    __device__ float area() const override { return 0; }
};

__device__ __noinline__ float2 measure(const Shape &shape)
{
    return make_float2(shape.area(), shape.perimeter());
}

extern "C" __global__ void measure_shapes(const int *kinds, const float2 *sizes, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Circle circle(sizes[i].x);
    Rectangle rectangle(sizes[i].x, sizes[i].y);
    Square square(sizes[i].y);
    Point point;
    const Shape *shapes[4] = {&circle, &rectangle, &square, &point};
    out[i] = measure(*shapes[kinds[i]]);
}
