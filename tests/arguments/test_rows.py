"""Which rows of its arrays an expression looks at."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.rows import rows_wanted, span

ROWS = 10


def wanted(text: str) -> dict[str, range]:
    found: dict[str, list[slice]] = {}
    for name, rows in rows_wanted(parse_expression(text).node):
        found.setdefault(name, []).append(rows)
    return {name: span(each, ROWS) for name, each in found.items()}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("y[:4]", range(4)),
        ("y[3]", range(3, 4)),
        ("y[-1]", range(9, 10)),
        ("y[-3:-1]", range(7, 9)),
        ("y[2, 1] + y[5][0]", range(2, 6)),
        ("y[8:] - y[-9]", range(1, 10)),
        ("y[5:5] + y[20]", range(0)),
        ("y[4:20]", range(4, 10)),
        ("y", range(10)),
        ("y[0] + sum(y)", range(10)),
        ("y[::2]", range(10)),
        ("y[..., 0]", range(10)),
        ("y[None, :4]", range(10)),
        ("y[:, 0]", range(10)),
        ("y[x[0]]", range(10)),
        ("y[1 + 1]", range(10)),
        ("y[y[0]]", range(10)),
        ("y[[0, 1]]", range(10)),
        ("reshape(y, 5, 4)[0]", range(10)),
        ('y["f0"][0]', range(10)),
        ('y[:2]["f0"]', range(2)),
        ("old(y)[2]", range(0)),
        ("old(y[2])", range(0)),
        ("old(y) == y[1]", range(1, 2)),
    ],
)
def test_rows_of_y(text: str, rows: range) -> None:
    assert wanted(text)["y"] == rows


def test_each_name_has_its_own() -> None:
    assert wanted("y[:2] == a * x[4:6] + old(x)[0]") == {
        "y": range(2),
        "a": range(10),
        "x": range(4, 6),
    }
    assert wanted("1 + 1") == {}


@pytest.mark.parametrize(
    "text",
    ["y[:4]", "y[-1] * 2", "y[2:5] @ y[3:6]", "sum(y[7:])", "y[2:8][::2]", "y[3:9][-2]", "y[y[1]]"],
)
def test_the_other_rows_do_not_matter(text: str) -> None:
    y = np.arange(ROWS)
    part = np.full(ROWS, -99)
    rows = wanted(text)["y"]
    part[rows.start : rows.stop] = y[rows.start : rows.stop]
    expression = parse_expression(text)
    here, there = (Evaluator(expression, {"y": each}, {}).result() for each in (part, y))
    assert np.array_equal(here, there)
