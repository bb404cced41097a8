"""Comparison of the engines of the emulated device, on everything that was recorded."""
