// FAULTY ON PURPOSE: waits for a flag that is never set.
//
// The pointer is volatile, so the compiler must read the flag in every iteration. (The compiler may
// assume that a loop without side effects ends, and remove it.)

extern "C" __global__ void endless(const volatile int* flag) {
    while (*flag == 0) {
    }
}
