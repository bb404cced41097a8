// Gravity among n bodies, through tiles of bodies in shared memory, in single and in double precision.
// nvcc -arch=compute_80

__device__ float inverse_root(float x) { return rsqrtf(x); }
__device__ double inverse_root(double x) { return rsqrt(x); }

template <typename T> struct Four;
template <> struct Four<float> { typedef float4 type; };
template <> struct Four<double> { typedef double4_16a type; };

template <typename T, int TILE>
__device__ void attract(const typename Four<T>::type *bodies, T *acceleration, int n, T softening)
{
    typedef typename Four<T>::type Body;
    __shared__ Body tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    Body me = bodies[min(i, n - 1)];
    T ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += TILE) {
        int j = start + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = j < n ? bodies[j] : Body{0, 0, 0, 0};
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < TILE; k++) {
            T dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            T inverse = inverse_root(dx * dx + dy * dy + dz * dz + softening);
            T weight = tile[k].w * inverse * inverse * inverse;
            ax += weight * dx;
            ay += weight * dy;
            az += weight * dz;
        }
    }
    if (i < n) {
        acceleration[3 * i] = ax;
        acceleration[3 * i + 1] = ay;
        acceleration[3 * i + 2] = az;
    }
}

extern "C" __global__ void attract_single(const float4 *bodies, float *acceleration, int n,
                                          float softening)
{
    attract<float, 64>(bodies, acceleration, n, softening);
}

extern "C" __global__ void attract_double(const double4_16a *bodies, double *acceleration, int n,
                                          double softening)
{
    attract<double, 32>(bodies, acceleration, n, softening);
}
