"""Refusals because of the target: PTX versions, architectures, address sizes."""

from __future__ import annotations

from cudarun.diagnostics.refusals import (
    Explanation,
    RefusalFacts,
    rule_of,
    target_text,
    targets_text,
    version_text,
)
from cudarun.images.versions import TEGRA, Version, cuda_of_ptx, newest_ptx, parse_target

PTX_TOO_OLD = rule_of(
    r"PTX \.version (\d+\.\d+) does not support \.target (\w+)",
    ".version {0} does not support .target {1}.",
    "restore the .version that the compiler wrote, or use a newer one",
)
PTX_OF_32_BITS = rule_of(
    "32-Bit ABI|32-bit addressing|address_size 32",
    "The PTX has 32-bit addresses, which GPUs of compute capability 9.0 and later do not support.",
    "compile it with .address_size 64 (nvcc -m64, the default)",
)
UNKNOWN_TARGET = rule_of(
    r"Unsupported \.target '(\w+)'",
    "Unknown architecture {0}: it is misspelled, or newer than {who}.",
    "compile for a supported architecture, such as compute_75",
)
MISSING_FEATURE = rule_of(
    r"Feature '([^']+)' requires \.target sm_(\w+) or higher",
    "The instruction '{0}' requires .target sm_{1} or newer.",
    "compile for compute_{1} or newer",
)
_NO_CODE = ("CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_INVALID_SOURCE")


def ptx_too_new(case: RefusalFacts) -> Explanation | None:
    """Explain a ``.version`` that is newer than the compiler."""
    tool, contents = case.target, case.contents
    match = case.match(r"Unsupported \.version (\d+)\.(\d+); current version is '(\d+)\.(\d+)'")
    given: Version | None = None
    newest: Version | None = None
    if match is not None:
        given, newest = (int(match[1]), int(match[2])), (int(match[3]), int(match[4]))
    elif case.cuda_error == "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" and contents and tool.cuda:
        given, newest = contents.ptx_version, newest_ptx(tool.cuda)
    if given is None or newest is None:
        return None
    first = cuda_of_ptx(given)
    needs = f"CUDA {version_text(first)} or later" if first else "a newer CUDA"
    has = f" has CUDA {version_text(tool.cuda)} and" if tool.cuda and tool.is_driver else ""
    update = "update the driver" if tool.is_driver else "use a newer nvJitLink"
    return Explanation(
        f"PTX {version_text(given)} requires {needs}; "
        f"{tool.speaker}{has} supports PTX up to {version_text(newest)}.",
        f"compile with a toolkit of that version or older, or {update}",
    )


def specific_target(case: RefusalFacts) -> Explanation | None:
    """Explain code for an architecture with a suffix, which runs on no other one."""
    match = case.match(r"\.target '((?:sm|compute)_\d+[af])' cannot be compiled (?:to|for)")
    target = parse_target(match[1]) if match else None
    if target is None and case.contents is not None and case.target.architecture is not None:
        specific = [t for t in case.contents.targets if t.suffix]
        refused = case.cuda_error in (None, *_NO_CODE)
        if refused and len(specific) == len(case.contents.targets) > 0:
            target = next((t for t in specific if not t.runs_on(case.target.architecture)), None)
    if target is None:
        return None
    whose = "its own architecture" if target.suffix == "a" else "its own family"
    base = f"compute_{min(target.number, case.target.architecture or target.number)}"
    if case.target.architecture == target.number:
        remedy = f"link with --arch sm_{target.number}{target.suffix}"
    else:
        remedy = f"compile for {base} if the kernel does not need architecture-specific features"
    return Explanation(
        f"The code is for {target}, which runs on {whose} only; the target here is "
        f"{target_text(case.target)}.",
        remedy,
    )


def target_of_another(case: RefusalFacts) -> Explanation | None:
    """Explain a ``--target`` that is not the device's architecture."""
    own = case.target.architecture
    if case.jit_target is None or own is None or case.cuda_error not in _NO_CODE:
        return None
    if case.jit_target.runs_on(own):
        return None
    return Explanation(
        f"--target {case.jit_target} compiles for {case.jit_target}, which does not run on "
        f"{target_text(case.target)}.",
        "remove --target: the driver compiles for the device",
    )


def newer_target(case: RefusalFacts) -> Explanation | None:
    """Explain PTX for an architecture that is newer than the device."""
    if not case.match("SM version specified by .target is higher than default SM version assumed"):
        return None
    targets = case.contents.targets if case.contents else ()
    given = f"{targets[0]}" if targets else "a newer architecture"
    return Explanation(
        f"The PTX is for {given}, which is newer than {target_text(case.target)}.",
        f"compile it for compute_{case.target.architecture} or older",
    )


def no_machine_code(case: RefusalFacts) -> Explanation | None:
    """Explain a file without PTX on the emulated device, which runs nothing else."""
    if case.target.runs_machine_code or case.contents is None:
        return None
    targets = case.contents.targets
    if not targets or any(target.is_virtual for target in targets):
        return None
    return Explanation(
        f"The {case.contents.kind.value} contains SASS ({targets_text(targets)}) and no PTX; the "
        "emulated device runs PTX only.",
        "pass its PTX, or embed PTX: nvcc -gencode arch=compute_80,code=compute_80",
    )


def no_code_for_gpu(case: RefusalFacts) -> Explanation | None:
    """Explain a file without code for this architecture."""
    contents, architecture = case.contents, case.target.architecture
    if contents is None or architecture is None or not contents.targets:
        return None
    if any(target.runs_on(architecture) for target in contents.targets):
        return None
    virtual = [target for target in contents.targets if target.is_virtual]
    wanted = f"-gencode arch=compute_{architecture},code=sm_{architecture}"
    if virtual:
        ptx = f"its PTX is for {targets_text(virtual)} and cannot be compiled for it"
    else:
        oldest = min(target.number for target in contents.targets)
        ptx = "it contains no PTX"
        if oldest <= architecture:
            wanted += f", or embed PTX: -gencode arch=compute_{oldest},code=compute_{oldest}"
    numbers = {architecture, *(target.number for target in contents.targets)}
    own = "architecture, as on every Tegra" if numbers & TEGRA else "major version"
    return Explanation(
        f"The {contents.kind.value} has code for {targets_text(contents.targets)}, not for "
        f"{target_text(case.target)}: SASS runs only on its own {own}, and {ptx}.",
        f"build it with {wanted}",
    )
