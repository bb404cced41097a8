"""Programs in one file of CUDA source: compiled by nvcc, and cached with what they include."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

from cudarun.base.cache import ResultCache, cache_folder, digest_of
from cudarun.base.errors import RequestError
from cudarun.session.compile.nvcc import NVCC_INSTALLATION
from cudarun.session.compile.toolkit import find_program
from cudarun.session.workers.program import run_compiler

_OPTIONS = ("-cudart", "shared", "-std=c++17", "-gencode")
_ENVIRONMENT = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "CPLUS_INCLUDE_PATH")
_DEPENDENCY = re.compile(r"(?:\\.|[^\s\\])+")


def compile_program(source: str, folder: Path, architecture: int, debug_information: str) -> str:
    """Return the path of the program that a file of CUDA source is, in a folder.

    Args:
        architecture: That of the device, 90 for compute_90.
        debug_information: The option of nvcc for it: ``-lineinfo`` or ``-G``.

    Raises:
        RequestError: The file cannot be read, nvcc is not installed, or it fails.
    """
    path = Path(source)
    target = f"arch=compute_{architecture},code=compute_{architecture}"
    options = (debug_information, *_OPTIONS, target)
    compiler = find_program("nvcc")
    if compiler is None:
        raise RequestError("nvcc is not installed", hint=NVCC_INSTALLATION, option="PROGRAM")
    try:
        text = path.read_bytes()
    except OSError as error:
        raise RequestError(f"{source}: {error.strerror}") from None
    changed = os.stat(os.path.realpath(compiler)).st_mtime_ns
    facts = [compiler, str(changed), os.path.abspath(source), *options]
    facts += [os.environ.get(name, "") for name in _ENVIRONMENT]
    key = digest_of([text, *map(os.fsencode, facts)])
    cache = ResultCache(cache_folder("exec"))
    program = folder / "program" / path.stem  # alone there, whatever its name
    program.parent.mkdir()
    found = cache.load(key)
    known = {} if found is None else json.loads(found["dependencies"])
    if found is None or any(_digest(each) != digest for each, digest in known.items()):
        listed = program.with_suffix(".d")
        command = [compiler, *options, "-MD", "-MF", str(listed), "-o", str(program), source]
        # With the library of the driver API.
        command += ["-Xlinker", f"--as-needed,{folder / 'libcuda.so.1'}"]
        status, log = run_compiler(command)
        if status:
            raise RequestError(f"nvcc cannot compile {source}", log=log)
        included = listed.read_text().partition(":")[2].replace("\\\n", " ")
        names = [re.sub(r"\\(.)", r"\1", each) for each in _DEPENDENCY.findall(included)]
        digests = json.dumps({each: _digest(each) for each in names}).encode()
        found = {"program": program.read_bytes(), "dependencies": digests}
        cache.store(key, found)
    program.write_bytes(found["program"])
    program.chmod(0o700)
    return os.fspath(program)


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""
