"""An emulated CUDA device: the driver API over an interpreter of PTX."""
