"""Write ``cudarun/programs/tables/*.txt``: the functions of the CUDA libraries in C.

They come from the headers of a toolkit, the names from its library as well, and the texts of errors
from the bindings. The first argument is a folder with ``include/`` and, of a runtime library,
``lib64/`` or ``lib/``::

    python -m tools.generate_cuda_prototypes /usr/local/cuda
    python -m tools.generate_cuda_prototypes --runtime cudart12 nvidia/cuda_runtime

`cudarun.programs.prototypes` explains the format.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from cuda.bindings import driver, runtime

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "cudarun" / "programs" / "tables"

_PROTOTYPE = re.compile(
    r"(?:extern )?(cudaError_t|CUresult|const char ?\*|struct cudaChannelFormatDesc) ?"
    r"(cu\w+)\((.*)\);"
)
_PARAMETER = re.compile(r"(.*?[\s*])(\w+)")
_PER_THREAD = re.compile(r"_pt[sd][zs]$")
_EVERY_VERSION = "#define __CUDA_API_VERSION_INTERNAL 1\n"
_ROW = """
template <class T> void row(const char *name) {
    const char *kind = std::is_pointer<T>::value ? "pointer" : std::is_enum<T>::value ? "enum"
        : std::is_floating_point<T>::value ? "float" : !std::is_integral<T>::value ? "struct"
        : std::is_signed<T>::value ? "signed" : "unsigned";
    std::printf("%s\\t%zu\\t%s\\n", name, sizeof(T), kind);
}
int main() {
"""
# Their declarations are not in the headers of the runtime API.
_REGISTRATION = re.compile(r"__cuda")


class Headers:
    """The headers of a toolkit.

    Args:
        folder: Its folder ``include``.
        names: The headers.
    """

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        self._folder = folder
        self._names = [name for name in names if (folder / name).exists()]

    def prototypes(self, before: str = "") -> dict[str, list[tuple[str, str]]]:
        """Return the parameters of each function, as type and name, after some definitions."""
        text = self._gcc("-E", "-P", source=before + self._includes)
        text = re.sub(r"__attribute__\s*\(\(.*?\)\)+", "", text)
        found = {}
        for line in re.split(r"(?<=[;{}])", re.sub(r"\s+", " ", text)):
            match = _PROTOTYPE.fullmatch(line.strip())
            if match is not None:
                found[match[2]] = [*map(_parameter, _split(match[3]), range(99))]
        return found

    def facts(self, types: set[str]) -> dict[str, tuple[int, str]]:
        """Return the size and the kind of each type."""
        text = "".join(f'row<{each}>("{each}");\n' for each in sorted(types))
        rows = (line.split("\t") for line in self._run(text))
        return {name: (int(size), kind) for name, size, kind in rows}

    def _run(self, rows: str) -> list[str]:
        """Return the lines that statements of C++ print."""
        head = f"{_EVERY_VERSION}#include <cstddef>\n#include <cstdio>\n#include <type_traits>\n"
        source = f"{head}{self._includes}{_ROW}{rows}}}\n"
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/facts"
            self._gcc("-w", "-o", program, source=source, language="c++")
            output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        return output.splitlines()

    def fields(self, structure: str) -> list[tuple[str, str, str, str]]:
        """Return offset, size, size of an item and name of the fields of a structure."""
        text = self._gcc("-E", "-P", source=self._includes)
        body = re.search(rf"struct [^;{{]*{structure}\s*{{([^}}]*)}}", text)
        names = re.findall(r"(\w+)(?:\[\w+\])*;", body[1]) if body else []
        rows = "".join(
            f'std::printf("%zu %zu %zu {name}\\n", offsetof({structure}, {name}), '
            f"sizeof({structure}::{name}), "
            f"sizeof(std::remove_all_extents<decltype({structure}::{name})>::type));\n"
            for name in names
        )
        return [tuple(line.split()) for line in self._run(rows)]  # type: ignore[misc]

    def renamed(self) -> dict[str, str]:
        """Return the names in the documentation of functions with a version in theirs."""
        text = "".join((self._folder / name).read_text() for name in self._names)
        macro = r"^\s*#\s*define\s+(cu\w+)\s+(?:__CUDA\w*_API_PT[SD][ZS]\()?(cu\w+?)\)?\s*$"
        return {name: base for base, name in re.findall(macro, text, re.MULTILINE)}

    def versions(self) -> dict[str, list[int]]:
        """Return the versions of CUDA that introduced each form of a driver function."""
        found = defaultdict(set)
        text = (self._folder / "cudaTypedefs.h").read_text()
        for name, version in re.findall(r"\*PFN_(cu\w+?)_v(\d+)\)", text):
            found[name].add(int(version))
        return {name: sorted(each) for name, each in found.items()}

    @property
    def _includes(self) -> str:
        return "".join(f"#include <{name}>\n" for name in self._names)

    def _gcc(self, *options: str, source: str, language: str = "c") -> str:
        command = ["g++", "-x", language, f"-I{self._folder}", *options, "-"]
        return subprocess.run(
            command, input=source, capture_output=True, text=True, check=True
        ).stdout


def _split(parameters: str) -> list[str]:
    """Split at the commas outside of parentheses."""
    parts, depth = [""], 0
    for character in parameters.strip():
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [] if parts in ([""], ["void"]) else [part.strip() for part in parts]


def _parameter(text: str, number: int) -> tuple[str, str]:
    is_array = text.endswith("]")
    text = re.sub(r"\s*\[.*\]$", "", text)
    match = _PARAMETER.fullmatch(text)
    named = match is not None and match[2] not in ("int", "long", "char", "size_t")
    type_, name = (match[1], match[2]) if match and named else (text, f"a{number}")
    type_ = re.sub(r"\b(const|struct|enum|union)\b|\s+(?=\*)", "", type_ + "*" * is_array)
    return " ".join(type_.replace("*", "* ").split()).replace("* *", "**"), name


def exported(library: Path) -> list[str]:
    """Return the functions that a library exports."""
    command = ["nm", "-D", "--defined-only", str(library)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    words = [line.split() for line in lines]
    return sorted(name.partition("@")[0] for _, kind, name in words if kind in "TW")


def document(headers: Headers, names: list[str] | None, errors: list[str]) -> str:
    """Return a table.

    Args:
        headers: The headers of the library.
        names: The functions that it exports; by default those of the headers.
        errors: The rows of errors.
    """
    every = headers.prototypes(_EVERY_VERSION) | headers.prototypes()
    names = sorted(every) if names is None else names
    plain = {name: every[name] for name in names if name in every and not _PER_THREAD.search(name)}
    types = {type_.rstrip("*") for parameters in plain.values() for type_, _ in parameters}
    types = {each.strip() for each in types} - {"void", "char"}
    rows = ["# Written by `python -m tools.generate_cuda_prototypes`."]
    for name, (size, kind) in headers.facts(types).items():
        rows.append(f"type {size} {kind} {name}")
    renamed = headers.renamed()
    for name, parameters in plain.items():
        shown = ", ".join(f"{type_} {each}" for type_, each in parameters)
        rows.append(f"call {renamed.get(name, name)} {name}({shown})")
    for name in names:
        if _PER_THREAD.search(name) and _PER_THREAD.sub("", name) in plain:
            rows.append(f"thread {name} {_PER_THREAD.sub('', name)}")
        elif name not in plain and not _REGISTRATION.match(name):
            rows.append(f"only {name}")
    rows += [f"field {' '.join(row)}" for row in headers.fields("cudaDeviceProp")]
    return "\n".join([*rows, *errors]) + "\n"


def _introductions(headers: Headers, names: list[str]) -> list[str]:
    """Return the rows of the versions that `cuGetProcAddress` asks for."""
    forms = defaultdict(list)
    for name in names:
        if not _PER_THREAD.search(name):
            forms[re.sub(r"_v(\d+)$", "", name)].append(name)
    rows = []
    for base, versions in sorted(headers.versions().items()):
        found = sorted(forms.get(base, ()), key=lambda name: (len(name), name))
        rows += [
            f"since {version} {base} {name}"
            for name, version in zip(reversed(found), reversed(versions), strict=False)
        ]
    return rows


def _errors(kind: type, text_of: object) -> list[str]:
    rows = []
    for each in kind.__members__.values():  # type: ignore[attr-defined]
        text = text_of(each)[1]  # type: ignore[operator]
        rows.append(f"error {int(each)} {each.name} {text.decode() if text else each.name}")
    return rows


def runtime_table(folder: Path, version: str) -> str:
    """Return the table of the runtime library of a version in a toolkit."""
    headers = Headers(folder / "include", ("cuda_runtime_api.h", "cuda_profiler_api.h"))
    library = next(folder.glob(f"lib*/libcudart.so.{version}"))
    errors = _errors(runtime.cudaError_t, runtime.cudaGetErrorString)
    return document(headers, exported(library), errors)


def driver_table(folder: Path) -> str:
    """Return the table of the driver's library; its functions are those of the headers."""
    from cudarun.emulator.driver import cuGetErrorString

    headers = Headers(folder / "include", ("cuda.h", "cudaProfiler.h"))
    names = sorted(headers.prototypes(_EVERY_VERSION) | headers.prototypes())
    rows = _introductions(headers, names) + _errors(driver.CUresult, cuGetErrorString)
    return document(headers, None, rows)


def main(arguments: list[str]) -> None:
    """Write the tables of a toolkit, or that of one runtime library."""
    folder = Path(arguments[-1])
    if arguments[0] == "--runtime":
        TABLES.joinpath(f"{arguments[1]}.txt").write_text(
            runtime_table(folder, arguments[1].removeprefix("cudart"))
        )
        return
    TABLES.joinpath("cudart13.txt").write_text(runtime_table(folder, "13"))
    TABLES.joinpath("cuda.txt").write_text(driver_table(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
