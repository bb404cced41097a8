// Copies a window of a matrix with tensor memory access: two tensor maps, passed by value.
//
//     y[i][j] = x[i + top][j + left], and 0 where x has no such element
//
// A box of 32 x 32 floats per block. One thread starts the copies; the tensor maps have the shapes
// and strides, and the hardware computes the addresses and fills what is outside x with zeros.

struct __align__(64) CUtensorMap {  // of cuda.h
    unsigned long long opaque[16];
};

__device__ unsigned shared_address(const void* pointer) {
    return (unsigned)__cvta_generic_to_shared(pointer);
}

extern "C" __global__ void tma_window(const __grid_constant__ CUtensorMap x,
                                      const __grid_constant__ CUtensorMap y, int left, int top) {
    __shared__ __align__(128) float tile[32 * 32];
    __shared__ __align__(8) unsigned long long full;
    const int column = 32 * blockIdx.x, row = 32 * blockIdx.y;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full)) : "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&full)),
                     "r"((unsigned)sizeof tile)
                     : "memory");
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
            "l"(&x), "r"(column + left), "r"(row + top), "r"(shared_address(&full))
            : "memory");
        unsigned done = 0;
        while (!done)
            asm volatile(
                "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0;"
                " selp.u32 %0, 1, 0, p; }"
                : "=r"(done)
                : "r"(shared_address(&full))
                : "memory");
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&y),
            "r"(column), "r"(row), "r"(shared_address(tile))
            : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
