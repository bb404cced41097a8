"""Layer normalization of rows."""

import numpy as np


class Model:
    def forward(self, x):
        mean = x.mean(axis=1, keepdims=True)
        variance = x.var(axis=1, keepdims=True)
        return ((x - mean) / np.sqrt(variance + 1e-5)).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
