"""Compilation of CUDA source with NVRTC or nvcc, in a worker.

Source is compiled to SASS for a GPU, because the PTX of a newer compiler may not load on an older
driver, and to PTX for the emulated device.

NVRTC compiles in the process, in a fraction of nvcc's time, but device code only, and not all of
CUDA's headers. nvcc also compiles files with host code, whose device code is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from cudarun.arguments.parameter_match import expected_type, is_tensor_map
from cudarun.base.errors import CudarunError, RequestError
from cudarun.diagnostics.code_rules import HOST_FUNCTION, header_source, missing_host_header
from cudarun.diagnostics.entries import Diagnosed, notes
from cudarun.images.parameters import Parameter
from cudarun.images.versions import Architecture, Version, parse_target
from cudarun.session.compile import nvrtc
from cudarun.session.compile.nvcc import NVCC_INSTALLATION, NvccCompiler
from cudarun.session.compile.task import NAME_EXPRESSIONS, CompileTask, Form
from cudarun.session.compile.toolkit import find_program
from cudarun.session.image.image import CompileOptions, Image
from cudarun.session.image.kernels import select_kernel

_Compiled: TypeAlias = Callable[[Sequence[str]], Image]
"""Compiles, with the instantiation of name expressions."""

_ARCHITECTURE = re.compile(
    r"--?(?:(?:gpu-architecture|arch)=|(?:gencode|generate-code)=arch=)(?P<name>[^,]+).*"
)
_LAUNCH_IN_KERNEL = re.compile("device-side kernel launch|requires separate compilation mode")
# Keywords, the operator and initializers of C++20.
_CPP20 = re.compile(
    r"\b(?:concept|requires|consteval|constinit|char8_t|co_(?:await|return|yield))\b|<=>"
    r"|[{,]\s*\.\w+\s*[={]"
)
_NO_CODE = re.compile(r'"[^"]*"|//.*')  # in a line: strings, and its comment
# What compilers say of features of C++20: an operator or a lambda, and a concept of the library.
_CPP20_MESSAGE = re.compile(r"C\+\+20|argument list for variable template \"[\w:]*\bstd::")


def compile_source(
    source: Image,
    target: Architecture,
    form: Form,
    *,
    relocatable: bool = False,
    newest_ptx: Version | None = None,
) -> Image:
    """Compile an image that is CUDA source; the result keeps the source's name.

    Args:
        source: The source, with its `CompileOptions` in ``compilation``.
        target: The architecture: a GPU's, or a virtual one for PTX.
        relocatable: Leave ``extern`` declarations to the linker.
        newest_ptx: The newest ``.version`` to write.

    Raises:
        Diagnosed: The source does not compile.
        RequestError: The compiler is not installed, or does not know an option, the architecture
            or the kernel to be instantiated.
    """
    task = _for_named_target(CompileTask(source, target, form, relocatable, newest_ptx))
    if task.options.compiler == "nvcc":
        return _with_nvcc(task)
    if task.options.compiler == "nvrtc":
        return _with_nvrtc(task)
    if not nvrtc.is_installed() and find_program("nvcc") is not None:
        return _with_nvcc(task, "NVRTC is not installed")
    try:
        return _with_nvrtc(task)
    except (Diagnosed, nvrtc.UnknownToNvrtc) as refusal:
        reason = _limitation(refusal)
        if reason is None:
            raise
        if find_program("nvcc") is None:
            diagnostics = refusal.diagnostics if isinstance(refusal, Diagnosed) else ()
            headers = filter(None, map(missing_host_header, diagnostics))
            if not any(header_source(each, None) for each in headers):  # the hint says where it is
                refusal.hint = f"install nvcc, which may compile it: {NVCC_INSTALLATION}"
            raise
    return _with_nvcc(task, reason)


def _for_named_target(task: CompileTask) -> CompileTask:
    """Return the compilation for the architecture that its options name, as nvcc does.

    Without a name it is that of the device. Of several it is the newest that the device runs: as
    machine code where it can, else as PTX, which the driver compiles.
    """
    options = task.options
    named = [_ARCHITECTURE.fullmatch(option) for option in options.options]
    others = tuple(o for o, name in zip(options.options, named, strict=True) if name is None)
    compilation = replace(options, options=others)
    task = replace(task, source=replace(task.source, compilation=compilation))
    targets = [target for name in named if name and (target := parse_target(name["name"]))]
    if not targets or task.relocatable:  # a link has one target
        return task
    device = task.target.number
    best = max(targets, key=lambda target: (target.number <= device, target.number))
    real = replace(best, is_virtual=False)
    if task.form == "CUBIN" and real.runs_on(device):
        return replace(task, target=real)
    form = "PTX" if task.form == "CUBIN" else task.form
    return replace(task, target=replace(best, is_virtual=True), form=form)


def _with_nvrtc(task: CompileTask) -> Image:
    return _instantiated("NVRTC", nvrtc.NvrtcCompiler(task).compile, task)


def _with_nvcc(task: CompileTask, reason: str | None = None) -> Image:
    """Compile with nvcc; a note says so where the user did not choose it."""
    nvcc = NvccCompiler(task)
    image = _instantiated("nvcc", nvcc.compile, task)
    if reason is None:
        return image
    version = ".".join(map(str, nvcc.version or ()))
    note = f"{image.origin} is compiled by nvcc {version}: {reason}"
    return replace(image, warnings=(*notes([note]), *image.warnings))


def _limitation(refusal: Diagnosed | nvrtc.UnknownToNvrtc) -> str | None:
    """Return why nvcc may compile what NVRTC refuses; ``None`` for an error in the source."""
    if isinstance(refusal, nvrtc.UnknownToNvrtc):
        return refusal.what
    folders = sorted(nvrtc.headers_of_cuda(), key=len, reverse=True)  # include/cccl before include
    for each in refusal.diagnostics:
        if not each.is_serious:
            continue
        if header := missing_host_header(each):
            return f"<{header}> is a host header"
        if re.search(HOST_FUNCTION, each.message):
            return "it contains host functions"
        file = each.file or ""
        if folder := next((f for f in folders if file.startswith(f"{f}/")), None):
            return f"NVRTC does not compile <{file[len(folder) + 1 :]}>"
        if re.search(r"\bnvrtc\b|in JIT mode", each.message, re.IGNORECASE):
            return "NVRTC refuses a part of it"
    return None


# --- kernels to be instantiated ------------------------------------------------------------------


def _instantiated(compiler: str, compiled: _Compiled, task: CompileTask) -> Image:
    """Compile with the template arguments in the names of the wanted kernels."""
    wanted = task.options.kernels
    try:
        return compiled(wanted)
    except Diagnosed as refusal:
        if any(_LAUNCH_IN_KERNEL.search(each.message) for each in refusal.diagnostics):
            refusal.hint = "kernels that launch kernels require --compile-option -rdc=true"
        elif refusal.hint is None and _needs_cpp20(refusal, task.options):
            refusal.hint = "the source may be C++20: add --std c++20"
        if not wanted:
            raise
        refused = {wanted[0]: refusal} if len(wanted) == 1 else _refused(compiled, wanted)
    # Errors in the source that do not depend on instantiation are reported without those names.
    made = compiled([name for name in wanted if name not in refused])
    spelled = {name: _spelled(compiler, made, name, refusal) for name, refusal in refused.items()}
    return replace(made, lowered=made.lowered | spelled)


def _needs_cpp20(refusal: Diagnosed, options: CompileOptions) -> bool:
    """Return whether an error is about C++20, where no standard is given: it is that of C++17."""
    if options.standard or any(each.startswith(("-std", "--std")) for each in options.options):
        return False
    return any(
        _CPP20_MESSAGE.search(each.message) or _CPP20.search(_NO_CODE.sub("", each.source or ""))
        for each in refusal.diagnostics
        if each.is_serious
    )


def _refused(compiled: _Compiled, wanted: Sequence[str]) -> dict[str, Diagnosed]:
    """Compile each name expression alone; return the errors of those that are refused."""
    refused = {}
    for name in wanted:
        try:
            compiled([name])
        except Diagnosed as refusal:
            refused[name] = refusal
    return refused


def _spelled(compiler: str, compiled: Image, wanted: str, refused: Diagnosed) -> str:
    """Return the mangled name of a kernel that the source itself instantiates with this spelling.

    A signature is not a name expression, nor is ``scale<float>`` for a kernel in a namespace.
    """
    kernels, origin = compiled.facts.kernels if compiled.facts else (), compiled.origin
    try:
        return select_kernel([kernel.name for kernel in kernels], wanted, origin)
    except CudarunError as unknown:
        about_code = tuple(d for d in refused.diagnostics if d.file != NAME_EXPRESSIONS)
        about_name = [d for d in refused.diagnostics if d.is_serious and d not in about_code]
        if not about_name or any(d.is_serious for d in about_code):
            refused.what += f" with '{wanted}'"
            refused.diagnostics = about_code
            raise refused from None
        what = f"{compiler} refuses '{wanted}': {about_name[0].message}"
        raise RequestError(what, hint=unknown.hint, origin=origin) from None


_GRID_CONSTANT = re.compile(rb"\b__grid_constant__\b")  # such parameters are not described


def with_debug_information(image: Image, parameters: Iterable[Parameter]) -> Image:
    """Return an image with the debug information of its source, if a parameter can be a struct.

    An image without source, or whose source cannot be compiled with it, is returned unchanged.
    """
    source, facts = image.source, image.facts
    if source is None or facts is None or image.debug is not None:
        return image
    target = parse_target(facts.targets[0]) if facts.targets else None
    unknown = (p for p in parameters if expected_type(p.type) is None and not p.members)
    if target is None or all(map(is_tensor_map, unknown)):  # no struct
        return image
    given = source.compilation or CompileOptions()
    debugged = replace(
        source,
        data=_GRID_CONSTANT.sub(b" ", source.code),
        compilation=replace(given, options=(*given.options, "-G")),
    )
    try:
        code = compile_source(debugged, Architecture(True, target.number, target.suffix), "PTX")
    except CudarunError:  # a device function without a body, for instance, which -G does not inline
        return image
    return replace(image, debug=code.code)
