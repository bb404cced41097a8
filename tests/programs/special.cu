// Special functions of the CUDA math library in double and in single precision.
// nvcc -arch=compute_80

template <typename T> __device__ void elementary(T x, T y, T *o)
{
    o[0] = exp(x);
    o[1] = expm1(x);
    o[2] = log(fabs(x));
    o[3] = log1p(fabs(x));
    o[4] = sin(x);
    o[5] = cos(x);
    o[6] = tan(x);
    o[7] = atan2(x, y);
    o[8] = asin(x / (fabs(x) + 1));
    o[9] = sinh(x);
    o[10] = tanh(x);
    o[11] = asinh(x);
    o[12] = pow(fabs(x), y);
    o[13] = cbrt(x);
    o[14] = hypot(x, y);
    o[15] = sqrt(fabs(x)) / (y * y + 1);
}

template <typename T> __device__ void higher(T x, T y, T *o)
{
    o[0] = erf(x);
    o[1] = erfc(x);
    o[2] = lgamma(x);
    o[3] = tgamma(x);
    o[4] = j0(x);
    o[5] = y1(fabs(x) + T(0.5));
    o[6] = erfinv(tanh(x));
    o[7] = normcdf(x);
}

// Those without rounding of their own, and those that take numbers apart.
template <typename T> __device__ void exact(T x, T y, T *o, int *integers)
{
    int exponent, quotient;
    T whole;
    o[0] = fmod(x, y);
    o[1] = remquo(x, y, &quotient);
    o[2] = modf(x, &whole);
    o[3] = whole;
    o[4] = frexp(x, &exponent);
    o[5] = ldexp(y, exponent % 30);
    o[6] = rint(x);
    o[7] = round(x);
    o[8] = trunc(x);
    o[9] = fma(x, y, x);
    o[10] = nextafter(x, y);
    o[11] = copysign(x, y);
    o[12] = fdim(x, y);
    o[13] = fmin(x, y);
    o[14] = logb(x);
    o[15] = x / y;
    integers[0] = exponent;
    integers[1] = quotient & 7;
    integers[2] = signbit(x) | isfinite(y) << 1 | ilogb(x) << 2;
    integers[3] = (int)lrint(y);
}

extern "C" __global__ void elementary_double(const double *x, const double *y, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        elementary(x[i], y[i], out + 16 * i);
}

extern "C" __global__ void higher_double(const double *x, const double *y, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        higher(x[i], y[i], out + 8 * i);
}

extern "C" __global__ void exact_double(const double *x, const double *y, double *out, int4 *integers,
                                        int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        exact(x[i], y[i], out + 16 * i, &integers[i].x);
}

extern "C" __global__ void elementary_single(const float *x, const float *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        elementary(x[i], y[i], out + 16 * i);
}

extern "C" __global__ void exact_single(const float *x, const float *y, float *out, int4 *integers,
                                        int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        exact(x[i], y[i], out + 16 * i, &integers[i].x);
}

// Arithmetic with a rounding mode in its name.
extern "C" __global__ void directed(const double *x, const double *y, double *out, float *single, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = x[i], b = y[i], *o = out + 8 * i;
    float c = (float)a, d = (float)b, *s = single + 8 * i;
    o[0] = __dadd_ru(a, b);
    o[1] = __dmul_rd(a, b);
    o[2] = __fma_rz(a, b, a);
    o[3] = __ddiv_ru(a, b);
    o[4] = __dsqrt_rd(fabs(a));
    o[5] = __drcp_rz(b);
    o[6] = __dsub_rn(a, b);
    o[7] = (double)__double2ll_ru(a);
    s[0] = __fadd_rd(c, d);
    s[1] = __fmul_ru(c, d);
    s[2] = __fmaf_rz(c, d, c);
    s[3] = __fdiv_rd(c, d);
    s[4] = __fsqrt_ru(fabsf(c));
    s[5] = __frcp_rz(d);
    s[6] = __double2float_rd(a);
    s[7] = __ll2float_ru(__double_as_longlong(a));
}
