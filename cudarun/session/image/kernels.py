"""The selection of an image's kernel by its mangled name, C++ signature or bare name."""

from __future__ import annotations

from collections.abc import Iterable

from cudarun.errors import ImageRefused, RequestError
from cudarun.images.demangler import demangle, spellings

_OF_TEMPLATES = (
    "the source must instantiate a template: template __global__ void f<float>(…);\n"
    "for a .cu, launch -k 'ns::f<float>' instantiates it (full name, all template arguments)"
)


def select_kernel(names: Iterable[str], wanted: str | None, origin: str) -> str:
    """Return the mangled name of the kernel ``wanted``, or of the only one.

    Raises:
        RequestError: No kernel matches, or several do.
        ImageRefused: The image has no kernel at all.
    """
    names = sorted(names)
    if not names:
        raise ImageRefused("the image contains no kernels", hint=_OF_TEMPLATES, origin=origin)
    if wanted is None:
        if len(names) == 1:
            return names[0]
        raise RequestError(
            f"{origin} contains {len(names)} kernels; choose one with --kernel",
            hint=_listed(names),
        )
    if wanted in names:
        return wanted
    fitting = [name for name in names if _squeezed(wanted) in map(_squeezed, spellings(name))]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise RequestError(
            f"'{wanted}' matches {len(fitting)} kernels of {origin}", hint=_listed(fitting)
        )
    every = [spelling for name in names for spelling in spellings(name)]
    import difflib

    close = difflib.get_close_matches(wanted, every, n=1)
    meant = f"did you mean '{close[0]}'? " if close else ""
    templates = f"\n{_OF_TEMPLATES}" if "<" in wanted else ""
    raise RequestError(
        f"{origin} has no kernel '{wanted}'", hint=meant + _listed(names) + templates
    )


def _squeezed(name: str) -> str:
    return name.replace(" ", "")


def _listed(names: Iterable[str]) -> str:
    lines = [
        f"  {name}" if demangle(name) == name else f"  {demangle(name)}  ({name})" for name in names
    ]
    return "\n".join(["kernels:", *lines])
