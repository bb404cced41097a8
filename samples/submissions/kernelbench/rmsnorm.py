"""RMS normalization of rows."""

import numpy as np


class Model:
    def forward(self, x):
        return (x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5)).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
