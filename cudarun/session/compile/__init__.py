"""Compilation of CUDA source with NVRTC."""
