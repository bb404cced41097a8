"""Typed kernel arguments: from their text to the bytes of a launch, and the checks of its results.

Pure: neither a driver nor click is imported here. What a user can write is ``docs/arguments.md``.

Text, read without numpy (``scanner`` and ``literals`` are what the readers share)::

    grammar      "x=f32[n]:iota"  ─▶  values.Argument, made of types
    expressions  "y == a*x + 1"   ─▶  syntax.Expression
    dimensions   "2*n + 1"        ─▶  syntax.Expression of integers, and its value

Bound to a kernel, without numpy too (``fitting`` compares one value with one parameter)::

    binding      arguments + the kernel's parameters  ─▶  Binding: buffers, bytes, layout table
    packing      one value  ─▶  its bytes, with the addresses left open

In the worker, with numpy (``dtypes`` are the types' numpy side)::

    initializers what a buffer holds before the launch
    evaluation   the value of an expression, from operators and functions; deferred does the work
                 on large arrays piece by piece
    checks       whether one holds, within a tolerance
"""
