"""Why an image is refused, in plain words, with a remedy.

`explain` tries its rules from the most particular to the most general; the first that knows the
case explains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cudarun.diagnostics.entries import Diagnostic
from cudarun.images.demangle import demangle, quoted
from cudarun.images.glance import Contents
from cudarun.images.identify import ImageKind
from cudarun.images.versions import Target, Version, cuda_of_ptx, newest_ptx, parse_target


@dataclass(frozen=True, slots=True)
class Place:
    """Where it was to be loaded or linked for.

    Attributes:
        name: The device's, or the linker's.
        architecture: 90 for compute capability 9.0.
        suffix: Of the architecture that a link was asked to be for: ``a`` in ``sm_90a``.
        cuda: The version of the driver or of the linker's toolkit.
        is_driver: Whether ``cuda`` is that of a driver.
        runs_machine_code: Whether the device runs cubins; the emulated one runs PTX alone.
    """

    name: str
    architecture: int | None = None
    suffix: str = ""
    cuda: Version | None = None
    is_driver: bool = True
    runs_machine_code: bool = True

    @property
    def target(self) -> str:
        """``sm_90``."""
        return f"sm_{self.architecture}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Case:
    """All that is known of one refusal.

    Attributes:
        place: Where.
        contents: Of the file, where it is one alone.
        cuda_error: The name of the driver's result.
        diagnostics: The log's complaints.
        log: The log itself.
        definers: Of the symbols that the inputs of a link define, the files of each.
    """

    place: Place
    contents: Contents | None = None
    cuda_error: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    log: str = ""
    definers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def match(self, pattern: str) -> re.Match[str] | None:
        """The first place in the log, or else in the complaints, that fits."""
        return re.search(pattern, self.log)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A reason and what to do about it."""

    reason: str
    remedy: str


Rule = Callable[[Case], Explanation | None]


def explain(case: Case) -> Explanation | None:
    """Why, or ``None`` where the log must speak for itself."""
    return next(filter(None, (rule(case) for rule in _RULES)), None)


# --- the file ------------------------------------------------------------------------------------


def _damaged(case: Case) -> Explanation | None:
    contents = case.contents
    malformed = case.match(r"malformed cubin ELF|Could not find fatbin|does not match type")
    if contents is None or not (contents.damage or malformed):
        return None
    what = contents.damage or "its structure is broken"
    return Explanation(
        f"The {contents.kind.value} is damaged: {what}.",
        "build or copy the file again; it may have been cut off on the way",
    )


def _cut_off_text(case: Case) -> Explanation | None:
    lines = case.contents.lines if case.contents else None
    for found in case.diagnostics:
        if lines and (found.line or 0) >= lines and "Parsing error near" in found.message:
            return Explanation(
                "The text ends in the middle of a statement: the file is cut off.",
                "build or copy the file again",
            )
    return None


def _not_an_image(case: Case) -> Explanation | None:
    is_nothing = case.match(r"Binary format for key='\d+', ident='[^']*' is not recognized")
    is_ptx = case.contents is not None and case.contents.kind is ImageKind.PTX
    if case.match(r"Missing \.version directive") or (is_nothing and is_ptx):
        return Explanation(
            "The text is no PTX: it does not begin with .version.",
            "give a PTX text, a cubin, a fatbin or CUDA source",
        )
    if is_nothing:
        return Explanation(
            "The driver does not recognise the file as an image of any kind.",
            "give a PTX text, a cubin, a fatbin or CUDA source",
        )
    return None


def _lto_ir(case: Case) -> Explanation | None:
    lto_off = case.match("LTO-IR input cannot be used without LTO enabled")
    is_lto = case.contents is not None and case.contents.kind is ImageKind.LTO_IR
    if lto_off:
        return Explanation(
            "LTO-IR is code that is optimised while it is linked, which was not asked for.",
            "add --lto",
        )
    if is_lto and case.place.is_driver:
        return Explanation(
            "LTO-IR holds no code yet; the driver neither loads nor links it.",
            "link it with nvJitLink: cudarun link --linker nvjitlink --lto",
        )
    if case.match("NVVM_ERROR_NO_MODULE_IN_PROGRAM"):
        return Explanation(
            "No input holds LTO-IR, so there is nothing for --lto to optimise.",
            "leave --lto out, or compile the inputs with -dlto",
        )
    return None


# --- PTX -----------------------------------------------------------------------------------------


def _ptx_too_new(case: Case) -> Explanation | None:
    versions = _versions_in_the_log(case) or _versions_by_the_result(case)
    if versions is None:
        return None
    given, newest = versions
    place = case.place
    first = cuda_of_ptx(given)
    needs = f"CUDA {_version(first)} or later" if first else "a newer CUDA than any known here"
    who = "the driver" if place.is_driver else place.name
    has = f" has CUDA {_version(place.cuda)} and" if place.cuda and place.is_driver else ""
    update = "update the driver" if place.is_driver else "use a newer nvJitLink"
    return Explanation(
        f"PTX {_version(given)} needs {needs}; {who}{has} takes PTX up to {_version(newest)}.",
        f"compile with a toolkit that is no newer than that, or {update}",
    )


def _versions_in_the_log(case: Case) -> tuple[Version, Version] | None:
    match = case.match(r"Unsupported \.version (\d+)\.(\d+); current version is '(\d+)\.(\d+)'")
    if match is None:
        return None
    return (int(match[1]), int(match[2])), (int(match[3]), int(match[4]))


def _versions_by_the_result(case: Case) -> tuple[Version, Version] | None:
    if case.cuda_error != "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" or case.place.cuda is None:
        return None
    given = case.contents.ptx_version if case.contents else None
    newest = newest_ptx(case.place.cuda)
    return (given, newest) if given and newest else None


def _ptx_too_old(case: Case) -> Explanation | None:
    match = case.match(r"PTX \.version (\d+\.\d+) does not support \.target (\w+)")
    if match is None:
        return None
    return Explanation(
        f"The text says .version {match[1]}, which is older than {match[2]}.",
        "say the .version that its compiler wrote, or one that knows this .target",
    )


def _ptx_of_32_bits(case: Case) -> Explanation | None:
    if not case.match("32-Bit ABI|32-bit addressing|address_size 32"):
        return None
    return Explanation(
        "The PTX has 32-bit addresses, which GPUs of compute capability 9.0 and later do not have.",
        "compile it for 64 bits (nvcc -m64, the default) so that it says .address_size 64",
    )


def _specific_target(case: Case) -> Explanation | None:
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
        f"this is for {_place(case.place)}.",
        remedy,
    )


def _newer_target(case: Case) -> Explanation | None:
    if not case.match("SM version specified by .target is higher than default SM version assumed"):
        return None
    targets = case.contents.targets if case.contents else ()
    given = f"{targets[0]}" if targets else "a newer architecture"
    return Explanation(
        f"The PTX is for {given}, which is newer than {_place(case.place)}.",
        f"compile it for compute_{case.place.architecture} or older",
    )


def _unknown_target(case: Case) -> Explanation | None:
    match = case.match(r"Unsupported \.target '(\w+)'")
    if match is None:
        return None
    return Explanation(
        f"The compiler knows no {match[1]}: it is misspelt, or newer than "
        f"{'the driver' if case.place.is_driver else case.place.name}.",
        "compile for an architecture that it knows, as for instance compute_75",
    )


def _missing_feature(case: Case) -> Explanation | None:
    match = case.match(r"Feature '([^']+)' requires \.target (\w+) or higher")
    if match is None:
        return None
    return Explanation(
        f"The instruction '{match[1]}' exists from {match[2]} on, and .target says less.",
        f"compile for {match[2].replace('sm_', 'compute_')} or newer",
    )


# --- symbols -------------------------------------------------------------------------------------


def _unresolved(case: Case) -> Explanation | None:
    names = re.findall(
        r"(?:Undefined reference to|Unresolved extern (?:function|variable)) '([^']+)'", case.log
    )
    if not names:
        return None
    shown = _listed(names)
    plural = "are" if len(set(names)) > 1 else "is"
    return Explanation(
        f"{shown} {plural} declared and used here, and defined in no input.",
        "link it with the file that defines it: cudarun link FILE… -o OUT",
    )


def _not_linked(case: Case) -> Explanation | None:
    externs = case.contents.externs if case.contents else ()
    if not externs or case.cuda_error is None:
        return None
    return Explanation(
        f"The file is yet to be linked: it does not define {_listed(externs)}.",
        "link it with the file that does: cudarun link FILE… -o OUT",
    )


def _duplicate(case: Case) -> Explanation | None:
    pattern = r"(?:Multiple definition of|Linking globals named) '([^']+)'"
    names = re.findall(pattern, case.log)
    if not names:
        return None
    plural = "are" if len(set(names)) > 1 else "is"
    files = {file for name in names for file in case.definers.get(name, ())}
    where = f": {', '.join(sorted(files))}" if files else ""
    return Explanation(
        f"{_listed(names)} {plural} defined in more than one input{where}.",
        "link one of them only, or make one definition static or weak (__device__ static, .weak)",
    )


# --- resources -----------------------------------------------------------------------------------


def _registers(case: Case) -> Explanation | None:
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


def _shared_memory(case: Case) -> Explanation | None:
    match = case.match(
        r"Entry function '([^']+)' uses too much shared data \(0x(\w+) bytes, 0x(\w+) max\)"
    )
    if match is None:
        return None
    used, most = int(match[2], 16), int(match[3], 16)
    return Explanation(
        f"{demangle(match[1])} declares {used} bytes of static shared memory; {most} is the most.",
        "make it dynamic (extern __shared__) and ask for its size at the launch: --smem BYTES",
    )


# --- code for this GPU ---------------------------------------------------------------------------

_NO_CODE = ("CUDA_ERROR_NO_BINARY_FOR_GPU", "CUDA_ERROR_INVALID_IMAGE", "CUDA_ERROR_INVALID_SOURCE")


def _no_machine_code(case: Case) -> Explanation | None:
    """The emulated device, which runs PTX, and a file that has none."""
    if case.place.runs_machine_code or case.contents is None:
        return None
    targets = case.contents.targets
    if not targets or any(target.is_virtual for target in targets):
        return None
    return Explanation(
        f"The {case.contents.kind.value} holds machine code ({_targets(targets)}) and no PTX; "
        "the emulated device runs PTX.",
        "give the PTX it was made of, or build with -gencode arch=compute_80,code=compute_80",
    )


def _no_code_for_gpu(case: Case) -> Explanation | None:
    contents, architecture = case.contents, case.place.architecture
    if contents is None or architecture is None or not contents.targets:
        return None
    if any(target.runs_on(architecture) for target in contents.targets):
        return None
    virtual = [target for target in contents.targets if target.is_virtual]
    wanted = f"-gencode arch=compute_{architecture},code=sm_{architecture}"
    if virtual:
        ptx = f"the PTX inside, for {_targets(virtual)}, is newer or for another architecture"
    else:
        oldest = min(target.number for target in contents.targets)
        ptx = "there is no PTX inside that could be compiled for it"
        if oldest <= architecture:
            wanted += f", or keep PTX in it: -gencode arch=compute_{oldest},code=compute_{oldest}"
    return Explanation(
        f"The {contents.kind.value} has code for {_targets(contents.targets)}; this is for "
        f"{_place(case.place)}, and machine code runs on its own major version only; {ptx}.",
        f"build it with {wanted}",
    )


# --- CUDA source ---------------------------------------------------------------------------------


def _missing_header(case: Case) -> Explanation | None:
    match = case.match(r'(?:could not|cannot) open source file "([^"]+)"')
    if match is None:
        return None
    return Explanation(
        f"NVRTC searches only the folders it is given, and {match[1]} is in none of them.",
        "name its folder with -I; CUDA's own headers come from CUDA_HOME, or with "
        "pip install 'cudarun[toolkit]'",
    )


_RULES: tuple[Rule, ...] = (
    _missing_header,
    _lto_ir,
    _no_machine_code,
    _ptx_too_new,
    _ptx_of_32_bits,
    _specific_target,
    _newer_target,
    _unknown_target,
    _ptx_too_old,
    _missing_feature,
    _registers,
    _shared_memory,
    _unresolved,
    _duplicate,
    _damaged,
    _cut_off_text,
    _not_an_image,
    _no_code_for_gpu,
    _not_linked,
)


# --- words ---------------------------------------------------------------------------------------


def _version(version: Version | None) -> str:
    return f"{version[0]}.{version[1]}" if version else "?"


def _place(place: Place) -> str:
    return place.name if place.architecture is None else f"{place.target} ({place.name})"


def _targets(targets: Iterable[Target]) -> str:
    return ", ".join(dict.fromkeys(map(str, targets)))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, dict.fromkeys(names)))
