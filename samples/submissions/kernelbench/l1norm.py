"""Division of rows by their L1 norm."""

import numpy as np


class Model:
    def forward(self, x):
        return (x / np.abs(x).sum(axis=1, keepdims=True)).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
