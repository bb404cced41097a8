"""A kernel file: its bytes, the facts read from them, and the options of compiling CUDA source."""

from __future__ import annotations

import os
import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal

from cudarun.base.files import FileUse
from cudarun.base.options import CaseForm, option_field
from cudarun.base.records import dataclass

if TYPE_CHECKING:
    from cudarun.diagnostics.entries import Diagnostic
    from cudarun.images.contents import Data
    from cudarun.images.facts import ImageFacts
    from cudarun.session.recording.archive import Recording

Compiler = Literal["auto", "nvrtc", "nvcc"]
# A compiler gets it as source text: on one line and without these it is one expression at most.
_NAME_EXPRESSION = re.compile(r"[\w:][^#;\"\\\x00-\x1f\x7f]*")
MAX_IMAGE = 512 << 20
"""The default limit of a file that is read as a whole, and of code when decompressed, in bytes."""

STDIN = "<stdin>"  # the name of the image from stdin in messages
IN_MEMORY = "image"  # the name of an image that a program passes as its contents


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The choice of a compiler, and its options."""

    compiler: Compiler = option_field(
        "--compiler",
        default="auto",
        choices=("auto", "nvrtc", "nvcc"),
        help="Compiler for a .cu; auto selects NVRTC, or nvcc for what NVRTC refuses, such as host "
        "code.",
    )
    include: tuple[str, ...] = option_field(
        "-I",
        "--include DIR",
        default=(),
        form=CaseForm.PATHS,
        file=FileUse.INPUT,
        help="Add an include directory for a .cu; repeatable. CUDA's own headers are always found.",
    )
    defines: tuple[str, ...] = option_field(
        "-D",
        "--define NAME[=VALUE]",
        default=(),
        form=CaseForm.TEXTS,
        help="Define a macro for a .cu; repeatable.",
    )
    standard: str | None = option_field(
        "--std c++NN", help="C++ standard for a .cu.  [default: the compiler's]"
    )
    options: tuple[str, ...] = option_field(
        "--compile-option OPTION",
        "compiler_options",
        default=(),
        form=CaseForm.TEXTS,
        help="Pass an option to the compiler for a .cu; repeatable.",
    )
    # Kernels with their template arguments, to be instantiated: ``ns::scale<float, 4>``.
    kernels: tuple[str, ...] = ()
    # The only folder whose headers can be included, besides CUDA's: ``--confine``.
    confined_to: str | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """A kernel file as read."""

    origin: str  # the name in messages
    data: Data = field(repr=False)  # the bytes; of a large container the mapped file, see `code`
    # The kernels and variables of a PTX text or a cubin. ``None`` for other files, which the driver
    # describes, and for unreadable ones: the driver decides whether they are valid.
    facts: ImageFacts | None = field(default=None, repr=False)
    # The most bytes of the code in the file when decompressed; see
    # `cudarun.images.reader.check_sizes`.
    limit: int = MAX_IMAGE
    compilation: CompileOptions | None = None  # the compile options of CUDA source
    # The CUDA source that the data was compiled from.
    source: Image | None = field(default=None, repr=False)
    # PTX of the same source with debug information.
    debug: bytes | None = field(default=None, repr=False)
    warnings: tuple[Diagnostic, ...] = ()
    # The mangled names of the kernels that ``compilation`` named.
    lowered: dict[str, str] = field(default_factory=dict)
    recording: Recording | None = None  # the recorded launch, if the file is one
    # The file of the recording, if this is the code in place of its own.
    replaces_recorded: str | None = None
    portable: Image | None = None  # the same code as PTX, for a device that runs no machine code

    @property
    def code(self) -> bytes:
        """All bytes, in memory."""
        return self.data if isinstance(self.data, bytes) else self.data[:]

    @property
    def is_compiled(self) -> bool:
        """True if the data was compiled from CUDA source, so that its lines differ."""
        return self.source is not None

    @property
    def header_folders(self) -> tuple[str, ...]:
        """The folders that are searched first for headers: those of ``-I``, and the source's."""
        include = () if self.compilation is None else self.compilation.include
        return *include, os.path.dirname(self.origin) or "."

    @property
    def text_name(self) -> str:
        """The name of the text in messages: for ``x.cu`` that of the PTX made from it."""
        return f"{self.origin} as PTX" if self.is_compiled else self.origin

    def read_facts(self) -> ImageFacts:
        """Return the facts of an image, read if they are not known yet.

        Raises:
            ImageRefused: It cannot be read.
        """
        from cudarun.images.reader import read_image

        return self.facts or read_image(self.data, self.origin, whole=False)

    def instantiating(self, *kernels: str | None) -> Image:
        """Return the image, to be compiled with the template arguments in these kernel names."""
        names = (name for name in kernels if name and "<" in name)
        templates = tuple(dict.fromkeys(filter(_NAME_EXPRESSION.fullmatch, names)))
        if self.compilation is None or not templates:
            return self
        return replace(self, compilation=replace(self.compilation, kernels=templates))

    def replaying(self, other: Image) -> Image:
        """Return the image, to be launched with the memory of another one if that is recorded."""
        if other.recording is None or self.recording is not None:
            return self
        path = other.replaces_recorded or other.origin
        return replace(self, recording=other.recording, replaces_recorded=path)

    def lowered_name(self, wanted: str | None) -> str | None:
        """Return the mangled name of an instantiated kernel; any other name unchanged."""
        return self.lowered.get(wanted, wanted) if wanted else wanted
