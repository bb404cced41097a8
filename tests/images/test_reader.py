"""The front door: any image, or a refusal in one line."""

import pytest

from cudarun.base.errors import ImageRefused
from cudarun.images.fatbin import read_entries
from cudarun.images.kinds import ImageKind
from cudarun.images.reader import ArchiveMember, image_entries, read_image, read_members
from cudarun.ptx.errors import PtxError
from tests.images.golden_files import archive, golden


def refusal(data, origin="x"):
    with pytest.raises(ImageRefused) as caught:
        read_image(data, origin)
    return caught.value


class TestWhatIsNoImage:
    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "x: the file is empty"),
            (b"hello\n", "x: not an image"),
            (golden("facts.cu"), "x: CUDA source must be compiled before it can be loaded"),
            (golden("tiny.ltoir"), "x: LTO-IR must be linked before it can be loaded"),
            (archive(), "x: the archive contains no device code"),
            (archive((b"a.txt/", b"hello")), "x: the archive contains no device code"),
            (b"\x7fELF", "x: not a host object: the file is truncated in the ELF header"),
            (b"\xb1\x43\x62\x46" + bytes(20), "x: not a fatbin: its wrapper is not followed by a"
             " container"),
            (b"!<arch>\nshort", "x: not an archive: a member's header is malformed"),
        ],
    )  # fmt: skip
    def test_is_refused_in_one_line(self, data, message):
        assert refusal(data).message == message

    def test_a_host_object_without_device_code(self):
        data = golden("tiny.o").replace(b".nv_fatbin\0", b".no_fatbin\0")
        assert refusal(data).message == "x: the host object contains no device code"

    def test_broken_ptx_keeps_its_diagnostics(self):
        error = refusal(b".version 9.0\n.target sm_90\n.foo", "x.ptx")
        assert isinstance(error, PtxError)
        assert error.context == {"file": "x.ptx"}


def test_ptx_and_cubins():
    assert len(read_image(golden("facts.ptx"), "x").kernels) == 3
    assert len(read_image(golden("facts.cubin"), "x").kernels) == 3


class TestFatbins:
    def test_the_parts_and_what_they_have_in_common(self):
        facts = read_image(golden("tiny.fatbin"), "tiny.fatbin")
        assert facts.kind is ImageKind.FATBIN
        assert facts.targets == ("sm_80", "sm_90a", "compute_90a")
        assert facts.ptx_version == (9, 0)
        assert [(part.kind, part.target) for part in facts.parts] == [
            (ImageKind.CUBIN, "sm_80"),
            (ImageKind.CUBIN, "sm_90a"),
            (ImageKind.PTX, "compute_90a"),
        ]
        (tiny,) = facts.kernels
        sm_80, sm_90a, ptx = (part.facts.kernels[0] for part in facts.parts)
        assert tiny == sm_80
        assert (sm_90a.name, sm_90a.shared_bytes) == ("tiny", 16)
        assert (ptx.name, ptx.registers) == ("tiny", None)
        assert facts.parts[0].facts.targets == ("sm_80",)

    def test_an_entry_is_the_file_that_went_in(self):
        cubin, _, ptx = read_entries(golden("tiny.fatbin"), "x")
        assert cubin.content("x") == golden("tiny_sm80.cubin")
        assert b".visible .entry tiny" in ptx.content("x")

    def test_containers_may_follow_one_another(self):
        one = golden("tiny.fatbin")
        assert len(read_entries(one + one, "x")) == 6
        assert len(read_entries(one + bytes(4096) + one + bytes(7), "x")) == 6

    def test_a_wrapper_may_stand_before(self):
        wrapper = b"\xb1\x43\x62\x46" + bytes(20)
        assert len(read_entries(wrapper + golden("tiny.fatbin"), "x")) == 3

    @pytest.mark.parametrize("name", ["tiny_zstd.fatbin", "tiny_lz4.fatbin"])
    def test_compressed_entries(self, name):
        cubin, ptx = read_entries(golden(name), name)
        assert cubin.content(name) == golden("tiny_sm80.cubin")
        assert len(ptx.content(name)) == ptx.size
        assert read_image(ptx.content(name), name).ptx_version == (9, 0)
        broken = golden(name).replace(ptx.stored[:16], b"\xff" * 16)
        with pytest.raises(ImageRefused, match="the PTX for compute_80 cannot be decompressed"):
            read_entries(broken, name)[1].content(name)

    def test_a_fatbin_in_a_fatbin_is_not_opened(self):
        inner = golden("tiny.fatbin")
        head = bytearray(golden("tiny.fatbin")[16:80])
        head[8:16] = len(inner).to_bytes(8, "little")
        size = len(head) + len(inner)
        outer = golden("tiny.fatbin")[:8] + size.to_bytes(8, "little") + bytes(head) + inner
        assert refusal(outer).message == "x: the file is a fatbin, which is not supported here"

    def test_lto_ir_is_recognised_and_not_read(self):
        entries = read_entries(golden("tiny_lto.fatbin"), "x")
        lto = next(entry for entry in entries if entry.kind is ImageKind.LTO_IR)
        assert (lto.target, lto.is_scrambled) == ("compute_80", True)
        with pytest.raises(ImageRefused, match="the LTO-IR for compute_80 is scrambled"):
            lto.content("x")

    @pytest.mark.parametrize(
        ("at", "value", "problem"),
        [
            (4, b"\x02", "container version 2 is not supported"),
            (6, b"\x00\x00", "the container extends past the end of the file"),
            (8, b"\xff\xff\xff", "the container extends past the end of the file"),
            (20, b"\x01", "an entry extends past the end of its container"),
            (24, b"\xff\xff\xff", "an entry extends past the end of its container"),
        ],
    )
    def test_broken_containers(self, at, value, problem):
        data = bytearray(golden("tiny.fatbin"))
        data[at : at + len(value)] = value
        assert refusal(bytes(data)).message == f"x: not a fatbin: {problem}"

    def test_impossible_sizes(self):
        data = golden("tiny_lz4.fatbin")
        size = read_entries(data, "x")[1].size
        broken = data.replace(size.to_bytes(8, "little"), (1 << 40).to_bytes(8, "little"))
        assert refusal(broken).message == "x: not a fatbin: an entry has inconsistent sizes"

    @pytest.mark.parametrize("length", [5, 20, 60, 100, 4000])
    def test_cut_short(self, length):
        assert refusal(golden("tiny.fatbin")[:length]).message.startswith("x: not a fatbin: ")


class TestHostObjects:
    @pytest.mark.parametrize("name", ["tiny.o", "tiny_rdc.o"])
    def test_the_fatbin_inside(self, name):
        facts = read_image(golden(name), name)
        assert facts.kind is ImageKind.HOST_OBJECT
        assert facts.targets == ("sm_80", "compute_80")
        assert [kernel.name for kernel in facts.kernels] == ["tiny"]

    @pytest.mark.parametrize("name", ["facts.ptx", "facts.cubin"])
    def test_code_has_no_entries(self, name):
        with pytest.raises(ImageRefused, match=r"x: the file is a (PTX|cubin), which is not"):
            image_entries(golden(name), "x")

    def test_its_entries(self):
        cubin = image_entries(golden("tiny.o"), "tiny.o")[0]
        assert cubin.content("tiny.o") == golden("tiny_sm80.cubin")


class TestArchives:
    def test_the_code_of_all_members(self):
        data = archive(
            (b"/", b"symbols"),
            (b"tiny.o/", golden("tiny.o")),
            (b"b.fatbin/", golden("tiny.fatbin")),
        )
        facts = read_image(data, "lib.a")
        assert facts.kind is ImageKind.ARCHIVE
        assert facts.targets == ("sm_80", "compute_80", "sm_90a", "compute_90a")
        assert len(facts.parts) == 5

    def test_a_broken_member_is_named(self):
        data = archive((b"tiny.o/", golden("tiny.o")[:500]))
        assert refusal(data, "lib.a").message == (
            "lib.a(tiny.o): not a host object: the section table extends past the end of the file"
        )

    def test_an_archive_in_an_archive_is_left_alone(self):
        inner = archive((b"tiny.o/", golden("tiny.o")))
        assert refusal(archive((b"inner.a/", inner))).message == (
            "x: the archive contains no device code"
        )

    def test_names_in_gnus_spelling(self):
        long_names = b"a_name_of_many_letters.o/\nanother_such_name.o/\n"
        data = archive(
            (b"/", b"x"), (b"//", long_names), (b"a.o/", b"1"), (b"/0", b"22"), (b"/26", b"333")
        )  # fmt: skip
        assert read_members(data, "x") == (
            ArchiveMember("a.o", b"1"),
            ArchiveMember("a_name_of_many_letters.o", b"22"),
            ArchiveMember("another_such_name.o", b"333"),
        )

    @pytest.mark.parametrize("offset", [0, 1, 99, 9999])
    def test_a_long_name_without_an_end(self, offset):
        """It would be read to the end of the table again for each member."""
        data = archive((b"//", b"x" * 2000), *[(b"/%d" % offset, b"")] * 3)
        with pytest.raises(ImageRefused, match="not an archive: a member's name is malformed"):
            read_members(data, "x")

    def test_a_name_that_is_no_offset(self):
        assert read_members(archive((b"/\xb2", b"1")), "x") == (ArchiveMember("/\xb2", b"1"),)

    def test_names_in_bsds_spelling(self):
        data = archive(
            (b"#1/12", b"__.SYMDEF\0\0\0symbols"), (b"#1/8", b"long.o\0\0content"), (b"b.o", b"1")
        )
        assert read_members(data, "x") == (
            ArchiveMember("long.o", b"content"),
            ArchiveMember("b.o", b"1"),
        )

    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            (archive((b"a/", b"123"))[:-2], "a member extends past the end of the file"),
            (archive((b"a/", b"1")).replace(b"`", b"'"), "a member's header is malformed"),
            (archive((b"#1/x", b"1")), "a member's header is malformed"),
        ],
    )
    def test_broken_ones(self, data, problem):
        assert refusal(data).message == f"x: not an archive: {problem}"
