"""Refusals because of the code: symbols, registers, shared memory, headers."""

from __future__ import annotations

import re

from cudarun.base.bindings import Version, toolkit_installation
from cudarun.diagnostics.entries import Diagnostic
from cudarun.diagnostics.refusals import Explanation, RefusalFacts, listed, rule_of
from cudarun.images.demangler import demangle

HOST_FUNCTION = r"is considered a host function|marked as a __host__ function"
"""The pattern of NVRTC's errors for a function of the host."""
DEVICE_CODE_ALONE = (
    "compile it with nvcc (--compiler nvcc), or enclose host code in #ifndef __CUDACC_RTC__ and "
    "#endif"
)
_WITHOUT_OPT_IN = 48 << 10  # bytes per block on any GPU; more requires an opt-in
_STANDARD_HEADER = re.compile(r"[a-z_]+")  # <vector>: only standard headers have no suffix
_INCLUDE_OF_SYSTEM = re.compile(r"\s*#\s*include\s*<")
_MISSING_HEADER = r'(?:could not|cannot) open source file "([^"]+)"(: Permission denied)?'
_MISSING_FOR_HOST_COMPILER = r"fatal error: ([^:\n]+): No such file or directory"

_TOOLKIT_HEADER = re.compile(  # those of NVIDIA's wheels that `toolkit_installation` names
    r"(?:cooperative_groups|crt)/.*"
    r"|(?:builtin_types|channel_descriptor|common_functions|cooperative_groups|cuComplex|cuda"
    r"|cuda(?:EGL|GL|VDPAU|Profiler)?(?:Typedefs)?|cudaProfiler|cudart_platform"
    r"|cuda_(?:awbarrier|pipeline)(?:_helpers|_primitives)?"
    r"|cuda_(?:bf16|fp4|fp6|fp8|fp16|tf32|tile|occupancy|runtime|runtime_api|device_runtime_api)"
    r"|cuda_(?:(?:egl|gl|vdpau)_interop|(?:surface|texture)_types|profiler_api)"
    r"|device_(?:atomic_functions|double_functions|functions|launch_parameters|types)"
    r"|driver_(?:functions|types)|host_config|host_defines|library_types"
    r"|math_(?:constants|functions)|mma|nvJitLink|nvrtc"
    r"|sm_\d\d_(?:atomic_functions|intrinsics)"
    r"|(?:surface|texture)_(?:(?:indirect_|fetch_)?functions|types)|vector_(?:functions|types))\.hp*"
)
_PARTS = {  # of the toolkit: name of the wheel, to which CUDA 12 adds -cu12
    "cublas": r"cublas(?:_v2|_api|Lt|Xt)?\.h|nvblas\.h",
    "cuda-cccl": r"(?:cccl|cub|cuda|libcudacxx|nv|thrust)/(?!experimental/).*",
    "cuda-cupti": r"cupti\w*\.h|generated_\w+_meta\.h",
    "cufft": r"cufft\w*\.h|cudalibxt\.h",
    "cufile": r"cufile\.h",
    "curand": r"curand\w*\.h",
    "cusolver": r"cusolver\w*\.h",
    "cusparse": r"cusparse(?:_v2)?\.h",
    "npp": r"npp\w*\.h",
    "nvjpeg": r"nvjpeg\.h",
    "nvml-dev": r"nvml\.h",
    "nvtx": r"(?:nvtx3/.*|nvToolsExt\w*\.h)",
}
_LIBRARIES = {  # with wheels for each major version of CUDA
    "cutensor": r"cutensor\w*(?:/.*|\.h)",
    "nvidia-cudnn": r"cudnn\w*\.h",
    "nvidia-cusparselt": r"cusparseLt\.h",
    "nvidia-nccl": r"nccl\w*\.h",
    "nvidia-nvshmem": r"(?:(?:non_abi|device|host|device_host)/)?nvshmemx?\w*\.h\w*",
}
_PROJECTS = {
    r"(?:cutlass|cute)/.*": "it is CUTLASS's: clone github.com/NVIDIA/cutlass, and add -I "
    "cutlass/include (for cutlass/util also -I cutlass/tools/util/include)",
    r"cuda/experimental/.*": "it is of CUDA's libraries, but in no release of the toolkit: clone "
    "github.com/NVIDIA/cccl, and add -I cccl/cudax/include",
    r"helper_(?:cuda|cusolver|functions|gl|image|math|multiprocess|string|timer)\w*\.h": (
        "it is of the CUDA samples: clone github.com/NVIDIA/cuda-samples, and add -I "
        "cuda-samples/Common"
    ),
    r"(?:cublas|cufft|curand|cusolver)dx\.hpp": "it is MathDx's: pip install nvidia-mathdx, and "
    "add -I with its folder nvidia/mathdx/include",
    r"(?:torch|ATen|c10|caffe2)/.*": "it is PyTorch's: pip install torch, and add -I for each of "
    "torch.utils.cpp_extension.include_paths()",
    r"pybind11/.*": "pip install pybind11, and add -I with pybind11.get_include()",
    r"Python\.h": "it is Python's: add -I with sysconfig.get_path('include')",
}


def unresolved(case: RefusalFacts) -> Explanation | None:
    """Explain undefined symbols."""
    names = re.findall(
        r"(?:Undefined reference to|Unresolved extern (?:function|variable)) '([^']+)'", case.log
    )
    if not names:
        return None
    shown = listed(names)
    plural = "are" if len(set(names)) > 1 else "is"
    return Explanation(
        f"{shown} {plural} used here but defined in no input.",
        "link it with the file that defines it: cudarun link FILE… -o OUT",
    )


def duplicate(case: RefusalFacts) -> Explanation | None:
    """Explain symbols that more than one input defines."""
    pattern = r"(?:Multiple definition of|Linking globals named) '([^']+)'"
    names = re.findall(pattern, case.log)
    if not names:
        return None
    plural = "are" if len(set(names)) > 1 else "is"
    files = {file for name in names for file in case.definers.get(name, ())}
    where = f": {', '.join(sorted(files))}" if files else ""
    return Explanation(
        f"{listed(names)} {plural} defined in more than one input{where}.",
        "link only one of them, or make one definition static or weak (__device__ static, .weak)",
    )


def registers(case: RefusalFacts) -> Explanation | None:
    """Explain a kernel that does not compile with so few registers."""
    match = case.match(
        r"(?:Insufficient registers \((?P<has>\d+)\).*register target of (?P<needs>\d+)"
        r"|Register allocation failed with register count of '(?P<count>\d+)')"
    )
    if match is None:
        return None
    needs = f"; it needs at least {match['needs']}" if match["needs"] else ""
    return Explanation(
        f"The kernel cannot be compiled with {match['has'] or match['count']} registers per "
        f"thread{needs}.",
        "raise --max-registers, or loosen __launch_bounds__ (.maxntid, .minnctapersm, .maxnreg)",
    )


def shared_memory(case: RefusalFacts) -> Explanation | None:
    """Explain a lack of static shared memory."""
    match = case.match(
        r"Entry function '([^']+)' uses too much shared data \(0x(\w+) bytes, 0x(\w+) max\)"
    )
    if match is None:
        return None
    used, most = int(match[2], 16), int(match[3], 16)
    remedy = "make it dynamic (extern __shared__) and set its size at the launch: --smem BYTES"
    if most > _WITHOUT_OPT_IN:  # the limit applies to dynamic shared memory, too
        remedy = "declare less shared memory: the limit applies to each block"
    return Explanation(
        f"{demangle(match[1])} declares {used} bytes of static shared memory; the limit is {most}.",
        remedy,
    )


CONSTANTS = rule_of(
    r"uses too much global constant data \((0x\w+) bytes, (0x\w+) max\)",
    "The __constant__ variables of the whole program have {0} bytes; the limit is {1}.",
    "move the largest to global memory: const __device__, or a const __restrict__ pointer",
)
HOST_CODE = rule_of(
    HOST_FUNCTION,
    "NVRTC compiles device code only, and the file contains host functions.",
    DEVICE_CODE_ALONE,
)
CALLED_REGISTERS = rule_of(
    r"entry function '([^']+)' with max regcount of (\d+) calls function '([^']+)' "
    r"with regcount of (\d+)",
    "{0} is limited to {1} registers (launch bounds or --max-registers), but it calls {2}, which "
    "needs {3}.",
    "compile the called function with -maxrregcount, or loosen __launch_bounds__",
)


def header_source(header: str, cuda: Version | None) -> str | None:
    """Return how to get a header: the package, the part of the toolkit or the project that has it.

    Args:
        cuda: The version of CUDA; ``None`` for the newest.

    Returns:
        A hint; ``None`` if no known package has the header.
    """
    if _TOOLKIT_HEADER.fullmatch(header):
        return f"it is CUDA's: set CUDA_HOME to a toolkit, or {toolkit_installation(cuda)}"
    major = 13 if cuda is None else cuda[0]
    for part, pattern in _PARTS.items():
        if re.fullmatch(pattern, header):
            package = f"nvidia-{part}-cu12" if major == 12 else f"nvidia-{part}"
            return f"it is CUDA's: set CUDA_HOME to a toolkit, or pip install {package}"
    for library, pattern in _LIBRARIES.items():
        if re.fullmatch(pattern, header):
            return f"pip install {library}-cu{major}"
    return next((hint for names, hint in _PROJECTS.items() if re.fullmatch(names, header)), None)


def missing_host_header(diagnostic: Diagnostic) -> str | None:
    """Return the header that NVRTC does not find and a host compiler may have.

    A standard header has no suffix; ``<unistd.h>`` is not between quotes.
    """
    match = re.match(_MISSING_HEADER, diagnostic.message)
    if match is None:
        return None
    is_of_system = _INCLUDE_OF_SYSTEM.match(diagnostic.source or "") is not None
    return match[1] if is_of_system or _STANDARD_HEADER.fullmatch(match[1]) else None


def missing_header(case: RefusalFacts) -> Explanation | None:
    """Explain a header that NVRTC or nvcc's host compiler does not find."""
    compiler, match = "nvcc", case.match(_MISSING_FOR_HOST_COMPILER)
    if match is None:
        compiler, match = "NVRTC", case.match(_MISSING_HEADER)
    if match is None:
        return None
    header = match[1]
    if compiler == "NVRTC" and match[2]:
        return Explanation(
            f"NVRTC is not permitted to read {header}.",
            "make it readable; with --confine it has to be in that folder",
        )
    if compiler == "NVRTC" and _STANDARD_HEADER.fullmatch(header):
        return Explanation(
            f"NVRTC compiles device code only, and <{header}> is a host header.", DEVICE_CODE_ALONE
        )
    searched = "".join(f"{folder}, " for folder in case.header_folders)
    remedy = f"add its directory: -I DIR; searched: {searched}the headers of CUDA"
    return Explanation(
        f"{compiler} did not find {header} in any include directory.",
        header_source(header, case.target.cuda) or remedy,
    )
