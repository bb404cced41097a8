"""The fault matrix: what goes wrong, under which command, and what is to become of it.

This is its one definition. ``tests/reliability/test_fault_matrix.py`` runs it on two emulated
devices, ``tools/hardware/reliability.py`` on GPUs, and ``tools/generate_reliability_docs.py``
writes it into ``docs/evidence/reliability.md``. How a cell is run: ``fault_runner.py``.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.support.fault_runner import (
    FILES,
    IMAGE,
    Cell,
    Run,
    close_terminal,
    feed_image,
    kill_parent,
    kill_worker,
    make_read_only,
    terminate,
    wait_for_buffer,
    wait_for_copy_back,
    wait_for_kernel,
    wait_for_worker,
)

COMMANDS = ("launch", "spec", "load", "managed")

LOAD_ONLY = "The command launches no kernel"
WRITES_NOTHING = "The command writes no files"

IN_TIME = r"timed out after {limit} s \(--timeout {limit}\); the worker was killed"
MEMORY = r"buffer 'out' of 1125899906842624 bytes.*\(CUDA_ERROR_OUT_OF_MEMORY, 2\)"
RESOURCES = r"307200 requested, the limit is \d+"


@dataclass(frozen=True, slots=True)
class Fault:
    """A row: a fault under each command, or why there can be none under it."""

    name: str
    launch: Cell
    spec: Cell
    load: Cell | str
    managed: Cell | str

    def cell(self, command: str) -> Cell | str:
        """That of one of `COMMANDS`."""
        found: Cell | str = getattr(self, command)
        return found


# --- the words of the commands -------------------------------------------------------------------


def launch(kernel: str, *options: str, out: str = "i32[64]:zeros", n: int = 64) -> tuple[str, ...]:
    """A launch of a kernel of `IMAGE`."""
    return ("launch", IMAGE, "-k", kernel, "--block", "64", f"out={out}", f"n=i32:{n}", *options)


def managed(*kernels: str, out: str = "i32[64]:zeros") -> tuple[str, ...]:
    """Kernels launched one after the other, with a look at the variables after each."""
    launches = [("--launch", f"{kernel} out={out} n=i32:64") for kernel in kernels]
    return ("managed", IMAGE, *(word for words in launches for word in words))


def case(
    kernel: str,
    *lines: str,
    name: str = "fault",
    image: str = IMAGE,
    out: str = "i32[64]:zeros",
    n: int = 64,
) -> str:
    """A table of a spec."""
    head = ("[[launch]]", f'name = "{name}"', f'image = "{image}"', f'kernel = "{kernel}"')
    return "\n".join((*head, "block = 64", f'args = ["out={out}", "n=i32:{n}"]', *lines, ""))


def good(name: str) -> str:
    """A case that passes."""
    return case("good", 'check = "out == arange(64)"', name=name)


def spec(fault: str) -> tuple[str, ...]:
    """A faulty case between two good ones."""
    return ("launch", "--spec", "".join((good("before"), fault, good("after"))))


SPEC_GOES_ON = r"(?s)(?=.*passed +before on {device} )(?=.*passed +after on {device} )"
"""The cases around the faulty one, on every device."""


# --- kernels and images --------------------------------------------------------------------------


def of_kernel(name: str, kernel: str, error: str) -> Fault:
    """A kernel whose fault ends the launch with one of the driver's errors."""
    return Fault(
        name,
        launch=Cell(launch(kernel), 5, error, intact="on|device {device}"),
        spec=Cell(spec(case(kernel)), 5, error, intact=SPEC_GOES_ON),
        load=LOAD_ONLY,
        managed=Cell(managed("good", kernel), 5, error, intact="after good"),
    )


def of_request(name: str, exit_code: int, says: str, kernel: str, **words: str) -> Fault:
    """A kernel that does not end, or that is not launched: the request asks for too much."""
    out = words.get("out", "i32[64]:zeros")
    options = (words["option"], words["value"]) if "option" in words else ()
    lines = (words["line"],) if "line" in words else ()
    return Fault(
        name,
        launch=Cell(launch(kernel, *options, out=out), exit_code, says),
        spec=Cell(spec(case(kernel, *lines, out=out)), exit_code, says, intact=SPEC_GOES_ON),
        load=LOAD_ONLY,
        managed=Cell((*managed(kernel, out=out), *options), exit_code, says),
    )


def of_image(name: str, path: str, says: str) -> Fault:
    """A file that the driver must not get, or does not take."""
    return Fault(
        name,
        launch=Cell(("launch", path, "-k", "good", "out=i32[64]", "n=i32:64"), 4, says),
        spec=Cell(spec(case("good", image=path)), 4, says, intact=SPEC_GOES_ON),
        load=Cell(("load", IMAGE, path), 4, says, intact="heap_exhausted"),  # its last kernel
        managed=Cell(("managed", path), 4, says),
    )


# --- processes that end --------------------------------------------------------------------------


def of_worker(name: str, number: int) -> Fault:
    """The worker of the first device ends by a signal while its kernel runs."""
    says = rf"the worker process was killed by signal {number} \({signal.Signals(number).name}\)"

    def at_work(run: Run) -> None:
        wait_for_kernel(run)
        kill_worker(run, number)

    def idle(run: Run) -> None:
        wait_for_worker(run)
        kill_worker(run, number)
        feed_image(run)

    slow = case("slow", n=3000)
    return Fault(
        name,
        launch=Cell(
            launch("slow", "--save", "out={folder}/{{device}}.bin", "--trace", n=3000),
            7,
            says,
            others="slow .* on {device} ",
            saved="{device}.bin",
            meanwhile=at_work,
        ),
        spec=Cell(
            ("launch", "--spec", slow + good("after"), "--trace"),
            7,
            says,
            intact="passed +after on {device} ",
            others="passed +fault on {device} ",
            meanwhile=at_work,
        ),
        load=Cell(("load", FILES.pipe), 7, says, others="on {device}", meanwhile=idle),
        managed=Cell((*managed("endless"), "--trace"), 7, says, meanwhile=at_work),
    )


def of_saving_worker(name: str) -> Fault:
    """The worker of the first device is killed when it has written half a file."""

    def meanwhile(run: Run) -> None:
        wait_for_copy_back(run)
        kill_worker(run, signal.SIGKILL)

    says = r"the worker process was killed by signal 9 \(SIGKILL\)"
    large, out = "i32[3000000]:zeros", "out={folder}/{{device}}.csv"
    return Fault(
        name,
        launch=Cell(
            launch("good", "--save", out, "--trace", out=large),
            7,
            says,
            others="good .* on {device} ",
            saved="{device}.csv",
            meanwhile=meanwhile,
        ),
        spec=Cell(
            (
                *("launch", "--spec", case("good", f'save = ["{out}"]', out=large) + good("after")),
                "--trace",
            ),
            7,
            says,
            intact="passed +after on {device} ",
            others="passed +fault on {device} ",
            saved="{device}.csv",
            meanwhile=meanwhile,
        ),
        load=WRITES_NOTHING,
        managed=WRITES_NOTHING,
    )


def of_parent(name: str, end: Callable[[Run], None], number: int, *, stdin: str = "") -> Fault:
    """The command itself is ended while its workers are at work."""

    def at_work(run: Run) -> None:
        wait_for_kernel(run)
        end(run)

    def waiting(run: Run) -> None:
        wait_for_worker(run)
        end(run)

    ended = Cell((), -number, meanwhile=at_work, stdin=stdin)
    return Fault(
        name,
        launch=replace(
            ended,
            arguments=launch("endless", "--save", "out={folder}/{{device}}.npy", "--trace"),
        ),
        spec=replace(ended, arguments=("launch", "--spec", case("endless"), "--trace")),
        load=replace(ended, arguments=("load", FILES.pipe), meanwhile=waiting),
        managed=replace(ended, arguments=(*managed("endless"), "--trace")),
    )


# --- files and streams ---------------------------------------------------------------------------


def of_saving(
    name: str,
    says: str,
    kernel: str,
    *,
    n: int,
    meanwhile: Callable[[Run], None] | None = None,
    file_limit: int | None = None,
) -> Fault:
    """Results cannot be saved, which nobody could know before."""
    out, path = "i32[4096]:zeros", "out={folder}/{{device}}.npy"
    trace = ("--trace",) if meanwhile else ()
    cell = Cell((), 2, says, meanwhile=meanwhile, file_limit=file_limit)
    return Fault(
        name,
        launch=replace(cell, arguments=launch(kernel, "--save", path, *trace, out=out, n=n)),
        spec=replace(
            cell,
            arguments=(
                "launch",
                "--spec",
                case(kernel, f'save = ["{path}"]', out=out, n=n) + good("after"),
                *trace,
            ),
            intact="passed +after on {device} ",
        ),
        load=WRITES_NOTHING,
        managed=WRITES_NOTHING,
    )


def _until_read_only(run: Run) -> None:
    wait_for_buffer(run)
    make_read_only(run)


def of_streams(name: str, exit_code: int, says: str = "", **streams: str) -> Fault:
    """What the command was started with is not there, or takes nothing."""
    return Fault(
        name,
        launch=Cell(launch("good"), exit_code, says, **streams),
        spec=Cell(("launch", "--spec", good("good")), exit_code, says, **streams),
        load=Cell(("load", IMAGE), exit_code, says, **streams),
        managed=Cell(managed("good"), exit_code, says, **streams),
    )


# --- the matrix ----------------------------------------------------------------------------------

FAULTS = (
    of_kernel("illegal address", "illegal_address", "ILLEGAL_ADDRESS, 700"),
    of_kernel("out-of-bounds", "out_of_bounds", "ILLEGAL_ADDRESS, 700"),
    of_kernel("misaligned", "misaligned", "MISALIGNED_ADDRESS, 716"),
    of_kernel("trap", "trap", "LAUNCH_FAILED, 719"),
    of_kernel("assert", "assertion", "ASSERT, 710"),
    of_kernel("stack overflow", "stack_overflow", "ILLEGAL_ADDRESS, 700|LAUNCH_FAILED, 719"),
    of_kernel("device heap exhausted", "heap_exhausted", "ILLEGAL_ADDRESS, 700"),
    of_request(
        "endless loop", 6, IN_TIME, "endless", option="--timeout", value="{limit}",
        line="timeout = {limit}",
    ),
    of_request("out of memory", 5, MEMORY, "good", out="u8[1125899906842624]"),
    of_request(
        "too many resources", 5, RESOURCES, "good",
        option="--smem", value="300Ki", line='smem = "300Ki"',
    ),
    of_image("corrupt cubin", FILES.half_a_cubin, "not a cubin: the section table extends past"),
    of_image("corrupt PTX", FILES.broken_ptx, "CUDA_ERROR_INVALID_PTX, 218|error: "),
    of_worker("driver crash by signal", signal.SIGSEGV),
    of_worker("worker killed", signal.SIGKILL),
    of_saving_worker("worker killed while saving"),
    of_parent("parent killed", kill_parent, signal.SIGKILL),
    of_parent("SIGTERM", terminate, signal.SIGTERM),
    of_parent("terminal closed (SIGHUP)", close_terminal, signal.SIGHUP, stdin="terminal"),
    of_saving(
        "disk full while saving", "cannot be written: File too large", "good",
        n=64, file_limit=4096,
    ),
    of_saving(
        "output path turned read-only", "cannot be written: Permission denied", "slow",
        n=3000, meanwhile=_until_read_only,
    ),
    of_streams("disk full behind stdout", 2, "No space left on device", stdout="/dev/full"),
    of_streams("disk full behind stderr", 0, stderr="/dev/full"),
    of_streams("stdin closed", 0, stdin="closed"),
)  # fmt: skip


def cells() -> list[tuple[Fault, str, Cell]]:
    """All that can be run, row by row."""
    return [
        (fault, command, cell)
        for fault in FAULTS
        for command in COMMANDS
        if isinstance(cell := fault.cell(command), Cell)
    ]
