"""Commands and scripts in processes that are forked where their modules are imported already.

To start Python and to import takes most of the time of a small command, and the tests run a
thousand of them. That alone differs from a process started by a shell: descriptors, environment,
folder, signals and exit status are the command's own. What starting takes is tested in real ones
(`tests/test_startup.py`, `tests/test_samples.py`, `tests/reliability`).
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO

from tests.support.processes import PATIENCE

MODULES = ["tests.support.preloaded"]
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(MODULES)


def run_command(
    arguments: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    *,
    timeout: float = PATIENCE,
) -> tuple[int, bytes, bytes]:
    """Run ``cudarun`` to its end: the exit status, what it wrote to stdout and to stderr."""
    with _streams(stdin) as streams:
        code = _run(_command, ("cudarun", *arguments), folder, env, streams, timeout)
        return code, streams[1].read_bytes(), streams[2].read_bytes()


def run_merged(arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> tuple[int, bytes]:
    """Run ``cudarun`` to its end: the exit status, what it wrote to both streams."""
    with _streams(b"") as (stdin, stdout, _):
        code = _run(_command, ("cudarun", *arguments), folder, env, [stdin, stdout, stdout])
        return code, stdout.read_bytes()


def run_in_session(
    arguments: Sequence[str], folder: Path, env: Mapping[str, str]
) -> tuple[int, int, bytes]:
    """Run ``cudarun`` to its end in a session of its own, which its processes belong to.

    Returns:
        The exit status, the number of the session, and what it wrote to both streams.
    """
    words = ("cudarun", *arguments)
    with _streams(b"") as (stdin, stdout, _):
        process = _start(_session_command, words, folder, env, [stdin, stdout, stdout])
        assert process.pid is not None
        session = process.pid
        return _finish(process, words), session, stdout.read_bytes()


def run_on_terminal(
    arguments: Sequence[str], folder: Path, env: Mapping[str, str], terminal: Path
) -> int:
    """Run ``cudarun`` to its end with a terminal as its streams: the exit status."""
    return _run(_command, ("cudarun", *arguments), folder, env, [terminal] * 3)


def run_script(
    path: Path, arguments: Sequence[str], env: Mapping[str, str]
) -> tuple[int, bytes, bytes]:
    """Run a Python file to its end, in this folder: status, stdout and stderr."""
    with _streams(b"") as streams:
        code = _run(_script, (os.fspath(path), *arguments), Path.cwd(), env, streams)
        return code, streams[1].read_bytes(), streams[2].read_bytes()


@contextmanager
def _streams(stdin: bytes) -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory() as name:
        streams = [Path(name, stream) for stream in ("stdin", "stdout", "stderr")]
        streams[0].write_bytes(stdin)
        yield streams


def _run(
    target: Callable[..., None],
    words: tuple[str, ...],
    folder: Path,
    env: Mapping[str, str],
    streams: Sequence[Path],
    timeout: float = PATIENCE,
) -> int:
    return _finish(_start(target, words, folder, env, streams), words, timeout)


def _start(
    target: Callable[..., None],
    words: tuple[str, ...],
    folder: Path,
    env: Mapping[str, str],
    streams: Sequence[Path],
) -> BaseProcess:
    process = _PROCESSES.Process(target=target, args=(words, folder, dict(env), streams))
    process.start()
    return process


def _finish(process: BaseProcess, words: tuple[str, ...], timeout: float = PATIENCE) -> int:
    process.join(timeout)
    if process.exitcode is None:
        process.kill()
        raise TimeoutError(f"{' '.join(words)} did not end in {timeout} s")
    code = process.exitcode
    process.close()
    return code


def _command(
    words: tuple[str, ...], folder: Path, env: dict[str, str], streams: Sequence[Path]
) -> None:
    """In the new process: run the command as a shell would."""
    become(words, folder, env, streams)

    from cudarun.__main__ import main

    main()


def _session_command(
    words: tuple[str, ...], folder: Path, env: dict[str, str], streams: Sequence[Path]
) -> None:
    """In the new process: run the command as the leader of a session."""
    os.setsid()
    _command(words, folder, env, streams)


def _script(
    words: tuple[str, ...], folder: Path, env: dict[str, str], streams: Sequence[Path]
) -> None:
    """In the new process: run the file as Python would."""
    become(words, folder, env, streams)
    runpy.run_path(words[0], run_name="__main__")


def become(
    words: tuple[str, ...], folder: Path, env: dict[str, str], streams: Sequence[Path]
) -> None:
    """Make this process what a shell would have started for the words of a command line."""
    for number, path in enumerate(streams):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY
        given = os.open(path, flags | os.O_NOCTTY)
        os.dup2(given, number)
        os.close(given)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.stdin, sys.stdout, sys.stderr = _text(0, "r"), _text(1, "w"), _text(2, "w")
    sys.argv = [*words]


def _text(descriptor: int, mode: str) -> IO[str]:
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    return open(descriptor, mode, buffering=1, encoding=encoding, closefd=False)
