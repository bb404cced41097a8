// libcu++'s other headers include its own; NVRTC may be installed without it, as by PyTorch.
#if __has_include(<cuda/std/cstdint>)
#include <cuda/std/cstdint>
#include <__cudarun/std_of_cuda.h>
#else
#include <__cudarun/limits.h>
#ifndef __CUDARUN_STDINT
#define __CUDARUN_STDINT
#define SIZE_MAX UINT64_MAX
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef signed char int_least8_t;
typedef unsigned char uint_least8_t;
typedef signed char int_fast8_t;
typedef unsigned char uint_fast8_t;
typedef signed short int16_t;
typedef unsigned short uint16_t;
typedef signed short int_least16_t;
typedef unsigned short uint_least16_t;
typedef signed short int_fast16_t;
typedef unsigned short uint_fast16_t;
typedef signed int int32_t;
typedef unsigned int uint32_t;
typedef signed int int_least32_t;
typedef unsigned int uint_least32_t;
typedef signed int int_fast32_t;
typedef unsigned int uint_fast32_t;
typedef signed long long int64_t;
typedef unsigned long long uint64_t;
typedef signed long long int_least64_t;
typedef unsigned long long uint_least64_t;
typedef signed long long int_fast64_t;
typedef unsigned long long uint_fast64_t;
typedef signed long long intptr_t;
typedef unsigned long long uintptr_t;
typedef signed long long intmax_t;
typedef unsigned long long uintmax_t;
namespace std {
    using ::int8_t; using ::uint8_t; using ::int_least8_t; using ::uint_least8_t;
    using ::int_fast8_t; using ::uint_fast8_t; using ::int16_t; using ::uint16_t;
    using ::int_least16_t; using ::uint_least16_t; using ::int_fast16_t; using ::uint_fast16_t;
    using ::int32_t; using ::uint32_t; using ::int_least32_t; using ::uint_least32_t;
    using ::int_fast32_t; using ::uint_fast32_t; using ::int64_t; using ::uint64_t;
    using ::int_least64_t; using ::uint_least64_t; using ::int_fast64_t; using ::uint_fast64_t;
    using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
#endif
#endif
