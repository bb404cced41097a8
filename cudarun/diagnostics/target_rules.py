"""Refusals because of the target: PTX versions, architectures, address sizes."""

from __future__ import annotations

from cudarun.diagnostics.refusals import (
    Explanation,
    RefusalFacts,
    place_text,
    targets_text,
    version_text,
)
from cudarun.images.versions import Version, cuda_of_ptx, newest_ptx, parse_target

_NO_CODE = ("CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_INVALID_SOURCE")


def ptx_too_new(case: RefusalFacts) -> Explanation | None:
    """Explain a ``.version`` that is newer than the compiler."""
    versions = _versions_in_the_log(case) or _versions_by_the_result(case)
    if versions is None:
        return None
    given, newest = versions
    place = case.place
    first = cuda_of_ptx(given)
    needs = f"CUDA {version_text(first)} or later" if first else "a newer CUDA than any known here"
    who = "the driver" if place.is_driver else place.name
    has = f" has CUDA {version_text(place.cuda)} and" if place.cuda and place.is_driver else ""
    update = "update the driver" if place.is_driver else "use a newer nvJitLink"
    return Explanation(
        f"PTX {version_text(given)} needs {needs}; "
        f"{who}{has} takes PTX up to {version_text(newest)}.",
        f"compile with a toolkit that is no newer than that, or {update}",
    )


def _versions_in_the_log(case: RefusalFacts) -> tuple[Version, Version] | None:
    match = case.match(r"Unsupported \.version (\d+)\.(\d+); current version is '(\d+)\.(\d+)'")
    if match is None:
        return None
    return (int(match[1]), int(match[2])), (int(match[3]), int(match[4]))


def _versions_by_the_result(case: RefusalFacts) -> tuple[Version, Version] | None:
    if case.cuda_error != "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" or case.place.cuda is None:
        return None
    given = case.contents.ptx_version if case.contents else None
    newest = newest_ptx(case.place.cuda)
    return (given, newest) if given and newest else None


def ptx_too_old(case: RefusalFacts) -> Explanation | None:
    """Explain a ``.version`` that is older than the ``.target``."""
    match = case.match(r"PTX \.version (\d+\.\d+) does not support \.target (\w+)")
    if match is None:
        return None
    return Explanation(
        f"The text says .version {match[1]}, which is older than {match[2]}.",
        "say the .version that its compiler wrote, or one that knows this .target",
    )


def ptx_of_32_bits(case: RefusalFacts) -> Explanation | None:
    """Explain 32-bit addresses."""
    if not case.match("32-Bit ABI|32-bit addressing|address_size 32"):
        return None
    return Explanation(
        "The PTX has 32-bit addresses, which GPUs of compute capability 9.0 and later do not have.",
        "compile it for 64 bits (nvcc -m64, the default) so that it says .address_size 64",
    )


def specific_target(case: RefusalFacts) -> Explanation | None:
    """Explain code for an architecture with a suffix, which runs on no other one."""
    match = case.match(r"\.target '((?:sm|compute)_\d+[af])' cannot be compiled (?:to|for)")
    target = parse_target(match[1]) if match else None
    if target is None and case.contents is not None and case.place.architecture is not None:
        specific = [t for t in case.contents.targets if t.is_specific]
        refused = case.cuda_error in (None, *_NO_CODE)
        if refused and len(specific) == len(case.contents.targets) > 0:
            target = next((t for t in specific if not t.runs_on(case.place.architecture)), None)
    if target is None:
        return None
    whose = "its own architecture" if target.suffix == "a" else "its own family"
    base = f"compute_{target.number}"
    if case.place.architecture == target.number:
        remedy = f"link with --arch sm_{target.number}{target.suffix}"
    else:
        remedy = f"compile for {base}, without the suffix, if the kernel does without what it adds"
    return Explanation(
        f"The code is for {target}; with the suffix {target.suffix} it runs on {whose} only, and "
        f"this is for {place_text(case.place)}.",
        remedy,
    )


def target_of_another(case: RefusalFacts) -> Explanation | None:
    """Explain a ``--target`` that is not the device's architecture."""
    own = case.place.architecture
    if case.target is None or own is None or case.cuda_error not in _NO_CODE:
        return None
    if case.target.runs_on(own):
        return None
    return Explanation(
        f"With --target {case.target} the driver compiles for {case.target}; this is for "
        f"{place_text(case.place)}, which does not run that.",
        "leave --target out: the driver compiles for the device",
    )


def newer_target(case: RefusalFacts) -> Explanation | None:
    """Explain PTX for an architecture that is newer than the device."""
    if not case.match("SM version specified by .target is higher than default SM version assumed"):
        return None
    targets = case.contents.targets if case.contents else ()
    given = f"{targets[0]}" if targets else "a newer architecture"
    return Explanation(
        f"The PTX is for {given}, which is newer than {place_text(case.place)}.",
        f"compile it for compute_{case.place.architecture} or older",
    )


def unknown_target(case: RefusalFacts) -> Explanation | None:
    """Explain a ``.target`` that does not exist."""
    match = case.match(r"Unsupported \.target '(\w+)'")
    if match is None:
        return None
    return Explanation(
        f"The compiler knows no {match[1]}: it is misspelt, or newer than "
        f"{'the driver' if case.place.is_driver else case.place.name}.",
        "compile for an architecture that it knows, as for instance compute_75",
    )


def missing_feature(case: RefusalFacts) -> Explanation | None:
    """Explain an instruction that the ``.target`` does not support."""
    match = case.match(r"Feature '([^']+)' requires \.target (\w+) or higher")
    if match is None:
        return None
    return Explanation(
        f"The instruction '{match[1]}' exists from {match[2]} on, and .target says less.",
        f"compile for {match[2].replace('sm_', 'compute_')} or newer",
    )


def no_machine_code(case: RefusalFacts) -> Explanation | None:
    """Explain a file without PTX on the emulated device, which runs nothing else."""
    if case.place.runs_machine_code or case.contents is None:
        return None
    targets = case.contents.targets
    if not targets or any(target.is_virtual for target in targets):
        return None
    return Explanation(
        f"The {case.contents.kind.value} holds machine code ({targets_text(targets)}) and no PTX; "
        "the emulated device runs PTX.",
        "give the PTX it was made of, or build with -gencode arch=compute_80,code=compute_80",
    )


def no_code_for_gpu(case: RefusalFacts) -> Explanation | None:
    """Explain a file without code for this architecture."""
    contents, architecture = case.contents, case.place.architecture
    if contents is None or architecture is None or not contents.targets:
        return None
    if any(target.runs_on(architecture) for target in contents.targets):
        return None
    virtual = [target for target in contents.targets if target.is_virtual]
    wanted = f"-gencode arch=compute_{architecture},code=sm_{architecture}"
    if virtual:
        ptx = f"the PTX inside, for {targets_text(virtual)}, is newer or for another architecture"
    else:
        oldest = min(target.number for target in contents.targets)
        ptx = "there is no PTX inside that could be compiled for it"
        if oldest <= architecture:
            wanted += f", or keep PTX in it: -gencode arch=compute_{oldest},code=compute_{oldest}"
    return Explanation(
        f"The {contents.kind.value} has code for {targets_text(contents.targets)}; this is for "
        f"{place_text(case.place)}, and machine code runs on its own major version only; {ptx}.",
        f"build it with {wanted}",
    )
