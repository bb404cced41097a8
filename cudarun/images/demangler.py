"""Demangling of C++ names of kernels and variables, and the parts of signatures."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

_LONGEST = 8192  # characters of a mangled name
_LARGEST = 1 << 16  # of a demangled one
# The length of an identifier, unless the digits can be something else; or a repetition, or what
# names a scope (St, N), with the length of the identifier that follows.
_REPETITION = re.compile(
    r"(?<![_\dLCDv])(?<!L[fdeg])(?<!Dh)(?P<length>\d{1,4})(?![\dE_])"
    r"|(?:(?P<repetition>[ST][0-9A-Z]*_|Dp|sp)|St|N)(?P<next>\d{0,4})"
)
_USUAL_RATIO = 8
_DOUBTFUL, _TOO_MUCH = 1 << 20, 1 << 24  # characters, as they are estimated
_OPENED_BY = {")": "(", "]": "[", "}": "{"}
_ANONYMOUS = "(anonymous namespace)"


@lru_cache(maxsize=4096)
def demangle(name: str) -> str:
    """Return the C++ spelling of a mangled name: ``void ns::scale<float>(float*, int)``.

    Return the name itself if it is not mangled (``extern "C"``), cannot be demangled or not in a
    bounded time, or if this machine has no C++ runtime (``abi::__cxa_demangle``).
    """
    library = _cxx_runtime()
    if library is None or not name.startswith("_Z") or len(name) > _LONGEST:
        return name
    text = _demangled(library, name) if _is_bounded(library, name) else None
    return text if text is not None and len(text) <= _LARGEST else name


def _is_bounded(library: ctypes.CDLL, name: str) -> bool:
    """Return whether the demangler's work on a name is bounded.

    A reference (``S0_``, ``T_``) repeats an earlier part, so each can double the length, and an
    expansion (``Dp``, ``sp``) multiplies it. Where the estimated length is large, the name is
    demangled for its actual length, with another name for the references from there on.
    """
    estimate, repetitions = _USUAL_RATIO * len(name), [*_repetitions(name)]
    for number, (start, end) in enumerate(repetitions):
        factor = 2 if name[end - 1] == "_" else len(name)
        if estimate * factor > _DOUBTFUL:
            parts = [name[:start]]
            for (_, last), (after, _) in pairwise([*repetitions[number:], (len(name), 0)]):
                parts += ["1a" if name[last - 1] == "_" else "", name[last:after]]
            text = _demangled(library, "".join(parts))
            if text is not None and len(text) > _LARGEST:
                return False
            estimate = len(text) if text is not None else estimate
        estimate *= factor
        if estimate > _TOO_MUCH:
            return False
    return True


def _repetitions(name: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each reference and expansion."""
    at = 0
    while match := _REPETITION.search(name, at):
        at = match.end() + int(match["length"] or match["next"] or 0)
        if match["repetition"] is not None:
            yield match.span("repetition")


def _demangled(library: ctypes.CDLL, name: str) -> str | None:
    status = ctypes.c_int()
    text = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return None
    try:
        return ctypes.string_at(text).decode(errors="replace")
    finally:
        library.free(text)


def quoted(name: str) -> str:
    """Return a symbol for messages: ``'weight'``, ``'weighted(float)' (_Z8weightedf)``."""
    demangled = demangle(name)
    return f"'{name}'" if demangled == name else f"'{demangled}' ({name})"


def base_name(signature: str) -> str:
    """Return the function's own name in a demangled signature, without anything around it.

    ``void ns::scale<float>(float*, int)`` and Numba's ``scale[abi:v1](int)`` are ``scale``.
    """
    return _unqualified(_without_template(qualified_name(signature))).partition("[abi:")[0]


def qualified_name(signature: str) -> str:
    """Return the name with its namespaces and template arguments: ``ns::scale<float>``."""
    head = signature[: _parameter_list(signature)]
    return head[_after_last(head, " ") :]


def spellings(name: str) -> tuple[str, ...]:
    """Return every spelling of the function of this (mangled) name, the most exact first.

    The name; the signature with and without its result; then ``ns::scale<float>``,
    ``scale<float>``, ``ns::scale``, ``scale``. Spaces are insignificant: compare without them.
    """
    signature = demangle(name)
    qualified = qualified_name(signature)
    without_result = signature[signature.index(qualified) :]
    untemplated = _without_template(qualified)
    names = (qualified, _unqualified(qualified), untemplated, base_name(signature))
    return tuple(dict.fromkeys((name, signature, without_result, *names)))


def short_names(qualified: str) -> tuple[str, ...]:
    """Return the spellings of a variable: with fewer namespaces, and without template arguments.

    >>> short_names("ns::table<int>")
    ('ns::table<int>', 'ns::table', 'table<int>', 'table')
    """
    colons = (at for at in _top_level(qualified, ":") if qualified[at - 1] == ":")
    names = [qualified[start:].replace(" ", "") for start in (0, *(at + 1 for at in colons))]
    return tuple(dict.fromkeys(each for name in names for each in (name, _without_template(name))))


def parameter_types(signature: str) -> tuple[str, ...] | None:
    """Return the C++ parameter types of a demangled signature; ``None`` without a list."""
    start = _parameter_list(signature)
    inside, closed, _ = signature[start + 1 :].rpartition(")")
    if not closed:
        return None
    if inside.strip() in ("", "void"):
        return ()
    commas = [-1, *_top_level(inside, ","), len(inside)]
    return tuple(inside[a + 1 : b].strip() for a, b in pairwise(commas))


def _parameter_list(signature: str) -> int:
    """Return the index of the parenthesis before the parameters; the length if there is none."""
    for index in _top_level(signature, "("):
        if (
            not signature.startswith(_ANONYMOUS, index)
            and signature[index - 8 : index] != "operator"
        ):
            return index
    return len(signature)


def _without_template(qualified: str) -> str:
    if not qualified.endswith(">"):
        return qualified
    return qualified[: _after_last(qualified, "<") - 1]


def _unqualified(qualified: str) -> str:
    return qualified[_after_last(qualified, ":") :]


def _after_last(text: str, character: str) -> int:
    return max(_top_level(text, character), default=-1) + 1


def _top_level(text: str, sought: str) -> Iterator[int]:
    """Return the indexes of ``sought`` outside all brackets.

    ``<`` and ``>`` are brackets except in operators: ``->``, ``((4)>(2))``.
    """
    open_brackets: list[str] = []
    for index, character in enumerate(text):
        if character == sought and not open_brackets:
            yield index
        if character in "<([{":
            open_brackets.append(character)
        elif character == ">":
            if open_brackets[-1:] == ["<"] and text[index - 1] != "-":
                open_brackets.pop()
        elif opening := _OPENED_BY.get(character):
            while open_brackets and open_brackets.pop() != opening:
                pass  # a < that was no bracket


@cache
def _cxx_runtime() -> ctypes.CDLL | None:
    """Return the C++ runtime library, or ``None``."""
    for name in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.__cxa_demangle.restype = ctypes.c_void_p
        library.__cxa_demangle.argtypes = (ctypes.c_char_p, *[ctypes.c_void_p] * 3)
        library.free.argtypes = (ctypes.c_void_p,)
        library.free.restype = None
        return library
    return None
