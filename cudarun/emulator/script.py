"""Run a Python program in this process as ``python PROGRAM`` does."""

from __future__ import annotations

import builtins
import runpy
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType


class UnreadableProgram(Exception):
    """The file of a program cannot be read."""


def run_file(path: str, arguments: list[str]) -> None:
    """Run a file as ``__main__``, with its ``sys.argv`` and the first entry of ``sys.path``.

    An exception is reported from the program's first frame on, and ends the process with 1.

    Raises:
        UnreadableProgram: The file cannot be read.
        SystemExit: The program ended itself.
    """
    file = str(Path(path).absolute())
    loader = SourceFileLoader("__main__", file)
    try:
        source = loader.get_data(file)
    except OSError as error:
        raise UnreadableProgram(f"{path}: {error.strerror}") from None
    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=file, __loader__=loader, __builtins__=builtins, __cached__=None, __spec__=None
    )
    sys.modules["__main__"] = module
    sys.argv = [path, *arguments]
    _set_first_path(str(Path(file).resolve().parent))
    try:
        exec(loader.source_to_code(source, file), module.__dict__)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Not from here on: one frame, and two more of the import for a syntax error.
        own, traceback = (__file__, "<frozen importlib"), error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(own):
            traceback = traceback.tb_next
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        sys.exit(1)


def run_module(name: str, arguments: list[str]) -> None:
    """Run a module as ``python -m NAME`` does, with its package for relative imports."""
    sys.argv = [name, *arguments]
    _set_first_path(str(Path.cwd()))
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _set_first_path(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = folder
