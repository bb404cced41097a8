"""Values of expressions over a few arrays."""

from __future__ import annotations

import numpy as np

from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.parser import parse_expression


def value(text: str, old: dict | None = None, **values):
    return Evaluator(parse_expression(text), values, {} if old is None else old).result()


X = np.arange(8, dtype=np.float32)
M = np.arange(6, dtype=np.float32).reshape(2, 3)
H = np.array([3, 250], np.uint8)
POINTS = np.array([(1, 2.5), (3, 4.5)], [("n", "i4"), ("v", "f4")])
