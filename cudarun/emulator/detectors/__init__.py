"""Observers of launches that detect faults in kernels, or collect statistics."""
