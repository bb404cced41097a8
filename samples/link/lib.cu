// Definitions of the symbols that main.cu declares extern.

__device__ float weight = 3.0f;

__device__ float weighted(float value) {
    return value * weight;
}
