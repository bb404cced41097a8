"""What a submission tries in order to leave its process, its folder and its turn."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

import pytest

from cudarun.session.compile import landlock
from tests.commands.conftest import Run
from tests.support.processes import is_alive

PROBLEM = """
import numpy as np
cases = [{"seed": 1}]
def generate_input(seed): return np.random.default_rng(seed).random(8, dtype=np.float32)
def ref_kernel(x): return x.sum(), x + x
"""
HONEST = """
import ctypes, os, signal, socket, stat, time
def custom_kernel(x): return x.sum(), 2 * x
def answer(text):
    for each in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(each).st_mode):
                with socket.socket(fileno=os.dup(each)) as found: found.sendall(text)
        except OSError: pass
    time.sleep(60)
"""
USES_PROCESSES = """
import multiprocessing
from multiprocessing.shared_memory import SharedMemory
memory = SharedMemory(create=True, size=64)
memory.close()
memory.unlink()
def double(x): return 2 * x
pool = multiprocessing.get_context("fork").Pool(1)
def custom_kernel(x): return x.sum(), pool.apply(double, (x,))
"""
ESCAPES = """
child = os.fork()
if not child:
    os.setsid()
    os.setpgid(0, 0)
    parent = os.getppid()
    while True:
        with open(f"/proc/{parent}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] == "T": open("seen", "w").close()
def custom_kernel(x):
    if os.path.exists("seen"): raise RuntimeError("not all processes have stopped")
    return x.sum(), 2 * x
"""
WAKES = """
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("other", ctypes.c_int * 13)]
timer, event = ctypes.c_void_p(), Event(None, signal.SIGCONT)
if ctypes.CDLL(None).timer_create(1, ctypes.byref(event), ctypes.byref(timer)):
    raise RuntimeError("no timer")
"""
ASKS_FOR_SIGNAL = """
import fcntl
fcntl.fcntl(os.memfd_create(""), 10, signal.SIGCONT)
"""
NESTED_ANSWER = """
def custom_kernel(x): answer(b"[" * 200_000 + b"\\n")
"""
LINKS = """
os.remove("submission.py")
os.symlink({victim!r}, "submission.py")
def custom_kernel(x): answer(b'{{"rule": "not_shared", "message": "again"}}\\n')
"""
SHARED_MEMORY = """
def custom_kernel(x): return open({file!r}).read()
"""
NAMES_THREAD = """
with open(f"/proc/self/task/{os.getpid()}/comm", "w") as file: file.write("as cuInit does")
"""
NESTED_FOLDERS = """
for _ in range(1000):
    os.mkdir("a")
    os.chdir("a")
"""

pytestmark = pytest.mark.skipif(not landlock.version(), reason="the kernel has no Landlock")


def test_a_submission_can_use_processes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "uses.py").write_text(USES_PROCESSES)
    ran = run("judge", "--problem", "problem.py", "uses.py", "-d", "cpu", "--runs", "2", "--json")
    [found] = json.loads(ran.out)["submissions"]
    if not any("/dev/shm" in each for each in found.get("notes", ())):
        assert found["rule"] == "launches", found


def test_no_submission_leaves_its_place(run: Run, tmp_path: Path) -> None:
    victim, shared = tmp_path / "victim", Path(f"/dev/shm/cudarun-{secrets.token_hex(8)}")
    cheats = {
        "escapes": ESCAPES, "wakes": WAKES, "asks": ASKS_FOR_SIGNAL, "answer": NESTED_ANSWER,
        "links": LINKS.format(victim=os.fspath(victim)),
        "shared": SHARED_MEMORY.format(file=os.fspath(shared)), "folders": NESTED_FOLDERS,
        "names": NAMES_THREAD,
    }  # fmt: skip
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "honest.py").write_text(HONEST)
    for name, text in cheats.items():
        (tmp_path / f"{name}.py").write_text(HONEST + text)
    victim.write_text("kept")
    shared.write_text("secret")
    try:
        files = [f"{name}.py" for name in ("honest", *cheats)]
        options = ("-d", "cpu", "--runs", "2", "--json")
        ran = run("judge", "--problem", "problem.py", *files, *options)
    finally:
        shared.unlink()
    document = json.loads(ran.out)
    found = {Path(each["submission"]).stem: each for each in document["submissions"]}
    assert victim.read_text() == "kept"
    # Without a kernel, all that a submission breaks otherwise is the rule of launches.
    assert {name: each["rule"] for name, each in found.items()} == {
        **dict.fromkeys(("honest", "escapes", "folders", "names"), "launches"),
        **dict.fromkeys(("wakes", "asks", "answer", "links", "shared"), "error"),
    }
    for name, message in {
        "wakes": "no timer", "asks": "PermissionError", "answer": "writes to the judge",
        "links": "again", "shared": f"'{shared}'",
    }.items():  # fmt: skip
        assert message in found[name]["message"]
    assert not found["honest"].get("notes")


def test_no_process_stays_behind(run: Run, tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "stays.py").write_text(
        f"{HONEST}\nimport sys\nchild = os.fork()\n"
        "if not child:\n    os.setsid()\n    os.closerange(0, 64)\n    time.sleep(600)\n"
        "raise RuntimeError(f'child {child}')\n"
    )
    ran = run("judge", "--problem", "problem.py", "stays.py", "-d", "cpu", "--json")
    [found] = json.loads(ran.out)["submissions"]
    assert not is_alive(int(found["message"].rpartition("child ")[2]))
