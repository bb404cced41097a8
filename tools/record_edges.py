"""What runtime calls and virtual memory management return at their edges, as golden data.

::

    python -m tools.record_edges --driver cuda --write tests/golden/runtime-edges-h200.json
    python -m tools.record_edges --driver cpu --against tests/golden/runtime-edges-h200.json

The scenarios are those of ``tests/golden/edges``. Each runs in a process of its own. If a call ends
the process, or leaves an error that the process cannot clear, the scenario is run again without
that call. Exit status 1 where something differs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.golden.edges import INTENDED, SCENARIOS, differences
from tests.golden.edges.probe import STICKY, Probe, Scenario, Step

DRIVERS = {"cpu": "cudarun.emulator", "cuda": "cuda.bindings"}
LIMIT = 8  # seconds for one scenario


def main() -> int:
    """Run all scenarios, write or compare, and print the number of differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", choices=DRIVERS, required=True)
    parser.add_argument("--write", type=Path, help="file to write golden data to")
    parser.add_argument("--against", type=Path, help="file of golden data to compare with")
    options = parser.parse_args()
    recorded: dict[str, list[Step]] = {}
    for name in ("driver", "runtime", "nvrtc"):  # they import each other: before any fork
        importlib.import_module(f"cuda.bindings.{name}")
    for module in ("driver", "runtime"):
        importlib.import_module(f"{DRIVERS[options.driver]}.{module}")
    for scenario in SCENARIOS:
        recorded[scenario.__name__] = run(scenario, DRIVERS[options.driver])
    steps = sum(map(len, recorded.values()))
    died = [step for each in recorded.values() for step in each if "died" in step]
    print(f"{len(recorded)} scenarios, {steps} steps, {len(died)} without a result")
    for step in died:
        print(f"  {step['call']}: {step['died']}")
    if options.write:
        options.write.write_text(text_of(recorded))
    if not options.against:
        return 0
    expected = json.loads(options.against.read_text())
    different = 0
    for name, steps in expected.items():
        for index, here, there in differences(recorded[name], steps):
            reason = INTENDED.get(name, {}).get(index)
            different += reason is None
            print(f"{name} {index}: {here} expected {there}" + (f" ({reason})" if reason else ""))
    print(f"{different} steps differ for no recorded reason")
    return 1 if different else 0


def text_of(recorded: dict[str, list[Step]]) -> str:
    """Return the file's text: a line for each step."""
    blocks = []
    for name, steps in recorded.items():
        lines = ",\n".join(f"  {json.dumps(step)}" for step in steps)
        blocks.append(f"{json.dumps(name)}: [\n{lines}\n]")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def run(scenario: Scenario, package: str) -> list[Step]:
    """Run a scenario in processes of its own, until it ends."""
    skipped: dict[int, Step] = {}
    while True:
        steps, calls, ended = _attempt(scenario, package, skipped)
        if ended == "":
            return steps
        index, text = calls
        if index < 0 or index in skipped:
            return [*steps, {"call": "", "died": ended}]
        skipped[index] = {"call": text, "died": ended}


def _attempt(
    scenario: Scenario, package: str, skipped: dict[int, Step]
) -> tuple[list[Step], tuple[int, str], str]:
    """Return the steps, the last call, and what ended the process (nothing: the scenario's end)."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _scenario_process(scenario, package, skipped, writing)
    os.close(writing)
    with open(reading) as lines:
        messages = [json.loads(line) for line in lines if line.endswith("\n")]
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    steps = [message["step"] for message in messages if "step" in message]
    calls = [(message["index"], message["before"]) for message in messages if "before" in message]
    ended = next((message["ended"] for message in messages if "ended" in message), None)
    if ended is None:
        ended = signal.Signals(-status).name if status < 0 else f"exit code {status}"
    return steps, calls[-1] if calls else (-1, ""), ended


def _scenario_process(
    scenario: Scenario, package: str, skipped: dict[int, Step], writing: int
) -> None:
    signal.alarm(LIMIT)

    def send(message: Any) -> None:
        os.write(writing, json.dumps(message).encode() + b"\n")

    driver, runtime = (
        importlib.import_module(f"{package}.{name}") for name in ("driver", "runtime")
    )
    indices = iter(index for index in range(1 << 20) if index not in skipped)

    def write(step: Step) -> None:
        code = codes.get(step.get("result", ""), 0)
        if code in STICKY:
            send({"ended": step["result"]})
            os._exit(0)
        send({"step": step})

    codes = {each.name: int(each) for each in (*driver.CUresult, *runtime.cudaError_t)}
    probe = Probe(
        driver,
        runtime,
        write,
        skipped=skipped,
        before=lambda text: send({"before": text, "index": next(indices)}),
    )
    try:
        scenario(probe)
        send({"ended": ""})
    except Exception as error:
        print(f"{scenario.__name__}: {error!r}", file=sys.stderr, flush=True)
        send({"step": {"call": "", "result": f"the scenario ended: {error!r}"}})
        send({"ended": ""})
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
