"""Cosine similarity of pairs of rows."""

import numpy as np


class Model:
    def forward(self, x, t):
        dots = (x * t).sum(axis=1)
        return (dots / np.linalg.norm(x, axis=1) / np.linalg.norm(t, axis=1)).astype(np.float32)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32), np.random.randn(7, 33).astype(np.float32)]
