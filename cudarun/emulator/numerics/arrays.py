"""The types of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]  # an array of any type

DType = np.dtype[Any]  # the type of the elements of any array

Arrays = tuple[Array, ...]  # the registers of several operands, for example

Mask = npt.NDArray[np.bool_]  # an array of truth values
