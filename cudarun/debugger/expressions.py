"""Expressions over C++ variables: the language of checks, evaluated for each lane.

To the language's values it adds places: `p->a.b`, `*q` and `x[i]` select what is read before
anything is read, so that a pointer to 2 GiB costs no more than one to a float.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from cudarun.arguments.dtypes import Array, Values, scalar_type
from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.deferral import Data, materialize
from cudarun.arguments.expressions.evaluation import Evaluator, errors_naming
from cudarun.arguments.expressions.operators import truth
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.types import ScalarType, least_exact
from cudarun.base.errors import RequestError
from cudarun.debugger.values import CppValue, ValueReader


class LaneEvaluator(Evaluator):
    """An evaluator of an expression for each lane of an accessor.

    Args:
        expression: The expression.
        names: The other values by their names: registers with a value per lane, buffers.
        variables: The C++ variables in scope.
        reader: The reader of the lanes' values.

    Attributes:
        missing: The lanes whose value needs memory that they cannot access.
    """

    def __init__(
        self,
        expression: Expression,
        names: Values,
        variables: Mapping[str, Callable[[], CppValue]],
        reader: ValueReader,
    ) -> None:
        super().__init__(expression, names, names)
        self.variables = variables
        self.reader = reader
        self.missing = np.zeros(reader.accessor.lanes, np.bool_)
        self._places: dict[int, CppValue | None] = {}

    def condition(self) -> Array:
        """Return for which lanes the expression is true; not for those with missing values."""
        with np.errstate(all="ignore"), errors_naming(self.expression):
            passed = np.asarray(truth(materialize(self.value(self.expression.node))))
            if passed.ndim > 1:
                raise RequestError("a condition must have one value for each thread")
            found: Array = np.broadcast_to(passed, self.missing.shape) & ~self.missing
            return found

    def result(self) -> Any:
        """Return the C++ value that the expression selects, or what it computes."""
        with errors_naming(self.expression):
            place = self.place(self.expression.node)
        return super().result() if place is None else place

    # --- places ----------------------------------------------------------------------------------

    def place(self, node: tree.Node) -> CppValue | None:
        """Return the C++ value that a node selects; ``None`` if it computes a number."""
        if id(node) not in self._places:
            self._places[id(node)] = self._place(node)
        return self._places[id(node)]

    def _place(self, node: tree.Node) -> CppValue | None:
        match node:
            case tree.Name(name):
                return self._named(name)
            case tree.MemberOf(base, member):
                value = self.place(base)
                return None if value is None else self.reader.member(value, member)
            case tree.Index(base, items):
                value = self.place(base)
                for item in items if value is not None else ():
                    assert value is not None
                    value = self._element(value, item)
                return value
            case tree.Binary("+" | "-" as sign, left, right):
                pointer, other = self.place(left), self.place(right)
                if pointer is not None and pointer.is_pointer and not (other and other.is_pointer):
                    index = np.asarray(self.array(right)).astype(np.int64)
                    return self.reader.moved(pointer, index if sign == "+" else -index)
        return None

    def _named(self, name: str) -> CppValue | None:
        first, *members = name.split(".")
        found = self.variables.get(first)
        if found is None and "this" in self.variables and first not in self.values:
            this = self.reader.element(self.variables["this"](), 0)
            if any(each.name == first for each in this.type.members):
                found, members = (lambda: this), [first, *members]
        if found is None:
            return None
        value = found()
        for member in members:
            value = self.reader.member(value, member)
        return value

    def _element(self, value: CppValue, item: tree.IndexItem) -> CppValue:
        if isinstance(item, tree.Slice):
            start = self._integer(item.start) if item.start else 0
            length = value.extents[0] if value.extents else None
            stop = self._integer(item.stop) if item.stop else length
            if stop is None or item.step is not None or value.extents[1:] or stop < start:
                raise RequestError("[…]: select elements as p[first:end]")
            return self.reader.elements(value, start, stop - start)
        if isinstance(item, tree.Rest | tree.NewAxis):
            raise RequestError("[…]: an index must be an integer")
        index = self._index_item(item)
        return self.reader.element(value, np.asarray(index))

    # --- values ----------------------------------------------------------------------------------

    def value(self, node: tree.Node) -> Data:
        """Return the value of a node: of a place, the number of each lane."""
        place = self.place(node)
        if place is not None:
            return self._numbers(place)
        if isinstance(node, tree.Binary) and node.operator in ("and", "or"):
            return self._short_circuit(node)
        if isinstance(node, tree.Name) and node.name not in {*self.values, *tree.CONSTANTS}:
            known = [*self.variables, *self.values]
            raise tree.unknown_name(self.expression, node, known)
        return super().value(node)

    def _numbers(self, place: CppValue) -> Data:
        numbers, known = self.reader.numbers(place)
        self.missing |= ~known
        if len(numbers) == 1:
            return cast(Data, numbers[0])
        if place.extents:
            raise RequestError(f"{place.type_name} is an array; select an element")
        return cast(Data, numbers)

    def _short_circuit(self, node: tree.Binary) -> Data:
        """Evaluate ``and`` or ``or``; what its left side decides needs no right side."""
        before, self.missing = self.missing, np.zeros_like(self.missing)
        left = np.asarray(truth(self.array(node.left)))
        of_left, self.missing = self.missing, np.zeros_like(self.missing)
        right = np.asarray(truth(self.array(node.right)))
        is_decided = ~left if node.operator == "and" else left
        self.missing = before | of_left | (self.missing & ~is_decided)
        return cast(Data, left & right if node.operator == "and" else left | right)

    def precision(
        self, node: tree.Node, joint: Callable[..., ScalarType | None] = least_exact
    ) -> ScalarType | None:
        """Return the floating type of a value, as the base class does."""
        place = self.place(node)
        if place is None:
            return super().precision(node, joint)
        found = None if place.dtype is None else scalar_type(place.dtype)
        return found if found is not None and found.is_float else None
