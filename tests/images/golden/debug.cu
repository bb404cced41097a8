// Kernels whose debug information has names, types and members of parameters.
#include <cuda_fp16.h>

namespace ns {
enum Mode { copy, negate };
enum class Level : unsigned char { low, high };
enum Offset : long { before = -1, after = 1 };
typedef float real;

struct Range {
  int begin, end;
};

struct Settings {
  float scale;
  Range range;
  const real *bias;
  Mode mode;
};

template <typename T> __global__ void fill(T *out, T value, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = value;
}
template __global__ void fill<float>(float *, float, int);
template __global__ void fill<double>(double *, double, int);
}  // namespace ns

extern "C" __global__ void apply(float *y, const float *x, ns::Settings settings, unsigned n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i < settings.range.begin || i >= settings.range.end) return;
  float value = settings.scale * x[i] + settings.bias[i];
  y[i] = settings.mode == ns::negate ? -value : value;
}

#ifndef SMALL
struct Base {
  int id;
};

struct Derived : Base {
  float grid[2][3];
  unsigned low : 3, high : 5;
  ns::Range ranges[2];
  union {
    int i;
    float f;
  };
  half h;
  static int counter;
};

union Word {
  int i;
  float f;
};

namespace other {
struct float2 {  // not CUDA's
  double a;
};
}  // namespace other

extern "C" __global__ void types(const Derived derived, Word word, ns::Level level, ns::Offset offset, ns::real *typed,
                                 float4 vector, const half *halves, volatile unsigned char *bytes, void *raw,
                                 char *const *names, int (*callback)(float, int), int (&array)[4], other::float2 own,
                                 other::float2 *owns, unsigned long long size, bool flag) {
  if (flag) *typed = derived.grid[1][2] + vector.x;
}

extern "C" __global__ void nameless(float *, int n) {}

extern "C" __global__ void constant(const __grid_constant__ ns::Range range, int n) {}

template <typename... Types> __global__ void pack(float *out, Types... values) { *out = (values + ...); }
template __global__ void pack<int, float>(float *, int, float);
#endif
