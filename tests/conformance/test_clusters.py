"""Launches that ask for clusters, and launches that do not. Each has a process of its own."""

import functools

import pytest

COPIED = [0, 5, 60, 700, 8000]


@pytest.fixture(scope="module")
def run(in_new_process):
    def launch(kernel, width):
        return list(map(int, in_new_process("clusters.py", kernel, str(width)).stdout.split()))

    return functools.cache(launch)


@pytest.mark.parametrize(("kernel", "width"), [("bound", 0), ("free", 1), ("free", 2)])
def test_a_copy_to_shared_memory_of_the_cluster(run, kernel, width):
    assert run(kernel, width) == COPIED


def test_there_is_none_without_clusters(run):
    assert run("free", 0)[0] == 715


@pytest.mark.parametrize(
    ("kernel", "width", "asked"),
    [("free_asks", 0, 0), ("free_asks", 1, 1), ("free_asks", 2, 1), ("bound_asks", 0, 1)],
)
def test_a_kernel_can_tell_whether_they_were_asked_for(run, kernel, width, asked):
    assert run(kernel, width)[:3] == [0, asked, max(width, 1)]
