"""timeout: waits for the judge to give up."""

import time


def custom_kernel(x):
    time.sleep(10000)
