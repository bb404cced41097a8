"""The debug information of CUDA source: the members of structs that kernels take by value.

Optimized code has none, so the source is compiled once more, with ``-G``, and only the debug
information of the result is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from cudarun.arguments.parameter_match import expected_type, is_tensor_map
from cudarun.base.errors import CudarunError
from cudarun.images.parameters import Parameter
from cudarun.images.versions import Architecture, parse_target
from cudarun.session.compile.source import compile_source
from cudarun.session.image.image import CompileOptions, Image

_GRID_CONSTANT = re.compile(rb"\b__grid_constant__\b")  # such parameters are not described


def with_debug_information(image: Image, parameters: Iterable[Parameter]) -> Image:
    """Return an image with the debug information of its source, if a parameter can be a struct.

    An image without source, or whose source cannot be compiled with it, is returned unchanged.
    """
    source, facts = image.source, image.facts
    if source is None or facts is None or image.debug is not None:
        return image
    target = parse_target(facts.targets[0]) if facts.targets else None
    if target is None or not any(map(_can_be_struct, parameters)):
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


def _can_be_struct(parameter: Parameter) -> bool:
    is_known = expected_type(parameter.type) is not None or parameter.members
    return not is_known and not is_tensor_map(parameter)
