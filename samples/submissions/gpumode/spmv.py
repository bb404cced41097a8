"""Product of a sparse matrix (CSR) and a vector."""

import numpy as np

cases = [
    {"n": 100, "seed": 11},
    {"n": 257, "seed": 12},
]


def generate_input(n, seed):
    random = np.random.default_rng(seed)
    counts = random.permutation(np.arange(n) % 6)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns = random.integers(0, n, starts[-1], dtype=np.int32)
    values = random.standard_normal(starts[-1], dtype=np.float32)
    return starts, columns, values, random.standard_normal(n, dtype=np.float32)


def ref_kernel(data):
    starts, columns, values, x = data
    products = np.concatenate([values * x[columns], [0]])
    sums = np.add.reduceat(products, starts[:-1])
    return np.where(np.diff(starts) > 0, sums, 0).astype(np.float32)
