"""cudarun: load, link and launch CUDA kernels from a terminal, on GPUs or on an emulated device."""

__version__ = "0.2.0"
