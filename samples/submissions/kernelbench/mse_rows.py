"""Mean squared errors of pairs of rows."""

import numpy as np


class Model:
    def forward(self, x, t):
        return ((x - t) ** 2).mean(axis=1)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32), np.random.randn(7, 33).astype(np.float32)]
