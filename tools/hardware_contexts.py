"""Check contexts and managed variables on GPUs, and that the emulated device says the same.

::

    python tools/hardware_contexts.py                # all GPUs, and as many emulated devices
    python tools/hardware_contexts.py --device 0     # one GPU
    python tools/hardware_contexts.py --device cpu   # no GPU at hand: the emulated device alone

Prints a line for each check, then the table of facts for ``docs/hardware.md``. Exit status: 0 when
all of them were passed, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT = 600.0  # seconds per command


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command of ours left."""

    exit_code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its JSON document."""
        return json.loads(self.out)


def cudarun(*arguments: str, emulated: int = 1) -> Ran:
    """Run the command line from the root of the repository."""
    done = subprocess.run(
        [sys.executable, "-m", "cudarun", *arguments],
        cwd=ROOT,
        env={**os.environ, "CUDARUN_CPU_DEVICES": str(emulated)},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


Verdicts = dict[str, dict[str, str]]  # of each fact, by device


def verdicts(ran: Ran) -> Verdicts:
    """The verdicts of ``ctx verify --json``."""
    return {
        fact["name"]: {each["device"]: each["verdict"] for each in fact["outcomes"]}
        for fact in ran.document["facts"]
    }


def reasons(ran: Ran) -> Iterator[str]:
    """Everything but plain ``held``, with what there is to say of it."""
    for fact in ran.document["facts"]:
        for each in fact["outcomes"]:
            if each["verdict"] != "held" or each["reason"]:
                yield f"{fact['name']} on {each['device']}: {each['verdict']}: {each['reason']}"


def disagreements(ours: Verdicts, theirs: Verdicts) -> list[str]:
    """Facts that both support and do not judge alike."""
    found = []
    for name, on in ours.items():
        supported = {v for v in (*on.values(), *theirs[name].values()) if v != "not supported"}
        if len(supported) > 1:
            found.append(name)
    return found


class Checks:
    """Lines as checks are made, and whether all were passed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def check(self, what: str, good: bool, ran: Ran | None = None) -> None:
        """Note a check; what a failed command printed follows its line."""
        self.passed += good
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'}  {what}", flush=True)
        if not good and ran is not None:
            text = f"exit code {ran.exit_code}\n{ran.out}{ran.err}"
            print("\n".join(f"        {line}" for line in text.splitlines()[-60:]))


def check_facts(checks: Checks, device: str) -> tuple[Verdicts, Verdicts]:
    """All facts on the devices, and on as many emulated ones."""
    started = time.perf_counter()
    ran = cudarun("ctx", "verify", "-d", device, "--together", "--timeout", "60", "--json")
    seconds = time.perf_counter() - started
    checks.check(f"ctx verify -d {device} --together: nothing broken ({seconds:.0f} s)",
                 ran.exit_code == 0, ran)  # fmt: skip
    ours = verdicts(ran)
    print("\n".join(f"        {line}" for line in reasons(ran)))
    emulated = cudarun("ctx", "verify", "-d", "cpu:all", "--together", "--json", emulated=2)
    checks.check("ctx verify -d cpu:all --together: nothing broken", emulated.exit_code == 0)
    theirs = verdicts(emulated)
    differing = disagreements(ours, theirs)
    checks.check(f"the same verdict wherever both support a fact {differing or ''}".rstrip(),
                 not differing)  # fmt: skip
    return ours, theirs


def check_managed(checks: Checks, device: str) -> None:
    """One address and a growing value of a managed variable, and one of each context of another."""
    ran = cudarun(
        "managed", "samples/managed.ptx", "-d", device, "--launch", "bump k=i32:5", "--globals",
        "--json",
    )  # fmt: skip
    checks.check(f"managed -d {device} --globals", ran.exit_code == 0, ran)
    variables = {each["name"]: each for each in ran.document["variables"]}
    counter, hits = variables["counter"], variables["hits"]
    contexts = len(ran.document["places"])
    devices = len({place["device"] for place in ran.document["places"]})
    checks.check(
        f"counter: one address in {contexts} contexts", len(set(counter["addresses"])) == 1
    )
    checks.check(f"hits: {contexts} addresses", len(set(hits["addresses"])) == contexts)
    values = [each["host"]["value"] for each in counter["observations"]]
    wanted = [5 * number for number in range(devices + 1)]
    checks.check(f"counter grows across {devices} devices: {values}", values == wanted)


def check_ends(checks: Checks, device: str) -> None:
    """Scripts that fault, hang or do not parse."""
    cases = [
        ("a fault ends with its code", 5,
         "create A; module M builtin; function F M.store; launch F null 1; sync"),
        ("a kernel that never ends is ended by --timeout", 6,
         "create A; module M builtin; function F M.spin; launch F; sync"),
        ("a deadlock ends by --timeout, or with its fault", 6,
         "create A; module M samples/deadlock.ptx; function F M.deadlock; launch F block=64; sync"),
        ("a malformed script", 2, "create A; pusj A"),
    ]  # fmt: skip
    for what, code, script in cases:
        ran = cudarun("ctx", "run", script, "-d", device, "--timeout", "10")
        fault = "deadlock" in what and ran.exit_code == 5
        checks.check(f"{what}: exit code {ran.exit_code}", ran.exit_code == code or fault, ran)


def check_steps(checks: Checks, device: str) -> None:
    """Stacks after odd ends: what is drawn must be what the driver says next."""
    script = (
        "retain P; push P; create B; @t1 destroy B; pop == B; current == P; alloc M 64; reset; "
        "free M -> failure; pop == P; current == none"
    )
    ran = cudarun("ctx", "run", script, "-d", device)
    checks.check("looking at stacks leaves them as they were", ran.exit_code == 0, ran)
    shown = cudarun("ctx", "show", "-d", device)
    checks.check("ctx show", shown.exit_code == 0, shown)
    print(shown.out)


def table(ours: Verdicts, theirs: Verdicts) -> Iterator[str]:
    """The facts as a Markdown table."""
    columns = [*next(iter(ours.values())), *next(iter(theirs.values()))]
    yield f"| fact | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for name, on in ours.items():
        yield f"| {name} | {' | '.join([*on.values(), *theirs[name].values()])} |"


def main() -> int:
    """Run what the command line asks for; see the module's docstring for the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="all", help="as for cudarun -d; default: all")
    device = parser.parse_args().device
    checks = Checks()
    ours, theirs = check_facts(checks, device)
    check_managed(checks, device)
    first = "cpu" if device.startswith("cpu") else "0" if device == "all" else device
    check_ends(checks, first)
    check_steps(checks, first)
    print("\n".join(table(ours, theirs)))
    print(f"\n{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
