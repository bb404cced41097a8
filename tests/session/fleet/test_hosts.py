"""Lists of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudarun.base.errors import RequestError
from cudarun.session.fleet.hosts import parse_hosts


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("gpu1", ["gpu1"]),
        ("gpu[01-03],login2", ["gpu01", "gpu02", "gpu03", "login2"]),
        ("gpu[8-11]", ["gpu8", "gpu9", "gpu10", "gpu11"]),
        ("r[1-2]n[07,9]", ["r1n07", "r1n9", "r2n07", "r2n9"]),
        ("a, b ,a", ["a", "b"]),
        ("user@10.0.0.1,fe80::1%eth0", ["user@10.0.0.1", "fe80::1%eth0"]),
    ],
)
def test_lists(text: str, hosts: list[str]) -> None:
    assert [*parse_hosts(text)] == hosts


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "nodes.txt"
    file.write_text("gpu[1-2]  # two\n\n# none\nlogin\n")
    assert parse_hosts(f"@{file}") == ("gpu1", "gpu2", "login")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no host"),
        ("-oProxyCommand=x", "is not a host name"),
        ("a;b", "is not a host name"),
        ("a b", "is not a host name"),
        ("$(x)", "is not a host name"),
        ("gpu[1-", "unbalanced brackets"),
        ("gpu1]", "unbalanced brackets"),
        ("gpu[x]", "'x' in 'gpu[x]' is not a number"),
        ("gpu[3-1]", "'3-1' in 'gpu[3-1]' is not an ascending range"),
        ("gpu[0-99999999999]", "is not an ascending range of up to 100000"),
        ("gpu[0-999]x[0-999]", "more than 100000 hosts"),
        (f"gpu[{'7' * 5001}]", "is not a number or a range"),
        (f"gpu[1-{'7' * 5001}]", "is not a number or a range"),
        ("a,,b", "not a list of hosts"),
        ("@no-such-file", "no-such-file: No such file or directory"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_hosts(text)
    assert message in caught.value.message
    assert caught.value.subject("option") == ("--hosts",)
