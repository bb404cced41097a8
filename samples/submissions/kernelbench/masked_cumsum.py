"""Cumulative sum of the positive numbers of rows."""

import numpy as np


class Model:
    def forward(self, x):
        return np.cumsum(np.where(x > 0, x, 0), axis=1, dtype=np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
