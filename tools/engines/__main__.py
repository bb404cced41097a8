"""Run everything that was recorded on both engines of the emulated device, and compare the bits.

::

    python -m tools.engines                          # all; exit status 1 if something is different
    python -m tools.engines forms --only atom.       # the forms with this in their names
    python -m tools.engines forms --write            # the tables of docs/evidence/engines.md
    python -m tools.engines --every 16 --check        # an eighth; exit status 1 if they are stale
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.support.programs import CHAPTERS
from tools.engines import forms, page, programs, textures
from tools.engines.comparison import Comparison
from tools.engines.recorded import chapters

SUBJECTS: dict[str, tuple[Callable[[], Sequence[str]], Callable[..., Comparison]]] = {
    "forms": (lambda: list(chapters()), forms.compare),
    "textures": (textures.subjects, textures.compare),
    "programs": (lambda: CHAPTERS, programs.compare),
}
"""By subject: its groups, and the comparison of one group."""


def main() -> int:
    """Compare, print what is not compiled, and write or check the page."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.engines", description=(__doc__ or "").partition("\n")[0]
    )
    add = parser.add_argument
    add("subject", nargs="*", metavar="SUBJECT", help=f"of {', '.join(SUBJECTS)}; default: all")
    add("--only", default="", metavar="TEXT", help="cases with this in their names")
    add("--every", type=int, default=1, metavar="N", help="run one of N; default: all")
    add("--jobs", type=int, default=os.cpu_count(), help="processes; default: %(default)s")
    add("--write", action="store_true", help="write the tables of the page")
    add("--check", action="store_true", help="fail if the page has other tables")
    given = parser.parse_args()
    if unknown := set(given.subject) - SUBJECTS.keys():
        parser.error(f"no such subject: {', '.join(sorted(unknown))}")
    if given.only and (given.write or given.check):
        parser.error("--only: the page has all cases")
    os.environ["CUDARUN_CACHE"] = "off"
    text = before = page.PAGE.read_text()
    failed = False
    with ProcessPoolExecutor(given.jobs, max_tasks_per_child=1) as pool:
        for subject in given.subject or SUBJECTS:
            groups, compare = SUBJECTS[subject]
            found = []
            for each in pool.map(partial(compare, only=given.only, every=given.every), groups()):
                if each.cases:
                    print(each.line, flush=True)
                    found.append(each)
                failed = failed or bool(each.different)
            print(page.listed(found), flush=True)
            text = page.between(text, subject, page.section("group", found))
    if given.write and text != before:
        page.PAGE.write_text(text)
        print(f"wrote {page.PAGE.name}")
    if given.check and page.without_runs(text) != page.without_runs(before):
        print(f"{page.PAGE.name} is not up to date; run {page.COMMAND}")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
