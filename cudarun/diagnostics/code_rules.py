"""Refusals because of the code: symbols, registers, shared memory, headers."""

from __future__ import annotations

import re

from cudarun.bindings import toolkit_installation
from cudarun.diagnostics.entries import Diagnostic
from cudarun.diagnostics.refusals import Explanation, RefusalFacts, listed
from cudarun.images.demangler import demangle

_STANDARD_HEADER = re.compile(r"[a-z_]+")  # <vector>: only standard headers have no suffix
_INCLUDE_OF_SYSTEM = re.compile(r"\s*#\s*include\s*<")
_MISSING_HEADER = r'(?:could not|cannot) open source file "([^"]+)"'
_MISSING_FOR_HOST_COMPILER = r"fatal error: ([^:\n]+): No such file or directory"
_HEADER_OF_CUDA = re.compile(  # those of NVIDIA's wheels that `toolkit_installation` names
    r"(?:cccl|cooperative_groups|crt|cub|cuda|nv|thrust)/.*"
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
HOST_FUNCTION = "is considered a host function"
"""A part of NVRTC's error for a function of the host."""
_DEVICE_CODE_ALONE = (
    "compile it with nvcc (--compiler nvcc), or enclose host code in #ifndef __CUDACC_RTC__ and "
    "#endif"
)
_WITHOUT_OPT_IN = 48 << 10  # bytes per block on any GPU; more requires an opt-in


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
    """Explain a lack of registers."""
    if match := case.match(
        r"entry function '([^']+)' with max regcount of (\d+) calls function '([^']+)' "
        r"with regcount of (\d+)"
    ):
        return Explanation(
            f"{demangle(match[1])} is limited to {match[2]} registers (launch bounds or "
            f"--max-registers), but it calls {demangle(match[3])}, which needs {match[4]}.",
            "compile the called function with -maxrregcount, or loosen __launch_bounds__",
        )
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


def host_code(case: RefusalFacts) -> Explanation | None:
    """Explain host functions, which NVRTC does not compile."""
    if not case.match(HOST_FUNCTION):
        return None
    return Explanation(
        "NVRTC compiles device code only, and the file contains host functions.",
        _DEVICE_CODE_ALONE,
    )


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
    if compiler == "NVRTC" and _STANDARD_HEADER.fullmatch(header):
        return Explanation(
            f"NVRTC compiles device code only, and <{header}> is a host header.",
            _DEVICE_CODE_ALONE,
        )
    remedy = "add its directory: -I DIR"
    if _HEADER_OF_CUDA.fullmatch(header):
        installation = toolkit_installation(case.place.cuda)
        remedy = f"it is CUDA's: set CUDA_HOME to a toolkit, or {installation}"
    return Explanation(f"{compiler} did not find {header} in any include directory.", remedy)
