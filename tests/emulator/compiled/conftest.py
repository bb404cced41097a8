"""What the tests of the compiled engine share; without llvmlite they are skipped."""

import pytest

pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")
