"""The options of a recorded launch: those of the recording where the command line has none."""

from __future__ import annotations

from cudarun.base.errors import RequestError
from cudarun.commands.declaration import Values, filled
from cudarun.commands.inputs import read_input
from cudarun.session.driver.contexts import Target
from cudarun.session.image.image import Image
from cudarun.session.launch.request import Program
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep
from cudarun.session.recording.manifest import Manifest


def recorded_launch(path: str) -> Program:
    """Return the launch of a recording, with its own options; refuse other files."""
    image = read_input(path)
    if image.recording is None:
        raise RequestError("not a recording of cudarun", origin=path)
    manifest = image.recording.manifest
    none: Values = {**dict.fromkeys(("grid", "threads", "block", "smem", "cluster"))}
    values = {**none, "cooperative": False, **recorded_options(none, manifest)}
    step = LaunchStep(image=image, kernel=manifest.kernel, geometry=filled(GeometryRequest, values))
    return Program((step,))


def with_candidate(values: Values, candidate: str | None, *, is_recording: bool) -> Values:
    """Return the values of a launch with ``FILE[:KERNEL]`` in place of its code.

    Args:
        is_recording: The image is a recording: it stays the image, which has the memory.
    """
    if candidate is None:
        return {**values, "candidate": None}
    path, _, kernel = candidate.partition(":")
    if not path:
        raise RequestError("expected FILE[:KERNEL]", option="--candidate")
    name = "candidate" if is_recording else "image"
    return {"candidate": None, **values, name: path, "kernel": kernel or values["kernel"]}


def check_recorded(values: Values, where: Target, image: Image) -> None:
    """Refuse what a recording cannot be combined with."""
    if values["arguments"] or values["buffers"]:
        raise RequestError(
            "a recording has its own arguments",
            hint="to change them, write a spec: cudarun record --edit",
            origin=image.origin,
        )
    if values["kernel"] is not None and image.replaces_recorded is None:
        raise RequestError("a recording is of one kernel", origin=image.origin, option="--kernel")
    if where.together and len(where.devices) > 1:
        raise RequestError(
            "the memory of a recording has the same addresses on each device", option="--together"
        )


def recorded_options(values: Values, manifest: Manifest) -> Values:
    """Return the options of the geometry, with recorded values where none are given."""
    recorded: dict[str, tuple[int, ...] | None] = {
        "grid": manifest.grid if values["threads"] is None else None,
        "block": manifest.block,
        "smem": (manifest.shared_bytes,),
        "cluster": manifest.cluster,
    }
    missing = {name: each for name, each in recorded.items() if each and values[name] is None}
    texts = {name: ",".join(map(str, each)) for name, each in missing.items()}
    flags = {"cooperative": manifest.cooperative, "pdl": manifest.programmatic}
    return {**texts, **{name: True for name, is_set in flags.items() if is_set}}
