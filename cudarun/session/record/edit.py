"""``record --edit``: a recording as a spec with an array file for each range, to be changed."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property

import numpy as np

from cudarun.arguments.dtypes import scalar_dtype
from cudarun.arguments.types import NAMED, NAMELESS, SCALARS, ScalarType
from cudarun.base.errors import CudarunError, RequestError
from cudarun.base.files import OutputFile, check_outputs, whole_file
from cudarun.base.toml_text import spec_lines
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.parameters import Parameter
from cudarun.images.reader import read_image
from cudarun.session.launch.recorded.memory import element_layout, pointer_words, recorded_values
from cudarun.session.recording.archive import RecordedContents, Recording
from cudarun.session.recording.manifest import Manifest, RecordedRange

_POINTER = 8
_SUFFIXES = {ImageKind.PTX: "ptx", ImageKind.CUBIN: "cubin", ImageKind.FATBIN: "fatbin"}


class EditableRecording:
    """The files of a spec of a recording; `RequestError` if a spec cannot express it."""

    def __init__(self, recording: Recording, path: str) -> None:
        self._recording = recording
        self._manifest = recording.manifest
        self._path = path  # the path of the spec; the other files are beside it
        self._stem = os.path.splitext(path)[0]
        self._image = recording.ptx or recording.image
        self._parameters = _parameters(self._image, self._manifest)
        if self._manifest.objects:
            raise RequestError(
                "a spec cannot express recorded texture and surface objects", origin=recording.path
            )
        if self._manifest.memory:
            with recording.contents() as contents:
                self._refuse_addresses(contents)

    def write(self) -> None:
        """Write the files, the spec last."""
        outputs = [OutputFile("--output", path) for path in self._files]
        check_outputs(outputs, [self._recording.path])
        with ExitStack() as after_failure:
            for output in outputs:
                with whole_file(output) as file:
                    file.write(self._files[output.path]())
                after_failure.callback(os.unlink, output.path)
            after_failure.pop_all()

    @cached_property
    def _files(self) -> dict[str, Callable[[], bytes]]:
        """The files by path, each with a function that returns its bytes."""
        suffix = _SUFFIXES.get(identify(self._image), "image")
        found: dict[str, Callable[[], bytes]] = {f"{self._stem}.{suffix}": lambda: self._image}
        for each in self._manifest.ranges:
            found[self._array_path(each)] = self._array_of(each, after=False)
            if self._is_expected(each):
                found[self._array_path(each, "-after")] = self._array_of(each, after=True)
        found[self._path] = lambda: self._spec(f"{self._stem}.{suffix}").encode()
        return found

    def _is_expected(self, each: RecordedRange) -> bool:
        return bool(each.after) and self._manifest.status == 0

    def _array_path(self, each: RecordedRange, ending: str = "") -> str:
        return f"{self._stem}-{each.symbol or each.name}{ending}.npy"

    def _array_of(self, each: RecordedRange, *, after: bool) -> Callable[[], bytes]:
        def load() -> bytes:
            with self._recording.contents() as contents:
                data = contents.read(each, after=after)
            file = io.BytesIO()
            scalar, _ = element_layout(each)
            dtype = scalar_dtype(scalar)  # numpy stores bf16 as its bits
            np.save(file, data.view(dtype if dtype.kind in "iuf" else f"u{scalar.size}"))
            return file.getvalue()

        return load

    # --- the text --------------------------------------------------------------------------------

    def _spec(self, image: str) -> str:
        manifest = self._manifest
        table: dict[str, object] = {
            "name": os.path.basename(self._stem),
            "image": os.path.basename(image),
            "kernel": manifest.kernel,
            "grid": manifest.grid,
            "block": manifest.block,
            "smem": manifest.shared_bytes,
            "cluster": manifest.cluster,
            "cooperative": manifest.cooperative,
            "pdl": manifest.programmatic,
        }
        values = recorded_values(manifest, self._parameters)
        table["args"] = [
            self._argument(data, each.type)
            for data, each in zip(values, self._parameters, strict=True)
        ]
        table["buffer"] = [f"{each.name}={self._initial(each)}" for each in manifest.memory]
        table["set"] = [f"{each.symbol}={self._initial(each)}" for each in manifest.variables]
        table["expect"] = [
            f"{each.symbol or each.name}=@{os.path.basename(self._array_path(each, '-after'))}"
            for each in manifest.ranges
            if self._is_expected(each)
        ]
        entries = (entry for entry in table.items() if entry[1])
        return "\n".join(["[[launch]]", *spec_lines(entries), ""])

    def _initial(self, each: RecordedRange) -> str:
        scalar, (count,) = element_layout(each)
        path = os.path.basename(self._array_path(each))
        return f"{scalar}[{count}]:@{path}"

    def _argument(self, data: bytes, type_name: str | None) -> str:
        words = [data[at : at + _POINTER] for at in range(0, len(data), _POINTER)]
        addresses = [self._address(word) for word in words]
        if len(words) == 1 and addresses[0]:
            return addresses[0]
        if any(addresses) and len(data) % 4 == 0:
            members = (
                address or f"u{8 * len(word)}:{int.from_bytes(word, 'little')}"
                for address, word in zip(addresses, words, strict=True)
            )
            return f"{{{', '.join(members)}}}"
        return _number(data, type_name) or f"bytes:{data.hex()}"

    def _address(self, word: bytes) -> str | None:
        """Return the address of an element of a range; ``None`` if a word is none."""
        found = _range_of(word, self._manifest.memory)
        if found is None:
            return None
        offset = int.from_bytes(word, "little") - found.address
        size = element_layout(found)[0].size
        if offset % size:
            raise RequestError(
                f"a parameter points between two elements of {found.name}",
                origin=self._recording.path,
            )
        return f"&{found.name}[{offset // size}]" if offset else f"&{found.name}"

    def _refuse_addresses(self, contents: RecordedContents) -> None:
        memory = self._manifest.memory
        first, last = memory[0].address, memory[-1].end
        for each in self._manifest.ranges:
            words = pointer_words(contents.read(each), each.address)
            for value in np.unique(words[(words >= first) & (words < last)]):
                if _range_of(int(value).to_bytes(_POINTER, "little"), memory) is not None:
                    raise RequestError(
                        f"{each.symbol or each.name} contains addresses, which change in a spec",
                        hint=None
                        if self._manifest.shrunk
                        else "shrink the recording first: stale memory can contain addresses",
                        origin=self._recording.path,
                    )


def _parameters(image: bytes, manifest: Manifest) -> Sequence[Parameter]:
    """Return the kernel's parameters from its image."""
    try:
        facts = read_image(image, "image", whole=False)
    except CudarunError as error:
        raise RequestError("the image cannot be read", cause=error.what) from None
    kernel = facts.kernel(manifest.kernel)
    if kernel is None:
        raise RequestError(f"the image does not describe the parameters of {manifest.kernel}")
    return kernel.parameters


def _range_of(word: bytes, memory: Sequence[RecordedRange]) -> RecordedRange | None:
    if len(word) < _POINTER:
        return None
    value = int.from_bytes(word, "little")
    return next((each for each in memory if each.address <= value < each.end), None)


def _number(data: bytes, type_name: str | None) -> str | None:
    """Return a parameter as a number; ``None`` if its type is no number, or has other bits."""
    scalar = SCALARS["u8"] if type_name == "bool" else NAMED.get(type_name or "")
    if not isinstance(scalar, ScalarType) or scalar.size != len(data) or scalar.name in NAMELESS:
        return None
    value = np.frombuffer(data, scalar_dtype(scalar))[0].item()
    is_exact = value == value and abs(value) != float("inf")
    return f"{scalar.name}:{value!r}" if is_exact else None
