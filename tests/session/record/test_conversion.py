"""The code of a recorded kernel, from the image that the program loaded."""

from __future__ import annotations

import struct

import pytest

from cudarun.base.errors import RequestError
from cudarun.images.kinds import FATBIN_MAGIC
from cudarun.session.record.conversion import recorded_code


def test_code_that_the_driver_links_is_refused() -> None:
    # What `nvcc -rdc=true -gencode arch=compute_90,code=compute_90` registers: a header alone.
    container = FATBIN_MAGIC + struct.pack("<HHQ", 1, 16, 0)
    with pytest.raises(RequestError, match="-rdc=true"):
        recorded_code(container, 90)
