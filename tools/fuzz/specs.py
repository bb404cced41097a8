"""Hostile specs: damaged TOML, keys and values of other types, deep nesting, repeated tables."""

from __future__ import annotations

import random
from pathlib import Path

from cudarun.commands.spec_file import read_spec
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from tests.support.processes import ROOT
from tools.fuzz import text
from tools.fuzz.fuzzer import Fuzzer, file

_SPECS = sorted([*ROOT.glob("tests/data/specs/*.toml"), *ROOT.glob("tests/programs/*.toml")])
_KEYS = (
    *("name", "image", "kernel", "threads", "grid", "block", "cluster", "smem", "args", "check"),
    *("print", "save", "show", "rtol", "atol", "seed", "repeat", "expect_error", "devices", "let"),
    *(
        "timeout",
        "detect",
        "reference",
        "skip",
        "expect",
        "limit",
        "define",
        "frob",
        "allow_python",
    ),
)
_VALUES = (
    *("1", "-1", "0", "1.5", "nan", "inf", "-inf", "true", '"text"', '""', "[]", "{}", "[1, [2]]"),
    *("{a = 1}", '["a", 1]', '[["launch"]]', "1979-05-27", "07:32:00", "9223372036854775808"),
    *('"\\u0000"', '"../x"', '"a\\nb"', "0x" + "f" * 5000, '"' + "x" * 20000 + '"', '"n"', '"[n"'),
    *("[" * 2000 + "]" * 2000, "{a=" * 2000 + "1" + "}" * 2000, '["x=f32[n]:iota"]', "9" * 5000),
    *("[{a = 1}, {a = 2}]", '"cpu"', '"/dev/null"', '"/dev/zero"', "'''\n'''", '["", ""]'),
)
_LINES = (
    *("[[launch]]", "[launch]", "[[launch.launch]]", "launch = [{}]", "launch = 1", "[a.b.c]", "["),
    *("[[launch]", "launch = []", "[launch.args]", "= 1", "a.b.c.d = 1", "[[run]]", '"" = 1', "]"),
    *('launch = [{image = "x.ptx"}]', '[["launch"]]', "[['launch']]", '"laun\\u0063h" = 1'),
    ".".join("a" * 400) + " = 1",
)
_WORDS = (*_KEYS, *_VALUES, *_LINES, *text.NUMBERS, "=", '"', "'", "#", "[", "]", "{", "}", ",")


class Specs(Fuzzer[str]):
    """Texts of ``launch --spec``."""

    name = "specs"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._texts = [path.read_text() for path in _SPECS]

    def case(self, chance: random.Random) -> str:
        """Return a spec, most often one with a case or two."""
        if chance.randrange(3):
            lines = ["[[launch]]", f'image = "{ROOT}/samples/saxpy.ptx"']
        else:
            lines = chance.choice(self._texts).split("\n")[:40]
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(lines) + 1)
            line = f"{chance.choice(_KEYS)} = {chance.choice(_VALUES)}"
            lines.insert(at, line if chance.randrange(4) else chance.choice(_LINES))
        made = "\n".join(lines)
        return text.damaged(made, chance, _WORDS) if chance.randrange(3) == 0 else made

    def exit_code(self, case: str) -> int:
        """Read its cases."""
        where = Target(parse_devices("cpu"), timeout=60, capture=True)
        with file(self.folder, "spec.toml", case.encode(errors="surrogatepass")) as path:
            read_spec(str(path), [], where)
        return 0
