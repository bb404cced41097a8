"""The thirty cases of ``tests/data/specs/thirty.toml``: what becomes of each is in its name.

Of each device: every verdict, the exit code of the whole, the JUnit file as an XML reader sees it.
Then the same without the faults and the hang, for the time: with them it is to take no more than
1.5 times as long and the time limit of the hang; 1.5 times both is told, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.support import thirty_cases
from tools.hardware.bench import Bench, Check, check


def checks(bench: Bench) -> Iterator[Check]:
    """Run the spec whole, and without what goes wrong."""
    junit = bench.out / "thirty.xml"
    seconds, status, document = thirty_cases.run(bench.devices, "--junit", str(junit))
    bench.keep("thirty.json", document)
    wrong = thirty_cases.faults(document, status)
    counts = (
        f"{document['passed']} passed, {document['failed']} failed, {document['skipped']} skipped"
    )
    yield check("every verdict", not wrong, "\n".join(wrong) or counts, seconds)
    wrong = thirty_cases.junit_faults(junit, document)
    yield check("the JUnit file", not wrong, "\n".join(wrong))
    quiet = thirty_cases.quiet_names()
    without, status, rest = thirty_cases.run(bench.devices, *quiet)
    good = status == 1 and rest["passed"] and rest["passed"] % 22 == 0
    detail = f"exit status {status}, {rest['passed']} passed"
    yield check("without the faults and the hang", good, detail, without)
    hang = thirty_cases.HANG_SECONDS
    detail = (
        f"{seconds:.2f} s; without the faults and the hang {without:.2f} s: 1.5 times that and "
        f"the limit of the hang are {1.5 * without + hang:.2f} s, 1.5 times both "
        f"{1.5 * (without + hang):.2f} s"
    )
    bench.keep("time.txt", detail + "\n")
    yield check("time", True, detail)
