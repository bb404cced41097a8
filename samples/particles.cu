// One time step of falling particles. The settings are a struct that is passed by value.
//
// A struct parameter is copied into the kernel's parameter space byte for byte, so the host must use
// the device compiler's layout, padding included. This struct has padding on purpose:
//
//     offset  0  float  dt
//     offset 16  float4 gravity      (aligned to 16)
//     offset 32  char   has_floor
//     offset 40  double restitution  (aligned to 8)
//     48 bytes, aligned to 16

struct Settings {
    float dt;
    float4 gravity;
    char has_floor;
    double restitution;  // the part of its speed that a particle keeps when it hits the floor
};

extern "C" __global__ void step(Settings settings, float4* position, float4* velocity, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float4 p = position[i];
    float4 v = velocity[i];

    v.x += settings.gravity.x * settings.dt;
    v.y += settings.gravity.y * settings.dt;
    v.z += settings.gravity.z * settings.dt;
    p.x += v.x * settings.dt;
    p.y += v.y * settings.dt;
    p.z += v.z * settings.dt;

    if (settings.has_floor && p.y < 0.0f) {
        p.y = 0.0f;
        v.y = static_cast<float>(-settings.restitution * v.y);
    }
    position[i] = p;
    velocity[i] = v;
}
