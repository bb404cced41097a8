"""launches: computes on the host."""


def custom_kernel(x):
    return x - x.mean(axis=1, keepdims=True)
