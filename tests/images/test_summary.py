"""What is told of a file that may be broken."""

import pytest

from cudarun.images.kinds import ImageKind
from cudarun.images.summary import FileSummary, summarize
from cudarun.images.versions import Architecture
from tests.images.golden_files import golden

SM_80, SM_90 = Architecture(False, 80), Architecture(False, 90)


def test_a_broken_text_still_has_its_version_and_target():
    found = summarize(b".version 9.4\n.target sm_90a, debug\n.entry x { nonsense\n", "x.ptx")
    assert found == FileSummary(ImageKind.PTX, (Architecture(True, 90, "a"),), (9, 4), lines=3)


def test_a_text_without_either():
    assert summarize(b".target\n", "x.ptx") == FileSummary(ImageKind.PTX, lines=1)


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("facts.cubin", FileSummary(ImageKind.CUBIN, (SM_90,))),
        (
            "tiny.fatbin",
            FileSummary(
                ImageKind.FATBIN, (SM_80, Architecture(False, 90, "a"), Architecture(True, 90, "a"))
            ),
        ),
        ("tiny.o", FileSummary(ImageKind.HOST_OBJECT, (Architecture(True, 80), SM_80))),
        ("tiny.ltoir", FileSummary(ImageKind.LTO_IR)),
    ],
)
def test_whole_files(name, contents):
    found = summarize(golden(name), name)
    assert found.kind is contents.kind
    assert sorted(map(str, found.targets)) == sorted(map(str, contents.targets))
    assert found.damage is None


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("facts.cubin", "the section table extends past the end of the file"),
        ("tiny.fatbin", "the container extends past the end of the file"),
        ("tiny.o", "the section table extends past the end of the file"),
    ],
)
def test_half_of_a_file(name, damage):
    data = golden(name)
    assert summarize(data[: len(data) // 2], name).damage == damage


def test_a_relocatable_cubin_tells_what_it_wants():
    assert summarize(golden("wants.cubin"), "wants.cubin").externs == ("factor", "_Z4partf")
