"""Python functions that return the expected output of samples, for ``--expect``."""


def saxpy(a, x, y):
    """Return ``a*x + y``, as the kernel leaves it in ``y``."""
    return a * x + y
