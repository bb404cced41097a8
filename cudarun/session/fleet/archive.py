"""The archive that a fleet sends to its nodes: a spec, the files that it reads, and the request.

The same inputs make the same bytes, on every machine and at every time.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from cudarun.base.decoding import MAX_MAGNITUDE, InvalidDocument, decode, parse
from cudarun.base.errors import RequestError
from cudarun.base.files import OutputFile, whole_file
from cudarun.base.options import option_fields
from cudarun.session.fleet.request import NodeRequest

_REQUEST = "fleet.json"
_FILES = "files/"
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)
_DECODED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other methods raise other errors
_MAX_REQUEST = 1 << 20  # bytes
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError, ValueError,
            FileExistsError, NotADirectoryError)  # fmt: skip
"""What reading a damaged archive raises, and writing a file where a folder is."""
MAX_ARCHIVE = 4 << 30  # the most bytes of the unpacked files of a fleet


def pack(spec: str, paths: Iterable[str], request: NodeRequest) -> bytes:
    """Return the archive of a spec.

    Args:
        spec: The spec file, relative to the working directory.
        paths: The files that its cases read, relative to the working directory. Those that do not
            exist, such as metadata that could be beside an image, are left out.
        request: The request; its ``spec`` is set here.
    """
    existing = (path for path in paths if os.path.exists(path))
    files = sorted({os.path.normpath(path) for path in (spec, *existing)})
    for path in filter(os.path.isabs, files):
        raise RequestError(
            f"{path}: a fleet takes files by relative paths, which exist on every node",
            hint="write the path relative to the spec",
        )
    folders = [os.path.dirname(os.path.abspath(path)) for path in files]
    root = os.path.relpath(os.path.commonpath(folders))
    data = io.BytesIO()
    total = 0
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        fields = asdict(request) | {"spec": os.path.relpath(os.path.normpath(spec), root)}
        _write(archive, _REQUEST, json.dumps(fields, sort_keys=True).encode())
        for path in files:
            try:
                contents = Path(path).read_bytes()
            except OSError as error:
                raise RequestError(f"{path}: {error.strerror}") from None
            total += len(contents)
            if total > MAX_ARCHIVE:
                raise RequestError(f"{spec}: its files have more than {MAX_ARCHIVE >> 30} GiB")
            _write(archive, _FILES + Path(os.path.relpath(path, root)).as_posix(), contents)
    return data.getvalue()


def unpack(data: bytes, folder: Path) -> NodeRequest:
    """Write the files of an archive into a folder, and return its request."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(each.compress_type not in _DECODED for each in archive.infolist()):
                raise ValueError("a member is neither stored nor deflated")
            if archive.getinfo(_REQUEST).file_size > _MAX_REQUEST:
                raise ValueError("its request is too large")
            request = _request(parse(archive.read(_REQUEST)))
            members = [name for name in archive.namelist() if name != _REQUEST]
            if sum(archive.getinfo(name).file_size for name in members) > MAX_ARCHIVE:
                raise RequestError("the files of the archive are too large")
            for name in members:
                path = folder / _relative(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                with whole_file(OutputFile("--node", str(path))) as file:
                    file.write(archive.read(name))
    except _DAMAGES as error:
        what = f"stdin is not an archive of cudarun fleet: {error}"
        raise RequestError(what, hint="'cudarun fleet SPEC --hosts …' starts --node") from None
    return request


def _request(document: object) -> NodeRequest:
    try:
        request = decode(NodeRequest, document, others=False)
    except InvalidDocument as error:
        raise InvalidDocument(f"it was made by another version of cudarun: {error}") from None
    for each in option_fields(NodeRequest):
        low, high = each.metadata["option"][1].get("bounds", (0, MAX_MAGNITUDE))
        value = getattr(request, each.name)
        if isinstance(value, int | float) and not low <= value <= high:
            raise InvalidDocument(f"{each.name} is {value}")
    _relative(_FILES + request.spec)
    return request


def _relative(name: str) -> PurePosixPath:
    path = PurePosixPath(name.removeprefix(_FILES))
    if not name.startswith(_FILES) or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ValueError(f"unexpected member {name!r}")
    return path


def _write(archive: zipfile.ZipFile, name: str, contents: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _FIRST_DATE), contents, zipfile.ZIP_DEFLATED)
