"""The steps of a launch: bound in order, so that each can use the buffers of those before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TypeAlias

from cudarun.arguments.dtypes import Values
from cudarun.arguments.packing import BufferSpec, HandleOwner
from cudarun.base.errors import CudarunError, ImageRefused
from cudarun.base.records import dataclass, derived, replace
from cudarun.diagnostics.entries import notes
from cudarun.images.kinds import CONTAINERS, identify
from cudarun.session.driver.calls import is_fault
from cudarun.session.driver.devices import Device
from cudarun.session.launch.buffers import Buffers
from cudarun.session.launch.request import Program
from cudarun.session.launch.step_binding import KernelSource, StepArguments, StepBinder
from cudarun.session.launch.step_request import LaunchStep
from cudarun.session.launch.variable_addresses import element_address
from cudarun.session.load.library import Kernel, Library, load_image
from cudarun.session.load.request import JitOptions
from cudarun.session.workers.session import Session

Libraries: TypeAlias = Sequence[Library]  # the library of each step; steps of one image share it


def load_libraries(
    session: Session, program: Program, options: JitOptions | None = None
) -> Libraries:
    """Load the images of all steps, each once."""
    loaded: dict[tuple[int, str | None], Library] = {}
    libraries: list[Library] = []
    for step in program.steps:
        is_container = identify(step.image.data) in CONTAINERS  # the kernel selects a fatbin
        key = id(step.image), step.kernel if is_container else None
        if key not in loaded:
            loaded[key] = load_image(
                session, step.image, options, kernel=step.kernel, again=not program.algebra
            )
        libraries.append(loaded[key])
    return libraries


@dataclass(frozen=True, slots=True)
class BoundStep(StepArguments):
    """One step with its arguments bound."""

    number: int
    count: int
    library: Library
    kernel: Kernel

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes on the kernel, its arguments and its geometry."""
        return (*self.kernel.notes, *self.binding.warnings, *self.geometry.notes)

    def located(self) -> BoundStep:
        """Return the step with the addresses of its variables, in the current context."""
        return replace(self, variables=self.variables.located(self.library.symbol))

    def handles(
        self, buffers: Buffers, behind: Mapping[str, str] | None = None
    ) -> dict[HandleOwner, int]:
        """Return the addresses in variables of the image, and the handles of objects.

        Args:
            buffers: The buffers and arrays of all steps, in the current context.
            behind: The buffer behind each name, if names have been exchanged.
        """
        written = self.variables.written
        found = buffers.arrays.handles(self.binding.objects, buffers.addresses, behind or {})
        for each in (*self.binding.variables, *self.variables.pointees):
            found[each] = element_address(each, self.library, written)
        return found

    def swapped(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the buffer behind each name after a launch of this step."""
        after = dict(names)
        for first, second in self.swaps:
            after[first], after[second] = after[second], after[first]
        return after

    def errors_named(self, *, overlaps: bool = False) -> AbstractContextManager[None]:
        """Add the image, the kernel and, of several steps, the step to errors.

        Args:
            overlaps: The step before may still run: nothing is added to a fault, which can be its.
        """
        where = self.request, self.library, self.kernel, self.number, self.count
        return _errors_named(*where, lambda: self.notes, overlaps=overlaps)


def bind_steps(
    session: Session, libraries: Libraries, program: Program, device: Device
) -> tuple[BoundStep, ...]:
    """Bind the arguments of all steps."""
    binder = StepBinder(device.label)
    bound: list[BoundStep] = []
    for step, library in zip(program.steps, libraries, strict=True):
        number, count = len(bound) + 1, len(program.steps)
        kernel = library.kernel(step.kernel)
        unchecked = session.driver.traits.unchecked_kernels(library.handle)
        if unchecked > 0:
            which = "1 other kernel" if unchecked == 1 else f"{unchecked} other kernels"
            are = "is" if unchecked == 1 else "are"
            session.progress.note(f"{which} of {step.image.origin} {are} not compiled or checked")
        source = KernelSource(
            library, library.image, kernel, kernel.parameters, kernel.notes, library.names,
            library.variables, partial(library.kernel_facts, kernel.name),
        )  # fmt: skip
        with _errors_named(step, library, kernel, number, count, lambda: binder.notes):
            arguments = binder.bind(step, source)
        found = {"number": number, "count": count, "library": library, "kernel": kernel}
        bound.append(derived(BoundStep, arguments, **found))
    return tuple(bound)


def all_buffers(steps: Iterable[BoundStep]) -> list[BufferSpec]:
    """Return the buffers of all steps; each is of the step that declares it."""
    return [spec for step in steps for spec in step.binding.buffers]


def writable_arrays(steps: Sequence[BoundStep]) -> set[str]:
    """Return the names of the arrays that kernels can write, also after names are exchanged."""
    objects = (each for step in steps for each in step.binding.objects)
    found = {each.source for each in objects if each.sampling is None}
    pairs = [set(pair) for step in steps for pair in step.swaps]
    while any(pair & found and not pair <= found for pair in pairs):
        for pair in pairs:
            found |= pair if pair & found else set()
    return found


def all_scalars(steps: Iterable[BoundStep]) -> Values:
    """Return the values of the steps so far by name, as expressions see them."""
    return {name: value for step in steps for name, value in step.binding.scalars.items()}


@contextmanager
def _errors_named(
    step: LaunchStep,
    library: Library,
    kernel: Kernel,
    number: int,
    count: int,
    messages: Callable[[], Iterable[str]],
    *,
    overlaps: bool = False,
) -> Iterator[None]:
    """Add the step, its image, its notes and the compiler's log to errors."""
    since = len(library.logs.error)
    try:
        yield
    except CudarunError as refused:
        if overlaps and is_fault(refused):
            raise
        error: CudarunError = refused
        if isinstance(error, ImageRefused):  # the kernel: the image has been loaded
            error = library.refused(error, since=since)
        error.warnings = notes(messages())
        if count > 1:
            error.of(operation=f"step {number}")
            error.at(step=f"{number} of {count}")
        raise error.at(file=step.image.origin, kernel=kernel.demangled) from None
