"""Hints of the command line in the words of the Python API."""

from __future__ import annotations

import pytest

from cudarun.api.spelling import in_python


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("raise --timeout, or --smem BYTES", "raise timeout, or smem=BYTES"),
        ("pass --repeat 5 or more", "pass repeat=5 or more"),
        ("timed out (--timeout 3)", "timed out (timeout=3)"),
        ("compile it with --compiler nvcc.", 'compile it with compiler="nvcc".'),
        ("add --detect race,uninit for races", 'add detect="race,uninit" for races'),
        ("run it with -d cpu, or with -I DIR", 'run it with device="cpu", or with include=DIR'),
        ("--grid and '--block' apply", "grid and block apply"),
        ("--grid '(n+255)//256'", 'grid="(n+255)//256"'),
        ("--hot requires --repeat", "hot=True requires repeat"),
        ("--compile-option --no-such=1", 'compile_option="--no-such=1"'),
        ("remove --together", "remove --together"),  # no keyword
        ("a-b --no-such-option c", "a-b --no-such-option c"),
        ("see 'cudarun launch --help'", "see help(cudarun.launch)"),
        ("pass 'x=f32[8]:cast(@array)'", "pass x.astype(np.float32)"),
        ("pass 'u8[2,3]:cast(@array)'", "pass the array.astype(np.uint8)"),
        ("in any order: x=… n=…", 'in any order: args={"x": …, "n": …}'),
        (
            "run\ncudarun launch image -k f -d cpu --threads 8 --hot x=@array n=8 'y=f32[n]'",
            'run\ncudarun.launch(image, kernel="f", device="cpu", threads=8, hot=True, '
            'args={"x": array, "n": 8, "y": "f32[n]"})',
        ),
        ("cudarun launch k.cu @array a=1", 'cudarun.launch("k.cu", args=[array, 1])'),
    ],
)
def test_a_message(text: str, python: str) -> None:
    assert in_python(text) == python
