#pragma once
#include <tuple>
#include <ATen/cuda/PhiloxCudaState.h>
namespace at { namespace cuda { namespace philox { __host__ __device__ inline std::tuple<uint64_t, uint64_t> unpack(at::PhiloxCudaState s) { return {s.seed_, s.offset_}; } } } }
