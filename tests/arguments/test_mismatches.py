"""The location of mismatches, where they cluster."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.arguments.expressions.mismatches import MismatchLocation


def location(wrong: np.ndarray, chunk: int = 7) -> str | None:
    """Describe the true elements, added chunk by chunk."""
    found = MismatchLocation(wrong.shape)
    for start in range(0, wrong.size, chunk):
        flat = np.flatnonzero(wrong.reshape(-1)[start : start + chunk])
        if len(flat):
            found.add(flat + start)
    return found.describe()


@pytest.mark.parametrize(
    ("length", "index", "text"),
    [
        (99, slice(0, 0), None),
        (99, slice(5, 6), None),  # a single one is shown anyway
        (99, slice(None), None),
        (99, slice(90, None), "the last 9"),
        (99, slice(None, 12), "the first 12"),
        (99, slice(20, 40), "[20] to [39]"),
        (99, slice(3, None, 8), "one in 8 from [3] on"),
        (99, [3, 50, 98], None),
        (99, [64, 66, 67, 70, 79], "all within [64:80]"),
        (99, [1, 3], None),  # two are no cluster
    ],
)
def test_of_vectors(length: int, index: object, text: str | None) -> None:
    wrong = np.zeros(length, bool)
    wrong[index] = True
    assert location(wrong) == text


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ((3,), "all in row 3"),
        (([2, 5],), "all in rows 2, 5"),
        ((slice(None), 7), "all in column 7"),
        ((slice(4, 8), slice(16, 20)), "all within [4:8, 16:20]"),
        ((slice(10, 16),), "all within [10:16, :]"),
        ((np.eye(16, 32, dtype=bool),), "one in 33 from [0, 0] on"),
        (([0, 7, 9, 15], [31, 3, 8, 0]), None),
    ],
)
def test_of_matrices(index: tuple[object, ...], text: str | None) -> None:
    wrong = np.zeros((16, 32), bool)
    wrong[index] = True
    assert location(wrong) == text


def test_of_more_axes() -> None:
    wrong = np.zeros((4, 5, 6), bool)
    wrong[:, 2, 1:] = True
    assert location(wrong) == "all at index 2 of axis 1"
    wrong[:, 3, :2] = True
    assert location(wrong) == "all at indices 2, 3 of axis 1"
    wrong = np.zeros((16, 16, 16), bool)
    wrong[4:8, 8:12, :4] = True
    assert location(wrong) == "all within [4:8, 8:12, 0:4]"
