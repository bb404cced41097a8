"""CUDA source that tries to leave the folder of ``--confine``; opened files are watched."""

from __future__ import annotations

import ctypes
import os
import random
from pathlib import Path

from cudarun.base.errors import CudarunError
from cudarun.images.versions import Architecture
from cudarun.session.compile.landlock import call_confined
from cudarun.session.compile.nvrtc import is_installed
from cudarun.session.compile.source import compile_source
from cudarun.session.compile.source_texts import find_includes
from cudarun.session.image.image import CompileOptions, Image
from tools.fuzz.fuzzer import Fuzzer, Unexpected

_SECRET = "secret_outside"
_FILES = ("../out.h", "{out}", "link.h", "link/out.h", "sub/../../out.h", "deep.h", "own.h", "no.h")
_MARKS = ('"', "'", "/*", "*/", "//", "//*", "\\\n", "??/\n", "#", "%:", 'R"(', ')"', "(", "\n")
_LINES = (
    *('#include "FILE"', "#include <FILE>", '#include_next "FILE"', '%:include "FILE"'),
    *('#/**/include/**/"FILE"', '#inc\\\nlude "FILE"', '#define F "FILE"\n#include F', "#if 0"),
    *("#endif", "#else", '#if __has_include("FILE")', '// # /*\n#include "FILE"', '#line 1 "FILE"'),
    *('const char s[] = R"(/*)";\n#include "FILE"', 'int x = \'"\';\n#include "FILE"\n//"'),
    *(
        '#pragma GCC dependency "FILE"',
        '_Pragma("include FILE")',
        '#embed "FILE"',
        '#import "FILE"',
    ),
    "template <int N> __global__ void t(int *x) { *x = N; }",
    'extern "C" __global__ void k(int *x) {}',
)
_NAMES = (
    "t<1>",
    't<1>\n#include "FILE"\n',
    '#include "FILE" // <',
    't<1>);\n%:include "FILE"\n(0<1',
)
_IN_OPEN = 0x20  # linux/inotify.h


class Sources(Fuzzer[str]):
    """Texts of CUDA source; the name of a kernel follows after a NUL."""

    name = "sources"
    allowed = frozenset({0, 2, 4})
    confines = True
    """Without it, the compiler opens files outside: the tests check that cases would do so."""

    @classmethod
    def unavailable(cls) -> str | None:
        """Return why no source is compiled here."""
        if not is_installed():
            return "NVRTC is not installed"
        try:
            call_confined(lambda: None, "/")
        except CudarunError as error:
            return error.message
        return None

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._inside, outside = folder / "in", folder / "out.h"
        (self._inside / "sub").mkdir(parents=True)
        outside.write_text(f"{_SECRET}\n")
        (self._inside / "link").symlink_to("..")
        (self._inside / "link.h").symlink_to("../out.h")
        (self._inside / "deep.h").write_text('#include "../out.h"\n')
        (self._inside / "own.h").write_text("// own\n")
        library = ctypes.CDLL(None, use_errno=True)
        self._events = library.inotify_init1(os.O_NONBLOCK)
        library.inotify_add_watch(self._events, os.fsencode(outside), _IN_OPEN)

    def case(self, chance: random.Random) -> str:
        """Return lines and marks, and a name."""
        lines = [chance.choice(_LINES) for _ in range(chance.randint(1, 6))]
        for _ in range(chance.choice((0, 0, 1, 2, 4))):
            at = chance.randrange(len(lines))
            cut = chance.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:cut] + chance.choice(_MARKS) + lines[at][cut:]
        text = "\n".join(lines) + "\n\0" + chance.choice(_NAMES)
        while "FILE" in text:
            text = text.replace("FILE", chance.choice(_FILES), 1)
        return text

    def exit_code(self, case: str) -> int:
        """Compile it, and look for its headers as the check of output files does."""
        text, _, name = case.replace("{out}", os.fspath(self.folder / "out.h")).partition("\0")
        folder = os.fspath(self._inside) if self.confines else None
        origin = os.fspath(self._inside / "k.cu")
        options = CompileOptions(compiler="nvrtc", confined_to=folder)
        source = Image(origin, text.encode(), compilation=options).instantiating(name)
        refused: CudarunError | None = None
        call_confined(lambda: find_includes(source.code, origin, [os.fspath(self._inside)]), folder)
        try:
            compile_source(source, Architecture(True, 80), "PTX")
        except CudarunError as error:
            refused = error
        if self._was_opened():
            raise Unexpected("a file outside was opened")
        if refused is None:
            return 0
        if _SECRET in f"{refused} {refused.hint} {refused.log}":
            raise Unexpected("the error quotes a file outside")
        return refused.exit_code

    def _was_opened(self) -> bool:
        """Return whether the file outside was opened since the last call."""
        try:
            return bool(os.read(self._events, 1 << 16))
        except BlockingIOError:
            return False
