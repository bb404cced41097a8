"""mismatch: returns zeros, whose rows have the mean zero."""

import numpy as np


def custom_kernel(x):
    return np.zeros_like(x)
