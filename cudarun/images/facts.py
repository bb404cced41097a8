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
    """A kernel.

    Attributes:
        name: The symbol's name, as passed to ``cuLibraryGetKernel``.
        parameters: In order, with the layout of the parameter buffer.
        registers: Per thread.
        shared_bytes: Static shared memory of a block, without the driver's reserved part.
        local_bytes: Local memory of a thread with its callees; ``None`` if unknown: with recursion
            or unresolved calls.
        const_bytes: User constant memory of the module, the same for all its kernels.
        max_threads: Per block, from ``__launch_bounds__`` (``.maxntid``).
        required_block: The block size that the launch must have (``.reqntid``).
        required_cluster: The cluster size that the launch must have (``.reqnctapercluster``).
    """

    name: str
    parameters: tuple[Parameter, ...]
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    const_bytes: int | None = None
    max_threads: int | None = None
    required_block: Extent | None = None
    required_cluster: Extent | None = None

    @property
    def demangled(self) -> str:
        """The C++ signature, or the name itself."""
        return demangle(self.name)


@dataclass(frozen=True, slots=True)
class VariableFacts:
    """A variable that the host can address: ``__device__``, ``__constant__``, ``__managed__``.

    Attributes:
        name: The symbol's name, as passed to ``cuLibraryGetGlobal``.
        space: ``"global"`` or ``"const"``.
        size: Bytes.
        alignment: Bytes.
        managed: True for ``__managed__``: in space ``global``, at one address everywhere.
        type: The PTX type (``"u32"``, ``"f32[4]"``) unless it is a byte array; nvcc emits C arrays
            and structs as byte arrays.
        is_zero: Whether a constant of PTX is zero until the host writes it; ``None`` if unknown.
        is_initialized: Whether the image has a value for it.
    """

    name: str
    space: str
    size: int
    alignment: int | None = None
    managed: bool = False
    type: str | None = None
    is_zero: bool | None = field(default=None, compare=False)
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
    """One image inside another: an entry of a fatbin, a member of an archive.

    Attributes:
        target: The architecture: ``"sm_90"``; of PTX and LTO-IR ``"compute_90"``.
        size: Bytes, decompressed.
        facts: The contents, or ``None`` if they cannot be read.
        unread: The reason why it cannot be read.
        stored: Bytes in the file.
        number: Its number in the file, from 1.
        fatbin: The number of its fatbin in the file, from 1.
    """

    kind: ImageKind
    target: str
    size: int
    facts: ImageFacts | None = None
    unread: str | None = None
    stored: int = 0
    number: int = 1
    fatbin: int = 1


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """The contents of one file.

    Attributes:
        kind: The kind of file.
        kernels: In the order of the file. An image with parts has each kernel once, as in
            the first part that contains it.
        variables: Likewise.
        unnamed: The variables without a name in the source, such as string literals.
        targets: The architectures of its code: ``"sm_90"``, ``"compute_90"``.
        ptx_version: The ``.version`` of PTX.
        parts: The images inside it, of a fatbin, host object or archive.
        externs: The undefined symbols, without those that the driver defines.
        toolkit: The tool that built it: ``"ptxas 13.0, V13.0.88"``.
        is_relocatable: True for a cubin that has yet to be linked.
        relocations: The number of relocations in the code and data of a cubin.
        has_unread_code: Whether only the declarations of a PTX text were read.
    """

    kind: ImageKind
    kernels: tuple[KernelFacts, ...] = ()
    variables: tuple[VariableFacts, ...] = ()
    targets: tuple[str, ...] = ()
    ptx_version: tuple[int, int] | None = None
    parts: tuple[Part, ...] = ()
    externs: tuple[str, ...] = ()
    toolkit: str | None = None
    is_relocatable: bool | None = None
    relocations: int | None = None
    has_unread_code: bool = False
    unnamed: tuple[VariableFacts, ...] = ()

    def kernel(self, name: str) -> KernelFacts | None:
        """Return the kernel with a mangled name; ``None`` if it is not there."""
        return next((kernel for kernel in self.kernels if kernel.name == name), None)
