"""Leaky ReLU with a slope of 0.01."""

import numpy as np


class Model:
    def forward(self, x):
        return (np.where(x > 0, x, 0.01 * x)).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
