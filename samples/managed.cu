// A variable with one value for the host and all devices, and a variable with one value per context.
//
// `counter` is managed: it has one address on the host and on every device, so all of them read the
// same value. `hits` is a device variable: every context that loads this image has its own.

__managed__ int counter = 0;
__device__ int hits = 0;

extern "C" __global__ void bump(int k) {
    atomicAdd(&counter, k);
    atomicAdd(&hits, 1);
}
