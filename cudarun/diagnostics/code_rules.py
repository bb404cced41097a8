"""Refusals because of the code: symbols, registers, shared memory, headers."""

from __future__ import annotations

import re

from cudarun.diagnostics.refusals import Explanation, RefusalFacts, listed, rule_of
from cudarun.images.demangler import demangle

HOST_FUNCTION = r"is considered a host function|marked as a __host__ function"
"""The pattern of NVRTC's errors for a function of the host."""
DEVICE_CODE_ALONE = (
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


def constants(case: RefusalFacts) -> Explanation | None:
    """Explain a lack of constant memory."""
    match = case.match(r"uses too much global constant data \(0x(\w+) bytes, 0x(\w+) max\)")
    if match is None:
        return None
    return Explanation(
        f"The __constant__ variables of the whole program have {int(match[1], 16)} bytes; the "
        f"limit is {int(match[2], 16)}.",
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
