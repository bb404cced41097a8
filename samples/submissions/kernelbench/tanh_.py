"""Hyperbolic tangent."""

import numpy as np


class Model:
    def forward(self, x):
        return (np.tanh(x)).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
