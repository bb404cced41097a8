"""Run everything that was recorded on both engines of the emulated device, and compare the bits.

::

    python -m tools.engines                          # all; exit status 1 if something is different
    python -m tools.engines forms --only atom.       # the forms with this in their names
    python -m tools.engines --write                  # the tables of docs/evidence/engines.md
    python -m tools.engines --every 16 --check       # a part; exit status 1 if they are stale
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tests.support.programs import CHAPTERS
from tools.engines import forms, page, programs, samples, textures
from tools.engines.comparison import Comparison, Part, Subject
from tools.engines.recorded import chapters

SUBJECTS = {  # those with the longest parts first
    "programs": Subject(lambda: CHAPTERS, programs.parts, programs.compare),
    "forms": Subject(lambda: list(chapters()), forms.parts, forms.compare),
    "samples": Subject(samples.groups, samples.parts, samples.compare),
    "textures": Subject(textures.subjects, textures.parts, textures.compare),
}


def main() -> int:
    """Compare, print what is not compiled, and write or check the page."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.engines", description=(__doc__ or "").partition("\n")[0]
    )
    add = parser.add_argument
    add("subject", nargs="*", metavar="SUBJECT", help=f"of {', '.join(SUBJECTS)}; default: all")
    add("--only", default="", metavar="TEXT", help="cases with this in their names")
    add("--every", type=int, default=1, metavar="N", help="run one of N; default: all")
    cores = len(os.sched_getaffinity(0))
    add("--jobs", type=int, default=cores, metavar="N", help="processes; default: the cores")
    add("--commit", metavar="TEXT", help="the commit that the page names; default: git's")
    add("--write", action="store_true", help="write the tables of the page")
    add("--check", action="store_true", help="fail if the page has other tables")
    given = parser.parse_args()
    if unknown := set(given.subject) - SUBJECTS.keys():
        parser.error(f"no such subject: {', '.join(sorted(unknown))}")
    if given.only and (given.write or given.check):
        parser.error("--only: the page has all cases")
    os.environ["CUDARUN_CACHE"] = "off"
    chosen = {name: SUBJECTS[name] for name in given.subject or SUBJECTS}
    found = _compared(chosen, given.only, given.every, given.jobs)
    text = before = page.PAGE.read_text()
    run = page.this_run(given.commit)
    for subject, groups in found.items():
        print(f"\n{subject}\n{page.listed(groups)}")
        text = page.between(text, subject, page.section("group", groups, run))
    if given.write and text != before:
        page.PAGE.write_text(text)
        print(f"wrote {page.PAGE.name}")
    stale = given.check and page.without_runs(text) != page.without_runs(before)
    if stale:
        print(f"{page.PAGE.name} is not up to date; run {page.COMMAND}")
    different = any(each.different for groups in found.values() for each in groups)
    return 1 if different or stale else 0


def _compared(
    subjects: Mapping[str, Subject], only: str, every: int, jobs: int
) -> dict[str, list[Comparison]]:
    """Compare the cases of subjects in processes; print a line for each group that is complete."""
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        work: dict[Future[Comparison], tuple[str, Part]] = {
            pool.submit(subject.compare, part): (name, part)
            for name, subject in subjects.items()
            for part in subject.parts(only, every)
        }
        left = Counter((name, part.group) for name, part in work.values())
        done: dict[tuple[str, str], dict[int, Comparison]] = defaultdict(dict)
        for number, future in enumerate(as_completed(work), start=1):
            name, part = work[future]
            group = (name, part.group)
            done[group][part.number] = future.result()
            left[group] -= 1
            if not left[group]:
                line = _merged(part.group, done[group]).line
                print(f"[{100 * number // len(work):3} %] {name} {line}", flush=True)
    return {
        name: [_merged(group, done[name, group]) for group in subject.groups() if done[name, group]]
        for name, subject in subjects.items()
    }


def _merged(group: str, parts: Mapping[int, Comparison]) -> Comparison:
    """Return the comparison of a group, in the order of its cases."""
    return Comparison.merged(group, [parts[number] for number in sorted(parts)])


if __name__ == "__main__":
    sys.exit(main())
