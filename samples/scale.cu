// data *= factor, for any type: a template in a namespace, explicitly instantiated.
//
// The image has one kernel per instantiation, under mangled C++ names such as
// _ZN7example5scaleIfEEvPT_S1_i. Demangled, that is `void example::scale<float>(float*, float, int)`:
// this name selects the kernel, and the signature gives the types of the parameters.

namespace example {

template <typename T>
__global__ void scale(T* data, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] *= factor;
    }
}

template __global__ void scale<float>(float*, float, int);
template __global__ void scale<double>(double*, double, int);
template __global__ void scale<int>(int*, int, int);

}  // namespace example
