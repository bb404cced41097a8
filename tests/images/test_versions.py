"""Which CUDA takes which PTX, and which GPU runs which code."""

import pytest

from cudarun.images.versions import Architecture, cuda_of_ptx, newest_ptx, parse_target


@pytest.mark.parametrize(
    ("cuda", "ptx"),
    [((11, 8), (7, 8)), ((12, 4), (8, 4)), ((12, 9), (8, 8)), ((13, 0), (9, 0)), ((13, 5), (9, 5))],
)
def test_each_cuda_has_its_newest_ptx(cuda, ptx):
    assert newest_ptx(cuda) == ptx
    assert cuda_of_ptx(ptx) == cuda


def test_two_cudas_with_the_same_ptx_need_the_first():
    assert newest_ptx((12, 6)) == newest_ptx((12, 5)) == (8, 5)
    assert cuda_of_ptx((8, 5)) == (12, 5)


def test_what_is_not_known():
    assert newest_ptx((99, 0)) is None
    assert cuda_of_ptx((99, 0)) is None


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("sm_90", Architecture(False, 90)),
        ("sm_90a", Architecture(False, 90, "a")),
        ("compute_100f", Architecture(True, 100, "f")),
    ],
)
def test_targets(text, target):
    assert parse_target(text) == target
    assert str(target) == text


@pytest.mark.parametrize("text", ["", "sm_", "sm_90b", "90", "sm90", "compute_90 "])
def test_what_is_no_target(text):
    assert parse_target(text) is None


@pytest.mark.parametrize(
    ("text", "device", "runs"),
    [
        ("sm_80", 80, True),
        ("sm_80", 86, True),  # same major version, not older
        ("sm_86", 80, False),
        ("sm_80", 90, False),  # machine code stays within its major version
        ("compute_80", 90, True),
        ("compute_90", 80, False),
        ("sm_90a", 90, True),
        ("sm_90a", 100, False),
        ("compute_90a", 100, False),
        ("compute_100f", 103, True),
        ("compute_100f", 120, False),
        ("sm_120", 121, True),
    ],
)
def test_what_runs_where(text, device, runs):
    target = parse_target(text)
    assert target is not None
    assert target.runs_on(device) is runs
