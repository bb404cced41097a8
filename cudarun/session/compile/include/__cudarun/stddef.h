// libcu++'s other headers include its own; NVRTC may be installed without it, as by PyTorch.
#if __has_include(<cuda/std/cstddef>)
#include <cuda/std/cstddef>
#include <__cudarun/std_of_cuda.h>
#else
#ifndef __CUDARUN_STDDEF
#define __CUDARUN_STDDEF
namespace std { enum class byte : unsigned char {}; using nullptr_t = decltype(nullptr); }
#ifndef offsetof
#if __has_builtin(__builtin_offsetof)  // since NVRTC 13
#define offsetof(type, member) __builtin_offsetof(type, member)
#else
#define offsetof(type, member) ((size_t)__INTADDR__(&((type*)0)->member))
#endif
#endif
#endif
#endif
