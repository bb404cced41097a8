"""SELU."""

import numpy as np


class Model:
    def forward(self, x):
        return (1.0507009873 * np.where(x > 0, x, 1.6732632423 * np.expm1(x))).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
