#pragma once
#include <cstdint>
namespace at { struct PhiloxCudaState { uint64_t seed_ = 0, offset_ = 0; bool captured_ = false; }; }
