"""Contexts and managed variables on GPUs; the emulated device is equivalent of every fact.

The table of facts for ``docs/evidence/hardware.md`` is kept as ``facts.md``.
"""

from __future__ import annotations

from collections.abc import Iterator

from tools.hardware.bench import Bench, Check, Done, check

TIME_LIMIT = 600.0  # seconds per command
Verdicts = dict[str, dict[str, str]]
"""Of each fact, by device."""

ENDS = [
    ("a fault ends with its code", (5,),
     "create A; module M builtin; function F M.store; launch F null 1; sync"),
    ("a kernel that never ends is ended by --timeout", (6,),
     "create A; module M builtin; function F M.spin; launch F; sync"),
    ("a deadlock ends by --timeout, or with its fault", (6, 5),
     "create A; module M samples/deadlock.ptx; function F M.deadlock; launch F block=64; sync"),
    ("a malformed script", (2,), "create A; pusj A"),
]  # fmt: skip
"""What is tried, how it may end, and the script."""

STACKS = (
    "retain P; push P; create B; @t1 destroy B; pop == B; current == P; alloc M 64; reset; "
    "free M -> failure; pop == P; current == none"
)
"""Odd ends: what is drawn must be what the driver says next."""


def checks(bench: Bench) -> Iterator[Check]:
    """Check facts, managed variables, scripts that end badly, and stacks."""
    yield from facts(bench)
    yield from managed(bench)
    for name, codes, script in ENDS:
        done = bench.cudarun("ctx", "run", script, "-d", bench.device, "--timeout", "10",
                             limit=TIME_LIMIT)  # fmt: skip
        yield ended(name, done, *codes)
    done = bench.cudarun("ctx", "run", STACKS, "-d", bench.device, limit=TIME_LIMIT)
    yield ended("looking at stacks leaves them as they were", done, 0)
    done = bench.cudarun("ctx", "show", "-d", bench.device, limit=TIME_LIMIT)
    bench.keep("show.txt", done.text)
    yield ended("ctx show", done, 0)


def ended(name: str, done: Done, *codes: int) -> Check:
    """Check an exit status."""
    good = done.exit_code in codes
    return check(name, good, "" if good else done.text[-4000:], done.seconds)


def facts(bench: Bench) -> Iterator[Check]:
    """All facts on the devices, and on as many emulated ones."""
    verify = ("ctx", "verify", "--together", "--json")
    done = bench.cudarun(*verify, "-d", bench.devices, "--timeout", "60", limit=TIME_LIMIT)
    yield ended("ctx verify: no fact failed", done, 0)
    ours = verdicts(done)
    bench.keep("reasons.txt", "\n".join(reasons(done)) + "\n")
    emulated = bench.cudarun(*verify, "-d", "cpu:all", limit=TIME_LIMIT, CUDARUN_CPU_DEVICES="2")
    yield ended("ctx verify -d cpu:all: no fact failed", emulated, 0)
    theirs = verdicts(emulated)
    differing = disagreements(ours, theirs)
    yield check(
        "the same verdict wherever both support a fact", not differing, ", ".join(differing)
    )
    bench.keep("facts.md", "\n".join(table(ours, theirs)) + "\n")


def verdicts(done: Done) -> Verdicts:
    """The verdicts of ``ctx verify --json``."""
    return {
        fact["name"]: {each["device"]: each["verdict"] for each in fact["outcomes"]}
        for fact in done.document["facts"]
    }


def reasons(done: Done) -> Iterator[str]:
    """Everything but plain ``passed``, with what there is to say of it."""
    for fact in done.document["facts"]:
        for each in fact["outcomes"]:
            if each["verdict"] != "passed" or each["reason"]:
                yield f"{fact['name']} on {each['device']}: {each['verdict']}: {each['reason']}"


def disagreements(ours: Verdicts, theirs: Verdicts) -> list[str]:
    """Facts that both support and do not judge alike."""
    found = []
    for name, on in ours.items():
        supported = {v for v in (*on.values(), *theirs[name].values()) if v != "not supported"}
        if len(supported) > 1:
            found.append(name)
    return found


def table(ours: Verdicts, theirs: Verdicts) -> Iterator[str]:
    """The facts as a Markdown table."""
    columns = [*next(iter(ours.values())), *next(iter(theirs.values()))]
    yield f"| fact | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for name, on in ours.items():
        yield f"| {name} | {' | '.join([*on.values(), *theirs[name].values()])} |"


def managed(bench: Bench) -> Iterator[Check]:
    """One address and a growing value of a managed variable; of another, one of each context."""
    done = bench.cudarun(
        "managed", "samples/managed.ptx", "-d", bench.devices, "--launch", "bump k=i32:5",
        "--globals", "--json", limit=TIME_LIMIT,
    )  # fmt: skip
    yield ended("managed --globals", done, 0)
    variables = {each["name"]: each for each in done.document["variables"]}
    counter, hits = variables["counter"], variables["hits"]
    contexts = len(done.document["places"])
    devices = len({place["device"] for place in done.document["places"]})
    detail = f"{contexts} contexts: {counter['addresses']}"
    yield check("counter: one address", len(set(counter["addresses"])) == 1, detail)
    detail = f"{contexts} contexts: {hits['addresses']}"
    yield check(
        "hits: an address for each context", len(set(hits["addresses"])) == contexts, detail
    )
    values = [each["host"]["value"] for each in counter["observations"]]
    wanted = [5 * number for number in range(devices + 1)]
    yield check("counter grows across the devices", values == wanted, f"{values}")
