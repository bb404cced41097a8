"""The headers of PTX that are accepted: each version with each target, as ptxas 13.0 answers."""

from __future__ import annotations

import pytest

from cudarun.emulator.host.headers import newest_ptx, parse_supported
from cudarun.ptx.errors import PtxError

LAST_MINORS = [5, 3, 2, 3, 1, 5, 8, 8, 0]
VERSIONS = [f"{major}.{n}" for major, last in enumerate(LAST_MINORS, 1) for n in range(last + 1)]


def complaint(version: str, targets: str) -> str:
    """The first error in a text with this header; empty if there is none."""
    try:
        parse_supported(f".version {version}\n.target {targets}\n", newest_ptx())
    except PtxError as error:
        return error.diagnostics[0].message
    return ""


@pytest.mark.parametrize(
    ("target", "oldest"),
    [
        ("sm_30", "3.0"), ("sm_35", "3.1"), ("sm_52", "4.1"), ("sm_62", "5.0"), ("sm_70", "5.1"),
        ("sm_72", "6.1"), ("sm_75", "6.3"), ("sm_80", "7.0"), ("sm_86", "7.1"), ("sm_87", "7.4"),
        ("sm_89", "7.8"), ("sm_90", "7.8"), ("sm_90a", "8.0"), ("compute_86", "7.1"),
    ],
)  # fmt: skip
def test_versions_of_a_target(target: str, oldest: str) -> None:
    first = VERSIONS.index(oldest)
    for version in VERSIONS[:first]:
        expected = f"PTX .version {version} does not support .target {target}"
        assert complaint(version, target) == expected
    for version in VERSIONS[first:]:
        assert complaint(version, target) == ""


@pytest.mark.parametrize(
    ("version", "targets", "message"),
    [
        ("8.5", "sm_100", "PTX .version 8.5 does not support .target sm_100"),
        ("8.6", "sm_100", "SM version specified by .target is higher"),
        ("8.7", "sm_120f", "PTX .version 8.7 does not support .target sm_120f"),
        ("7.0", "sm_80, sm_86", "PTX .version 7.0 does not support .target sm_86"),
        ("8.0", "sm_80a", "Unsupported .target 'sm_80a'"),
        ("8.0", "sm_90f", "Unsupported .target 'sm_90f'"),
        ("8.0", "sm_90, sm_80x", "Unsupported .target 'sm_80x'"),
        ("8.0", "debug", "Target architecture not defined"),
        ("7.9", "sm_80", "Unsupported .version 7.9; current version is"),
        ("6.6", "sm_70", "Unsupported .version 6.6; current version is"),
    ],
)
def test_headers_that_are_refused(version: str, targets: str, message: str) -> None:
    assert complaint(version, targets).startswith(message)


def test_options_of_a_target() -> None:
    assert complaint("8.0", "sm_90, texmode_independent, debug") == ""
