"""The launch of ``--baseline``, by the options that are its own."""

from __future__ import annotations

from cudarun.base.errors import RequestError
from cudarun.commands.declaration import Values


def baseline_values(values: Values) -> Values | None:
    """Return the values of the launch of ``--baseline``; ``None`` without.

    Raises:
        RequestError: It names nothing, or is missing beside its geometry.
    """
    names = ("threads", "grid", "block", "smem")
    own = {name: given for name in names if (given := values[f"baseline_{name}"]) is not None}
    if values["baseline"] is None:
        for name in own:
            option = f"--baseline-{name}"
            raise RequestError(f"{option} requires --baseline").naming(option)
        return None
    image, _, kernel = values["baseline"].partition(":")
    if not (image or kernel):
        raise RequestError("':' names neither an image nor a kernel", option="--baseline")
    if own.keys() & {"threads", "grid"}:  # each sets the total size
        own = {"threads": None, "grid": None, **own}
    return {**values, "image": image or values["image"], "kernel": kernel or None, **own}
