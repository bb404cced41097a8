"""The selection of an image's kernel by its mangled name, C++ signature or bare name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from cudarun.base.errors import ImageRefused, RequestError
from cudarun.images.demangler import base_name, demangle, spellings
from cudarun.images.kinds import ImageKind
from cudarun.session.image.image import Image

_OF_TEMPLATES = (
    "the source must instantiate a template: template __global__ void f<float>(…);\n"
    "for a .cu, launch -k 'ns::f<float>' instantiates it (full name, all template arguments)"
)

_OF_LIBRARY = re.compile(r"_ZN(?:3cub|6thrust)\d")
"""Kernels that including CUDA's libraries adds: ``cub::…::EmptyKernel<void>``."""
_MOST_LISTED = 21  # lines of a list of kernels
_MOST_SPELLED = 500  # kernels of which all spellings are compared with a misspelled one


def select_kernel(names: Iterable[str], wanted: str | None, origin: str) -> str:
    """Return the mangled name of the kernel ``wanted``, or of the only one that is no library's.

    Raises:
        RequestError: No kernel matches, or several do.
        ImageRefused: The image has no kernel at all.
    """
    names = sorted(names)
    if not names:
        raise ImageRefused("the image contains no kernels", hint=_OF_TEMPLATES, origin=origin)
    if wanted is None:
        names = [name for name in names if not _OF_LIBRARY.match(name)] or names
        if len(names) == 1:
            return names[0]
        raise RequestError(
            f"{origin} contains {len(names)} kernels; choose one with --kernel",
            hint=_listed(names, origin),
        )
    fitting = require_kernels(names, wanted, origin)
    if len(fitting) == 1:
        return fitting[0]
    raise RequestError(
        f"'{wanted}' matches {len(fitting)} kernels of {origin}", hint=_listed(fitting, origin)
    )


def matching_kernels(names: Sequence[str], wanted: str) -> list[str]:
    """Return the mangled names that are ``wanted`` in one of their spellings."""
    if wanted in names:
        return [wanted]
    base = base_name(wanted)
    identifier = base if base.isidentifier() else ""
    candidates = [name for name in names if identifier in name]  # demangling takes longer
    fitting: list[str] = []
    has_spellings = "<" in wanted or "(" in wanted
    for form in (_squeezed, canonical) if has_spellings else (_squeezed,):
        target = form(wanted)
        fitting = fitting or [n for n in candidates if target in map(form, spellings(n))]
    return fitting


def require_kernels(names: Sequence[str], wanted: str, origin: str) -> list[str]:
    """Return the mangled names that are ``wanted`` in one of their spellings, at least one."""
    chosen = matching_kernels(names, wanted)
    if not chosen:
        raise _no_kernel(names, wanted, origin)
    return chosen


def _no_kernel(names: Sequence[str], wanted: str, origin: str) -> RequestError:
    """Return the error for a kernel that an image does not have, with a close name if any."""
    import difflib

    if len(names) <= _MOST_SPELLED:
        every = [spelling for name in names for spelling in spellings(name)]
    else:
        every = list({base_name(demangle(name)) for name in names})
    close = difflib.get_close_matches(wanted, every, n=1)
    meant = f"did you mean '{close[0]}'? " if close else ""
    templates = f"\n{_OF_TEMPLATES}" if "<" in wanted else ""
    return RequestError(
        f"{origin} has no kernel '{wanted}'", hint=meant + _listed(names, origin) + templates
    )


def check_kernel(image: Image, wanted: str | None) -> None:
    """Refuse a kernel that a PTX text does not declare, before a driver reads the text."""
    facts = image.facts
    if facts is not None and facts.kind is ImageKind.PTX and facts.kernels:
        select_kernel([kernel.name for kernel in facts.kernels], wanted, image.origin)


def check_text(text: bytes, wanted: str, origin: str) -> None:
    """Refuse a kernel whose name is nowhere in a PTX text, before the text is parsed."""
    from cudarun.images.ptx_search import kernel_names, possible_names

    candidates = possible_names(text)
    if candidates is None or matching_kernels(candidates, wanted):
        return
    names = kernel_names(text)
    if names:
        raise _no_kernel(sorted(names), wanted, origin)


def _squeezed(name: str) -> str:
    return name.replace(" ", "")


_LITERAL = re.compile(r"(?<![\w.])(?:\([a-z ]+\))?(?P<value>-?[0-9]+)[uUlL]*(?![\w.])")
_CHARACTER = re.compile(r"'(?P<character>[^'\\])'")
_INTEGERS = {
    "unsigned": "unsigned int",
    "signed": "int",
    **{
        f"{sign}int{bits}_t": f"{kind}{name}"
        for sign, kind in (("", ""), ("u", "unsigned "))
        for bits, name in ((16, "short"), (32, "int"), (64, "long"))
    },
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "size_t": "unsigned long",
    "ptrdiff_t": "long",
    "uint": "unsigned int",
}
_INTEGER_NAME = re.compile(
    rf"(?:std::)?\b(?:{'|'.join(sorted(_INTEGERS, key=len, reverse=True))})\b"
    r"(?! (?:char|short|int|long))"
)
_LONG_FORM = re.compile(r"\b(?P<size>short|long) int\b")
_CONST_BEFORE = re.compile(r"\bconst (?P<type>(?:unsigned |signed )?[\w:]+(?: long)?)")


def canonical(name: str) -> str:
    """Return a C++ name in one of its spellings: as sources and demanglers write it.

    Integer literals lose suffixes and casts (``128u``, ``(char)65``), integer types get the names
    of the demangler (``size_t``, ``unsigned``), and ``const float`` becomes ``float const``.

    >>> canonical("reduce<128u, const unsigned*>") == canonical("reduce<128, unsigned int const *>")
    True
    """
    text = " ".join(name.split())
    text = _CHARACTER.sub(lambda found: str(ord(found["character"])), text)
    text = _LITERAL.sub(lambda found: found["value"], text)
    text = _LONG_FORM.sub(lambda found: found["size"], text)
    text = _INTEGER_NAME.sub(lambda found: _INTEGERS[found.group().removeprefix("std::")], text)
    text = _CONST_BEFORE.sub(lambda found: f"{found['type']} const", text)
    return _squeezed(text)


def _listed(names: Sequence[str], origin: str) -> str:
    shown = names if len(names) <= _MOST_LISTED else names[: _MOST_LISTED - 1]
    lines = [
        f"  {name}" if demangle(name) == name else f"  {demangle(name)}  ({name})" for name in shown
    ]
    if others := len(names) - len(shown):
        lines.append(f"  and {others} others: cudarun load --offline {shlex.quote(origin)}")
    return "\n".join(["kernels:", *lines])
