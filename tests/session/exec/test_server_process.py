"""The process of the servers that starts before the command line is parsed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudarun.session.driver import drivers
from cudarun.session.exec import server_process
from cudarun.session.exec.server_process import begin, take


@pytest.fixture(autouse=True)
def ends() -> Iterator[None]:
    """Ends what a test leaves."""
    yield
    while server_process._waiting:
        left = server_process._waiting.pop()
        left._socket.close()
        left.end()


@pytest.mark.parametrize(
    "arguments",
    [["exec", "-d", "cpu@a100", "./a.out"], ["exec", "--timeout", "5", "--", "./a.out", "--help"]],
)
def test_it_is_taken_once(arguments: list[str]) -> None:
    begin(arguments)
    [early] = server_process._waiting
    with take(drivers.SERVER) as other, take() as process, take() as another:
        assert process is early
        assert early not in (other, another)
        for each in (other, process, another):
            assert each.status() is None  # it runs
            each._socket.close()


@pytest.mark.parametrize(
    "arguments",
    [["exec", "--help"], ["exec", "--debug", "--", "./a.out"], ["launch", "--", "exec"]],
)
def test_others_start_none(arguments: list[str]) -> None:
    begin(arguments)
    assert not server_process._waiting


def test_it_ends_if_no_program_follows() -> None:
    begin(["exec"])
    [process] = server_process._waiting
    process._socket.close()
    assert process.wait(None) == 0
