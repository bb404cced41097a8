"""Largest numbers of rows."""

import numpy as np


class Model:
    def forward(self, x):
        return x.max(axis=1)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
