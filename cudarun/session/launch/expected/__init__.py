"""Buffers that are compared with an array of a file, or with the result of a function."""
