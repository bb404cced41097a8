"""Mean Huber losses of pairs of rows."""

import numpy as np


class Model:
    def forward(self, x, t):
        d = np.abs(x - t)
        return np.where(d < 1, 0.5 * d * d, d - 0.5).mean(axis=1).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32), np.random.randn(7, 33).astype(np.float32)]
