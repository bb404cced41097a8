// Kernels whose grids race, or do not. `grids.ptx` beside it is what nvcc 13.0 gave for it, with the .version it
// needs: nvcc -rdc=true -ptx -arch=sm_90 grids.cu, then `.version 8.3`.

extern "C" {

__device__ int flag;

__global__ void put(int* p, int v) {
    p[threadIdx.x] = v;
}
__global__ void get(int* out, int* p) {
    out[threadIdx.x] = p[threadIdx.x];
}
__global__ void fine(int* p, int* out) {
    p[0] = 5;
    put<<<1, 4>>>(p, 6);
    get<<<1, 4>>>(out, p);
    get<<<1, 4, 0, cudaStreamTailLaunch>>>(out+8, p);
}
__global__ void after(int* p, int* out) {
    put<<<1, 4>>>(p, 6);
    p[1] = 7;
}
__global__ void reads_after(int* p, int* out) {
    put<<<1, 4>>>(p, 6);
    out[0] = p[1];
}
__global__ void forgotten(int* p, int* out) {
    put<<<1, 4, 0, cudaStreamFireAndForget>>>(p, 6);
    get<<<1, 4>>>(out, p);
}
__global__ void two_streams(int* p, int* out) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, 1);
    put<<<1, 4, 0, s>>>(p, 6);
    get<<<1, 4>>>(out, p);
}
__global__ void one_stream(int* p, int* out) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, 1);
    put<<<1, 4, 0, s>>>(p, 6);
    get<<<1, 4, 0, s>>>(out, p);
}
__global__ void tail_ok(int* p, int* out) {
    put<<<1, 4, 0, cudaStreamFireAndForget>>>(p, 6);
    get<<<1, 4, 0, cudaStreamTailLaunch>>>(out, p);
    p[8] = 1;
    get<<<1, 4, 0, cudaStreamTailLaunch>>>(out+4, p+8);
}
__global__ void middle(int* p, int* out) {
    put<<<1, 4>>>(p, 6);
}
__global__ void nested_ok(int* p, int* out) {
    middle<<<1, 1>>>(p, out);
    get<<<1, 4>>>(out, p);
}
__global__ void nested_bad(int* p, int* out) {
    middle<<<1, 1>>>(p, out);
    get<<<1, 4, 0, cudaStreamFireAndForget>>>(out, p);
}
__global__ void blocks(int* p, int* out) {
    if(blockIdx.x) put<<<1, 4>>>(p, 6);
    else get<<<1, 4>>>(out, p);
}
__global__ void same(int* p, int* out) {
    put<<<1, 4, 0, cudaStreamFireAndForget>>>(p, 6);
    put<<<1, 4>>>(p, 6);
}
__global__ void atomics(int* p, int* out) {
    put<<<1, 4>>>(p, 6);
    atomicAdd(p+1, 1);
}

// The parent waits for its child.
__global__ void raise() { *(volatile int*)&flag = 1; }
__global__ void waits(int* p, int* out) {
    raise<<<1, 1, 0, cudaStreamFireAndForget>>>();
    while (!*(volatile int*)&flag);
    out[0] = 1;
}
__global__ void beyond(int* p) { p[1 << 28] = 1; }
__global__ void faulty(int* p, int* out) { beyond<<<1, 1>>>(p); }
__global__ void large(int* out) {
    __shared__ int memory[1024];
    memory[threadIdx.x] = out[0];
    __syncthreads();
    out[threadIdx.x] = memory[threadIdx.x];
}
__global__ void small(int* p, int* out) { large<<<1, 4>>>(out); }

}
