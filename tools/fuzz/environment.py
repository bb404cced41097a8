"""Hostile environment variables, each case in a process of its own."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

from tests.support.forked_processes import run_command
from tests.support.processes import ROOT
from tools.fuzz.fuzzer import Fuzzer, Unexpected

_NAMES = (
    *("CUDARUN_CPU_DEVICES", "CUDARUN_CPU_DEVICES", "CUDARUN_DEVICE", "CUDA_VISIBLE_DEVICES"),
    *("COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "LANG", "LC_ALL"),
    *("TMPDIR", "HOME", "PATH", "XDG_CACHE_HOME", "CUDA_PATH", "CUDA_HOME", "CUDA_MODULE_LOADING"),
    *("CUDA_LOG_FILE", "NVCC_APPEND_FLAGS", "COMP_WORDS", "PYTHONWARNINGS"),
    *("CPATH", "LD_LIBRARY_PATH", "SOURCE_DATE_EPOCH", "TTY_COMPATIBLE", "PWD", "OLDPWD", "TZ"),
)
_VALUES = (
    *("", "0", "1", "2", "-1", "abc", "99999999999999999999", "1e9", "0x10", " 2 ", "2,3", "cpu"),
    *(
        "cpu:all",
        "all",
        "cpu:5",
        "/dev/null",
        "/nonexistent/file",
        "/proc",
        ".",
        "é",
        "\x1b[31m",
        "\n",
    ),
    *("dumb", "xterm-256color", "C", "POSIX", "utf-8", "ascii", "latin1:strict", "undefined", "8"),
    *("9" * 5000, "x" * 20_000, "\udcff", "EAGER", "bash_source", "error", ":" * 300),
)
_SAXPY = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:64", "--check", "y == 2*x + 1")
_COMMANDS = (
    ("devices", "-d", "cpu:all"),
    ("devices",),
    ("--version",),
    ("launch", "--help"),
    ("load", "--offline", "samples/saxpy.ptx"),
    ("load", "samples/saxpy.ptx", "-d", "cpu"),
    ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "64", *_SAXPY),
    ("launch", "samples/saxpy.ptx", "--threads", "64", *_SAXPY, "--print", "y"),
    ("launch", "samples/saxpy.ptx", "-d", "cpu:all", "--threads", "64", *_SAXPY, "--json"),
    ("ctx", "show", "-d", "cpu"),
)


class Environment(Fuzzer[tuple[str, ...]]):
    """Commands under environment variables; a case is the command's number, then the variables."""

    name = "environment"
    allowed = frozenset({0, 2, 3})
    is_process = True

    def case(self, chance: random.Random) -> tuple[str, ...]:
        """Return a command and some variables."""
        count = chance.randint(1, 4)
        variables = [f"{chance.choice(_NAMES)}={chance.choice(_VALUES)}" for _ in range(count)]
        if chance.randrange(4) == 0:  # Python itself refuses to start with another encoding
            variables.append(f"PYTHONIOENCODING={chance.choice(('ascii', 'latin1', 'utf-16'))}")
        return (str(chance.randrange(len(_COMMANDS))), *variables)

    def exit_code(self, case: tuple[str, ...]) -> int:
        """Run the command."""
        if not case or not case[0].isdigit():
            return 0  # of a reproducer without its command
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("CUDARUN_") and name not in _NAMES
        }
        given = dict(each.split("=", 1) for each in case[1:])
        command = _COMMANDS[int(case[0])]
        paths = clean | {"PYTHONPATH": str(ROOT)}
        # Of its own: variables such as CUDA_LOG_FILE name files that are written.
        with tempfile.TemporaryDirectory() as name:
            Path(name, "samples").symlink_to(ROOT / "samples")
            code, _, err = run_command(command, Path(name), paths | given)
        if code == 7 or b"Traceback" in err or b"Warning: " in err:
            raise Unexpected(err.decode(errors="replace")[-3000:] or f"exit code {code}")
        return code
