"""Mean hinge losses of pairs of rows."""

import numpy as np


class Model:
    def forward(self, x, t):
        return np.maximum(1 - x * t, 0).mean(axis=1)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32), np.random.randn(7, 33).astype(np.float32)]
