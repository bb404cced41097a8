"""Softmax of rows."""

import numpy as np


class Model:
    def forward(self, x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
