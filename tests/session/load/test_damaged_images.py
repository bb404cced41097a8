"""Whatever was done to a file, it is refused as a user's error, and never worse.

`python -m tools.fuzz.images` does the same with as many as one likes, on a GPU too.
"""

from __future__ import annotations

import pytest

from tools.fuzz import images as fuzz_images

IMAGES = tuple(fuzz_images.damaged(fuzz_images.originals(), 40, seed=20))


@pytest.fixture(scope="module")
def report():  # type: ignore[no-untyped-def]
    return fuzz_images.load_all(IMAGES, "cpu")


def test_offline() -> None:
    files = fuzz_images.load_offline(IMAGES).files
    assert {file.error.exit_code for file in files if file.error} == {4}
    assert any(file.error is None for file in files)


def test_on_the_emulated_device(report) -> None:  # type: ignore[no-untyped-def]
    assert [outcome.image for outcome in report.outcomes] == [image.origin for image in IMAGES]
    for outcome in report.outcomes:
        code = outcome.error.exit_code if outcome.error else 0
        assert code in {0, 2, 4}, (outcome.image, str(outcome.error))


def test_each_has_a_verdict(report) -> None:  # type: ignore[no-untyped-def]
    assert {outcome.verdict for outcome in report.outcomes} == {"loaded", "refused"}
