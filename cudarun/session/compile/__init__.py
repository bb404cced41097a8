"""Compilation of CUDA source with NVRTC or nvcc."""
