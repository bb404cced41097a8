"""The order of arguments and their names: by the parameters' names, else as they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudarun.arguments.expressions.syntax import RESERVED
from cudarun.arguments.scanner import IDENTIFIER, did_you_mean
from cudarun.arguments.values import Argument
from cudarun.base.errors import RequestError
from cudarun.images.parameters import Parameter


def _own_name(parameter: Parameter) -> str | None:
    """Return a parameter's name if it can be that of an argument."""
    name = parameter.name
    return name if name and IDENTIFIER.fullmatch(name) and name not in RESERVED else None


def default_name(index: int, parameter: Parameter | None) -> str:
    """Return the name of an argument that has none: the parameter's, or ``p`` and its index."""
    return (parameter and _own_name(parameter)) or f"p{index}"


def has_names(parameters: Sequence[Parameter]) -> bool:
    """Return whether arguments can be bound by name: every parameter has one of its own."""
    names = [_own_name(parameter) for parameter in parameters]
    return None not in names and len(set(names)) == len(names)


def order_remarks(arguments: Sequence[Argument], parameters: Sequence[Parameter]) -> Iterator[str]:
    """Yield a remark if several arguments have names and the parameters have none."""
    is_named = any(argument.name for argument in arguments)
    if is_named and len(arguments) > 1 and not has_names(parameters):
        yield "bound by order: the image has no parameter names"


def in_order(
    arguments: Sequence[Argument],
    parameters: Sequence[Parameter],
    kernel: str,
    noun: str = "parameter",
) -> list[Argument | None]:
    """Return an argument for each parameter, ``None`` if it is missing, and then those too many.

    Where all parameters have names, ``NAME=VALUE`` is that of the name. An argument without a name
    stands in its own place, and all before it in theirs.

    Args:
        parameters: The parameters, or the members of a struct.
        kernel: The owner of the parameters in messages.
        noun: ``member`` of a struct.

    Raises:
        RequestError: There is no such parameter, it has two arguments, or an argument without a
            name follows one out of order.
    """
    if not has_names(parameters):
        return [*arguments, *[None] * (len(parameters) - len(arguments))]
    owners = {parameter.name: index for index, parameter in enumerate(parameters)}
    placed: dict[int, Argument] = {}
    displaced: Argument | None = None
    for index, argument in enumerate(arguments):
        place = owners.get(argument.name) if argument.name else index
        if place is None:
            known = [parameter.label for parameter in parameters]
            near = did_you_mean(str(argument.name), known)
            listed = f"its {noun}s are {', '.join(known)}"
            raise RequestError(
                f"{kernel} has no {noun} '{argument.name}'",
                hint=f"{near} {listed}" if near else listed,
                argument=argument.shown,
            )
        if argument.name is None and displaced is not None:
            raise RequestError(
                f"{kernel}: argument {index} ({argument}) has no name and follows "
                f"{displaced.name}, which is out of order",
                hint="name it (NAME=VALUE), or put the arguments without names first",
                argument=argument.shown,
            )
        if place in placed:
            raise RequestError(
                f"{kernel}: two arguments for {noun} {argument.name}: "
                f"{placed[place]} and {argument}",
                argument=argument.shown,
            )
        if place != index:
            displaced = argument
        placed[place] = argument
    count = max(len(parameters), *(place + 1 for place in placed), 0)
    return [placed.get(place) for place in range(count)]


def argument_names(arguments: Sequence[Argument], parameters: Sequence[Parameter]) -> list[str]:
    """Return the name of each argument: its own, the parameter's, or ``p`` and its index.

    Raises:
        RequestError: Two arguments have the same name, or one has the name of another parameter.
    """
    taken = {argument.name for argument in arguments if argument.name}
    owners = {parameter.name: parameter.index for parameter in parameters if parameter.name}
    names: list[str] = []
    for argument, parameter in zip(arguments, parameters, strict=True):
        if argument.name:
            if owners.get(argument.name, parameter.index) != parameter.index:
                raise RequestError(
                    f"argument {parameter.index} is named {argument.name}, which is parameter "
                    f"{owners[argument.name]} of the kernel",
                    hint="pass arguments in the order of the parameters",
                    argument=argument.shown,
                )
            names.append(argument.name)
            continue
        name = default_name(parameter.index, parameter)
        if name in taken:
            raise RequestError(
                f"argument {parameter.index} ({argument}) has no name, and its default name "
                f"{name} is already in use: name it, NAME=VALUE"
            )
        taken.add(name)
        names.append(name)
    return names
