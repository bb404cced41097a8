"""Dot product of two vectors."""

import numpy as np

cases = [
    {"n": 100, "seed": 11},
    {"n": 257, "seed": 12},
]


def generate_input(n, seed):
    random = np.random.default_rng(seed)
    return random.standard_normal(n, dtype=np.float32), random.standard_normal(n, dtype=np.float32)


def ref_kernel(data):
    a, b = data
    return np.array([a.astype(np.float64) @ b], np.float32)
