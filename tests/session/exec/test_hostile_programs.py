"""Programs whose processes send what the libraries of ``exec`` never send."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.session.exec.conftest import GCC

pytestmark = [
    pytest.mark.skipif(GCC is None, reason="needs gcc"),
    pytest.mark.usefixtures("cached"),  # the limit of descriptors is of what runs
]

CONNECT = """
import os, socket, struct, sys
def connect(*words):
    end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    end.connect(os.environ["CUDARUN_EXEC_SOCKET"])
    if words:
        end.send(struct.pack(f"={len(words)}Q", *words))
    return end
"""
ONE = "\nwith connect(0, 7) as end: print(len(end.recv(64)), flush=True)\n"
MANY = (
    "\nfor _ in range(40):\n    if not os.fork():"
    + ONE.replace("\n", "\n        ", 1)
    + ("        os._exit(0)\n    os.wait()\n")
)
GONE = """
for _ in range(3):
    if not os.fork():
        connect(0, 7)
        os._exit(0)
    os.wait()
os._exit(5)
"""
IGNORED = """
with connect(0, 7) as end:
    end.recv(64)
    end.send(struct.pack("=12Q", 0xFFFFFF05, *[0] * 11))
    end.recv(64)
    end.send(struct.pack("=5Q", 0xFFFFFF02, 0, 0xFFFFFF05, 0, 100) + b"\\x90" * 48
             + os.fsencode(sys.argv[1]))
"""


NO_MEMBERS = """
import ctypes
driver, runtime = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcudart.so.13")
memory, out, kinds = ctypes.c_void_p(), (ctypes.c_uint64 * 32)(), (ctypes.c_int * 32)()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(64))
out[0], kinds[0], kinds[1] = ctypes.addressof(out), 999, 77
print(
    driver.cuPointerGetAttribute(out, 999, memory),
    driver.cuPointerGetAttributes(1, kinds, out, memory),
    driver.cuModuleLoadDataEx(out, b"", 1, kinds, out),
    driver.cuLinkCreate_v2(1, kinds, out, out),
    driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(kinds, 4)),
    runtime.cudaMemcpy3D((ctypes.c_uint64 * 32)(*[999] * 32)),
    flush=True,
)
"""

NO_LISTS = """
import ctypes
driver, runtime = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcudart.so.13")
graph, count, out = ctypes.c_void_p(), ctypes.c_size_t(-1), ctypes.c_void_p()
runtime.cudaGraphCreate(ctypes.byref(graph), 0)
print(runtime.cudaGraphGetNodes(graph, None, ctypes.byref(count)), count.value)
print(driver.cuModuleLoad(ctypes.byref(out), None), flush=True)
"""

ATTRIBUTES = """
import ctypes
runtime = ctypes.CDLL("libcudart.so.13")
stream, other = ctypes.c_void_p(), ctypes.c_void_p()
value, found = (ctypes.c_int * 16)(2), (ctypes.c_int * 16)()
runtime.cudaStreamCreate(ctypes.byref(stream))
runtime.cudaStreamCreate(ctypes.byref(other))
print(runtime.cudaStreamSetAttribute(stream, 3, value), end=" ")
print(runtime.cudaStreamCopyAttributes(other, stream), end=" ")
print(runtime.cudaStreamGetAttribute(other, 3, found), found[0])
print(runtime.cudaStreamGetAttribute(other, 99, found), end=" ")
print(runtime.cudaStreamSetAttribute(other, 3, (ctypes.c_int * 16)(9)))
array, channels = ctypes.c_void_p(), (ctypes.c_int * 5)(16, 0, 0, 0, 2)
sizes = (ctypes.c_size_t * 3)()
half, flags = (ctypes.c_int * 5)(), ctypes.c_uint(7)
runtime.cudaMallocArray(ctypes.byref(array), channels, ctypes.c_size_t(6), ctypes.c_size_t(4), 0)
print(runtime.cudaArrayGetInfo(half, sizes, ctypes.byref(flags), array), *half, *sizes, flags.value)
print(runtime.cudaArrayGetInfo(None, sizes, None, array), flush=True)
"""

LONG_LIST = """
import ctypes
runtime = ctypes.CDLL("libcudart.so.13")
graph, node, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t(1 << 40)
runtime.cudaGraphCreate(ctypes.byref(graph), 0)
runtime.cudaGraphAddEmptyNode(ctypes.byref(node), graph, None, ctypes.c_size_t(0))
place = ctypes.c_void_p(8)  # no memory
print(runtime.cudaGraphGetNodes(graph, place, ctypes.byref(count)), runtime.cudaGetLastError())
count = ctypes.c_size_t(1)
print(runtime.cudaGraphGetNodes(graph, ctypes.byref(node), ctypes.byref(count)), flush=True)
"""


def run(code: str, *words: str, limit: str = "256") -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", CONNECT + code, *words]
    command = ["sh", "-c", f'ulimit -n {limit}; exec "$0" "$@"', sys.executable, "-m", "cudarun"]
    return subprocess.run(
        [*command, "exec", "--", *program], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("other", ["connect()", "connect(2, 0)", "connect(3, 0)", "connect(0)"])
def test_a_connection_disturbs_no_other_process(other: str) -> None:
    ran = run(f"\nother = {other}\n{ONE}")
    assert (ran.stdout, ran.returncode) == ("24\n", 0)


def test_numbers_that_no_enumeration_has_are_refused() -> None:
    ran = run(NO_MEMBERS)
    assert (ran.stdout, ran.returncode) == ("1 1 1 1 1 1\n", 0), ran.stderr


def test_a_count_without_a_list_and_a_text_that_is_missing() -> None:
    ran = run(NO_LISTS)
    assert (ran.stdout, ran.returncode) == ("0 0\n1\n", 0), ran.stderr


def test_attributes_of_streams_and_the_description_of_an_array() -> None:
    ran = run(ATTRIBUTES)
    assert ran.stdout == "0 0 0 2\n1 1\n0 16 0 0 0 2 6 4 0 0\n0\n", ran.stderr


def test_a_list_without_memory_is_an_error_of_the_call() -> None:
    ran = run(LONG_LIST)
    assert (ran.stdout, ran.returncode) == ("1 1\n0\n", 0), ran.stderr


def test_processes_that_have_ended_keep_no_descriptors() -> None:
    ran = run(MANY, limit="32")
    assert ran.stdout == "24\n" * 40
    assert "Traceback" not in ran.stderr


def test_a_process_that_ends_while_it_connects_is_no_defect() -> None:
    ran = run(GONE)
    assert ran.returncode == 5
    assert not ran.stderr


def _damaged_elf(path: Path) -> None:
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01", 3, 62, 1, 0, 0, 64, *[0] * 2, 0,
                         0, 64, 1, 0)  # fmt: skip
    path.write_bytes(header + struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 0, 64, 99, 0, 0, 24))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("pipe", os.mkfifo),
        ("damaged", _damaged_elf),
        ("text\nerror: forged", lambda path: path.write_text("text")),
        ("zero", lambda path: path.symlink_to("/dev/zero")),
    ],
)
def test_the_file_of_an_ignored_error_can_be_anything(
    tmp_path: Path, name: str, make: object
) -> None:
    assert callable(make)
    make(tmp_path / name)
    ran = run(IGNORED, str(tmp_path / name))
    assert ran.returncode == 1
    shown = name.replace("\n", "\\x0a")
    assert f"cudaErrorInvalidConfiguration in {shown}+0x64\n" in ran.stderr


DAMAGED = """
with connect(0, 7) as end: end.recv(64)
folder = os.path.dirname(os.environ["CUDARUN_EXEC_SOCKET"])
with open(os.path.join(folder, "report-1"), "wb") as file:
    file.write(bytes.fromhex(sys.argv[1]))
"""


@pytest.mark.parametrize("data", ["", "80047d", "4e2e", "ff" * 40])
def test_a_damaged_report_of_a_process_is_an_error_of_one_line(data: str) -> None:
    ran = run(DAMAGED, data)
    assert ran.returncode == 7
    assert "the report of a process cannot be read" in ran.stderr
    assert "Traceback" not in ran.stderr
