"""Diagnosis of a driver's refusal of an image: its parsed log and an explanation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cudarun.base.errors import CudarunError, ImageRefused
from cudarun.diagnostics.entries import Diagnosed, Diagnostic, located
from cudarun.diagnostics.refusals import LoadTarget, RefusalFacts
from cudarun.images.fatbin import Entry
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.reader import check_structure as check
from cudarun.images.summary import summarize
from cudarun.images.versions import Architecture
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import architecture_of, cuda_of, name_of
from cudarun.session.image.image import Image

_TEXTS = (ImageKind.PTX, ImageKind.CUDA_SOURCE)


def diagnose(
    error: CudarunError,
    images: Sequence[Image],
    target: LoadTarget,
    definers: Mapping[str, tuple[str, ...]] | None = None,
    jit_target: Architecture | None = None,
) -> Diagnosed:
    """Return the refusal as it is displayed: complaints with their lines, an explanation, a remedy.

    Args:
        images: The refused images; for a link all inputs.
        target: The device or tool that refused them.
        definers: The files of each symbol that the inputs of a link define.
        jit_target: The JIT compiler's explicit target.
    """
    diagnostics = diagnostics_of(error.log or "", images)
    named = {diagnostic.file for diagnostic in diagnostics if diagnostic.is_serious}
    about = images  # the only file, or those with complaints
    if len(images) > 1:
        about = [image for image in images if named & {image.origin, image.text_name}]
    case = RefusalFacts(
        target=target,
        contents=summarize(about[0].data, about[0].origin) if len(about) == 1 else None,
        cuda_error=error.cuda[0] if error.cuda else None,
        diagnostics=diagnostics,
        log=error.log or "",
        header_folders=images[0].header_folders if images else (),
        definers=definers or {},
        jit_target=jit_target,
    )
    from cudarun.diagnostics.explanations import explain  # few images are refused

    explanation = explain(case)
    return Diagnosed(
        error.what,
        diagnostics=diagnostics,
        explanation=explanation.reason if explanation else None,
        hint=explanation.remedy if explanation else error.hint,
        cuda=error.cuda,
        log=error.log,
        **error.context,
    ).like(error)


def diagnostics_of(log: str, images: Sequence[Image]) -> tuple[Diagnostic, ...]:
    """Return a log's complaints with the corresponding lines of the images' texts."""
    texts = [image for image in images if identify(image.data) in _TEXTS]
    # ptxas echoes the bytes, and any byte may be in a comment.
    sources = {image.text_name: image.code.decode("latin-1") for image in texts}
    from cudarun.diagnostics.log_parser import parse_log

    return tuple(located(parse_log(log), sources))


def check_structure(
    image: Image, target: LoadTarget, is_used: Callable[[Entry], bool] = lambda entry: True
) -> None:
    """Refuse a damaged file before a driver or a linker gets it, which can crash or hang on one.

    Args:
        is_used: Returns whether the device reads an entry of a fatbin.
    """
    try:
        check(image.data, image.origin, image.limit, is_used)
    except ImageRefused as error:
        raise diagnose(error, [image], target) from None


def device_target(driver: Driver) -> LoadTarget:
    """Return the device of the current context, or the first one."""
    result, *found = driver.attempt("cuCtxGetDevice")
    device = found[0] if result == 0 else driver.cuDeviceGet(0)
    return LoadTarget(
        name=name_of(driver, device),
        architecture=architecture_of(driver, device),
        cuda=cuda_of(driver),
        runs_machine_code=driver.traits.runs_machine_code,
    )
