"""Write ``docs/pictures``: the output of commands on ``cpu`` as SVG, for the README.

``python -m tools.generate_pictures`` runs each command of `PICTURES` and draws a terminal of 80
columns.
The pictures refer to no other host: GitHub and package indexes show them without loading fonts.
Times and this checkout's path are masked. `tests/test_pictures.py` compares the pictures with the
commands' current output, except for the PTX, which depends on NVRTC's version.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from difflib import ndiff
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.support.processes import PATIENCE
from tools.generate_tours import masked

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "pictures"

PICTURES = {
    "launch": (
        "grep -A5 saxpy samples/saxpy.cu",
        "cudarun launch samples/saxpy.cu -d cpu --threads n \\\n"
        "    a=2 'x=f32[n]:iota' 'y=f32[n]:ones' n=1000 \\\n"
        "    --check 'y == a*x + 1' --print 'y[:4]'",
    ),
    "recorded": ("cudarun launch tests/data/recordings/scatter.cudarun -d cpu",),
    "out-of-bounds": (
        "grep -nA5 one_past samples/out_of_bounds.cu",
        "cudarun launch samples/out_of_bounds.cu -k one_past -d cpu \\\n"
        "    --threads 1001 'out=i32[n]' n=1000",
    ),
    "race": (
        "grep -nA5 reverse_racy samples/detect/race.cu",
        "cudarun launch samples/detect/race.cu -k reverse_racy -d cpu --block 256 \\\n"
        "    'x=i32[256]:iota' 'y=i32[256]' --check 'y == x[::-1]' --detect race",
    ),
}
"""The commands of each picture, as a shell gets them from the root of the repository."""

_WIDTH = 80
_COLUMN = 12.2  # units of the picture
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_FORMAT = f"""\
<svg viewBox="0 0 {{width}} {{height}}" xmlns="http://www.w3.org/2000/svg">
<style>
.{{unique_id}}-matrix {{{{
font-family: {_FONTS};
font-size: {{char_height}}px;
line-height: {{line_height}}px;
}}}}
{{styles}}
</style>
<defs>
<clipPath id="{{unique_id}}-clip-terminal">
<rect x="0" y="0" width="{{terminal_width}}" height="{{terminal_height}}" />
</clipPath>
{{lines}}
</defs>
{{chrome}}
<g transform="translate({{terminal_x}}, {{terminal_y}})"
 clip-path="url(#{{unique_id}}-clip-terminal)">
{{backgrounds}}
<g class="{{unique_id}}-matrix">
{{matrix}}
</g>
</g>
</svg>
"""

# Dark in both modes of a reader's page, with a contrast of at least 7:1 for each color of text.
_THEME = TerminalTheme(
    (22, 27, 34),
    (230, 237, 243),
    [
        *((72, 79, 88), (255, 161, 152), (86, 211, 100), (227, 179, 65)),
        *((121, 192, 255), (210, 168, 255), (86, 212, 221), (201, 209, 217)),
    ],
)


def output(command: str) -> str:
    """Run a command and return what it prints on both streams, with ANSI styles."""
    environment = os.environ | {"PYTHON": sys.executable, "COLUMNS": str(_WIDTH)}
    shell = f'cudarun() {{ "$PYTHON" -m cudarun "$@" --color; }}\n{command}'
    done = subprocess.run(
        ["bash", "-c", shell],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return _masked(done.stdout)


def _masked(text: str) -> str:
    """Replace times and the path of this checkout."""
    return masked(text).replace(f"{ROOT}/", "").expandtabs()


def screen(name: str) -> list[Text]:
    """Return the lines of a picture, at most 80 columns wide."""
    lines: list[Text] = []
    for command in PICTURES[name]:
        lines += [Text(""), *_prompt(command)] if lines else _prompt(command)
        for line in output(command).splitlines():
            lines += _wrapped(Text.from_ansi(line))
    return lines


def _prompt(command: str) -> list[Text]:
    first, *rest = command.splitlines()
    start = Text.assemble(("$ ", "green"), (first, "bold"))
    return [start, *(Text(line, "bold") for line in rest)]


def _wrapped(line: Text) -> list[Text]:
    """Wrap a line at words; what follows is indented beyond it, behind its ``|``."""
    if line.cell_len <= _WIDTH:
        return [line]
    console = Console(width=_WIDTH, file=StringIO())
    (indent,) = re.findall(r"^[ |]*", line.plain)
    first = line.wrap(console, _WIDTH)[0]
    first.rstrip()
    rest = line[len(first.plain) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    more = rest.wrap(console, _WIDTH - len(indent) - 4)
    return [first, *(Text.assemble(f"{indent}    ", part) for part in more)]


def picture(name: str) -> str:
    """Return a picture as SVG."""
    console = Console(
        width=_WIDTH, record=True, file=StringIO(), force_terminal=True, color_system="standard"
    )
    for line in screen(name):
        console.print(line, soft_wrap=True)
    return console.export_svg(title="", theme=_THEME, code_format=_FORMAT, unique_id=name)


def shown(svg: str) -> list[str]:
    """Return the text of a picture, line by line, whatever version of rich has drawn it."""
    rows: dict[float, str] = {}
    pattern = re.compile(
        r'<text [^>]*\bx="([\d.]+)" y="([\d.]+)"[^>]*clip-path[^>]*>([^<]*)</text>'
    )
    for x, y, text in pattern.findall(svg):
        column = round(float(x) / _COLUMN)
        rows[float(y)] = rows.get(float(y), "").ljust(column) + html.unescape(text)
    lines = [row.replace("\N{NO-BREAK SPACE}", " ").rstrip() for _, row in sorted(rows.items())]
    return [line for line in lines if line]


def faults(name: str, svg: str) -> list[str]:
    """Return the lines of a picture that its commands no longer print, and those that it lacks."""
    drawn = [_without_ptx(line) for line in shown(svg)]
    printed = [_without_ptx(line.plain) for line in screen(name) if line.plain]
    return [line for line in ndiff(drawn, printed) if line[0] in "+-"]


def _without_ptx(line: str) -> str:
    return re.sub(r"PTX line \d+: .*", "PTX line …", line).rstrip()


def main() -> int:
    """Write the pictures, and print the names of those that changed."""
    TARGET.mkdir(exist_ok=True)
    for name in PICTURES:
        path = TARGET / f"{name}.svg"
        if not path.exists() or faults(name, path.read_text()):
            path.write_text(picture(name))
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
