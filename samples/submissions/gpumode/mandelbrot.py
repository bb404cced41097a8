"""Iterations of z² + c, at most 50."""

import numpy as np

cases = [
    {"n": 100, "seed": 11},
    {"n": 257, "seed": 12},
]


def generate_input(n, seed):
    random = np.random.default_rng(seed)
    return (
        random.uniform(-2, 1, n).astype(np.float32),
        random.uniform(-1, 1, n).astype(np.float32),
    )


def ref_kernel(data):
    re, im = data
    zr, zi = np.zeros_like(re), np.zeros_like(im)
    count = np.zeros(re.shape, np.int32)
    for _ in range(50):
        inside = zr * zr + zi * zi <= 4
        count += inside
        old = zr
        zr = np.where(inside, old * old - zi * zi + re, old)
        zi = np.where(inside, 2 * old * zi + im, zi)
    return count
