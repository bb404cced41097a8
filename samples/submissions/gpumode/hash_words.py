"""A hash of words."""

import numpy as np

cases = [
    {"n": 100, "seed": 11},
    {"n": 257, "seed": 12},
]


def generate_input(n, seed):
    random = np.random.default_rng(seed)
    return (random.integers(0, 1 << 32, n, dtype=np.uint32),)


def ref_kernel(data):
    (x,) = data
    y = x.astype(np.uint64) * 2654435761 & 0xFFFFFFFF
    return (y ^ (y >> 16)).astype(np.uint32)
