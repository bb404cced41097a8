"""Facts about an image, as far as its bytes contain them.

``None`` means that this kind of image does not contain it: PTX has no register counts. Of a cubin,
`cudarun.images.debug_information` reads the parameter names, if it has debug information.
"""

from __future__ import annotations

import re
from dataclasses import field

from cudarun.base.records import dataclass
from cudarun.images.demangler import demangle
from cudarun.images.kinds import ImageKind
from cudarun.images.parameters import Parameter

Extent = tuple[int, int, int]

OF_THE_DRIVER = frozenset({"vprintf", "malloc", "free", "__assertfail"})
"""The functions that a driver defines itself, when it loads code that calls them."""


_OF_FILE = re.compile(r"^_INTERNAL_\w+::")
_OF_HEADERS = re.compile(r"(?:cuda|cooperative_groups|cub|thrust)::")


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """A kernel."""

    name: str  # the symbol's name, as passed to ``cuLibraryGetKernel``
    parameters: tuple[Parameter, ...]  # in order, with the layout of the parameter buffer
    registers: int | None = None  # per thread
    # Static shared memory of a block, without the driver's reserved part.
    shared_bytes: int | None = None
    # Local memory of a thread with its callees; ``None`` if unknown: with recursion or unresolved
    # calls.
    local_bytes: int | None = None
    # User constant memory of the module, the same for all its kernels.
    const_bytes: int | None = None
    max_threads: int | None = None  # per block, from ``__launch_bounds__`` (``.maxntid``)
    required_block: Extent | None = None  # the block size that the launch must have (``.reqntid``)
    # The cluster size that the launch must have (``.reqnctapercluster``).
    required_cluster: Extent | None = None

    @property
    def demangled(self) -> str:
        """The C++ signature, or the name itself."""
        return demangle(self.name)


@dataclass(frozen=True, slots=True)
class VariableFacts:
    """A variable that the host can address: ``__device__``, ``__constant__``, ``__managed__``."""

    name: str  # the symbol's name, as passed to ``cuLibraryGetGlobal``
    space: str  # ``"global"`` or ``"const"``
    size: int  # bytes
    alignment: int | None = None  # bytes
    # True for ``__managed__``: in space ``global``, at one address everywhere.
    managed: bool = False
    # The PTX type (``"u32"``, ``"f32[4]"``) unless it is a byte array; nvcc emits C arrays and
    # structs as byte arrays.
    type: str | None = None
    # Whether a constant of PTX is zero until the host writes it; ``None`` if unknown.
    is_zero: bool | None = field(default=None, compare=False)
    # Whether the image has a value for it.
    is_initialized: bool = field(default=False, compare=False)

    @property
    def demangled(self) -> str:
        """The C++ name, without the namespace of its file, or the name itself."""
        return _OF_FILE.sub("", demangle(self.name))

    @property
    def is_of_headers(self) -> bool:
        """True for the constants that CUDA's headers leave in images."""
        return _OF_HEADERS.match(self.demangled) is not None


@dataclass(frozen=True, slots=True)
class Part:
    """One image inside another: an entry of a fatbin, a member of an archive."""

    kind: ImageKind
    target: str  # the architecture: ``"sm_90"``; of PTX and LTO-IR ``"compute_90"``
    size: int  # bytes, decompressed
    facts: ImageFacts | None = None  # the contents, or ``None`` if they cannot be read
    unread: str | None = None  # the reason why it cannot be read
    stored: int = 0  # bytes in the file
    number: int = 1  # its number in the file, from 1
    fatbin: int = 1  # the number of its fatbin in the file, from 1


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """The contents of one file."""

    kind: ImageKind  # the kind of file
    # In the order of the file. An image with parts has each kernel once, as in the first part that
    # contains it.
    kernels: tuple[KernelFacts, ...] = ()
    variables: tuple[VariableFacts, ...] = ()  # likewise
    targets: tuple[str, ...] = ()  # the architectures of its code: ``"sm_90"``, ``"compute_90"``
    ptx_version: tuple[int, int] | None = None  # the ``.version`` of PTX
    parts: tuple[Part, ...] = ()  # the images inside it, of a fatbin, host object or archive
    externs: tuple[str, ...] = ()  # the undefined symbols, without those that the driver defines
    toolkit: str | None = None  # the tool that built it: ``"ptxas 13.0, V13.0.88"``
    is_relocatable: bool | None = None  # True for a cubin that has yet to be linked
    relocations: int | None = None  # the number of relocations in the code and data of a cubin
    has_unread_code: bool = False  # whether only the declarations of a long PTX text were read
    # The variables without a name in the source, such as string literals.
    unnamed: tuple[VariableFacts, ...] = ()

    def kernel(self, name: str) -> KernelFacts | None:
        """Return the kernel with a mangled name; ``None`` if it is not there."""
        return next((kernel for kernel in self.kernels if kernel.name == name), None)
