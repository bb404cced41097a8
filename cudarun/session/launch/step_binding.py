"""The arguments of a step, bound to the parameters of its kernel: on a device, or from its file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.files import files_of
from cudarun.arguments.packing import ArraySpec, BufferSpec
from cudarun.arguments.parameter_table import Suggest
from cudarun.arguments.sampling import ArrayForm
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.scope import Scope
from cudarun.arguments.values import AddressOf, Argument, ObjectValue
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass, derived, replace
from cudarun.images.facts import KernelFacts, VariableFacts
from cudarun.images.parameters import Parameter
from cudarun.model.launch import KernelLaunch
from cudarun.session.image.image import Image
from cudarun.session.launch.geometry import resolve_geometry
from cudarun.session.launch.recorded.memory import (
    recorded_arguments,
    recorded_buffers,
    with_recorded_variables,
)
from cudarun.session.launch.step_request import Geometry, GeometryRequest, LaunchStep
from cudarun.session.launch.variable_addresses import completed
from cudarun.session.launch.variables import (
    ImageVariable,
    VariableUse,
    memory_row,
    variable_names,
    variables_of,
)
from cudarun.session.load.library import Kernel


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel, and what its image tells; the calls are only made if necessary."""

    loaded: object  # the loaded image, or the file: the owner of the variables
    image: Image
    kernel: Kernel | KernelFacts  # the kernel, with its mangled and its C++ name
    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...]
    names: Callable[[], Sequence[str]]  # returns the mangled names of all kernels of the image
    variables: Callable[[], Sequence[VariableFacts]]  # returns the variables of the image
    # Returns the facts of the kernel, if the image has them.
    facts: Callable[[], KernelFacts | None]


@dataclass(frozen=True, slots=True)
class StepArguments:
    """The arguments and the geometry that a step launches its kernel with."""

    # The step as requested; of a recording, with the recorded parameters as arguments.
    request: LaunchStep
    binding: Binding
    variables: VariableUse  # the variables of the image that it uses
    geometry: Geometry
    # The pairs of buffers that exchange their names after each launch.
    swaps: tuple[tuple[str, str], ...]

    def launch(self, kernel: Kernel | KernelFacts) -> KernelLaunch:
        """Return the launch of the kernel, for a report."""
        return derived(
            KernelLaunch,
            self.geometry,
            kernel=kernel.name,
            demangled=kernel.demangled,
            parameters=self.binding.rows,
            memory=(*self.variables.rows, *map(memory_row, self.binding.others)),
        )


class StepBinder:
    """The binding of the steps of a program in order: each may use the names of those before it."""

    def __init__(self, device: str) -> None:
        self.notes: tuple[str, ...] = ()  # the notes on the current step so far
        self._device = device  # the device that suggested commands name
        self._scope = Scope()
        self._taken: dict[str, None] = {}
        self._written: dict[int, list[ImageVariable]] = {}

    def bind(self, step: LaunchStep, source: KernelSource) -> StepArguments:
        """Bind the arguments of the next step."""
        kernel, parameters, self.notes = source.kernel, source.parameters, source.notes
        step = recorded_arguments(step, parameters)
        binding = self._bound(step, source)
        if further := recorded_buffers(step):
            binding = replace(binding, others=(*binding.others, *further))
        self._taken |= dict.fromkeys((*binding.following.buffers, *binding.scalars))
        variables = variables_of(step, source.variables, binding.integers, self._taken)
        if step.image.recording is not None:
            variables = with_recorded_variables(step, variables, source.variables())
        earlier = self._written.setdefault(id(source.loaded), [])
        binding, variables = completed(
            binding, variables, source.image, kernel, source.variables, earlier
        )
        earlier += variables.written
        self.notes += binding.warnings
        self._scope = binding.following
        geometry = resolve_geometry(step.geometry, binding, source.facts)
        self.notes += geometry.notes
        swaps = resolve_swaps(step, binding, self._scope)
        return StepArguments(step, binding, variables, geometry, swaps)

    def _bound(self, step: LaunchStep, source: KernelSource) -> Binding:
        """Bind the arguments, or return what they were bound to in another launch of this process.

        Long ones, and those that need files, other steps or the image are bound in each launch.
        """
        arguments, kernel, key = (*step.arguments, *step.buffers), source.kernel, None
        if self._scope == Scope() and sum(len(each.text) for each in arguments) <= _SHORT:
            key = (
                kernel.demangled, step.directory, step.allow_type_mismatch, step.parameter_names,
                step.constants, len(step.buffers),
                *((each.text, each.whole) for each in arguments),
            )  # fmt: skip
        same = source.parameters, arguments  # compared, as they are mostly the same objects
        if (known := _bindings.get(key)) and known[0] == same:
            return known[1]

        def symbols() -> Collection[str]:
            nonlocal key
            key = None
            return variable_names(source.variables())

        binding = bind(
            step.arguments,
            source.parameters,
            kernel=kernel.demangled,
            directory=step.directory,
            allow_type_mismatch=step.allow_type_mismatch,
            suggest=self._suggesting(step, source),
            others=step.buffers,
            symbols=symbols,
            scope=self._scope,
            parameter_names=step.parameter_names,
            constants=step.constants,
        )
        if key is not None and not any(map(files_of, arguments)):
            if len(_bindings) == _MOST_BINDINGS:
                _bindings.clear()
            _bindings[key] = same, binding
        return binding

    def _suggesting(self, step: LaunchStep, source: KernelSource) -> Suggest | None:
        """Return a function that suggests a complete command; ``None`` in a spec."""
        if step.directory != Path():  # paths on the command line have another base
            return None

        def suggest(arguments: Sequence[Argument | None]) -> str:
            from cudarun.session.image.suggestion import (  # only this error needs it
                GivenWords,
                Suggestions,
                device_words,
                image_words,
            )

            geometry = _geometry_words(step.geometry)
            given = GivenWords(
                step.kernel,
                (*image_words(step.image), *device_words(self._device), *geometry),
                bool(geometry),
                tuple(None if each is None else each.whole or each.shown for each in arguments),
                tuple(_integers(arguments)),
            )
            suggestions = Suggestions(source.image, step.image.origin)
            return suggestions.command(source.kernel.name, source.parameters, source.names(), given)

        return suggest


_bindings: dict[object, tuple[object, Binding]] = {}
_MOST_BINDINGS, _SHORT = 64, 1000


def resolve_swaps(step: LaunchStep, binding: Binding, scope: Scope) -> tuple[tuple[str, str], ...]:
    """Return the buffers of ``--swap`` by their names; an argument's name is that of its buffer."""
    aliases: dict[str, str] = {}
    for slot in binding.slots:
        match slot.value:
            case AddressOf(name, None) | ObjectValue(source=str(name)):
                aliases[slot.name] = name
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


def _integers(arguments: Sequence[Argument | None]) -> list[int]:
    found = []
    for argument in arguments:
        match argument.value if argument else None:
            case Scalar(type, _) as scalar if type.is_integer and type.size >= 4:
                found.append(int(scalar.value))
            case UntypedNumber(text) if text.isdecimal():
                found.append(int(text))
    return found


def _geometry_words(geometry: GeometryRequest) -> tuple[str, ...]:
    """Return the options of the requested geometry; nothing without one."""
    if not (geometry.threads or geometry.grid or geometry.block):
        return ()
    extents: dict[str, Sequence[Expression] | None] = {
        "--threads": geometry.threads,
        "--grid": geometry.grid,
        "--block": geometry.block,
        "--cluster": geometry.cluster,
        "--smem": None if geometry.shared_bytes is None else (geometry.shared_bytes,),
    }
    words: list[str] = []
    for option, extent in extents.items():
        if extent is not None:
            words += (option, ",".join(each.text for each in extent))
    return (*words, "--cooperative") if geometry.cooperative else tuple(words)
