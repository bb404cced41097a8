"""Atomic operations with the scope of the system are atomic for the program, too."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator.engines import COMPILE
from tests.emulator.compiled.engines import device

GCC = shutil.which("gcc")
COUNTING = """
long count(volatile unsigned *at, volatile int *stop) {
  long made = 0;
  for (; !*stop; made++) __sync_fetch_and_add(at, 1);
  return made;
}
"""
BLOCKS = 20000
KERNEL = """
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<2>; .reg .b64 %a;
  ld.param.u64 %a, [p];
  OPERATION
  st.global.u32 [%a+8], %r1;
  ret;
}
"""


@pytest.mark.skipif(GCC is None, reason="needs gcc")
@pytest.mark.parametrize(
    "operation",
    [
        "atom.global.sys.inc.u32 %r1, [%a], 0xffffffff;",
        "mov.u32 %r1, 0; red.global.sys.add.u32 [%a], 1;",
    ],
)
def test_the_program_counts_at_the_same_time(operation: str, tmp_path: Path) -> None:
    source, library = tmp_path / "count.c", tmp_path / "count.so"
    source.write_text(COUNTING)
    subprocess.run([str(GCC), "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    count = ctypes.CDLL(str(library)).count
    count.restype = ctypes.c_long
    made, _ = device(KERNEL.replace("OPERATION", operation), COMPILE)
    buffer = made.buffer(np.zeros(4, np.uint32))
    memory = made.memory.bytes_at(buffer, 16)
    stop = ctypes.c_int(0)
    with ThreadPoolExecutor(1) as pool:
        counted = pool.submit(
            count, ctypes.c_void_p(memory.ctypes.data), ctypes.c_void_p(ctypes.addressof(stop))
        )
        try:
            for _ in range(10):
                made.launch("k", (BLOCKS,), (64,), buffer)
        finally:
            stop.value = 1
        total = counted.result() + 10 * 64 * BLOCKS
    assert memory.view(np.uint32)[0] == total % 2**32
