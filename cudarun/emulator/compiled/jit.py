"""LLVM: from the text of a module to machine code (llvmlite, imported when it is needed)."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from cudarun.base.cache import ResultCache, cache_folder, digest_of
from cudarun.base.process import IS_X86
from cudarun.emulator.compiled.lanes.parts import PART

_LEVEL = 2
_OBJECT = "object"
_lock = threading.Lock()

_NEEDED = {
    "native": ("avx2", "fma", "f16c") if IS_X86 else (),
    "x86-64-v3": ("avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}
"""Features of the processor that compiled code needs, by the value of ``CUDARUN_CPU_TARGET``."""


@cache
def _host() -> tuple[Any, str, str]:
    """Return LLVM's target of this machine, the name of its processor and the features."""
    import llvmlite.binding as llvm  # 175 MB, optional, 48 ms

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _target_name() -> str:
    return os.environ.get("CUDARUN_CPU_TARGET") or "native"


def _target() -> tuple[Any, str, str]:
    """Return LLVM's target, the processor that code is compiled for, and its further features."""
    name = _target_name()
    return _host() if name == "native" else (_host()[0], name, "")


def missing_feature() -> str | None:
    """Return a feature of this processor that compiled code needs and that is missing."""
    _, _, features = _host()
    present = features.split(",")
    return next((each for each in _NEEDED[_target_name()] if f"+{each}" not in present), None)


def target_processor() -> tuple[str, str]:
    """Return the processor that code is compiled for, and the vectors that code uses."""
    _, processor, features = _target()
    if not IS_X86:
        return processor, "Neon"
    present = features.split(",")
    has_avx512 = all(f"+{each}" in present for each in _NEEDED["x86-64-v4"])
    return processor, "AVX-512" if has_avx512 or processor == "x86-64-v4" else "AVX2"


def version() -> str:
    """Return the version of llvmlite."""
    import llvmlite

    return str(llvmlite.__version__)


class MachineCode:
    """The loaded machine code of a module.

    Args:
        symbols: The addresses of what is outside of the module, by name.
        objects: The object files of its parts.
    """

    def __init__(self, symbols: Mapping[str, int], objects: Sequence[bytes]) -> None:
        import llvmlite.binding as llvm

        with _lock:
            for name, address in symbols.items():
                llvm.add_symbol(name, address)
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
            for data in objects:
                self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return int(self._engine.get_function_address(name))


def object_files(text: str) -> list[bytes]:
    """Return the object files of the parts of a module, from the cache those that are there."""
    cache = ResultCache(cache_folder("kernels"))
    return [cached or _stored(part, cache) for part, cached in _parts(text, cache)]


def soon_object_files(text: str, most: int) -> list[bytes] | None:
    """Return the object files of a module; ``None`` if compiling it takes long.

    Args:
        text: The module.
        most: The most bytes of its first part, for which this part is compiled; the others have to
            be in the cache.
    """
    cache = ResultCache(cache_folder("kernels"))
    (own, first), *others = _parts(text, cache)
    found = [cached for _, cached in others if cached]
    if len(found) < len(others) or not (first or len(own) <= most):
        return None
    return [first or _stored(own, cache), *found]


def _parts(text: str, cache: ResultCache) -> list[tuple[str, bytes | None]]:
    """Return the parts of a module, and their object files from the cache."""
    return [(part, (cache.load(_key(part)) or {}).get(_OBJECT)) for part in text.split(PART)]


def _stored(part: str, cache: ResultCache) -> bytes:
    """Compile a part, and store its object file in the cache."""
    with _lock:
        found = _compiled(part, _machine())
    cache.store(_key(part), {_OBJECT: found})
    return found


def interruptible_object_files(text: str) -> list[bytes]:
    """Return the object files of a module; a signal's handler can end the wait for LLVM.

    LLVM itself goes on in its thread, and a process waits for that thread when it exits.
    """
    from concurrent.futures import ThreadPoolExecutor  # only where a launch waits for LLVM

    threads = ThreadPoolExecutor(1, "LLVM")
    try:
        compiled = threads.submit(object_files, text)
    except RuntimeError:  # this process can start no more threads
        return object_files(text)
    finally:
        threads.shutdown(wait=False)
    return compiled.result()


def _machine() -> Any:
    """Return LLVM's description of this machine."""
    target, processor, features = _target()
    return target.create_target_machine(cpu=processor, features=features, opt=_LEVEL, jit=True)


def _compiled(text: str, machine: Any) -> bytes:
    """Return the object file of a module."""
    import llvmlite.binding as llvm

    parsed = llvm.parse_assembly(text)
    parsed.verify()
    parsed.triple = machine.triple
    parsed.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=_LEVEL)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(parsed, passes)
    found: bytes = machine.emit_object(parsed)
    return found


def _key(text: str) -> str:
    """Return the key of a module, which the processor and the version of LLVM determine, too."""
    import llvmlite

    _, processor, features = _target()
    parts = text, str(_LEVEL), processor, features, llvmlite.__version__
    return digest_of(part.encode() for part in parts)
