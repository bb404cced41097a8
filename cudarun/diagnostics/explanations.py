"""Explanations of refused images in plain words, each with a remedy.

`explain` tries its rules from the most specific to the most general; the first that recognizes the
refusal explains it.
"""

from __future__ import annotations

from cudarun.diagnostics import code_rules, file_rules, header_rules, target_rules
from cudarun.diagnostics.refusals import Explanation, RefusalFacts, Rule


def explain(case: RefusalFacts) -> Explanation | None:
    """Explain a refusal; return ``None`` if no rule recognizes it."""
    return next(filter(None, (rule(case) for rule in _RULES)), None)


_RULES: tuple[Rule, ...] = (
    header_rules.missing_header,
    code_rules.HOST_CODE,
    file_rules.LTO_OFF,
    file_rules.lto_ir,
    file_rules.NO_LTO_IR,
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
    code_rules.constants,
    code_rules.unresolved,
    code_rules.duplicate,
    file_rules.damaged,
    file_rules.cut_off_text,
    file_rules.not_an_image,
    target_rules.no_code_for_gpu,
    file_rules.not_linked,
)
