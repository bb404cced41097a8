"""The variables of the image in a launch: written before it by ``--set``, read by name after it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from cudarun.arguments import values
from cudarun.arguments.addresses import Locator, buffers_in
from cudarun.arguments.buffer_resolution import BufferResolver
from cudarun.arguments.computed_numbers import with_integers
from cudarun.arguments.expressions.syntax import CONSTANTS, NamedVariable
from cudarun.arguments.frameworks import FilledArray
from cudarun.arguments.packing import BufferSpec, Pointers, VariableElement, pack
from cudarun.arguments.parameter_match import ParameterMismatch, fit
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.types import SCALARS, ScalarType, Type
from cudarun.base.errors import RequestError, errors_of
from cudarun.base.records import dataclass
from cudarun.images.demangler import short_names
from cudarun.images.facts import VariableFacts
from cudarun.images.parameters import Parameter
from cudarun.model.launch import MemoryRow
from cudarun.session.launch.step_request import LaunchStep

_PTX_TYPE = re.compile(r"\.?(?P<letter>[usf])(?P<bits>8|16|32|64)(?:\[[0-9]+\])*")


@dataclass(frozen=True, slots=True)
class ImageVariable(BufferSpec):
    """A variable of the image: a buffer whose memory the image has."""

    symbol: str = ""
    space: str = "global"  # ``"global"`` or ``"const"``
    address: int = 0  # the address in the current context; 0 until it is known

    @property
    def is_unwritten_at_first(self) -> bool:
        """False: an image initializes its variables."""
        return False

    def __str__(self) -> str:
        return BufferSpec.__str__(self) if self.shape else str(self.type)


@dataclass(frozen=True, slots=True)
class VariableUse:
    """The variables that a launch uses."""

    # Those of ``--set``, each with its value as ``initial``.
    written: tuple[ImageVariable, ...] = ()
    # Those that checks, prints, saves and shows name, without one.
    read: tuple[ImageVariable, ...] = ()

    @property
    def rows(self) -> tuple[MemoryRow, ...]:
        """A row for each variable."""
        written = {each.symbol for each in self.written}
        read = {each.symbol: each for each in self.read if each.symbol not in written}
        used = (*self.written, *read.values())
        return tuple(memory_row(each, each.symbol, each.space) for each in used)

    def located(self, address: Callable[[str], int]) -> VariableUse:
        """Return the variables with their addresses; ``address`` returns that of a symbol."""

        def placed(variables: Sequence[ImageVariable]) -> tuple[ImageVariable, ...]:
            return tuple(replace(each, address=address(each.symbol)) for each in variables)

        return VariableUse(placed(self.written), placed(self.read))

    @property
    def pointees(self) -> tuple[VariableElement, ...]:
        """The elements of other variables to which the values point."""
        pointees = (pointee for each in self.written for _, pointee in each.pointers)
        return tuple(each for each in pointees if isinstance(each, VariableElement))

    @property
    def buffers(self) -> tuple[BufferSpec, ...]:
        """The buffers in the values of variables."""
        return tuple(each for variable in self.written for each in buffers_in(variable.pointers))

    def resolved(self, locator: Locator) -> VariableUse:
        """Return the variables with the addresses in their values resolved."""
        return VariableUse(tuple(map(locator.buffer, self.written)), self.read)


def variables_of(
    step: LaunchStep,
    known: Callable[[], Sequence[VariableFacts]],
    integers: Mapping[str, int],
    taken: Collection[str],
) -> VariableUse:
    """Return the variables that a launch writes and reads.

    Args:
        known: Returns the image's variables; only called if the launch names one.
        integers: The integer arguments by name, for dimensions.
        taken: The names of arguments, which precede variables.
    """
    expressions = (*step.expressions, *(let.expression for let in step.lets))
    # The variables that only symbol(…) names.
    symbols = {name: found for each in expressions for name, found in each.symbols.items()}
    names = [name for each in expressions for name in sorted(each.names)]
    for several in (step.expectations, step.saves, step.shows):
        names += [each.name for each in several]
    defined = {*taken, *CONSTANTS, *(let.name for let in step.lets)}
    wanted = [name for name in dict.fromkeys(names) if name not in defined]
    if not step.settings and not wanted:
        return VariableUse()
    facts_of_all = known()
    buffers = BufferResolver(integers, step.directory)
    written: list[ImageVariable] = []
    read: list[ImageVariable] = []
    for setting in step.settings:
        name = setting.name or ""
        with errors_of(option="--set"):
            facts = find_variable(name, facts_of_all)
            if facts is None:
                raise unknown_variable(name, setting.text, facts_of_all, step.image.origin)
            written.append(variable_with_value(name, facts, setting, buffers))
    set_as: dict[str, str] = {}
    for each in written:
        if (first := set_as.get(each.symbol)) is not None:
            same = "" if first == each.name else f": it is the same variable as {first}"
            raise RequestError(f"{each.name} is set twice{same}", option="--set")
        set_as[each.symbol] = each.name
    for name in wanted:
        symbol = symbols[name].name if name in symbols else name
        facts = find_variable(symbol, facts_of_all)
        if facts is not None:
            read.append(_read(name, facts, symbols.get(name), written))
        elif name in symbols:
            raise unknown_variable(symbol, name, facts_of_all, step.image.origin)
    return VariableUse(tuple(written), tuple(read))


def variable_type(facts: VariableFacts) -> ScalarType | None:
    """Return the type of a variable's elements, if the image has it."""
    found = _PTX_TYPE.fullmatch(facts.type or "")
    if found is None:
        return None
    letter = "i" if found["letter"] == "s" else found["letter"]
    return SCALARS[f"{letter}{found['bits']}"]


def find_variable(name: str, known: Sequence[VariableFacts]) -> VariableFacts | None:
    """Return the variable with a mangled or C++ name, which may lack namespaces and templates."""
    for each in known:
        if name in (each.name, each.demangled):
            return each
    wanted = name.replace(" ", "")
    found = [each for each in known if wanted in short_names(each.demangled)]
    if len(found) > 1:
        names = ", ".join(f'symbol("{each}")' for each in shortest_names(found))
        raise RequestError(f"'{name}' matches {len(found)} variables", hint=f"variables: {names}")
    return found[0] if found else None


def variable_names(known: Iterable[VariableFacts]) -> set[str]:
    """Return the names of variables: those of symbols, and those of C++ in all spellings."""
    names = ((each.name, each.demangled, *short_names(each.demangled)) for each in known)
    return {name for several in names for name in several}


def shortest_names(known: Iterable[VariableFacts]) -> list[str]:
    """Return the shortest name that no other variable has, for all but those of CUDA's headers."""
    spellings = [short_names(each.demangled) for each in known if not each.is_of_headers]
    owners = Counter(spelling for names in spellings for spelling in names)
    return [
        min((each for each in names if owners[each] == 1), key=len, default=names[0])
        for names in spellings
    ]


def unknown_variable(
    name: str, shown: str, known: Sequence[VariableFacts], origin: str
) -> RequestError:
    """Return the error about a variable that the image does not contain.

    Args:
        shown: The text that contains it.
    """
    names = shortest_names(known)
    listed = f"variables: {', '.join(names)}" if names else "it does not contain variables"
    hint = " ".join(filter(None, (did_you_mean(name, names), listed)))
    return RequestError(f"{shown}: {origin} does not contain this variable", hint=hint)


def variable_with_value(
    name: str, facts: VariableFacts, setting: values.Argument, buffers: BufferResolver
) -> ImageVariable:
    """Return a variable with the value of an argument.

    Args:
        name: The variable as it is written.
        buffers: Resolves dimensions and files in it.
    """
    value = with_integers(setting.value, buffers.integers)
    value = value.buffer if isinstance(value, FilledArray) else value
    if isinstance(value, values.Descriptor):
        raise RequestError(f"{value} cannot be written to a variable")
    shape: tuple[int, ...] = ()
    element: Type
    initial: values.Initial
    pointers: Pointers = ()
    match value:
        case values.Buffer() | values.FileBuffer():
            spec = buffers.buffer(setting, value, name)
            if spec.initial is None:
                example = f"{name}={value}:zeros"
                raise RequestError(f"{value} has no initializer", hint=f"example: {example}")
            element, shape = spec.type, spec.shape
            initial, pointers = spec.initial, spec.pointers
        case values.Bytes(data):
            scalar = variable_type(facts) or values.BYTE
            if len(data) % scalar.size:
                scalar = values.BYTE
            element, shape = scalar, (len(data) // scalar.size,)
            initial = values.ListInitial(tuple(_scalars(data, scalar)))
        case _:
            typed = _typed(value, facts)
            element, initial = values.value_type(typed), values.ListInitial((typed,))
            pointers = pack(typed, name, partial(buffers.buffer, setting)).pointers
    variable = ImageVariable(
        name, element, shape, initial, pointers, symbol=facts.name, space=facts.space
    )
    if variable.nbytes != facts.size:
        raise RequestError(
            f"{facts.demangled} has {facts.size} bytes; {setting.text} has {variable.nbytes}"
        )
    return variable


def _typed(value: values.Value, facts: VariableFacts) -> values.Leaf:
    """Return a value passed as itself; a number gets the type of the variable."""
    element = variable_type(facts)
    if isinstance(value, UntypedNumber) and element is None:
        example = f"'{facts.demangled}=u8[{facts.size}]:{value}'"
        if facts.size in (1, 2, 4, 8):
            example = f"i{8 * facts.size}:{value}"
        raise RequestError(
            f"the image does not contain the type of {facts.demangled}",
            hint=f"write the value with its type, such as {example}",
        )
    is_one = isinstance(value, UntypedNumber | Scalar)
    if element is not None and is_one and facts.size > element.size:
        count = facts.size // element.size
        raise RequestError(
            f"{facts.demangled} has {count} elements; {value} is one value",
            hint=f"for all elements: '{facts.demangled}={element}[{count}]:{value}'"
            if isinstance(value, UntypedNumber)
            else None,
        )
    try:
        typed = fit(value, Parameter(0, 0, facts.size, None, facts.type if element else None))
    except ParameterMismatch as mismatch:
        raise RequestError(f"{facts.demangled}: {mismatch}") from None
    assert isinstance(typed, values.Leaf), "a number has received its type"
    return typed


def _read(
    name: str,
    facts: VariableFacts,
    symbol: NamedVariable | None,
    written: Sequence[ImageVariable],
) -> ImageVariable:
    """Return a variable to read: with the requested type, that of ``--set``, or the image's."""
    set_before = next((each for each in written if each.symbol == facts.name), None)
    element: Type | None = symbol.type if symbol is not None else None
    if element is None and set_before is not None:
        return replace(set_before, name=name, initial=None)
    element = element or variable_type(facts)
    if element is None:
        raise RequestError(
            f"the image does not contain the type of {facts.demangled} ({facts.size} bytes)",
            hint=f'write the type of its elements: symbol("{facts.demangled}", f32)',
        )
    if facts.size % element.size:
        raise RequestError(
            f"{facts.demangled} has {facts.size} bytes, not a multiple of {element} "
            f"({element.size} bytes)"
        )
    count = facts.size // element.size
    shape = () if count == 1 else (count,)
    return ImageVariable(name, element, shape, symbol=facts.name, space=facts.space)


def _scalars(data: bytes, element: ScalarType) -> Iterator[Scalar]:
    size = element.size
    for start in range(0, len(data), size):
        yield Scalar(element, int.from_bytes(data[start : start + size], "little"))


def memory_row(spec: BufferSpec, symbol: str | None = None, space: str = "global") -> MemoryRow:
    """Return the row of a variable, or of a buffer that is not an argument."""
    return MemoryRow(
        name=spec.name,
        symbol=symbol,
        space=space,
        type=str(spec),
        nbytes=spec.nbytes,
        value=_value_text(spec.initial, spec.shape),
    )


def _value_text(initial: values.Initial | None, shape: tuple[int, ...]) -> str | None:
    if initial is None or isinstance(initial, values.OtherInitial):
        return None
    if isinstance(initial, values.ListInitial) and not shape:
        [only] = initial.items
        return only.literal if isinstance(only, values.Element) else str(only)
    return str(initial)
