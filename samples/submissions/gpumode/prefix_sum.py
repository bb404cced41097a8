"""Inclusive sums of integers."""

import numpy as np

cases = [
    {"n": 100, "seed": 11},
    {"n": 257, "seed": 12},
]


def generate_input(n, seed):
    random = np.random.default_rng(seed)
    return (random.integers(-50, 50, n, dtype=np.int32),)


def ref_kernel(data):
    (x,) = data
    return np.cumsum(x, dtype=np.int32)
