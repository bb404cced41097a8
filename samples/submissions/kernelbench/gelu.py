"""GELU, approximated by tanh."""

import numpy as np


class Model:
    def forward(self, x):
        return (0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
