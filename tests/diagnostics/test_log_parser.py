"""Real log texts, taken apart. What wrote each is in its name or beside it."""

from __future__ import annotations

import pytest

from cudarun.diagnostics.entries import Diagnostic, located
from cudarun.diagnostics.log_parser import parse_log

PTXAS = (
    "ptxas application ptx input, line 43; error   : Unknown modifier '.xx'\n"
    "ptxas fatal   : Ptx assembly aborted due to errors\n"
)
TWO_ERRORS = (
    "ptxas main.ptx, line 32; error   : Arguments mismatch for instruction 'ld'\n"
    "ptxas main.ptx, line 32; error   : Unknown symbol '%zz1'\n"
    "ptxas fatal   : Ptx assembly aborted due to errors"
)
NVLINK = (
    "nvlink error   : Undefined reference to '_Z4partf' in 'main.o'\n"
    "nvlink error   : Undefined reference to 'factor' in 'main.o'\n"
)
NVLINK_TWICE = (
    "nvlink error   : Multiple definition of 'factor' in 'lib2.o', first defined in 'main.o'\n"
    "nvlink fatal   : merge_elf failed\n"
)
NVJITLINK_PTX = (
    "ptxas application ptx input, line 43; error   : Unknown modifier '.xx'\n"
    "ptxas fatal   : Ptx assembly aborted due to errors\n"
    "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (main.ptx)\n\0"
)
NVJITLINK_TWO_INPUTS = (
    "ERROR 4: bad input:main.cubin\n"
    "ptxas fatal   : SM version specified by .target is higher than default SM version assumed\n"
    "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (lib.ptx)\n\0"
)
NVJITLINK_UNDEFINED = (
    "error   : Undefined reference to 'factor' in 'main.ptx'\nERROR 9: complete\n\0"
)
NVJITLINK_LTO = (
    "lib2.ltoir: link error: error: Linking globals named 'factor': symbol multiply defined!\n\n"
    "ERROR NVVM_ERROR_COMPILATION (9) in nvvmCompileProgram callback\n\0"
)
NVRTC = """\
bad.cu(4): error: identifier "x" is undefined
      out[0] = x;
               ^

bad.cu(3): warning #177-D: variable "unused" was declared but never referenced
      int unused;
          ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

1 error detected in the compilation of "bad.cu".
"""
NVRTC_HEADER = """\
bad.cu(1): catastrophic error: could not open source file "cuda_fp16.h" (no directories in \
search list)
  #include <cuda_fp16.h>
                        ^

1 catastrophic error detected in the compilation of "bad.cu".
Compilation terminated.
"""


@pytest.mark.parametrize(
    ("log", "found"),
    [
        (PTXAS, [Diagnostic("ptxas", "error", "Unknown modifier '.xx'", None, 43)]),
        (
            TWO_ERRORS,
            [
                Diagnostic(
                    "ptxas", "error", "Arguments mismatch for instruction 'ld'", "main.ptx", 32
                ),
                Diagnostic("ptxas", "error", "Unknown symbol '%zz1'", "main.ptx", 32),
            ],
        ),
        (
            "ptxas fatal   : Unresolved extern function '_Z4partf'",
            [Diagnostic("ptxas", "fatal", "Unresolved extern function '_Z4partf'")],
        ),
        (
            "ptxas warning : For profile sm_90 adjusting per thread register count of 8 to lower "
            "bound of 24",
            [
                Diagnostic(
                    "ptxas",
                    "warning",
                    "For profile sm_90 adjusting per thread register count of 8 to lower bound "
                    "of 24",
                )
            ],
        ),
        (
            NVLINK,
            [
                Diagnostic(
                    "nvlink", "error", "Undefined reference to '_Z4partf' in 'main.o'", "main.o"
                ),
                Diagnostic(
                    "nvlink", "error", "Undefined reference to 'factor' in 'main.o'", "main.o"
                ),
            ],
        ),
        (
            NVLINK_TWICE,
            [
                Diagnostic(
                    "nvlink",
                    "error",
                    "Multiple definition of 'factor' in 'lib2.o', first defined in 'main.o'",
                    "lib2.o",
                )
            ],
        ),
        (NVJITLINK_PTX, [Diagnostic("ptxas", "error", "Unknown modifier '.xx'", "main.ptx", 43)]),
        (
            NVJITLINK_TWO_INPUTS,
            [
                Diagnostic("nvJitLink", "error", "bad input", "main.cubin"),
                Diagnostic(
                    "ptxas",
                    "fatal",
                    "SM version specified by .target is higher than default SM version assumed",
                    "lib.ptx",
                ),
            ],
        ),
        (
            NVJITLINK_UNDEFINED,
            [
                Diagnostic(
                    "nvlink", "error", "Undefined reference to 'factor' in 'main.ptx'", "main.ptx"
                )
            ],
        ),
        (
            NVJITLINK_LTO,
            [
                Diagnostic(
                    "nvJitLink",
                    "error",
                    "Linking globals named 'factor': symbol multiply defined!",
                    "lib2.ltoir",
                )
            ],
        ),
        (
            # On file descriptor 2, where the link succeeds.
            "@E@error   : Multiple definition of 'factor' in 'b.ptx', first defined in 'b.ptx'",
            [
                Diagnostic(
                    "nvlink",
                    "error",
                    "Multiple definition of 'factor' in 'b.ptx', first defined in 'b.ptx'",
                    "b.ptx",
                )
            ],
        ),
        (
            "ERROR 1: bad input: does not match type NVJITLINK_INPUT_PTXg.ptx\n",
            [
                Diagnostic(
                    "nvJitLink",
                    "error",
                    "bad input: does not match type NVJITLINK_INPUT_PTX",
                    "g.ptx",
                )
            ],
        ),
        (
            "ERROR 1: bad input: malformed cubin ELFcut.cubin\n",
            [Diagnostic("nvJitLink", "error", "bad input: malformed cubin ELF", "cut.cubin")],
        ),
        (
            "error   : Binary format for key='0', ident='' is not recognized",  # driver 580
            [
                Diagnostic(
                    "nvlink", "error", "Binary format for key='0', ident='' is not recognized"
                )
            ],
        ),
        (
            NVRTC,
            [
                Diagnostic(
                    "NVRTC",
                    "error",
                    'identifier "x" is undefined',
                    "bad.cu",
                    4,
                    14,
                    source="    out[0] = x;",
                ),
                Diagnostic(
                    "NVRTC",
                    "warning",
                    'variable "unused" was declared but never referenced',
                    "bad.cu",
                    3,
                    9,
                    source="    int unused;",
                ),
            ],
        ),
        (
            NVRTC_HEADER,
            [
                Diagnostic(
                    "NVRTC",
                    "fatal",
                    'could not open source file "cuda_fp16.h" (no directories in search list)',
                    "bad.cu",
                    1,
                    23,
                    source="#include <cuda_fp16.h>",
                )
            ],
        ),
        (
            "At end of source: error: expected an expression\n",
            [Diagnostic("NVRTC", "error", "expected an expression")],
        ),
        (
            "nvrtc: error: unrecognized option --foo found\n",
            [Diagnostic("NVRTC", "error", "unrecognized option --foo found")],
        ),
        (
            "main.cu:1:10: fatal error: none.h: No such file or directory\n"
            '    1 | #include "none.h"\n      |          ^~~~~~~~\ncompilation terminated.\n',
            [Diagnostic("nvcc", "fatal", "none.h: No such file or directory", "main.cu", 1, 10)],
        ),
        (
            "nvcc fatal   : Unknown option '--foo'\n",
            [Diagnostic("nvcc", "fatal", "Unknown option '--foo'")],
        ),
        ("", []),
        ("a line of no known form\nanother", []),
    ],
)
def test_logs(log: str, found: list[Diagnostic]) -> None:
    assert list(parse_log(log)) == found


def test_information_is_graded_as_that() -> None:
    log = (
        "ptxas info    : Compiling entry function 'use_part' for 'sm_90'\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "INFO: NVVM70 LTOIR Container created (2740 bytes)\n"
    )
    assert [d.severity for d in parse_log(log)] == ["info", "info"]


# --- where it stands -----------------------------------------------------------------------------

TEXT = ".version 8.0\n\tadd.xx.u32 %r2, %r1, %r11;\n\tret;"


def place(message: str, line: int = 2) -> tuple[int | None, int]:
    [found] = located([Diagnostic("ptxas", "error", message, None, line)], {"a.ptx": TEXT})
    assert found.file == "a.ptx"
    return found.column, found.width


@pytest.mark.parametrize(
    ("message", "line", "where"),
    [
        ("Unknown modifier '.xx'", 2, (5, 3)),
        ("Arguments mismatch for instruction 'add'", 2, (2, 3)),
        ("Unknown symbol '%r1'", 2, (18, 3)),  # not where %r11 stands
        ("Unknown symbol '%r11'", 2, (23, 4)),
        ("Unsupported .version 9.9; current version is '9.0'", 1, (1, 8)),
        ("something else altogether", 2, (None, 1)),
    ],
)
def test_the_column_is_that_of_a_word_of_the_message(
    message: str, line: int, where: tuple[int | None, int]
) -> None:
    assert place(message, line) == where


def test_a_line_that_the_text_does_not_have() -> None:
    [found] = located([Diagnostic("ptxas", "error", "x", None, 99)], {"a.ptx": TEXT})
    assert (found.line, found.source) == (99, None)


def test_of_several_texts_the_log_must_say_which() -> None:
    sources = {"a.ptx": TEXT, "b.ptx": TEXT}
    unknown, named = located(
        [
            Diagnostic("ptxas", "error", "x", None, 2),
            Diagnostic("ptxas", "error", "x", "b.ptx", 2),
        ],
        sources,
    )
    assert unknown.source is None
    assert named.source == TEXT.split("\n")[1]


@pytest.mark.parametrize(
    ("diagnostic", "shown"),
    [
        (Diagnostic("ptxas", "error", "x"), None),
        (Diagnostic("ptxas", "error", "x", "a.ptx"), "a.ptx"),
        (Diagnostic("ptxas", "error", "x", "a.ptx", 3), "a.ptx:3"),
        (Diagnostic("ptxas", "error", "x", "a.ptx", 3, 7), "a.ptx:3:7"),
        (Diagnostic("ptxas", "error", "x", None, 3), "line 3"),
    ],
)
def test_how_a_place_is_written(diagnostic: Diagnostic, shown: str | None) -> None:
    assert diagnostic.place == shown
