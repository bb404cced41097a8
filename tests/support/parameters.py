"""Parameters of kernels, and the members of structs."""

from __future__ import annotations

from cudarun.images.parameters import Parameter


def member(
    offset: int,
    size: int,
    spelling: str | None = None,
    name: str | None = None,
    count: int = 1,
    members: tuple[Parameter, ...] = (),
) -> Parameter:
    """A member of a struct, as debug information describes it."""
    return Parameter(0, offset, size, None, spelling, name, members, count)
