"""Products of complex numbers."""

import numpy as np

cases = [
    {"n": 100, "seed": 11},
    {"n": 257, "seed": 12},
]


def generate_input(n, seed):
    random = np.random.default_rng(seed)
    return (
        random.standard_normal((n, 2)).astype(np.float32).view(np.complex64)[:, 0].copy(),
        random.standard_normal((n, 2)).astype(np.float32).view(np.complex64)[:, 0].copy(),
    )


def ref_kernel(data):
    a, b = data
    return a * b
