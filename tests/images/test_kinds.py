"""What kind of image a file is, by its content."""

import subprocess
import sys

import pytest

from cudarun.images.kinds import ImageKind, identify
from tests.images.golden_files import archive, golden


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("facts.ptx", ImageKind.PTX),
        ("facts.cubin", ImageKind.CUBIN),
        ("facts_cuda12.cubin", ImageKind.CUBIN),
        ("facts_relocatable.cubin", ImageKind.CUBIN),
        ("tiny.fatbin", ImageKind.FATBIN),
        ("tiny_zstd.fatbin", ImageKind.FATBIN),
        ("tiny.o", ImageKind.HOST_OBJECT),
        ("tiny.ltoir", ImageKind.LTO_IR),
        ("facts.cu", ImageKind.CUDA_SOURCE),
    ],
)
def test_real_files(name, kind):
    assert identify(golden(name)) is kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", ImageKind.EMPTY),
        (b"\n", ImageKind.UNKNOWN),
        (b"hello", ImageKind.UNKNOWN),
        (b"\x89PNG\r\n", ImageKind.UNKNOWN),
        (b".version 9.0", ImageKind.PTX),
        (b"\f // x\r\n/* y\n*/ .version 9.0", ImageKind.PTX),
        (b"\xef\xbb\xbf.version 9.0", ImageKind.PTX),
        (b".target sm_90\n.visible .entry k()", ImageKind.PTX),
        (b"the .version of", ImageKind.UNKNOWN),
        (b".versions", ImageKind.UNKNOWN),
        (b"// only a comment", ImageKind.UNKNOWN),
        (b"__global__ void k() {}", ImageKind.CUDA_SOURCE),
        ("// é\n__global__ void k() {}".encode(), ImageKind.CUDA_SOURCE),
        (b"__global__x", ImageKind.UNKNOWN),
        (b"\xff __global__ void k() {}", ImageKind.UNKNOWN),
        (b"\0 __global__ void k() {}", ImageKind.UNKNOWN),
        (b"\x7fELF", ImageKind.HOST_OBJECT),
        (b"\xb1\x43\x62\x46\x01\0\0\0", ImageKind.FATBIN),
        (archive(), ImageKind.ARCHIVE),
    ],
)
def test_by_the_first_bytes(data, kind):
    assert identify(data) is kind
    assert identify(memoryview(data)) is kind


def test_to_identify_imports_nothing_heavy():
    code = (
        "import sys; from cudarun.images.kinds import identify;"
        "print([m for m in ('numpy', 'elftools', 'ctypes', 'rich', 'click') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
