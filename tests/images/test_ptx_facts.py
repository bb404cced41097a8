"""Kernels, parameter layout and variables of PTX texts."""

import pytest

from cudarun.images.facts import KernelFacts, VariableFacts
from cudarun.images.kinds import ImageKind
from cudarun.images.parameters import Parameter
from cudarun.images.ptx_facts import read_ptx
from cudarun.ptx.errors import PtxError
from tests.images.golden_files import golden

HEADER = ".version 8.7\n.target sm_90a, debug\n.address_size 64\n"


def facts(text):
    return read_ptx((HEADER + text).encode(), "x.ptx")


def kernel(parameters, name="k", directives=""):
    (only,) = facts(f".visible .entry {name}({parameters}) {directives} {{ret;}}").kernels
    return only


def test_a_real_text():
    real = read_ptx(golden("facts.ptx"), "facts.ptx")
    assert (real.kind, real.targets, real.ptx_version) == (ImageKind.PTX, ("sm_90",), (9, 0))
    gather, frame, scale = real.kernels
    assert gather == KernelFacts(
        name="gather",
        parameters=(
            Parameter(0, 0, 24, 8, "b8[24]"),
            Parameter(1, 24, 1, 1, "u8"),
            Parameter(2, 26, 2, 2, "u16"),
            Parameter(3, 32, 8, 8, "u64"),
        ),
        max_threads=128,
    )
    assert frame.name == "frame"
    assert scale.demangled == "void ns::scale<float>(float*, int)"
    assert scale.parameters == (Parameter(0, 0, 8, 8, "float*"), Parameter(1, 8, 4, 4, "int"))
    assert real.variables == (
        VariableFacts("counter", "global", 4, 4, managed=True, type="u32"),
        VariableFacts("table", "global", 16, 4),
        VariableFacts("total", "global", 8, 8, type="f64"),
        VariableFacts("steps", "const", 8, 4),
    )


def test_only_the_target_itself_is_one():
    assert facts("").targets == ("sm_90a",)


class TestParameters:
    @pytest.mark.parametrize(("target", "offset"), [("sm_89", 32), ("sm_90", 48), ("sm_120", 64)])
    def test_alignments_are_those_of_addresses(self, target, offset):
        text = f".version 8.7\n.target {target}\n.address_size 64\n"
        text += ".visible .entry k(.param .u32 n, .param .align 64 .b8 map[128]) {ret;}"
        (only,) = read_ptx(text.encode(), "x.ptx").kernels
        assert [p.offset for p in only.parameters] == [0, offset]

    @pytest.mark.parametrize("target", ["sm_", "native", "texmode_independent, sm_90"])
    def test_targets_that_no_driver_knows(self, target):
        """The driver refuses the text, with a better reason than there could be here."""
        text = f".version 8.7\n.target {target}\n.address_size 64\n"
        text += ".visible .entry k(.param .u32 n, .param .u64 p) {ret;}"
        (only,) = read_ptx(text.encode(), "x.ptx").kernels
        assert [p.offset for p in only.parameters] == [0, 8]

    def test_each_is_aligned_as_it_asks(self):
        layout = kernel(
            ".param .u8 a, .param .u64 b, .param .b8 c, .param .align 16 .b8 d[20],"
            " .param .align 1 .b8 e[3], .param .f16 f, .param .v4 .f32 g, .param .f32 h[3]"
        ).parameters
        assert [(p.offset, p.size, p.alignment) for p in layout] == [
            (0, 1, 1),
            (8, 8, 8),
            (16, 1, 1),
            (32, 20, 16),
            (52, 3, 1),
            (56, 2, 2),
            (64, 16, 16),
            (80, 12, 4),
        ]
        assert [p.type for p in layout] == [
            "u8", "u64", "b8", "b8[20]", "b8[3]", "f16", "v4.f32", "f32[3]",
        ]  # fmt: skip

    def test_names_of_the_compilers_making_are_none(self):
        layout = kernel(".param .u64 k_param_0, .param .u64 x, .param .u64 k_param_1").parameters
        assert [p.name for p in layout] == [None, "x", "k_param_1"]

    def test_pointers_say_so(self):
        layout = kernel(".param .u64 .ptr .global .align 16 a, .param .u64 .ptr b").parameters
        assert [p.type for p in layout] == ["u64.ptr", "u64.ptr"]

    def test_the_mangled_name_gives_types_when_their_number_fits(self):
        two = ".param .u64 a, .param .u32 b"
        assert [p.type for p in kernel(two, "_Z1kPfi").parameters] == ["float*", "int"]
        assert [p.type for p in kernel(two, "_Z1kPfii").parameters] == ["u64", "u32"]
        assert [p.type for p in kernel(two, "k").parameters] == ["u64", "u32"]

    def test_none(self):
        assert kernel("").parameters == ()


class TestLimits:
    @pytest.mark.parametrize(
        ("directives", "threads", "block", "cluster"),
        [
            ("", None, None, None),
            (".maxntid 16, 8", 128, None, None),
            (".maxntid 256", 256, None, None),
            (".reqntid 32, 2, 1", None, (32, 2, 1), None),
            (".reqntid 64", None, (64, 1, 1), None),
            (".explicitcluster .reqnctapercluster 2, 1, 1", None, None, (2, 1, 1)),
            (".explicitcluster", None, None, None),
        ],
    )
    def test_directives(self, directives, threads, block, cluster):
        k = kernel("", directives=directives)
        assert (k.max_threads, k.required_block, k.required_cluster) == (threads, block, cluster)


def test_declared_and_device_functions_are_no_kernels():
    text = ".extern .entry a();\n.func b() {ret;}\n.visible .entry c() {ret;}"
    assert [k.name for k in facts(text).kernels] == ["c"]


def test_variables_that_nobody_can_address_are_left_out():
    found = facts(
        ".extern .global .u32 elsewhere;\n.extern .shared .align 16 .b8 dynamic[];\n"
        ".shared .u32 s;\n.global .align 1 .b8 $str[2] = {97};\n"
        ".global .b8 __unnamed_1[3];\n.visible .global .v2 .u32 here[3][2];\n"
        ".const .f32 tail[] = {0f00000000, 0f00000000};\n.global .b8 bytes[3];\n"
        ".global .u16 rows[][2] = {{1}, {2}, {3}};"
    ).variables
    assert found == (
        VariableFacts("here", "global", 48, 8, type="v2.u32[3][2]"),
        VariableFacts("tail", "const", 8, 4, type="f32[]"),
        VariableFacts("bytes", "global", 3, 1),
        VariableFacts("rows", "global", 12, 2, type="u16[][2]"),
    )


def test_a_text_that_does_not_parse_names_its_file():
    with pytest.raises(PtxError, match=r"PTX line 4: Parsing error near '\.foo'") as caught:
        facts(".foo")
    assert caught.value.context == {"file": "x.ptx"}


def test_text_that_is_not_ascii_is_refused_as_ptxas_refuses_it():
    with pytest.raises(PtxError, match="Unexpected non-ASCII character encountered on line 4"):
        facts("// é")
