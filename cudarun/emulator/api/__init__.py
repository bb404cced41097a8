"""The calls of the driver API, one function each, under CUDA's own names.

A module per chapter of the manual. Every function has the parameters of its namesake in
``cuda.bindings.driver`` and returns the same tuple: a ``CUresult``, then the values, each ``None``
unless the call succeeded. What they do is a line or two over ``cudarun.emulator.host``.
"""
