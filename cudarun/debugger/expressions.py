"""Expressions over C++ variables: the language of checks, evaluated for each lane.

To the language's values it adds places: ``p->a.b``, ``*q`` and ``x[i]`` select what is read before
anything is read, so that a pointer to 2 GiB costs no more than one to a float.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from cudarun.arguments.dtypes import Array, Values, scalar_type
from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.deferral import Data
from cudarun.arguments.expressions.evaluation import Evaluator, errors_naming
from cudarun.arguments.expressions.operators import truth
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.types import ScalarType, least_exact
from cudarun.base.errors import RequestError
from cudarun.debugger.values import CppValue


class LaneEvaluator(Evaluator):
    """An evaluator of an expression for each of some lanes.

    Args:
        names: The other values by their names: registers with a value per lane, buffers.
        variables: The C++ variables in scope.
        lanes: The number of lanes.
    """

    def __init__(
        self,
        expression: Expression,
        names: Values,
        variables: Mapping[str, CppValue],
        lanes: int,
    ) -> None:
        super().__init__(expression, names, names)
        self.variables = variables
        self._missing = np.zeros(lanes, np.bool_)  # lanes whose value is in no memory of theirs
        self._places: dict[int, CppValue | None] = {}

    def condition(self) -> Array:
        """Return for which lanes the expression is true.

        It is not for lanes that cannot access what it reads.

        Raises:
            RequestError: It has no single value for each lane.
        """
        found = np.asarray(self.number())
        if found.dtype.names or found.ndim > 1 or found.size not in (1, len(self._missing)):
            raise RequestError(f"{self.expression}: the condition is not a single value")
        return np.broadcast_to(truth(found), self._missing.shape) & ~self._missing

    def result(self) -> Any:
        """Return the C++ value that the expression selects, or what it computes."""
        with errors_naming(self.expression):
            place = self._place(self.expression.node)
        return self.number() if place is None else place

    def number(self) -> Any:
        """Return the value as a number, or as an array of them."""
        return super().result()

    # --- places ----------------------------------------------------------------------------------

    def _place(self, node: tree.Node) -> CppValue | None:
        """Return the C++ value that a node selects; ``None`` if it computes a number."""
        if id(node) not in self._places:
            self._places[id(node)] = self._selected(node)
        return self._places[id(node)]

    def _selected(self, node: tree.Node) -> CppValue | None:
        match node:
            case tree.Name(name):
                first, *members = name.split(".")
                value = None
                if first in self.variables:
                    value = self.variables[first]
                elif "this" in self.variables and self.variables["this"].element(0).has_member(
                    first
                ):
                    value, members = self.variables["this"].element(0), [first, *members]
                for member in () if value is None else members:
                    assert value is not None
                    value = value.member(member)
                return value
            case tree.MemberOf(base, member):
                value = self._place(base)
                return None if value is None else value.member(member)
            case tree.Index(base, items):
                value = self._place(base)
                for item in () if value is None else items:
                    assert value is not None
                    value = self._element(value, item)
                return value
            case tree.Binary("+" | "-" as sign, left, right):
                pointer, other = self._place(left), self._place(right)
                if sign == "+" and other is not None and other.is_pointer:
                    pointer, other, right = other, pointer, left
                if pointer is not None and pointer.is_pointer and not (other and other.is_pointer):
                    index = np.asarray(self.array(right)).astype(np.int64)
                    return pointer.advanced(index if sign == "+" else -index)
        return None

    def _element(self, value: CppValue, item: tree.IndexItem) -> CppValue:
        if isinstance(item, tree.Slice):
            start = self._integer(item.start) if item.start else 0
            length = value.extents[0] if value.extents else None
            stop = self._integer(item.stop) if item.stop else length
            if stop is None or item.step is not None or value.extents[1:] or stop < start:
                raise RequestError("[…]: select elements as p[first:end]")
            return value.elements(start, stop - start)
        if isinstance(item, tree.Rest | tree.NewAxis):
            raise RequestError("[…]: an index must be an integer")
        index = self._index_item(item)
        return value.element(np.asarray(index))

    # --- values ----------------------------------------------------------------------------------

    def value(self, node: tree.Node) -> Data:
        """Return the value of a node: of a place, the number of each lane."""
        place = self._place(node)
        if place is not None:
            return self._numbers(place)
        if isinstance(node, tree.Binary) and node.operator == "-":
            left, right = self._place(node.left), self._place(node.right)
            if left is not None and right is not None and left.is_pointer and right.is_pointer:
                for each in (left, right):  # to know lanes that cannot access them
                    self._numbers(each)
                found = left.distance(right)
                return cast(Data, found[0] if len(found) == 1 else found)
        if isinstance(node, tree.Name) and not (
            node.name in tree.CONSTANTS or node.name in self.values
        ):
            known = dict.fromkeys([*self.variables, *self.values])
            raise tree.unknown_name(self.expression, node, known)
        return super().value(node)

    def _numbers(self, place: CppValue) -> Data:
        numbers, known = place.numbers()
        self._missing |= ~known
        if len(numbers) == 1:
            return cast(Data, numbers[0])
        if place.extents:
            raise RequestError(f"{place.type_name} is an array; select an element")
        return cast(Data, numbers)

    def precision(
        self, node: tree.Node, joint: Callable[..., ScalarType | None] = least_exact
    ) -> ScalarType | None:
        """Return the floating type of a value, as the base class does."""
        place = self._place(node)
        if place is None:
            return super().precision(node, joint)
        found = None if place.dtype is None else scalar_type(place.dtype)
        return found if found is not None and found.is_float else None
