"""Options of compiling as nvcc spells them, which users paste from their builds.

``-I`` and ``-D`` are the same for both. ``-std`` and, where the command has it, ``-arch`` are
options of cudarun, too. The others are for the compiler: ``--compile-option``.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

_PASS = "--compile-option"
_FLAG = re.compile(
    r"-O[0-3]|-[Ggw]|-m64|-lineinfo|-Wno-[a-z-]+"
    r"|--?(?:use_fast_math|restrict|extended-lambda|expt-[a-z-]+)"
)
_WITH_VALUE = re.compile(
    r"--?(?:std|arch|gpu-architecture|gencode|generate-code|maxrregcount|ftz|fmad|prec-div|prec-sqrt"
    r"|rdc|relocatable-device-code|Xptxas|ptxas-options|Xcompiler|compiler-options|Xcudafe"
    r"|ccbin|compiler-bindir|isystem|system-include|Werror|default-stream"
    r"|diag-suppress|diag-warn|diag-error)"
)


def own_words(words: Sequence[str], known: Container[str]) -> Iterator[str]:
    """Yield the words of a command line with nvcc's options in cudarun's spelling.

    Args:
        words: The words.
        known: The command's own options, which have precedence.
    """
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            yield word
            yield from rest
        elif word == _PASS:
            yield from (word, *[each for each in [next(rest, None)] if each is not None])
        elif name in known:
            yield word
        elif _WITH_VALUE.fullmatch(name):  # before -d, whose value could follow: -diag-suppress
            value = value if equals else next(rest, "")
            own = f"--{name.lstrip('-')}"
            yield f"{own}={value}" if own in known else f"{_PASS}={name}={value}"
        elif word[:2] not in known and _FLAG.fullmatch(word):
            yield f"{_PASS}={word}"
        else:
            yield word
