// Without optimisation: loops, doubles and structs as they are written.
// nvcc -arch=compute_80 -O0 -Xcicc -O0

struct State {
    double position[2], velocity[2];
};

__device__ State derivative(const State &s, double pull)
{
    double x = s.position[0], y = s.position[1], r2 = x * x + y * y, r3 = r2 * sqrt(r2);
    return {{s.velocity[0], s.velocity[1]}, {-pull * x / r3, -pull * y / r3}};
}

__device__ State advance(const State &s, const State &d, double time)
{
    State out;
    for (int k = 0; k < 2; k++) {
        out.position[k] = s.position[k] + time * d.position[k];
        out.velocity[k] = s.velocity[k] + time * d.velocity[k];
    }
    return out;
}

// Orbits around a center, by Runge and Kutta; and how much of the energy is lost.
extern "C" __global__ void orbit(State *states, double *energies, double step, int steps, double pull, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    State s = states[i];
    for (int k = 0; k < steps; k++) {
        State k1 = derivative(s, pull), k2 = derivative(advance(s, k1, step / 2), pull);
        State k3 = derivative(advance(s, k2, step / 2), pull), k4 = derivative(advance(s, k3, step), pull);
        for (int axis = 0; axis < 2; axis++) {
            s.position[axis] += step / 6 * (k1.position[axis] + 2 * k2.position[axis] +
                                            2 * k3.position[axis] + k4.position[axis]);
            s.velocity[axis] += step / 6 * (k1.velocity[axis] + 2 * k2.velocity[axis] +
                                            2 * k3.velocity[axis] + k4.velocity[axis]);
        }
    }
    states[i] = s;
    energies[i] = (s.velocity[0] * s.velocity[0] + s.velocity[1] * s.velocity[1]) / 2 -
                  pull / sqrt(s.position[0] * s.position[0] + s.position[1] * s.position[1]);
}
