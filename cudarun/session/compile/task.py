"""One compilation of CUDA source, for either compiler, and its result."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from cudarun.base.cache import digest_of
from cudarun.base.errors import ImageRefused
from cudarun.base.records import dataclass
from cudarun.diagnostics.entries import Diagnostic
from cudarun.images.facts import ImageFacts
from cudarun.images.reader import read_image
from cudarun.images.versions import Architecture, Version
from cudarun.session.compile.declarations import with_declarations
from cudarun.session.compile.landlock import call_confined
from cudarun.session.compile.source_texts import read_texts
from cudarun.session.image.image import CompileOptions, Image

Form = Literal["PTX", "CUBIN", "LTOIR"]

NAME_EXPRESSIONS = "__nv_name_map"  # NVRTC's name for the text in which it looks up names
VERSIONS = b"""
__cudarun_versions __CUDACC_VER_MAJOR__ __CUDACC_VER_MINOR__ __CUDACC_VER_BUILD__ __VERSION__
"""
"""The end of a text that is only preprocessed: the versions of the compilers."""
VERSIONS_LINE = re.compile(rb"^__cudarun_versions (\d+) (\d+) .*$", re.MULTILINE)
_CACHE_FORMAT = "2"
_VERSION_LINE = re.compile(rb"^\.version (\d+)\.(\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CompileTask:
    """One compilation."""

    source: Image  # the source, with its `CompileOptions` in ``compilation``
    target: Architecture  # the architecture: a GPU's, or a virtual one for PTX
    form: Form  # the form of the result
    relocatable: bool = False  # leave ``extern`` declarations to the linker
    # The newest ``.version`` to write. A compiler writes that of its toolkit, whatever the
    # instructions need; a driver or emulator refuses versions that it does not know.
    newest_ptx: Version | None = None

    @property
    def options(self) -> CompileOptions:
        """The options of the source."""
        return self.source.compilation or CompileOptions()

    @property
    def text(self) -> bytes:
        """The source without a byte order mark, which editors of Windows write."""
        return self.source.code.removeprefix(b"\xef\xbb\xbf")

    def arguments(self, *headers: str, escaped: Callable[[str], str] = str) -> Iterator[str]:
        """Yield the options that both compilers have.

        Args:
            headers: The folders of CUDA's headers.
            escaped: Escapes a value in the compiler's way.
        """
        yield f"--gpu-architecture={self.target}"
        yield "--generate-line-info"
        if self.relocatable:
            yield "--relocatable-device-code=true"
        if self.options.standard:
            yield f"--std={self.options.standard}"
        for macro in self.options.defines:
            yield f"--define-macro={escaped(macro)}"
        for path in (*self.source.header_folders, *headers):
            yield f"--include-path={escaped(path)}"

    def key(self, options: Sequence[str], instantiate: Sequence[str], *texts: bytes) -> str:
        """Return the key of everything that a result depends on.

        Args:
            options: The compiler's options, and what else it depends on.
            instantiate: The name expressions.
            texts: The preprocessed text with the versions of the compilers, and others.
        """
        described = (
            *(_CACHE_FORMAT, os.getcwd(), self.source.origin, self.form, *options),
            *("", *instantiate, ""),
        )
        return digest_of([*map(os.fsencode, described), *texts])

    def result(
        self, data: bytes, ptx: bytes, warnings: tuple[Diagnostic, ...], lowered: Mapping[str, str]
    ) -> Image:
        """Return the compiled image; it keeps the source's name.

        Args:
            ptx: The PTX, empty for LTO-IR.
            lowered: The mangled names of the kernels that were instantiated.
        """
        line, newest = _VERSION_LINE.search(ptx), self.newest_ptx
        if self.form == "PTX" and line is not None and newest is not None:
            version = min(newest, (int(line[1]), int(line[2])))
            data = ptx = ptx[: line.start()] + b".version %d.%d" % version + ptx[line.end() :]
        return replace(
            self.source,
            data=data,
            facts=self._facts(ptx),
            compilation=None,
            source=self.source,
            warnings=warnings,
            lowered=dict(lowered),
        )

    def _facts(self, ptx: bytes) -> ImageFacts | None:
        """Read the facts of PTX, and the names and types of parameters in its source."""
        try:
            facts = read_image(ptx, self.source.origin, whole=False)
        except ImageRefused:
            return None
        given = self.options
        read = partial(read_texts, self.text, self.source.origin, given.include)
        return with_declarations(facts, call_confined(read, given.confined_to), given.defines)


def with_relative_files(ptx: bytes) -> bytes:
    """Return PTX whose line information names the files below the working directory as a user does.

    Compilers make these names absolute.
    """
    folder = os.fsencode(os.path.join(os.getcwd(), ""))
    return re.sub(rb'^(\s*\.file\s+\d+\s+")' + re.escape(folder), rb"\1", ptx, flags=re.MULTILINE)
