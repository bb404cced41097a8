"""Python functions that return the expected output of samples, for ``--expect``."""


def saxpy(a, x, y):
    return a * x + y
