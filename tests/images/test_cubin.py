"""Cubins of two ELF ABIs, against what was compiled and what ``ptxas -v`` said of it."""

import struct

import pytest

from cudarun.base.errors import ImageRefused
from cudarun.images.cubin import read_cubin
from cudarun.images.facts import KernelFacts, VariableFacts
from cudarun.images.kinds import ImageKind
from cudarun.images.parameters import Parameter
from cudarun.images.ptx_facts import read_ptx
from tests.images.golden_files import golden

FACTS = ["facts.cubin", "facts_cuda12.cubin", "facts_relocatable.cubin"]


def kernels(name):
    return {kernel.name: kernel for kernel in read_cubin(golden(name), name).kernels}


@pytest.mark.parametrize("name", FACTS)
def test_all_that_a_cubin_tells(name):
    facts = read_cubin(golden(name), name)
    assert (facts.kind, facts.targets, facts.ptx_version) == (ImageKind.CUBIN, ("sm_90",), None)
    assert {kernel.name: kernel for kernel in facts.kernels} == {
        "_ZN2ns5scaleIfEEvPT_i": KernelFacts(
            name="_ZN2ns5scaleIfEEvPT_i",
            parameters=(Parameter(0, 0, 8, type="float*"), Parameter(1, 8, 4, type="int")),
            registers=8,
            shared_bytes=0,
            local_bytes=0,
            const_bytes=8,
        ),
        "frame": KernelFacts(
            name="frame",
            parameters=(Parameter(0, 0, 8), Parameter(1, 8, 4)),
            registers=27,
            shared_bytes=0,
            local_bytes=80,
            const_bytes=8,
        ),
        "gather": KernelFacts(
            name="gather",
            parameters=(
                Parameter(0, 0, 24),
                Parameter(1, 24, 1),
                Parameter(2, 26, 2),
                Parameter(3, 32, 8),
            ),
            registers=16,
            shared_bytes=128,
            local_bytes=0,
            const_bytes=8,
            max_threads=128,
        ),
    }
    assert set(facts.variables) == {
        VariableFacts("counter", "global", 4, managed=True),
        VariableFacts("table", "global", 16),
        VariableFacts("total", "global", 8),
        VariableFacts("steps", "const", 8),
    }


@pytest.mark.parametrize("name", FACTS)
def test_ptx_and_the_cubin_made_of_it_agree_on_the_layout(name):
    cubin = kernels(name)
    for told in read_ptx(golden("facts.ptx"), "facts.ptx").kernels:
        found = cubin[told.name]
        assert [(p.index, p.offset, p.size) for p in found.parameters] == [
            (p.index, p.offset, p.size) for p in told.parameters
        ]
        assert found.max_threads == told.max_threads


def test_the_stack_of_a_linked_kernel_is_that_of_all_it_calls():
    found = {name: kernel.local_bytes for name, kernel in kernels("calls.cubin").items()}
    assert found == {"calls": 176, "recursive": None, "alone": 0}


def test_before_it_is_linked_the_stack_of_a_kernel_that_calls_is_not_known():
    found = kernels("calls_relocatable.cubin")
    assert {name: kernel.local_bytes for name, kernel in found.items()} == {
        "calls": None,
        "recursive": None,
        "alone": 0,
    }


@pytest.mark.parametrize("name", ["required.cubin", "required_cuda12.cubin"])
def test_required_sizes_and_a_suffixed_target(name):
    facts = read_cubin(golden(name), name)
    assert facts.targets == ("sm_90a",)
    (required,) = facts.kernels
    assert required.required_block == (32, 2, 1)
    assert required.required_cluster == (2, 1, 1)
    assert required.registers == 8


def test_before_sm_90_no_shared_memory_is_reserved():
    facts = read_cubin(golden("tiny_sm80.cubin"), "tiny_sm80.cubin")
    assert facts.targets == ("sm_80",)
    (tiny,) = facts.kernels
    assert (tiny.shared_bytes, tiny.registers, tiny.const_bytes) == (16, 10, 0)
    assert [(p.offset, p.size) for p in tiny.parameters] == [(0, 8), (8, 12), (24, 8)]


def test_parameters_of_many_bytes_have_records_of_their_own():
    (tiny,) = read_cubin(golden("tiny_large.cubin"), "tiny_large.cubin").kernels
    assert [(p.offset, p.size) for p in tiny.parameters] == [(0, 17000), (17000, 12), (17016, 8)]


def patched(name, offset, layout, *values):
    data = bytearray(golden(name))
    struct.pack_into(layout, data, offset, *values)
    return bytes(data)


E_SHOFF, E_SHENTSIZE, E_SHNUM, E_SHSTRNDX = 0x28, 0x3A, 0x3C, 0x3E
SH_OFFSET, SH_SIZE = 24, 32
SH_LINK = 40


def section_header(name, index):
    (table,) = struct.unpack_from("<Q", golden(name), E_SHOFF)
    return table + 64 * index


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (golden("facts.cubin")[:30], "the file is truncated in the ELF header"),
        (golden("facts.cubin")[:5000], "the section table extends past the end of the file"),
        (patched("facts.cubin", 4, "<B", 1), "it is not 64-bit little-endian ELF"),
        (patched("facts.cubin", 5, "<B", 2), "it is not 64-bit little-endian ELF"),
        (patched("facts.cubin", E_SHOFF, "<Q", 0), "it has no sections"),
        (patched("facts.cubin", E_SHNUM, "<H", 0), "it has no sections"),
        (
            patched("facts.cubin", E_SHOFF, "<Q", 2**63),
            "the section table extends past the end of the file",
        ),
        (
            patched("facts.cubin", E_SHENTSIZE, "<H", 63),
            "the section headers have an unsupported size",
        ),
        (patched("facts.cubin", E_SHSTRNDX, "<H", 999), "it has no section names"),
        (
            patched("facts.cubin", section_header("facts.cubin", 3) + SH_OFFSET, "<Q", 10**6),
            "section '.symtab' extends past the end of the file",
        ),
        (
            patched("facts.cubin", section_header("facts.cubin", 11) + SH_SIZE, "<Q", 10**6),
            "section '.nv.info.gather' extends past the end of the file",
        ),
        (
            patched("facts.cubin", section_header("facts.cubin", 1) + SH_OFFSET, "<Q", 2**64 - 1),
            "a string table extends past the end of the file",
        ),
        (
            patched("facts.cubin", section_header("facts.cubin", 3) + 56, "<Q", 7),
            "the symbols have an unsupported size",
        ),
        (
            patched("facts.cubin", section_header("facts.cubin", 3) + SH_LINK, "<I", 999),
            "the ELF file is malformed",
        ),
    ],
)
def test_a_broken_file_is_refused_in_one_line(data, problem):
    with pytest.raises(ImageRefused) as caught:
        read_cubin(data, "broken.cubin")
    assert str(caught.value) == f"broken.cubin: not a cubin: {problem}"


def test_a_record_that_is_cut_off():
    data = golden("facts.cubin")
    record = bytes.fromhex("04170c00")  # a parameter, 12 bytes
    broken = data.replace(record, bytes.fromhex("04170800"))
    with pytest.raises(ImageRefused, match=r"not a cubin: a record of \.nv\.info is truncated"):
        read_cubin(broken, "broken.cubin")
