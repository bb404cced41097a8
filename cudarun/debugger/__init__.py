"""The debugger of kernels on the emulated device: forwards and backwards."""
