"""The compiled engine: kernels as machine code, one warp as vectors of 32 lanes."""
