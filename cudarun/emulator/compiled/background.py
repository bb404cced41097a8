"""A process that compiles while kernels are interpreted.

LLVM cannot be interrupted, and a process that exits while one of its threads is inside of LLVM can
crash. A process of its own can be killed, and does not make the interpreter wait for Python's lock.
It ends when the process that started it has ended, however that has ended.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import weakref
from importlib.util import find_spec

import cudarun

_PROGRAM = """
import sys
sys.path += sys.argv[3:]
from cudarun.emulator.compiled.background import compile_descriptor
compile_descriptor(int(sys.argv[1]), int(sys.argv[2]))
"""


class CompilerProcess:
    """A process that compiles a module.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, text: str) -> None:
        if not sys.executable:
            raise OSError("Python's executable is unknown")
        found = find_spec("llvmlite")
        packages = [*cudarun.__path__, *((found and found.submodule_search_locations) or ())]
        source, self._target = os.memfd_create("module"), os.memfd_create("objects")
        try:
            with open(source, "w", closefd=False) as file:
                file.write(text)
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", "-c", _PROGRAM),
                    *(str(source), str(self._target), *map(os.path.dirname, packages)),
                ],
                stdin=subprocess.PIPE,  # it ends when this end is closed
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(source, self._target),
                start_new_session=True,  # Ctrl-C is not for it
            )
        except OSError:
            os.close(self._target)
            raise
        finally:
            os.close(source)
        self._finalizer = weakref.finalize(self, _end, self._process, self._target, os.getpid())

    def has_ended(self) -> bool:
        """Return whether it has ended."""
        return self._process.poll() is not None

    def wait(self) -> None:
        """Wait until it has ended; signals are served."""
        self._process.wait()

    def result(self) -> list[bytes] | None:
        """Return the object files after its end; ``None`` if it failed. Call this once."""
        size = os.fstat(self._target).st_size
        data = os.pread(self._target, size, 0) if self._process.returncode == 0 else b""
        self._finalizer()
        return list(marshal.loads(data)) if data else None


def _end(process: subprocess.Popen[bytes], target: int, parent: int) -> None:
    if os.getpid() != parent:  # a fork of the process that started it
        return
    os.close(target)
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


def compile_descriptor(source: int, target: int) -> None:
    """Compile the module in a file to object files, in the new process."""
    import threading

    threading.Thread(target=_end_with_parent, daemon=True).start()
    from cudarun.emulator.compiled.jit import object_files

    os.lseek(source, 0, os.SEEK_SET)
    with open(source) as file:
        text = file.read()
    with open(target, "wb") as output:
        marshal.dump(object_files(text), output)
    os._exit(0)  # without waiting for the thread


def _end_with_parent() -> None:
    os.read(0, 1)
    os._exit(1)
