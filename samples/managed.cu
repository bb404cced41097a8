// A variable for the whole machine beside a variable for each context.
//
// `counter` is managed: one address, the same on the host and on every device, so all of them see
// one value. `hits` is an ordinary device variable: every context that loads this image has its own.

__managed__ int counter = 0;
__device__ int hits = 0;

extern "C" __global__ void bump(int k) {
    atomicAdd(&counter, k);
    atomicAdd(&hits, 1);
}
