"""Explanations of refused images in plain words, each with a remedy.

`explain` tries its rules from the most specific to the most general; the first that recognizes the
refusal explains it. The rules of this module are about the file: damaged, not an image, not linked.
"""

from __future__ import annotations

from cudarun.diagnostics import code_rules, target_rules
from cudarun.diagnostics.refusals import Explanation, RefusalFacts, Rule, listed, rule_of
from cudarun.images.kinds import ImageKind


def damaged(case: RefusalFacts) -> Explanation | None:
    """Explain a damaged file."""
    contents = case.contents
    malformed = case.match(r"malformed cubin ELF|Could not find fatbin|does not match type")
    if contents is None or not (contents.damage or malformed):
        return None
    what = contents.damage or "its structure is invalid"
    return Explanation(
        f"The {contents.kind.value} is damaged: {what}.",
        "rebuild the file, or copy it again: it may be truncated",
    )


def cut_off_text(case: RefusalFacts) -> Explanation | None:
    """Explain a text that ends within a statement."""
    lines = case.contents.lines if case.contents else None
    for found in case.diagnostics:
        if lines and (found.line or 0) >= lines and "Parsing error near" in found.message:
            return Explanation(
                "The text ends in the middle of a statement: the file is truncated.",
                "rebuild the file, or copy it again",
            )
    return None


def not_an_image(case: RefusalFacts) -> Explanation | None:
    """Explain a file that is not an image."""
    is_nothing = case.match(r"Binary format for key='\d+', ident='[^']*' is not recognized")
    is_ptx = case.contents is not None and case.contents.kind is ImageKind.PTX
    what = "The driver does not recognize the file as an image."
    if case.match(r"Missing \.version directive") or (is_nothing and is_ptx):
        what = "The text is not PTX: it does not begin with .version."
    elif not is_nothing:
        return None
    return Explanation(what, "pass PTX text, a cubin, a fatbin or CUDA source")


def lto_ir(case: RefusalFacts) -> Explanation | None:
    """Explain LTO-IR for a driver."""
    is_lto = case.contents is not None and case.contents.kind is ImageKind.LTO_IR
    if not is_lto or not case.target.is_driver:
        return None
    return Explanation(
        "LTO-IR contains no SASS or PTX; the driver neither loads nor links it.",
        "link it with nvJitLink: cudarun link --linker nvjitlink --lto",
    )


LTO_OFF = rule_of(
    "LTO-IR input cannot be used without LTO enabled",
    "The input is LTO-IR, which requires link-time optimization.",
    "add --lto",
)
NO_LTO_IR = rule_of(
    "NVVM_ERROR_NO_MODULE_IN_PROGRAM",
    "No input contains LTO-IR for --lto to optimize.",
    "remove --lto, or compile the inputs with -dlto",
)


def not_linked(case: RefusalFacts) -> Explanation | None:
    """Explain loading of a file with undefined symbols."""
    externs = case.contents.externs if case.contents else ()
    if case.cuda_error is None or not (externs or case.cuda_error == "CUDA_ERROR_NOT_FOUND"):
        return None
    what = f"undefined symbols: {listed(externs)}" if externs else "it has undefined symbols"
    return Explanation(
        f"The image is not linked: {what}.",
        "link it with the file that defines them: cudarun link FILE… -o OUT",
    )


def explain(case: RefusalFacts) -> Explanation | None:
    """Explain a refusal; return ``None`` if no rule recognizes it."""
    return next(filter(None, (rule(case) for rule in _RULES)), None)


_RULES: tuple[Rule, ...] = (
    code_rules.missing_header,
    code_rules.HOST_CODE,
    LTO_OFF,
    lto_ir,
    NO_LTO_IR,
    target_rules.no_machine_code,
    target_rules.target_of_another,
    target_rules.ptx_too_new,
    target_rules.PTX_OF_32_BITS,
    target_rules.specific_target,
    target_rules.newer_target,
    target_rules.UNKNOWN_TARGET,
    target_rules.PTX_TOO_OLD,
    target_rules.MISSING_FEATURE,
    code_rules.CALLED_REGISTERS,
    code_rules.registers,
    code_rules.shared_memory,
    code_rules.CONSTANTS,
    code_rules.unresolved,
    code_rules.duplicate,
    damaged,
    cut_off_text,
    not_an_image,
    target_rules.no_code_for_gpu,
    not_linked,
)
