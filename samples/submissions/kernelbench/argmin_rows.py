"""Places of the smallest numbers of rows."""

import numpy as np


class Model:
    def forward(self, x):
        return x.argmin(axis=1).astype(np.int64)


def get_inputs():
    return [np.random.randn(7, 33).astype(np.float32)]
