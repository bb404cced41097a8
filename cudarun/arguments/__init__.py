"""Typed kernel arguments, from their text to the bytes of a launch, and checks of its results.

This package imports neither a driver nor click. ``docs/reference/arguments.md`` describes the
user's syntax.

Parsing, without numpy (the parsers share ``scanner`` and ``literals``)::

    grammar      "x=f32[n]:iota"  ─▶  values.Argument, made of types; the rules of its parts are in
                 value_rules, buffers, objects and frameworks
    expressions.parser  "y == a*x + 1"  ─▶  syntax.Expression
    dimensions   "2*n + 1"        ─▶  an expression of integers, and its value

Binding to a kernel, without numpy too (``parameter_match`` compares a value with a parameter)::

    binding      arguments + the kernel's parameters  ─▶  Binding: buffers, bytes, layout table;
                 in parts: parameter_order, parameter_table, buffer_resolution
    packing      one value  ─▶  its bytes, with the addresses left open

In the worker, with numpy (``dtypes`` are the types' numpy side)::

    initializers the contents of a buffer before the launch
    expressions.evaluation  the value of an expression, from operators and functions; deferral
                 computes large arrays chunk by chunk
    expressions.checks  the result of a check, within a tolerance
"""
