"""Arithmetic on arrays: PTX's types, their formats and rounding. Pure functions of numpy arrays."""
