"""``cudarun.launch`` and ``cudarun.load``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from cudarun.api.calls import answer_to
from cudarun.api.failures import failure_of
from cudarun.api.keywords import LaunchKeywords, LoadKeywords
from cudarun.api.results import LaunchOutputs, LoadedImages, as_given, mapped, parameters
from cudarun.api.tensors import is_array
from cudarun.api.values import ZIP_MAGIC, ArgumentValue, ArrayFiles

if TYPE_CHECKING:
    from typing import Unpack

ImageSource: TypeAlias = str | os.PathLike[str] | bytes
"""The path of an image, or its contents: bytes, or a text with a newline."""

TIMEOUT = 60.0
"""The time limit of a launch or a load in seconds, as of a case of a spec."""
_PARAMETERS = {"device", "timeout", "directory"}
_NAMES = {"shared": "smem", "asserts": "assert"}
"""The other names of keywords."""
_NAMED = ("buffer", "set", "expect")
"""The keywords whose values are arguments or arrays, by name."""


def launch(
    image: ImageSource,
    kernel: str | None = None,
    *,
    args: Mapping[str, ArgumentValue] | Sequence[ArgumentValue] = (),
    device: str | int | None = None,
    timeout: float | None = TIMEOUT,
    directory: str | os.PathLike[str] | None = None,
    **options: Unpack[LaunchKeywords],
) -> LaunchOutputs:
    """Launch a kernel with arrays and numbers, and return its buffers as arrays.

    >>> import cudarun, numpy as np
    >>> source = b'''extern "C" __global__ void twice(float* x, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) x[i] *= 2;
    ... }'''
    >>> x = np.arange(4, dtype=np.float32)
    >>> outputs = cudarun.launch(source, device="cpu", threads=4, args={"x": x, "n": 4})
    >>> outputs["x"].tolist()
    [0.0, 2.0, 4.0, 6.0]

    The launch is that of the command ``cudarun launch``, in a worker process: after a fault, the
    next launch works. The arrays of the arguments stay unchanged.

    Args:
        image: The path of a CUDA source, PTX, cubin or fatbin, or its contents: bytes, or a text
            with a newline.
        kernel: The kernel; optional if the image has one.
        args: The arguments, by the names of the parameters or in their order. An array is a
            buffer with its contents. A text has the syntax of ARG: ``"f32[n]:zeros"``. A Python
            number gets the type of its parameter. ``None`` is a null pointer.
        device: A GPU's index, UUID or PCI bus ID, or ``"cpu"``; by default ``CUDARUN_DEVICE``, or
            GPU 0.
        timeout: The time limit in seconds of each phase: reading, loading, device work; ``None``
            for none.
        directory: The base of relative paths; by default the working directory.
        options: The options of the command as keywords, see `LaunchKeywords`: ``threads=n``,
            ``grid=(4, 2)``, ``block=128``, ``shared=4096``, ``check="y == 2*x"``,
            ``expect={"y": array}``, ``detect="race"``.

    Raises:
        WrongResult: A check failed, or a detector found something; ``outputs`` has the buffers.
        InvalidRequest: An argument does not match its parameter, or an option is unusable.
        DeviceNotFound: There is no such device.
        InvalidImage: The image does not compile or load.
        ExecutionFailed: The kernel faulted.
        TimedOut: The time limit passed.
        WorkerFailed: The worker process died.
        TypeError: An argument is neither a number nor an array, or a keyword is unknown.
    """
    __tracebackhide__ = True  # pytest shows the call
    if isinstance(args, str | bytes) or is_array(args):
        raise TypeError("args is a mapping of names to arguments, or a sequence of arguments")
    keywords = option_values(
        options, LaunchKeywords.__optional_keys__ | {"args", *_PARAMETERS}, "launch"
    )
    keywords |= _common(device, timeout)
    if kernel is not None:
        keywords["kernel"] = kernel
    with ArrayFiles() as given:
        keywords["image"] = _image(given, image)
        named = named_values(given, options)
        if isinstance(args, Mapping):
            named["arguments"] = [(name, given.value(name, each)) for name, each in args.items()]
        else:
            values = (given.value(f"args[{i}]", each) for i, each in enumerate(args))
            named["arguments"] = [(None, value) for value in values]
        copies = given.create()
        answer = answer_to(
            "launch", keywords, named, directory=directory, files=given.files, copies=copies
        )
        arrays = mapped(given.files[copies], answer.copies)
    if not isinstance(args, Mapping):
        args = dict(zip(parameters(answer.document), args, strict=False))
    arrays |= {name: as_given(array, args.get(name)) for name, array in arrays.items()}
    outputs = LaunchOutputs(answer.report, answer.document, arrays)
    if answer.code == 0:
        return outputs
    came_back = answer.copies or answer.code == 1
    raise failure_of(answer, outputs if came_back else None)


def load(
    image: ImageSource,
    *others: ImageSource,
    device: str | int | None = None,
    timeout: float | None = TIMEOUT,
    directory: str | os.PathLike[str] | None = None,
    **options: Unpack[LoadKeywords],
) -> LoadedImages:
    """Load images with all their kernels on a device.

    >>> import cudarun
    >>> cudarun.load(b"__global__ void nothing() {}", device="cpu").kernels
    ('nothing()',)

    Args:
        image: The path of a CUDA source, PTX, cubin or fatbin, or its contents.
        others: Further images.
        device: The device, as for `launch`.
        timeout: The time limit in seconds, as for `launch`.
        directory: The base of relative paths; by default the working directory.
        options: The options of ``cudarun load`` as keywords, see `LoadKeywords`.

    Raises:
        InvalidImage: An image does not compile or load.
        Failure: Any other of the exceptions of `launch`.
        TypeError: A keyword is unknown.
    """
    __tracebackhide__ = True
    known = LoadKeywords.__optional_keys__ | _PARAMETERS
    keywords = option_values(options, known, "load") | _common(device, timeout)
    with ArrayFiles() as given:
        keywords["images"] = tuple(_image(given, each) for each in (image, *others))
        answer = answer_to("load", keywords, directory=directory)
    if answer.code:
        raise failure_of(answer)
    return LoadedImages(answer.report, answer.document)


def _common(device: str | int | None, timeout: float | None) -> dict[str, Any]:
    """Return the values of the device and the time limit."""
    values: dict[str, Any] = {"timeout": timeout or 0}
    return values if device is None else values | {"device": str(device)}


def _image(files: ArrayFiles, image: ImageSource) -> str | bytes:
    """Return the path or the contents of an image."""
    if isinstance(image, str) and "\n" in image:
        image = image.encode()
    if isinstance(image, bytes | bytearray | memoryview):
        data = bytes(image)
        return files.path_of(data) if data.startswith(ZIP_MAGIC) else data
    path = os.fspath(image)
    return "./-" if path == "-" else path  # which is stdin on the command line


def option_values(given: Mapping[str, object], known: Iterable[str], call: str) -> dict[str, Any]:
    """Return the values of options, except those of `named_values`.

    Args:
        given: The keywords.
        known: The keywords of the call.
        call: The call, for messages: ``launch``.

    Raises:
        TypeError: There is no such keyword.
    """
    accepted = sorted(known)
    values: dict[str, Any] = {}
    for keyword, value in given.items():
        if keyword not in accepted:
            near = get_close_matches(keyword, accepted, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{call}() got an unexpected keyword argument {keyword!r}{hint}")
        name = _NAMES.get(keyword, keyword)
        if name != keyword and name in given:
            raise TypeError(f"{call}() got {keyword!r} and {name!r}, which are the same")
        is_named = isinstance(value, Mapping) and keyword in _NAMED
        if value is not None and value is not False and not is_named:
            values[name] = _plain(value)
    return values


def _plain(value: object) -> Any:
    """Return the value of an option as a text, a list of them or of lists, or ``True``."""
    if value is True:
        return value
    if isinstance(value, Mapping):
        return [f"{name}={item}" for name, item in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def named_values(
    files: ArrayFiles, given: Mapping[str, Any]
) -> dict[str, list[tuple[str | None, Any]]]:
    """Return the values of options that are arguments or arrays, by the option."""
    values: dict[str, list[tuple[str | None, Any]]] = {}
    for keyword in _NAMED:
        if isinstance(given.get(keyword), Mapping):
            convert = files.expected if keyword == "expect" else files.value
            values[keyword] = [(name, convert(name, each)) for name, each in given[keyword].items()]
    return values
