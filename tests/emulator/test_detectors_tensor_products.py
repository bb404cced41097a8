"""Races of ``tcgen05.mma`` with the threads that write its matrices to shared memory."""

from __future__ import annotations

import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from tests.emulator import tensor_kernels
from tests.emulator.tensor_products import ENABLE, Case, check

kernel = tensor_kernels.kernel


@pytest.mark.parametrize("fence", ["fence.proxy.async;", "membar.cta;"])
def test_matrices_that_threads_have_written(fence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(body: str, *, columns: int, group: int) -> str:
        text = kernel(body, columns=columns, group=group)
        return text.replace("fence.proxy.async;", fence)

    monkeypatch.setattr(tensor_kernels, "kernel", changed)
    observer = DetectorObserver(["race"])
    check(Case("f16", ("f32", "f16", "f16"), 128, 32, tail=ENABLE), observer=observer)
    found = {(each.problem, each.places[0].access) for each in observer.findings}
    wrong = {("no fence.proxy.async between them", "store")}
    assert found == (set() if "proxy" in fence else wrong)
