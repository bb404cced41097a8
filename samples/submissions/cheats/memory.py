"""memory: takes the memory of the machine."""

import time

import numpy as np


def custom_kernel(x):
    taken = []
    while True:
        taken.append(np.ones(1 << 26, np.uint8))
        time.sleep(0.001)
