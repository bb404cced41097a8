"""CUDA source compiled by NVRTC."""
