"""Hostile JSON beside images of Triton."""

from __future__ import annotations

import random
from pathlib import Path

from tests.support.processes import ROOT
from tools.fuzz import text
from tools.fuzz.fuzzer import Fuzzer, command, file

_FOLDER = ROOT / "tests" / "data" / "triton"
_KEYS = (
    *("name", "num_warps", "shared", "num_ctas", "launch_cooperative_grid", "global_scratch_size"),
    *("profile_scratch_size", "target", "cluster_dims"),
    *("launch_pdl", "tensordesc_meta", "signature", "constants"),
)
_VALUES = (
    *("0", "1", "-1", "4", "33", "1e9", "2147483648", "1" + 30 * "0", "1e400", "-1e400", "1.5"),
    *("Infinity", "NaN", "null", "true", "[]", "{}", '""', '"softmax"', '"\\u0000"', '"\\ud800"'),
    *("[1]", '{"a": 1}', '"4"', "[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000),
    *('[{"swizzle": 3, "elem_type": 6, "block_size": [64, 64]}]', '{"x": "*fp32", "y": "i32"}'),
    *('[{"swizzle": 9, "elem_type": -1, "block_size": [0]}]', '{"x": "constexpr", "y": 1e999}'),
    *("9" * 5000, '"' + "x" * 20000 + '"', "[[1, 2], 3]", "-0", "1e-400", "4294967296"),
)
_WORDS = (*_KEYS, *_VALUES, "{", "}", "[", "]", ":", ",", '"', "\\")


class Triton(Fuzzer[str]):
    """The ``.json`` of a launch of a Triton kernel."""

    name = "triton"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._json = (_FOLDER / "softmax.json").read_text()
        self._image = folder / "softmax.ptx"
        self._image.write_bytes((_FOLDER / "softmax.ptx").read_bytes())

    def case(self, chance: random.Random) -> str:
        """Return a file with other values of the keys that matter, perhaps damaged."""
        lines = self._json.split("\n")
        for _ in range(chance.randint(1, 3)):
            key, value = chance.choice(_KEYS), chance.choice(_VALUES)
            lines = [line for line in lines if not line.startswith(f' "{key}"')]
            lines.insert(1, f' "{key}": {value},')
        made = "\n".join(lines)
        return text.damaged(made, chance, _WORDS) if chance.randrange(3) == 0 else made

    def exit_code(self, case: str) -> int:
        """Plan a launch."""
        arguments = ("x=f32[64,64]:ones", "y=f32[64,64]", "i32:64", "i32:64")
        with file(self.folder, "softmax.json", case.encode(errors="surrogatepass")):
            return command(
                ["launch", str(self._image), "-d", "cpu", "--grid", "4", "--dry-run", *arguments]
            )
