"""Lists of hosts: ``gpu[01-64],login2`` as Slurm writes them, or a file with a host per line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from cudarun.base.errors import RequestError

MAX_HOSTS = 100_000  # the most hosts of a fleet

_HOST = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.:@%-]*")
_ITEM = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)


def parse_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts of a list, in order, each once.

    Args:
        text: Hosts separated by commas, with ranges in brackets, or ``@FILE``.
    """
    lines = _lines(text[1:]) if text.startswith("@") else [text]
    hosts: dict[str, None] = {}
    for line in lines:
        for host in _expanded(line):
            hosts[host] = None
            if len(hosts) > MAX_HOSTS:
                raise _refused(f"more than {MAX_HOSTS} hosts")
    if not hosts:
        raise _refused(f"'{text}' names no host")
    return tuple(hosts)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.partition("#")[0].strip() for line in file]
    except OSError as error:
        raise _refused(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _refused(f"{path}: the file is not UTF-8 text") from None
    return [line for line in lines if line]


def _expanded(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        item = _ITEM.match(text, place)
        if item is None:
            raise _refused(f"'{text}' is not a list of hosts")
        place = item.end() + 1
        if item.end() < len(text) and text[item.end()] != ",":
            raise _refused(f"'{text}' has unbalanced brackets")
        own = item[0].strip()
        parts = [[*_numbers(own, found[1])] if found[1] is not None else [found[2]]
                 for found in _PART.finditer(own)]  # fmt: skip
        for chosen in product(*parts):  # the last range varies fastest
            host = "".join(chosen)
            if not _HOST.fullmatch(host):
                raise _refused(
                    f"'{host}' is not a host name",
                    hint="letters, digits and _ . : @ % -, not beginning with -",
                )
            yield host


def _numbers(item: str, ranges: str) -> Iterator[str]:
    """Yield the numbers of ``01-64,70``, as wide as the first of their range."""
    for each in ranges.split(","):
        found = _RANGE.fullmatch(each.strip())
        if found is None:
            raise _refused(f"'{each}' in '{item}' is not a number or a range such as 01-64")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first >= MAX_HOSTS:
            raise _refused(f"'{each}' in '{item}' is not an ascending range of up to {MAX_HOSTS}")
        for number in range(first, last + 1):
            yield f"{number:0{len(found[1])}d}"


def _refused(what: str, hint: str | None = None) -> RequestError:
    return RequestError(what, hint=hint, option="--hosts")
