"""The values that JSON documents are made of."""

from __future__ import annotations

from typing import Literal, TypeAlias

Number: TypeAlias = float | Literal["NaN", "Infinity", "-Infinity"]
"""A number; JSON has no NaN and no infinities, which are texts."""

Value: TypeAlias = bool | int | Number | str | list[object] | None
"""A value of an expression or a variable: a scalar, or lists of scalars nested by dimension."""

Extent: TypeAlias = tuple[int, int, int]
"""Sizes in x, y and z."""

Version: TypeAlias = tuple[int, int]
"""Major and minor version."""
