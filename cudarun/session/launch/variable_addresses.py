"""Addresses of variables and in their values, and constants that have no value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cudarun.arguments.addresses import Locator
from cudarun.arguments.binding import Binding
from cudarun.arguments.packing import BufferSpec, VariableElement
from cudarun.arguments.types import Type
from cudarun.base.errors import RequestError, errors_of
from cudarun.base.records import replace
from cudarun.images.facts import KernelFacts, VariableFacts
from cudarun.images.kinds import ImageKind
from cudarun.session.image.image import Image
from cudarun.session.launch.variables import (
    ImageVariable,
    VariableUse,
    find_variable,
    variable_names,
    variable_type,
)
from cudarun.session.load.library import Kernel, Library


def completed(
    binding: Binding,
    variables: VariableUse,
    image: Image,
    kernel: Kernel | KernelFacts,
    known: Callable[[], Sequence[VariableFacts]],
    earlier: Sequence[ImageVariable] = (),
) -> tuple[Binding, VariableUse]:
    """Resolve the addresses in the values of variables, and note constants without a value.

    Args:
        binding: The arguments; it gets the buffers in the values, and the notes.
        known: Returns the image's variables; only called for addresses.
        earlier: The variables that earlier steps write.
    """
    if notes := tuple(_unset_constants(image, kernel, (*earlier, *variables.written))):
        binding = replace(binding, warnings=(*binding.warnings, *notes))
    if not any(each.pointers for each in variables.written):
        return binding, variables
    taken = {*binding.scope.buffers, *(slot.name for slot in binding.slots)}
    taken |= {spec.name for spec in binding.buffers}
    for spec in variables.buffers:
        if spec.name in taken:
            raise RequestError(f"the name '{spec.name}' is already in use", option="--set")
    buffers = (*binding.scope.buffers.values(), *binding.buffers, *variables.buffers)
    locator = Locator(buffers, binding.integers, lambda: variable_names(known()))
    with errors_of(option="--set"):
        resolved = variables.resolved(locator)
    pointees = (pointee for each in resolved.written for _, pointee in each.pointers)
    found = (each for each in pointees if isinstance(each, BufferSpec))
    return replace(binding, others=(*binding.others, *found)), resolved


def _unset_constants(
    image: Image, kernel: Kernel | KernelFacts, written: Sequence[ImageVariable]
) -> Iterator[str]:
    """Yield a note for each constant that a kernel of PTX uses, and that nobody has set."""
    facts = image.facts
    if facts is None or facts.kind is not ImageKind.PTX:  # machine code does not name them
        return
    constants = {each.name: each for each in facts.variables if each.is_zero}
    for variable in written:
        constants.pop(variable.symbol, None)
    if not constants:
        return
    from cudarun.images.ptx_facts import ptx_text
    from cudarun.images.ptx_search import references

    used = references(ptx_text(image.code), kernel.name, constants)
    for name, each in constants.items():
        if name in used:
            yield (
                f"{kernel.demangled} reads the constant {each.demangled}, which is zero: "
                f"--set '{each.demangled}=…' sets it ({each.size} bytes)"
            )


def element_address(
    element: VariableElement, library: Library, written: Sequence[ImageVariable]
) -> int:
    """Return the device address of an element of a variable, in the current context.

    Args:
        written: The variables of ``--set``, whose types precede those of the image.
    """
    facts = find_variable(element.name, library.variables())
    address = library.symbol(element.name if facts is None else facts.name)
    if not element.index:
        return address
    known: Type | None = None
    if facts is not None:
        with_value = (each.type for each in written if each.symbol == facts.name)
        known = next(with_value, None) or variable_type(facts)
    if facts is None or known is None:
        raise RequestError(
            f"{element}: the image does not contain the type of {element.name}",
            hint=f"--set {element.name}=TYPE[…]:… sets it",
        )
    return address + element.offset(known, facts.size // known.size)
