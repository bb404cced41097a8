"""Atomic operations with the scope of the system are atomic for the program, too."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator import memory
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.emulator.compiled.engines import device

GCC = shutil.which("gcc")
COUNTING = """
long count(volatile unsigned *at, volatile int *stop) {
  long made = 0;
  for (; !*stop; made++) __sync_fetch_and_add(at, 1);
  return made;
}
"""
EXCHANGE = """
int exchange(long at, int size, unsigned long old, unsigned long new) {
  unsigned expected = old; /* of 4 bytes, as all values here */
  return __atomic_compare_exchange_n((unsigned *)at, &expected, new, 0, 5, 5);
}
"""
BLOCKS = {COMPILE: 20000, INTERPRET: 20}
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
@pytest.mark.parametrize("engine", BLOCKS)
def test_the_program_counts_at_the_same_time(
    engine: str, operation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, library = tmp_path / "count.c", tmp_path / "count.so"
    source.write_text(COUNTING + EXCHANGE)
    subprocess.run([str(GCC), "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))
    count, exchange = loaded.count, loaded.exchange
    count.restype = ctypes.c_long
    exchange.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong]
    monkeypatch.setattr(memory, "exchange", exchange)
    made, _ = device(KERNEL.replace("OPERATION", operation), engine)
    buffer = made.buffer(np.zeros(4, np.uint32))
    shared = made.memory.bytes_at(buffer, 16)
    stop = ctypes.c_int(0)
    with ThreadPoolExecutor(1) as pool:
        counted = pool.submit(
            count, ctypes.c_void_p(shared.ctypes.data), ctypes.c_void_p(ctypes.addressof(stop))
        )
        try:
            for _ in range(10):
                made.launch("k", (BLOCKS[engine],), (64,), buffer)
        finally:
            stop.value = 1
        total = counted.result() + 10 * 64 * BLOCKS[engine]
    assert shared.view(np.uint32)[0] == total % 2**32
