"""Refusals because of the code: symbols, registers, shared memory, headers."""

from __future__ import annotations

import re

from cudarun.bindings import toolkit_installation
from cudarun.diagnostics.refusals import Explanation, RefusalFacts, listed
from cudarun.images.demangler import demangle

_STANDARD_HEADER = re.compile(r"[a-z_]+")  # <vector>: only standard headers have no suffix
_DEVICE_CODE_ALONE = (
    "put what is for the host between #ifndef __CUDACC_RTC__ and #endif, or compile the file with "
    "nvcc -ptx -lineinfo and give the .ptx"
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
        f"{shown} {plural} declared and used here, and defined in no input.",
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
        "link one of them only, or make one definition static or weak (__device__ static, .weak)",
    )


def registers(case: RefusalFacts) -> Explanation | None:
    """Explain a lack of registers."""
    if match := case.match(
        r"entry function '([^']+)' with max regcount of (\d+) calls function '([^']+)' "
        r"with regcount of (\d+)"
    ):
        return Explanation(
            f"{demangle(match[1])} may use {match[2]} registers (its launch bounds, or "
            f"--max-registers), and {demangle(match[3])}, which it calls, needs {match[4]}.",
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
        f"The kernel cannot be compiled with {match['has'] or match['count']} registers a "
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
    remedy = "make it dynamic (extern __shared__) and ask for its size at the launch: --smem BYTES"
    if most > _WITHOUT_OPT_IN:  # the limit applies to dynamic shared memory, too
        remedy = "declare less: a block has no more than that"
    return Explanation(
        f"{demangle(match[1])} declares {used} bytes of static shared memory; {most} is the most.",
        remedy,
    )


def host_code(case: RefusalFacts) -> Explanation | None:
    """Explain host functions, which NVRTC does not compile."""
    if not case.match(r"is considered a host function"):
        return None
    return Explanation(
        "NVRTC compiles device code alone, and the file has functions of the host.",
        _DEVICE_CODE_ALONE,
    )


def missing_header(case: RefusalFacts) -> Explanation | None:
    """Explain a header that NVRTC does not find."""
    match = case.match(r'(?:could not|cannot) open source file "([^"]+)"')
    if match is None:
        return None
    if _STANDARD_HEADER.fullmatch(match[1]):
        return Explanation(
            f"NVRTC compiles device code alone, and <{match[1]}> is for the host.",
            _DEVICE_CODE_ALONE,
        )
    return Explanation(
        f"NVRTC searches only the folders it is given, and {match[1]} is in none of them.",
        "name its folder with -I; CUDA's own headers come from CUDA_HOME, or with "
        + toolkit_installation(case.place.cuda),
    )
