"""Images as libraries (``cuLibrary*``): loaded once, with kernels for every context."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from cudarun.arguments.scanner import did_you_mean
from cudarun.base.bindings import counting_call
from cudarun.base.errors import CudarunError, ImageRefused, RequestError
from cudarun.base.records import dataclass, replace
from cudarun.images.demangler import demangle, parameter_types
from cudarun.images.facts import ImageFacts, KernelFacts, VariableFacts
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.parameters import Parameter
from cudarun.session.driver.calls import Driver
from cudarun.session.image.debug_parameters import DebugReader
from cudarun.session.image.image import Image
from cudarun.session.image.kernels import select_kernel
from cudarun.session.load.jit import DriverImage, Logs, driver_options, option_refusals
from cudarun.session.load.preparation import with_version_note
from cudarun.session.load.request import JitOptions
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

    from cudarun.session.driver.protocol import Handle


_PARAM_COUNT_SINCE = 13020
PARAM_INFO_SINCE = 12040
"""The version of cuKernelGetParamInfo, cuLibraryEnumerateKernels, cuFuncLoad and others."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a library: a ``CUkernel``, valid in every context."""

    name: str
    handle: cuda.CUkernel
    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...] = ()  # about debug information that is not usable

    @property
    def demangled(self) -> str:
        """The C++ signature, or the name itself."""
        return demangle(self.name)


class Library(DriverImage):
    """A loaded image; `ImageRefused` if the driver refuses the image.

    Loading is lazy: the driver may accept a broken image and refuse its kernels only when they are
    used, so every failure here includes the JIT log of the load.

    Args:
        image: The image; PTX gets its terminating NUL here.
    """

    def __init__(
        self,
        driver: Driver,
        image: Image,
        options: JitOptions | None = None,
        logs: Logs | None = None,
    ) -> None:
        self.driver = driver
        self.image = image
        self.options = options or JitOptions()
        self.logs = logs or Logs()
        given = driver_options(driver, self.options)
        every = given | self.logs.options(driver)
        with option_refusals(given, self.logs):
            self.handle = self.ask(
                driver.cuLibraryLoadData, image.code + b"\0", [*every], [*every.values()],
                len(every), [], [], 0,
            )  # fmt: skip

    def kernel(self, wanted: str | None) -> Kernel:
        """Return the kernel with a mangled, demangled or bare function name."""
        image, key = self.image, (id(self.image), wanted)
        if (known := _kernels.get(key)) is not None:
            return replace(known[1], handle=self.handle_of(known[1].name))
        name = select_kernel(self.names(), image.lowered_name(wanted), image.origin)
        handle = self.handle_of(name)
        facts = self._read() if self.driver.version < PARAM_INFO_SINCE else self.image.facts
        parameters = read_parameters(self.driver, "cuKernelGetParamInfo", handle, name, facts)
        if self.image.is_compiled:
            from cudarun.session.compile.source import with_debug_information  # few compile

            self.image = with_debug_information(self.image, parameters)
        kernel = Kernel(name, handle, *DebugReader(self.image).read(name, parameters))
        if self.image is image and len(image.data) <= _SHORT:
            if len(_kernels) == _MOST_KERNELS:
                _kernels.clear()
            _kernels[key] = image, kernel
        return kernel

    def variables(self) -> tuple[VariableFacts, ...]:
        """Return the variables of the image; none if only the driver can read it."""
        facts = self._facts()
        return () if facts is None else facts.variables

    def all_variables(self) -> tuple[VariableFacts, ...]:
        """Return the variables of the image, also those without a name in the source."""
        facts = self._facts()
        return () if facts is None else (*facts.variables, *facts.unnamed)

    def kernel_facts(self, name: str) -> KernelFacts | None:
        """Return the facts of a kernel by its mangled name, if the image has them."""
        facts = self._facts()
        return None if facts is None else facts.kernel(name)

    def _facts(self) -> ImageFacts | None:
        """Return what the image contains; ``None`` if only the driver can read it."""
        try:
            return self.image.facts or self._read()
        except ImageRefused:
            return None

    def handle_of(self, name: str) -> cuda.CUkernel:
        """Return the ``CUkernel`` of a mangled name."""
        return self.ask(self.driver.cuLibraryGetKernel, self.handle, name.encode())

    def function_of(self, kernel: cuda.CUkernel) -> cuda.CUfunction:
        """Return the ``CUfunction`` of a ``CUkernel`` in the current context."""
        return self.ask(self.driver.cuKernelGetFunction, kernel)

    def unload(self) -> None:
        """Unload the library from every context, with its kernels and variables."""
        self.driver.cuLibraryUnload(self.handle)

    def symbol(self, name: str) -> int:
        """Return the address of a variable of the image in the current context."""
        address = self.find_symbol(name)
        if address is not None:
            return address
        variables = self.image.facts.variables if self.image.facts else ()
        known = [variable.name for variable in variables]
        close = did_you_mean(name, known)
        listed = f"variables: {', '.join(known)}" if known else "it does not list variables"
        raise RequestError(
            f"&{name}: {self.image.origin} does not contain this variable",
            hint=f"{close} {listed}" if close else listed,
        )

    def find_symbol(self, name: str) -> int | None:
        """Return the address of a variable in the current context; ``None`` if it has none."""
        missing = self.driver.CUresult.CUDA_ERROR_NOT_FOUND
        for call in ("cuLibraryGetManaged", "cuLibraryGetGlobal"):
            found = self.driver.optional(missing, call, self.handle, name.encode())
            if found is not None:
                return int(found[0])
        return None

    def names(self) -> list[str]:
        """Return the mangled names of the kernels.

        Raises:
            ImageRefused: The driver refuses the image when it must read it.
        """
        if self.driver.version < PARAM_INFO_SINCE:
            return [kernel.name for kernel in self._read().kernels]
        count = self.ask(self.driver.cuLibraryGetKernelCount, self.handle)
        if not count:
            # The driver can load an image without reading its code. Such an image has no kernels;
            # a query for one, by any name, returns the error.
            result, *_ = self.driver.attempt("cuLibraryGetKernel", self.handle, b"-")
            if result not in (0, self.driver.CUresult.CUDA_ERROR_NOT_FOUND):
                raise self.refused(self.driver.failure("cuLibraryGetKernel", result))
            return []
        kernels = self.ask(self.driver.cuLibraryEnumerateKernels, count, self.handle)
        return [self.driver.cuKernelGetName(kernel).decode() for kernel in kernels]

    def _read(self) -> ImageFacts:
        from cudarun.session.load.fatbins import facts_for

        return facts_for(self.driver, self.image)


_kernels: dict[tuple[int, str | None], tuple[Image, Kernel]] = {}
"""What the driver has told of kernels of short images, by the images' identity; not the handles."""
_MOST_KERNELS, _SHORT, _SHORT_LOG = 64, 1 << 16, 1 << 14


def read_parameters(
    driver: Driver, call: str, handle: Handle, name: str, facts: ImageFacts | None
) -> tuple[Parameter, ...]:
    """Return a kernel's parameters in the driver's layout, with the names and types that are known.

    These are the image's, or the types of the mangled name.

    Args:
        driver: The driver; a context must be current.
        call: ``cuKernelGetParamInfo`` or ``cuFuncGetParamInfo``.
    """
    kernel_facts = facts.kernel(name) if facts else None
    if driver.version < PARAM_INFO_SINCE:
        return kernel_facts.parameters if kernel_facts else ()
    # A cubin of old tools has no parameter information, which does not mean no parameters.
    is_ptx = facts is not None and facts.kind is ImageKind.PTX
    # A refused call is harmless, but a tool that observes the driver reports it.
    count: int | None = None
    if kernel_facts is not None and (kernel_facts.parameters or is_ptx):
        count = len(kernel_facts.parameters)
    elif driver.version >= _PARAM_COUNT_SINCE and (counting := counting_call(driver.module, call)):
        count = int(getattr(driver, counting)(handle))
    layout: list[Parameter] = []
    past_the_last = driver.CUresult.CUDA_ERROR_INVALID_VALUE
    while count is None or len(layout) < count:
        where = driver.optional(past_the_last, call, handle, len(layout))
        if where is None:
            break
        layout.append(Parameter(len(layout), *where))
    if kernel_facts is not None and len(kernel_facts.parameters) == len(layout):
        return tuple(
            replace(known, name=fact.name, type=fact.type, alignment=fact.alignment)
            for known, fact in zip(layout, kernel_facts.parameters, strict=True)
        )
    types = parameter_types(demangle(name))
    if types is not None and len(types) == len(layout):
        return tuple(replace(p, type=t) for p, t in zip(layout, types, strict=True))
    return tuple(layout)


def load_image(
    session: Session,
    image: Image,
    options: JitOptions | None = None,
    *,
    kernel: str | None = None,
    again: bool = False,
) -> Library:
    """Load an image as a library, before or after any context exists.

    Args:
        session: The session, which unloads the library when it releases a job's resources.
        kernel: The kernel that will be launched, which selects a fatbin of a file with several.
        again: Load it anew after the launch, if it is loaded again and again.
    """
    session.progress.report(f"loading {image.origin}")
    if image.portable is not None and not session.driver.traits.runs_machine_code:
        image = image.portable
    if identify(image.data) not in (ImageKind.PTX, ImageKind.CUBIN):
        from cudarun.session.load.preparation import prepare  # most launches do not need it

        image = prepare(session.driver, image, session.devices, kernel)
    else:
        image = with_version_note(session.driver, image)
    # The driver clears the buffers. The log of an image that it has accepted is short.
    key = id(image), kernel
    is_known = options is None and key in _kernels
    library = session.ahead.pop(key, None) if is_known and again else None
    if not isinstance(library, Library):
        library = Library(session.driver, image, options, Logs(_SHORT_LOG) if is_known else None)
    session.add_release(library.unload)
    if is_known and again:
        session.add_preparation(partial(_load_ahead, session, image, key))
    return library


def _load_ahead(session: Session, image: Image, key: tuple[int, str | None]) -> None:
    """Load an image for the next task, once also if this one has loaded it twice."""
    if key in session.ahead:
        return
    with suppress(CudarunError):  # the launch reports it
        session.ahead[key] = Library(session.driver, image, logs=Logs(_SHORT_LOG))
        session.add_release(partial(unload_ahead, session))


def unload_ahead(session: Session) -> None:
    """Unload the libraries that were loaded for a task and that it does not use."""
    while session.ahead:
        _, library = session.ahead.popitem()
        if isinstance(library, Library):
            library.unload()
