"""A kernel file as read: its bytes, what they say of themselves, and how to compile it."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from cudarun.records import dataclass

if TYPE_CHECKING:  # names only
    from cudarun.diagnostics.entries import Diagnostic
    from cudarun.images.facts import ImageFacts
    from cudarun.session.image.compilation import CompileOptions

STDIN = "<stdin>"
"""What messages call the image that came from there."""


@dataclass(frozen=True, slots=True)
class Image:
    """A kernel file as read.

    Attributes:
        origin: The name it goes by in messages.
        data: Its bytes.
        facts: What a PTX text or a cubin says of its kernels and variables. ``None`` for other
            files, of which the driver tells, and for what we cannot read: whether that is good is
            the driver's to say.
        compilation: How to compile it, of CUDA source.
        is_compiled: Whether this was CUDA source: lines of the data are not lines of the file.
        warnings: What the compiler complained of all the same.
        lowered: The mangled names of the kernels that ``compilation`` named.
    """

    origin: str
    data: bytes = field(repr=False)
    facts: ImageFacts | None = field(default=None, repr=False)
    compilation: CompileOptions | None = None
    is_compiled: bool = False
    warnings: tuple[Diagnostic, ...] = ()
    lowered: dict[str, str] = field(default_factory=dict)

    @property
    def text_name(self) -> str:
        """What a place in the data is said to be in: of ``x.cu`` it is the PTX made of it."""
        return f"{self.origin} as PTX" if self.is_compiled else self.origin

    def instantiating(self, *kernels: str | None) -> Image:
        """The image; CUDA source is to be compiled with the template arguments in these names."""
        templates = tuple(dict.fromkeys(name for name in kernels if name and "<" in name))
        if self.compilation is None or not templates:
            return self
        return replace(self, compilation=replace(self.compilation, kernels=templates))

    def lowered_name(self, wanted: str | None) -> str | None:
        """The mangled name of a kernel that was instantiated for it; any other name as it is."""
        return self.lowered.get(wanted, wanted) if wanted else wanted
