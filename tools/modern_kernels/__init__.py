"""Recorded launches of kernels of well-known code bases, replayed on the emulated device."""
