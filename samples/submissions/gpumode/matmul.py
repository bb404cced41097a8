"""Product of two matrices."""

import numpy as np

cases = [
    {"m": 8, "n": 12, "k": 20, "seed": 31},
    {"m": 16, "n": 16, "k": 16, "seed": 32},
]


def generate_input(m, n, k, seed):
    random = np.random.default_rng(seed)
    a = random.standard_normal((m, k), dtype=np.float32)
    return a, random.standard_normal((k, n), dtype=np.float32)


def ref_kernel(data):
    a, b = data
    return a @ b
