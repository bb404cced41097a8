"""``--assert``: conditions over the instructions that ran and the resources of a kernel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.arguments.assertions import COUNTED, RESOURCES, SPILLS, Assertion, matching
from cudarun.base.errors import RequestError
from cudarun.model.checks import CheckResult, Mismatch
from cudarun.session.driver import drivers

if TYPE_CHECKING:
    from cudarun.model.detectors import LaunchStatistics
    from cudarun.session.driver.devices import Device
    from cudarun.session.launch.steps import BoundStep
    from cudarun.session.workers.session import Session

_ATTRIBUTES = {
    "registers": "NUM_REGS",
    "local_bytes": "LOCAL_SIZE_BYTES",
    "shared_bytes": "SHARED_SIZE_BYTES",
}
_OF_SASS = {
    SPILLS: ("LDL", "STL"),
    "mma": ("BMMA", "DMMA", "HMMA", "IMMA", "OMMA", "QMMA"),
    "wgmma": ("BGMMA", "HGMMA", "IGMMA", "QGMMA"),
    "tcgen05": ("UTCBMMA", "UTCHMMA", "UTCIMMA", "UTCOMMA", "UTCQMMA"),
}
"""Names that stand for opcodes of machine code."""
_INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")


def asserted(
    session: Session, device: Device, step: BoundStep, statistics: LaunchStatistics | None
) -> Iterator[CheckResult]:
    """Yield the results of the assertions about a launch.

    Args:
        step: The step, whose kernel has the resources and the machine code.
        statistics: What was counted; ``None`` on a GPU.
    """
    counts = None if statistics is None else statistics.counts
    code: Mapping[str, int] | None = None
    for each in step.request.asserts:
        if each.is_resource:
            got = _resource(session, device, step, each.name)
        elif counts is not None:
            check_counted(each)
            got = matching(each.name, counts)
        else:
            code = _sass(step) if code is None else code
            got = _of_machine_code(each.name, code)
        passed = each.is_true_of(got)
        wrong = () if passed else (Mismatch((), str(got), str(each.limit), each.comparison),)
        yield CheckResult(each.text, passed, 1, len(wrong), None, None, 0.0, 0.0, first=wrong)


def check_counted(assertion: Assertion) -> None:
    """Refuse an assertion about what ``cpu`` does not count.

    Raises:
        RequestError: Its name is not one of a count, nor an instruction of PTX.
    """
    if assertion.name not in COUNTED and not drivers.is_ptx_instruction(assertion.name):
        raise RequestError(
            f"{assertion.name} is not an instruction of PTX",
            hint=f"names: {', '.join((*RESOURCES, *COUNTED))}, and opcodes with modifiers",
            option="--assert",
        )


def _resource(session: Session, device: Device, step: BoundStep, name: str) -> int:
    driver = session.driver
    attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{_ATTRIBUTES[name]}")
    found = int(driver.cuKernelGetAttribute(attribute, step.kernel.handle, device.handle))
    return found + (step.geometry.shared_bytes if name == "shared_bytes" else 0)


# --- machine code --------------------------------------------------------------------------------


def _of_machine_code(name: str, counts: Mapping[str, int]) -> int:
    if name in COUNTED:
        raise RequestError(
            f"{name} is counted on cpu only", hint="launch with -d cpu", option="--assert"
        )
    if name in _OF_SASS:
        return sum(matching(each, counts) for each in _OF_SASS[name])
    if not name.partition(".")[0].isupper():
        found = ", ".join(sorted({each.partition(".")[0] for each in counts}))
        raise RequestError(
            f"{name} is not an opcode of SASS",
            hint=f"names: {', '.join((*RESOURCES, *_OF_SASS))}; in the kernel: {found}",
            option="--assert",
        )
    return matching(name, counts)


def _sass(step: BoundStep) -> Mapping[str, int]:
    """Return how often each instruction is in the machine code of a kernel.

    PTX is compiled once more, by the driver's linker: its loader does not return machine code.

    Raises:
        RequestError: There is no disassembler.
    """
    from cudarun.images.kinds import ImageKind, identify
    from cudarun.session.compile.toolkit import find_program
    from cudarun.session.link.worker import linked_by_driver
    from cudarun.session.load.jit import with_whole_logs
    from cudarun.session.workers.program import run_compiler
    from cudarun.session.workers.shared_file import SharedFile

    library, program = step.library, find_program("nvdisasm")
    image, data = library.image, library.image.code
    if program is None:
        hint = "pip install nvidia-cuda-nvdisasm"
        raise RequestError("instructions require nvdisasm", hint=hint, option="--assert")
    if identify(data) is not ImageKind.CUBIN:
        data, _ = with_whole_logs(
            lambda logs: linked_by_driver(library.driver, [image], library.options, logs)
        )
    with SharedFile() as file:
        Path(file.path).write_bytes(data)
        status, text = run_compiler([program, "-c", file.path])
    if status:
        raise RequestError(f"nvdisasm: {text.strip()}", option="--assert")
    return sass_counts(text, step.kernel.name)


def sass_counts(text: str, kernel: str) -> Mapping[str, int]:
    """Return how often each instruction is in a kernel, from the output of nvdisasm."""
    _, _, after = text.partition(f"\n.text.{kernel}:\n")
    code, _, _ = after.partition("\n//---")
    return Counter(_INSTRUCTION.findall(code))
