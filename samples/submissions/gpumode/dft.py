"""Discrete Fourier transform."""

import numpy as np

cases = [
    {"n": 32, "seed": 11},
    {"n": 45, "seed": 12},
]


def generate_input(n, seed):
    random = np.random.default_rng(seed)
    return (random.standard_normal(n, dtype=np.float32),)


def ref_kernel(data):
    (x,) = data
    return np.fft.fft(x).astype(np.complex64)
