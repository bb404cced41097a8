"""``--swap``: the buffers that exchange their names after each launch of a step."""

from __future__ import annotations

from cudarun.arguments.binding import Binding
from cudarun.arguments.packing import ArraySpec, BufferSpec
from cudarun.arguments.sampling import ArrayForm
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.scope import Scope
from cudarun.arguments.values import AddressOf, ObjectValue
from cudarun.base.errors import RequestError
from cudarun.session.launch.step_request import LaunchStep


def resolve_swaps(step: LaunchStep, binding: Binding, scope: Scope) -> tuple[tuple[str, str], ...]:
    """Return the buffers of ``--swap`` by their names; an argument's name is that of its buffer.

    Raises:
        RequestError: A name is that of no buffer, or two buffers differ in type or size.
    """
    aliases = {
        slot.name: slot.value.name
        for slot in binding.slots
        if isinstance(slot.value, AddressOf) and slot.value.index is None
    }
    aliases |= {
        slot.name: slot.value.source
        for slot in binding.slots
        if isinstance(slot.value, ObjectValue) and isinstance(slot.value.source, str)
    }
    found: list[tuple[str, str]] = []
    for swap in step.swaps:
        pair = [aliases.get(name, name) for name in (swap.first, swap.second)]
        for name in pair:
            if name not in scope.buffers:
                raise RequestError(
                    f"unknown buffer '{name}'",
                    hint=did_you_mean(name, scope.buffers)
                    or f"the buffers are {', '.join(scope.buffers)}",
                    option="--swap",
                )
        first, second = (scope.buffers[name] for name in pair)
        if first.name == second.name or str(first) != str(second) or _form(first) != _form(second):
            raise RequestError(
                f"{first.name} is {first} and {second.name} is {second}"
                if first.name != second.name
                else f"{swap}: both are the buffer {first.name}",
                hint="two buffers of the same type and shape can exchange their names",
                option="--swap",
            )
        found.append((first.name, second.name))
    return tuple(found)


def _form(spec: BufferSpec) -> tuple[ArrayForm, int] | None:
    """Return the form and the levels of an array; ``None`` for a buffer."""
    return (spec.form, spec.levels) if isinstance(spec, ArraySpec) else None
