"""What each refusal is explained by, over the real log texts of it.

``DRIVER`` cases are of driver 580.159 on an H200; the others were written by ptxas and nvlink 13.0,
NVRTC and nvJitLink 13.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from cudarun.base.bindings import toolkit_installation
from cudarun.diagnostics.explanations import explain
from cudarun.diagnostics.log_parser import parse_log
from cudarun.diagnostics.refusals import LoadTarget, RefusalFacts
from cudarun.images.kinds import ImageKind
from cudarun.images.summary import FileSummary
from cudarun.images.versions import Architecture

H200 = LoadTarget("NVIDIA H200", 90, cuda=(13, 0))
CPU = LoadTarget("cudarun emulated device", 90, cuda=(13, 0), runs_machine_code=False)
JITLINK = LoadTarget("nvJitLink 13.5", 90, cuda=(13, 5), is_driver=False)

PTX = FileSummary(ImageKind.PTX, (Architecture(True, 75),), (8, 0), lines=62)
SM_80 = Architecture(False, 80)
INVALID_PTX, NO_BINARY = "CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_NO_BINARY_FOR_GPU"
INVALID_IMAGE = "CUDA_ERROR_INVALID_IMAGE"


@dataclass(frozen=True)
class Golden:
    """A refusal and the two sentences about it."""

    name: str
    reason: str
    remedy: str
    log: str = ""
    contents: FileSummary | None = PTX
    place: LoadTarget = H200
    cuda_error: str | None = INVALID_PTX
    target: Architecture | None = None


GOLDEN = [
    Golden(
        "PTX newer than the driver",
        log="ptxas application ptx input, line 9; fatal   : Unsupported .version 9.4; current "
        "version is '9.0'",
        cuda_error="CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        reason="PTX 9.4 requires CUDA 13.4 or later; the driver has CUDA 13.0 and supports PTX up "
        "to "
        "9.0.",
        remedy="compile with a toolkit of that version or older, or update the driver",
    ),
    Golden(
        "PTX newer than the driver, no log",
        contents=replace(PTX, ptx_version=(8, 7)),
        place=replace(H200, cuda=(12, 4)),
        cuda_error="CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        reason="PTX 8.7 requires CUDA 12.8 or later; the driver has CUDA 12.4 and supports PTX up "
        "to "
        "8.4.",
        remedy="compile with a toolkit of that version or older, or update the driver",
    ),
    Golden(
        "PTX newer than any CUDA known here",
        log="ptxas application ptx input, line 9; fatal   : Unsupported .version 99.0; current "
        "version is '9.0'",
        reason="PTX 99.0 requires a newer CUDA; the driver has CUDA 13.0 and supports PTX up to "
        "9.0.",
        remedy="compile with a toolkit of that version or older, or update the driver",
    ),
    Golden(
        "PTX newer than nvJitLink",
        log="ptxas application ptx input, line 9; fatal   : Unsupported .version 9.9; current "
        "version is '9.5'\nERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (main.ptx)\n",
        place=JITLINK,
        cuda_error=None,
        reason="PTX 9.9 requires CUDA 13.9 or later; nvJitLink 13.5 supports PTX up to 9.5.",
        remedy="compile with a toolkit of that version or older, or use a newer nvJitLink",
    ),
    Golden(
        "PTX older than its target",
        log="ptxas x.ptx, line 10; error   : PTX .version 7.0 does not support .target sm_90",
        reason=".version 7.0 does not support .target sm_90.",
        remedy="restore the .version that the compiler wrote, or use a newer one",
    ),
    Golden(
        "32-bit PTX",
        log="ptxas fatal   :  32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on "
        "sm_90 or higher architectures.",
        reason="The PTX has 32-bit addresses, which GPUs of compute capability 9.0 and later do "
        "not support.",
        remedy="compile it with .address_size 64 (nvcc -m64, the default)",
    ),
    Golden(
        "sm_90a PTX on a later architecture",
        log="ptxas fatal   : Program with .target 'sm_90a' cannot be compiled to future "
        "architecture",
        place=LoadTarget("NVIDIA B200", 100, cuda=(13, 0)),
        reason="The code is for sm_90a, which runs on its own architecture only; the target here "
        "is sm_100 (NVIDIA B200).",
        remedy="compile for compute_90 if the kernel does not need architecture-specific features",
    ),
    Golden(
        "sm_90a PTX linked for sm_90",
        log="ptxas fatal   : PTX with .target 'sm_90a' cannot be compiled for architecture 'sm_90'",
        place=JITLINK,
        cuda_error=None,
        reason="The code is for sm_90a, which runs on its own architecture only; the target here "
        "is sm_90 (nvJitLink 13.5).",
        remedy="link with --arch sm_90a",
    ),
    Golden(
        "sm_100f PTX on another family",
        log="ptxas fatal   : Program with .target 'sm_100f' cannot be compiled to different "
        "SM-family architecture",
        place=LoadTarget("RTX PRO 6000", 120, cuda=(13, 0)),
        reason="The code is for sm_100f, which runs on its own family only; the target here is "
        "sm_120 (RTX PRO 6000).",
        remedy="compile for compute_100 if the kernel does not need architecture-specific features",
    ),
    Golden(
        "sm_100a cubin",
        contents=FileSummary(ImageKind.CUBIN, (Architecture(False, 100, "a"),)),
        cuda_error=NO_BINARY,
        reason="The code is for sm_100a, which runs on its own architecture only; the target here "
        "is sm_90 (NVIDIA H200).",
        remedy="compile for compute_90 if the kernel does not need architecture-specific features",
    ),
    Golden(
        "sm_90a PTX on an older architecture without a product name",
        contents=FileSummary(ImageKind.PTX, (Architecture(True, 90, "a"),)),
        cuda_error=NO_BINARY,
        place=LoadTarget("sm_75", 75),
        reason="The code is for compute_90a, which runs on its own architecture only; the target "
        "here is sm_75.",
        remedy="compile for compute_75 if the kernel does not need architecture-specific features",
    ),
    Golden(
        "PTX for a newer architecture",
        log="ptxas fatal   : SM version specified by .target is higher than default SM version "
        "assumed",
        contents=replace(PTX, targets=(Architecture(True, 100),)),
        reason="The PTX is for compute_100, which is newer than sm_90 (NVIDIA H200).",
        remedy="compile it for compute_90 or older",
    ),
    Golden(
        "PTX compiled for another architecture than the device's",
        cuda_error="CUDA_ERROR_INVALID_SOURCE",
        target=SM_80,
        reason="--target sm_80 compiles for sm_80, which does not run on sm_90 (NVIDIA H200).",
        remedy="remove --target: the driver compiles for the device",
    ),
    Golden(
        "a target that nobody knows",
        log="ptxas application ptx input, line 10; fatal   : Unsupported .target 'sm_999'",
        reason="Unknown architecture sm_999: it is misspelled, or newer than the driver.",
        remedy="compile for a supported architecture, such as compute_75",
    ),
    Golden(
        "an instruction that the target has not",
        log="ptxas x.ptx, line 62; error   : Feature 'redux' requires .target sm_80 or higher",
        reason="The instruction 'redux' requires .target sm_80 or newer.",
        remedy="compile for compute_80 or newer",
    ),
    Golden(
        "unresolved function",
        log="ptxas fatal   : Unresolved extern function '_Z4partf'",
        reason="'part(float)' (_Z4partf) is used here but defined in no input.",
        remedy="link it with the file that defines it: cudarun link FILE… -o OUT",
    ),
    Golden(
        "unresolved symbols of a link",
        log="error   : Undefined reference to 'scaled' in 'main.ptx'\n"
        "error   : Undefined reference to 'factor' in 'main.ptx'\nERROR 9: complete\n",
        place=JITLINK,
        cuda_error=None,
        reason="'scaled', 'factor' are used here but defined in no input.",
        remedy="link it with the file that defines it: cudarun link FILE… -o OUT",
    ),
    Golden(
        "duplicate symbol in LTO-IR",
        log="lib2.ltoir: link error: error: Linking globals named 'factor': symbol multiply "
        "defined!\n\nERROR NVVM_ERROR_COMPILATION (9) in nvvmCompileProgram callback\n",
        place=JITLINK,
        cuda_error=None,
        contents=None,
        reason="'factor' is defined in more than one input.",
        remedy="link only one of them, or make one definition static or weak (__device__ static, "
        ".weak)",
    ),
    Golden(
        "too few registers for an instruction",
        log="ptxas fatal   : (C7602) Insufficient registers (80) to compile instruction at line "
        "138 in function wg. Try to compile with register target of 154 or higher.",
        reason="The kernel cannot be compiled with 80 registers per thread; it needs at least 154.",
        remedy="raise --max-registers, or loosen __launch_bounds__ (.maxntid, .minnctapersm, "
        ".maxnreg)",
    ),
    Golden(
        "a call that needs more registers than its kernel may have",
        log="error   : entry function 'light' with max regcount of 32 calls function "
        "'_Z5heavyPKf' with regcount of 254\nERROR 9: complete\n",
        place=JITLINK,
        cuda_error=None,
        contents=None,
        reason="light is limited to 32 registers (launch bounds or --max-registers), but it calls "
        "heavy(float const*), which needs 254.",
        remedy="compile the called function with -maxrregcount, or loosen __launch_bounds__",
    ),
    Golden(
        "too much static shared memory",
        log="ptxas error   : Entry function 'sh' uses too much shared data (0x27100 bytes, 0xc000 "
        "max)",
        reason="sh declares 160000 bytes of static shared memory; the limit is 49152.",
        remedy="make it dynamic (extern __shared__) and set its size at the launch: --smem BYTES",
    ),
    Golden(
        "more shared memory than there is",
        log="ptxas error   : Entry function 'sh' uses too much shared data (0x3a980 bytes, 0x38c00 "
        "max)",
        reason="sh declares 240000 bytes of static shared memory; the limit is 232448.",
        remedy="declare less shared memory: the limit applies to each block",
    ),
    Golden(
        "more constants than there is memory for",
        log="nvlink error   : File uses too much global constant data (0x13880 bytes, 0x10000 max)",
        reason="The __constant__ variables of the whole program have 80000 bytes; the limit is "
        "65536.",
        remedy="move the largest to global memory: const __device__, or a const __restrict__ "
        "pointer",
    ),
    Golden(
        "truncated cubin",
        contents=FileSummary(
            ImageKind.CUBIN, damage="the section table extends past the end of the file"
        ),
        cuda_error=INVALID_IMAGE,
        reason="The cubin is damaged: the section table extends past the end of the file.",
        remedy="rebuild the file, or copy it again: it may be truncated",
    ),
    Golden(
        "a cubin that nvJitLink finds broken",
        log="ERROR 1: bad input: malformed cubin ELFcut.cubin\n",
        contents=FileSummary(ImageKind.CUBIN, (SM_80,)),
        place=JITLINK,
        cuda_error=None,
        reason="The cubin is damaged: its structure is invalid.",
        remedy="rebuild the file, or copy it again: it may be truncated",
    ),
    Golden(
        "truncated fatbin",
        contents=FileSummary(
            ImageKind.FATBIN, damage="the container extends past the end of the file"
        ),
        cuda_error=NO_BINARY,
        reason="The fatbin is damaged: the container extends past the end of the file.",
        remedy="rebuild the file, or copy it again: it may be truncated",
    ),
    Golden(
        "truncated PTX",
        log="ptxas application ptx input, line 62; fatal   : Parsing error near '.b': syntax "
        "error\nptxas fatal   : Ptx assembly aborted due to errors\n",
        reason="The text ends in the middle of a statement: the file is truncated.",
        remedy="rebuild the file, or copy it again",
    ),
    Golden(
        "text that is no PTX",
        log="ptxas x.ptx, line 1; fatal   : Missing .version directive at start of file 'x.ptx'",
        reason="The text is not PTX: it does not begin with .version.",
        remedy="pass PTX text, a cubin, a fatbin or CUDA source",
    ),
    Golden(
        "no image at all",
        log="error   : Binary format for key='0', ident='' is not recognized",
        contents=FileSummary(ImageKind.UNKNOWN),
        cuda_error=INVALID_IMAGE,
        reason="The driver does not recognize the file as an image.",
        remedy="pass PTX text, a cubin, a fatbin or CUDA source",
    ),
    Golden(
        "cubin for another major version",
        contents=FileSummary(ImageKind.CUBIN, (SM_80,)),
        cuda_error=NO_BINARY,
        reason="The cubin has code for sm_80, not for sm_90 (NVIDIA H200): SASS runs only on its "
        "own major version, and it contains no PTX.",
        remedy="build it with -gencode arch=compute_90,code=sm_90, or embed PTX: -gencode "
        "arch=compute_80,code=compute_80",
    ),
    Golden(
        "fatbin without a match",
        contents=FileSummary(
            ImageKind.FATBIN, (SM_80, Architecture(False, 100), Architecture(True, 100))
        ),
        cuda_error=NO_BINARY,
        reason="The fatbin has code for sm_80, sm_100, compute_100, not for sm_90 (NVIDIA H200): "
        "SASS runs only on its own major version, and its PTX is for compute_100 and "
        "cannot be compiled for it.",
        remedy="build it with -gencode arch=compute_90,code=sm_90",
    ),
    Golden(
        "cubin on the emulated device",
        contents=FileSummary(ImageKind.CUBIN, (Architecture(False, 90),)),
        place=CPU,
        cuda_error=NO_BINARY,
        reason="The cubin contains SASS (sm_90) and no PTX; the emulated device runs PTX only.",
        remedy="pass its PTX, or embed PTX: nvcc -gencode arch=compute_80,code=compute_80",
    ),
    Golden(
        "a kernel that wants a symbol of another file",
        contents=FileSummary(ImageKind.CUBIN, (Architecture(False, 90),), externs=("factor",)),
        cuda_error="CUDA_ERROR_NOT_FOUND",
        reason="The image is not linked: undefined symbols: 'factor'.",
        remedy="link it with the file that defines them: cudarun link FILE… -o OUT",
    ),
    Golden(
        "the same of a fatbin, whose symbols are not read",
        contents=FileSummary(ImageKind.FATBIN, (Architecture(False, 90),)),
        cuda_error="CUDA_ERROR_NOT_FOUND",
        reason="The image is not linked: it has undefined symbols.",
        remedy="link it with the file that defines them: cudarun link FILE… -o OUT",
    ),
    Golden(
        "relocatable cubin, loaded",
        contents=FileSummary(ImageKind.CUBIN, (Architecture(False, 90),), externs=("factor",)),
        cuda_error=INVALID_IMAGE,
        reason="The image is not linked: undefined symbols: 'factor'.",
        remedy="link it with the file that defines them: cudarun link FILE… -o OUT",
    ),
    Golden(
        "LTO-IR for the driver",
        contents=FileSummary(ImageKind.LTO_IR),
        cuda_error=None,
        reason="LTO-IR contains no SASS or PTX; the driver neither loads nor links it.",
        remedy="link it with nvJitLink: cudarun link --linker nvjitlink --lto",
    ),
    Golden(
        "LTO-IR without --lto",
        log="ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)\n",
        contents=FileSummary(ImageKind.LTO_IR),
        place=JITLINK,
        cuda_error=None,
        reason="The input is LTO-IR, which requires link-time optimization.",
        remedy="add --lto",
    ),
    Golden(
        "--lto without LTO-IR",
        log="ERROR NVVM_ERROR_NO_MODULE_IN_PROGRAM (8) in nvvmCompileProgram callback\n",
        contents=None,
        place=JITLINK,
        cuda_error=None,
        reason="No input contains LTO-IR for --lto to optimize.",
        remedy="remove --lto, or compile the inputs with -dlto",
    ),
    Golden(
        "a header that NVRTC does not find",
        log='bad.cu(1): catastrophic error: could not open source file "cuda_fp16.h" (no '
        "directories in search list)\n  #include <cuda_fp16.h>\n                        ^\n",
        contents=FileSummary(ImageKind.CUDA_SOURCE),
        cuda_error=None,
        reason="NVRTC did not find cuda_fp16.h in any include directory.",
        remedy=f"it is CUDA's: set CUDA_HOME to a toolkit, or {toolkit_installation((13, 0))}",
    ),
    *(
        Golden(
            f"a header of the user that {compiler} does not find",
            log=log,
            contents=FileSummary(ImageKind.CUDA_SOURCE),
            cuda_error=None,
            reason=f"{compiler} did not find cuda_utils.h in any include directory.",
            remedy="add its directory: -I DIR; searched: the headers of CUDA",
        )
        for compiler, log in (
            ("NVRTC", 'a.cu(1): catastrophic error: cannot open source file "cuda_utils.h"\n'),
            ("nvcc", "a.cu:1:10: fatal error: cuda_utils.h: No such file or directory\n"),
        )
    ),
    Golden(
        "a header that NVRTC 12 does not find",
        log='bad.cu(1): catastrophic error: could not open source file "cuda_fp16.h" (no '
        "directories in search list)\n  #include <cuda_fp16.h>\n                        ^\n",
        place=LoadTarget("NVRTC", 90, cuda=(12, 9)),
        contents=FileSummary(ImageKind.CUDA_SOURCE),
        cuda_error=None,
        reason="NVRTC did not find cuda_fp16.h in any include directory.",
        remedy=f"it is CUDA's: set CUDA_HOME to a toolkit, or {toolkit_installation((12, 9))}",
    ),
]


def case_of(golden: Golden) -> RefusalFacts:
    return RefusalFacts(
        target=golden.place,
        contents=golden.contents,
        cuda_error=golden.cuda_error,
        jit_target=golden.target,
        diagnostics=parse_log(golden.log),
        log=golden.log,
    )


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_the_explanation(golden: Golden) -> None:
    found = explain(case_of(golden))
    assert found is not None
    assert found.reason == golden.reason
    assert found.remedy == golden.remedy


@pytest.mark.parametrize("target", [Architecture(False, 90), Architecture(False, 90, "a"), None])
def test_a_target_that_the_device_runs_is_not_the_reason(target: Architecture | None) -> None:
    case = RefusalFacts(
        H200, contents=PTX, cuda_error="CUDA_ERROR_INVALID_SOURCE", jit_target=target
    )
    assert explain(case) is None


@pytest.mark.parametrize(
    "log",
    [
        "",
        "ptxas application ptx input, line 43; error   : Unknown modifier '.xx'",
        "ptxas application ptx input, line 43; fatal   : Parsing error near '.b': syntax error",
    ],
)
def test_what_the_log_tells_best_is_left_to_it(log: str) -> None:
    case = RefusalFacts(H200, PTX, INVALID_PTX, parse_log(log), log)
    assert explain(case) is None


def test_a_duplicate_names_the_files_that_define_it() -> None:
    log = "error   : Multiple definition of 'factor' in 'b.ptx', first defined in 'b.ptx'"
    case = RefusalFacts(JITLINK, None, None, parse_log(log), log, {"factor": ("b.ptx", "a.ptx")})
    found = explain(case)
    assert found is not None
    assert found.reason == "'factor' is defined in more than one input: a.ptx, b.ptx."


def test_code_that_runs_here_is_not_explained_as_code_for_another_gpu() -> None:
    case = RefusalFacts(
        H200, FileSummary(ImageKind.CUBIN, (Architecture(False, 90, "a"),)), NO_BINARY
    )
    assert explain(case) is None
