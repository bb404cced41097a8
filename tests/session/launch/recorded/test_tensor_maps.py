"""Tensor maps of a recording: encoded again by the driver of the replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cudarun.base.errors import DeviceFailed, RequestError
from cudarun.session.launch.recorded.objects import with_tensor_maps
from cudarun.session.recording.archive import Recording
from cudarun.session.recording.manifest import Manifest, RecordedTensorMap
from cudarun.session.workers.session import Session

MAP = RecordedTensorMap(64, 0x7F0000000000, 7, (64, 32), (256,), (8, 4), (1, 1), 0, 0, 0, 0)


def _recording(tensor: RecordedTensorMap) -> Recording:
    manifest = Manifest("k", (1, 1, 1), (1, 1, 1), parameters=bytes(256), tensor_maps=(tensor,))
    return Recording("x", manifest, b"", None)


def _replayed(session: Session, tensor: RecordedTensorMap = MAP) -> tuple[bytes, bytes]:
    """The parameters, and the map that a program encodes."""
    driver = session.driver
    packed = with_tensor_maps(driver, _recording(tensor), (), bytes(range(256)))
    words = [driver.cuuint32_t(1)] * 2
    own = driver.cuTensorMapEncodeTiled(
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, MAP.address,
        [driver.cuuint64_t(64), driver.cuuint64_t(32)], [driver.cuuint64_t(256)],
        [driver.cuuint32_t(8), driver.cuuint32_t(4)], words, 0, 0, 0, 0,
    )  # fmt: skip
    return packed, b"".join(int(word).to_bytes(8, "little") for word in own.opaque)


def test_a_map_is_encoded_by_the_driver_of_the_replay(
    in_session: Callable[[Callable[[Session], Any]], Any],
) -> None:
    packed, own = in_session(_replayed)
    assert packed == bytes(range(64)) + own + bytes(range(192, 256))


def _unknown(session: Session) -> Any:
    return _replayed(session, replace(MAP, swizzle=200))


def _refused(session: Session) -> Any:
    return _replayed(session, replace(MAP, address=3))


def test_maps_that_cannot_be_encoded_are_refused(
    in_session: Callable[[Callable[[Session], Any]], Any],
) -> None:
    with pytest.raises(RequestError, match="no enumerator 200"):
        in_session(_unknown)
    with pytest.raises(DeviceFailed):
        in_session(_refused)


COLUMNS = RecordedTensorMap(
    64, 0x7F0000000000, 7, (16, 8, 7, 1), (64, 512, 3584), (), (1, 1, 1, 1), 0, 0, 0, 0,
    (-1, -2), (-1, 0), 16, 8,
)  # fmt: skip


def _columns(session: Session) -> tuple[bytes, bytes]:
    driver = session.driver
    own = driver.cuTensorMapEncodeIm2col(
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, COLUMNS.address,
        [driver.cuuint64_t(side) for side in COLUMNS.shape],
        [driver.cuuint64_t(stride) for stride in COLUMNS.strides],
        [-1, -2], [-1, 0], 16, 8, [driver.cuuint32_t(1)] * 4, 0, 0, 0, 0,
    )  # fmt: skip
    return _replayed(session, COLUMNS)[0], b"".join(
        int(word).to_bytes(8, "little") for word in own.opaque
    )


def test_a_map_of_columns_is_encoded_by_the_driver_of_the_replay(
    in_session: Callable[[Callable[[Session], Any]], Any],
) -> None:
    packed, own = in_session(_columns)
    assert packed[64:192] == own
