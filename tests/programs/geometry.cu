// Structs by value: quaternions, rays and spheres, bounding boxes, matrices of 4×4 in constant memory.
// nvcc -arch=compute_80

struct Quaternion {
    float w, x, y, z;
};

struct Vector {
    float x, y, z;
};

__device__ Quaternion operator*(const Quaternion &a, const Quaternion &b)
{
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

// By value in and out, through a call that is not inlined: parameters and result in .param space.
__device__ __noinline__ Vector rotate(Quaternion q, Vector v)
{
    Quaternion r = q * Quaternion{0, v.x, v.y, v.z} * Quaternion{q.w, -q.x, -q.y, -q.z};
    return {r.x, r.y, r.z};
}

struct Motion {
    Quaternion turn;
    Vector shift;
    char repeat;
    double scale;
};

extern "C" __global__ void move_points(const Vector *in, Vector *out, Motion motion, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Vector v = in[i];
    for (int k = 0; k < motion.repeat; k++) {
        v = rotate(motion.turn, v);
        v.x += motion.shift.x;
        v.y += motion.shift.y;
        v.z += motion.shift.z;
    }
    out[i] = {(float)(v.x * motion.scale), (float)(v.y * motion.scale), (float)(v.z * motion.scale)};
}

// The nearest sphere that each ray of a camera meets; the scene in constant memory comes as an argument.
struct Sphere {
    Vector center;
    float radius;
};

struct Scene {
    Sphere spheres[5];
    Vector light;
    int count;
};

struct Hit {
    float distance;
    short sphere;
    unsigned char shade;
};

__device__ float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

extern "C" __global__ void trace(const __grid_constant__ Scene scene, Hit *hits, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    Vector ray = {(x - width * 0.5f) / height, (y - height * 0.5f) / height, 1};
    float length = sqrtf(dot(ray, ray));
    ray = {ray.x / length, ray.y / length, ray.z / length};
    Hit hit = {1e30f, -1, 0};
    for (int k = 0; k < scene.count; k++) {
        Vector c = scene.spheres[k].center;
        float along = dot(c, ray), r = scene.spheres[k].radius;
        float inside = along * along - dot(c, c) + r * r;
        if (inside < 0)
            continue;
        float distance = along - sqrtf(inside);
        if (distance > 0 && distance < hit.distance) {
            Vector normal = {(ray.x * distance - c.x) / r, (ray.y * distance - c.y) / r,
                             (ray.z * distance - c.z) / r};
            float light = fmaxf(dot(normal, scene.light), 0);
            hit = {distance, (short)k, (unsigned char)(light * 255)};
        }
    }
    hits[y * width + x] = hit;
}

// Bounds of points, block by block, by atomics on floats as ordered integers.
__device__ int ordered(float x)
{
    int i = __float_as_int(x);
    return i >= 0 ? i : i ^ 0x7fffffff;
}

extern "C" __global__ void bounds(const float *points, int n, int *low, int *high)
{
    __shared__ int lows[3], highs[3];
    if (threadIdx.x < 3) {
        lows[threadIdx.x] = 0x7fffffff;
        highs[threadIdx.x] = 0x80000000;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < 3; k++) {
            atomicMin(lows + k, ordered(points[3 * i + k]));
            atomicMax(highs + k, ordered(points[3 * i + k]));
        }
    __syncthreads();
    if (threadIdx.x < 3) {
        atomicMin(low + threadIdx.x, lows[threadIdx.x]);
        atomicMax(high + threadIdx.x, highs[threadIdx.x]);
    }
}
