"""``judge``: the trusted side, which has the clock, and which the comparison answers.

Three processes: this one, the problem's, which is loaded once, and the submission's, which has no
more than the inputs of a run when the clock starts. It stands still while its outputs are compared.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, get_args

from cudarun.arguments.assertions import COUNTED, matching
from cudarun.base.errors import ExpectationFailed, NoDevice, RequestError
from cudarun.model.judge import JudgedCase, JudgedSubmission, JudgeReport, JudgeRule
from cudarun.session.judge.confinement import SubmissionConfinement, confinement_notes
from cudarun.session.judge.observation import LaunchObservation, ObservedDevice, observed_device
from cudarun.session.judge.request import SEED_BITS, JudgeRequest
from cudarun.session.workers.line_program import LineProgram
from cudarun.session.workers.program import temporary_folder
from cudarun.session.workers.shared_file import SharedFile
from cudarun.session.workers.worker import BLAS_THREADS

_PROGRAMS = Path(__file__).parent / "programs"
_BESIDE = ("task.py", "utils.py")  # the modules of a problem that a submission can import
_MOST_ANSWER = 1 << 20
_EXPLAINED: tuple[JudgeRule, ...] = ("error", "ended", "launches")
"""The rules that a fault on the device explains, or the end of a server."""
_MOST_OUTPUT = 2000
_TEMPORARY = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR")
"""Variables of folders in which a submission writes."""


class RuleBroken(Exception):
    """A submission breaks a rule."""

    def __init__(self, rule: JudgeRule, message: str) -> None:
        super().__init__(message)
        self.rule: JudgeRule = rule


def judge(request: JudgeRequest, progress: Callable[[str], object]) -> JudgeReport:
    """Judge submissions, one after the other.

    Args:
        progress: Called with the name of each submission.

    Raises:
        RequestError: The problem cannot be loaded, or the interpreter cannot be started.
        ExpectationFailed: The reference or a function of the problem failed.
    """
    seed = secrets.randbits(SEED_BITS) if request.seed is None else request.seed
    found: list[JudgedSubmission] = []
    os.environ.setdefault(*BLAS_THREADS)  # of the problem and the submissions, too
    with ProblemProcess(request) as problem:
        for path in request.submissions:
            progress(path)
            with temporary_folder() as folder:
                found.append(_Judgement(request, problem, path, Path(folder), seed).result())
    return JudgeReport(request.problem, str(request.device), seed, tuple(found))


class ProblemProcess:
    """The process of the problem.

    Attributes:
        cases: The names of the cases.
        python: The Python that it and the submissions run with.
        paths: The folders that its Python imports from.
        speeds: The most bytes and operations per second of the GPU; ``None`` on `cpu`.
    """

    def __init__(self, request: JudgeRequest) -> None:
        self._request = request
        self.is_gpu = request.device.driver != "cpu"
        given = request.python or sys.executable
        # Absolute: a submission starts in another folder.
        self.python = os.path.abspath(shutil.which(given) or given)
        visible = {"CUDA_VISIBLE_DEVICES": request.device.value} if self.is_gpu else {}
        try:
            self._program = LineProgram(
                [self.python, os.fspath(_PROGRAMS / "problem.py")], stdout=2, environment=visible
            )
        except OSError as error:
            raise RequestError(f"{given}: {error.strerror}", option="--python") from error

    def __enter__(self) -> ProblemProcess:
        facts = self.call(
            path=os.path.abspath(self._request.problem), device=self.is_gpu,
            rtol=self._request.rtol, atol=self._request.atol,
        )  # fmt: skip
        self.cases: list[str] = facts["cases"]
        self.paths: list[str] = facts["paths"]
        self.speeds: tuple[float, float] | None = facts["speeds"]
        return self

    def __exit__(self, *_: object) -> None:
        self._program.end()

    def call(self, **task: object) -> dict[str, Any]:
        """Return the answer to a task.

        Raises:
            ExpectationFailed: A function of the problem failed, or the process ended.
        """
        try:
            answer = self._program.call(task, None)
        except EOFError as error:
            raise ExpectationFailed(
                f"the process of the problem ended with status {error}",
                origin=self._request.problem,
            ) from None
        if "error" in answer:
            raise ExpectationFailed(
                answer["error"], log=answer["frames"], origin=self._request.problem
            )
        return answer


class _Judgement:
    """The judgement of one submission."""

    def __init__(
        self, request: JudgeRequest, problem: ProblemProcess, path: str, folder: Path, seed: int
    ) -> None:
        self._request, self._problem, self._path, self._seed = request, problem, path, seed
        self._folder, self._exchange, self._observed = (
            folder / name for name in ("own", "exchange", "observed")
        )
        for each in (self._folder, self._exchange, self._observed):
            each.mkdir()
        self._paths = [os.fspath(self._exchange / name) for name in ("inputs", "outputs")]
        for name in self._paths:
            Path(name).touch()
        self._cases: list[JudgedCase] = []
        self._case: str | None = None
        self._broken: RuleBroken | None = None
        self._notes: tuple[str, ...] = ()
        self._stored = 0
        self._is_independent = False  # whether its outputs are right without its kernels

    def result(self) -> JudgedSubmission:
        """Run all cases, then apply the rules of the launches."""
        request = self._request
        with observed_device(request.device, self._observed, request.timeout) as device:
            self._run(device, shares_network=False)
            if self._broken is not None and self._broken.rule == "not_shared":
                self._run(device, shares_network=True)
            observation = device.finish()
        rules = {each.rule: each for each in self._broken_by(observation)}
        broken = self._broken or next(iter(rules.values()), None)
        if broken is not None and broken.rule == "error":  # on cpu, such kernels cannot run
            broken = rules.get("library", broken)
        message = str(broken) if broken else None
        if broken is not None and broken.rule in _EXPLAINED and observation.fault:
            message = f"{message}\n{observation.fault}"
        return JudgedSubmission(
            self._path,
            broken.rule if broken else None,
            message,
            self._case,
            tuple(self._cases),
            observation.kernels,
            self._notes,
        )

    def _run(self, device: ObservedDevice, *, shares_network: bool) -> None:
        """Run all cases in a process, until the submission breaks a rule."""
        self._broken = None
        try:
            with self._program(device, shares_network=shares_network) as program:
                self._notes = tuple(confinement_notes(program))
                if self._request.device.driver != "cpu":
                    self._initialize(program, shares_network=shares_network)
                for index in range(len(self._problem.cases)):
                    self._judge_case(program, index)
                self._case = None
                self._is_independent = self._runs_without_kernels(program, device)
        except RuleBroken as error:
            self._broken = error

    def _initialize(self, program: LineProgram, *, shares_network: bool) -> None:
        """Initialize the driver in the confined process, which has loaded no code of others.

        Raises:
            RuleBroken: It has to be tried again in the network of this machine.
            NoDevice: The driver does not work there.
        """
        limit = self._request.timeout
        try:
            status = program.call({"do": "initialize"}, limit, lambda: None)
        except TimeoutError:
            status = {"message": f"cuInit does not return in {limit:g} s"}
        except EOFError as error:
            status = {"message": f"cuInit ends the process with status {error}"}
        if status != {} and not shares_network:
            raise RuleBroken("not_shared", "the driver does not work in another network")
        if status != {}:
            raise NoDevice(
                f"in the confined process of a submission, {status['message']}",
                hint="judge it on the emulated device: -d cpu",
            )

    @contextmanager
    def _program(self, device: ObservedDevice, *, shares_network: bool) -> Iterator[LineProgram]:
        """Start the confined process, and load the submission in it."""
        folder = os.path.realpath(self._request.problem)
        folder = folder if os.path.isdir(folder) else os.path.dirname(folder)
        # A new one in each run: the submission can have put links into that of the last.
        self._own = Path(tempfile.mkdtemp(dir=self._folder))
        shutil.copy(self._path, self._own / "submission.py")
        for name in _BESIDE:
            for place in (os.path.dirname(folder), folder):
                if os.path.isfile(os.path.join(place, name)):
                    shutil.copy(os.path.join(place, name), self._own / name)
        python = self._problem.python
        prefixes = [
            os.path.dirname(os.path.dirname(each)) for each in (python, os.path.realpath(python))
        ]
        paths = (*self._problem.paths, *prefixes, sys.base_prefix)
        readable = [each for each in paths if each and not Path(folder).is_relative_to(each)]
        confinement = SubmissionConfinement(
            (*readable, os.fspath(_PROGRAMS), *device.readable),
            (os.fspath(self._exchange),),
            (os.fspath(self._own), *device.writable),
            shares_network=shares_network,
        )
        environment = {**device.environment, **dict.fromkeys(_TEMPORARY, os.fspath(self._own))}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        with SharedFile() as output:
            program = LineProgram(
                [python, os.fspath(_PROGRAMS / "submission.py")],
                most=_MOST_ANSWER, stdout=output.fileno(), stderr=output.fileno(),
                environment=environment, prepare=confinement, folder=os.fspath(self._own),
            )  # fmt: skip
            try:
                with program:
                    yield program
            except EOFError as error:
                shown = output.read(last=_MOST_OUTPUT).decode(errors="replace").strip()
                message = f"the process ended with status {error} before its answer"
                raise RuleBroken("ended", f"{message}\n{shown}".strip()) from None

    def _call(self, program: LineProgram, do: str, **task: object) -> None:
        """Have the submission do something; `EOFError` if it has ended."""
        limit, memory = self._request.timeout, self._request.memory

        def watch() -> None:
            if program.memory > memory:
                raise RuleBroken("memory", f"its processes use more than {memory} bytes")

        try:
            answer = program.call({"do": do, **task}, limit, watch)
        except TimeoutError:
            raise RuleBroken("timeout", f"no answer to '{do}' after {limit:g} s") from None
        except ValueError:
            answer = {"rule": "error", "message": "its process writes to the judge"}
        if answer != {}:  # it can be anything
            named = answer if isinstance(answer, dict) else {"message": answer}
            message = named.get("message", "")
            rules: tuple[JudgeRule, ...] = get_args(JudgeRule)
            rule: JudgeRule = next((r for r in rules if r == named.get("rule")), "error")
            if rule == "not_shared" and not (self._problem.is_gpu and do == "case"):
                rule = "error"  # the submission itself says so
            raise RuleBroken(rule, str(message)[-_MOST_OUTPUT:])

    def _judge_case(self, program: LineProgram, index: int) -> None:
        """Run a case with new inputs in every run, and compare."""
        problem = self._problem
        self._case = problem.cases[index]
        seed = _derived(self._seed, f"{index} model")  # the submission has it
        facts = problem.call(do="case", index=index, seed=seed, paths=self._paths)
        if facts["lacks_cuda"]:
            raise NoDevice(
                f"{problem.python}: its PyTorch is built without CUDA, so no submission can run",
                hint="name a Python whose PyTorch is built for CUDA: --python EXE",
            )
        if index == 0:
            self._call(
                program, "open", file=os.fspath(self._own / "submission.py"),
                uses_torch=facts["has_tensors"],
            )  # fmt: skip
        names = ("trees", "ends", "handles", "initial")
        self._call(
            program, "case", paths=self._paths, seed=seed, **{each: facts[each] for each in names}
        )
        times: list[float] = []
        reference: list[float] = []
        for run in range(self._request.runs):
            program.send(signal.SIGSTOP)  # it does not see the inputs before the clock starts
            problem.call(do="inputs", seed=_derived(self._seed, f"{index} {run}"))
            times.append(self._time_of_run(program))
            found = problem.call(do="check")
            if found:
                raise RuleBroken(found["rule"], f"run {run + 1}: {found['message']}")
            if problem.speeds is not None:
                start = time.perf_counter()
                problem.call(do="time")
                reference.append(time.perf_counter() - start)
        program.send(signal.SIGCONT)
        self._stored += self._request.runs * facts["sizes"][1]
        case = JudgedCase(problem.cases[index], self._request.runs)
        if problem.speeds is not None:
            refuse_too_fast(min(times[1:]), facts, problem.speeds)
            ours, theirs = (1e3 * median(each[1:]) for each in (times, reference))
            case = replace(case, milliseconds=ours, reference_milliseconds=theirs)
        self._cases.append(case)

    def _time_of_run(self, program: LineProgram) -> float:
        """Run a submission that stands still, stop it again, and return the seconds."""
        start = time.perf_counter()
        program.send(signal.SIGCONT)
        self._call(program, "run")
        seconds = time.perf_counter() - start
        program.send(signal.SIGSTOP)  # nothing changes the outputs that are compared
        return seconds

    def _runs_without_kernels(self, program: LineProgram, device: ObservedDevice) -> bool:
        """Return whether the outputs of the last case are right in a run that skips all kernels.

        It is the last one: without its kernels a submission can do anything. Where the outputs of
        the run before are right, too, they can be those.
        """
        program.send(signal.SIGSTOP)
        if not self._problem.call(do="renew", seed=_derived(self._seed, "skip"))["are_wrong"]:
            return False
        device.skip()
        try:
            self._time_of_run(program)
        except (RuleBroken, EOFError):
            return False
        return not self._problem.call(do="check")

    def _broken_by(self, observation: LaunchObservation) -> Iterator[RuleBroken]:
        """Yield the rules that the launches break."""
        if observation.library and not self._request.allow_library:
            yield RuleBroken("library", f"uses {observation.library[0]}")
        runs, count = sum(each.runs for each in self._cases), observation.launches
        if count < runs:
            yield RuleBroken("launches", f"{count} kernel launches in {runs} runs")
        for each in self._request.asserts:
            got = matching(each.name, observation.counts)
            if not each.is_true_of(got):
                opcodes = {name.partition(".")[0] for name in observation.counts} - {*COUNTED}
                ran = ", ".join(sorted(opcodes)) or "nothing"
                yield RuleBroken("assert", f"{each.text}: got {got}; executed: {ran}")
        stored = observation.stored_bytes
        if stored is not None and stored < self._stored:
            yield RuleBroken(
                "host", f"its kernels stored {stored} bytes of {self._stored} bytes of outputs"
            )
        if self._is_independent:
            yield RuleBroken("host", "its outputs are right without its kernels")


def _derived(seed: int, purpose: str) -> int:
    """Return a seed that tells nothing about others of the same origin."""
    return int.from_bytes(hashlib.sha256(f"{seed} {purpose}".encode()).digest()[:4], "big") >> 1


def refuse_too_fast(seconds: float, facts: dict[str, Any], speeds: tuple[float, float]) -> None:
    """Refuse a time in which the GPU cannot read the inputs, or execute the operations.

    The inputs are not in the L2 cache when the clock starts.

    Args:
        seconds: The shortest time of a run.
        facts: The sizes of the case, and its least numbers of bytes and operations.
        speeds: The most bytes and operations per second.

    Raises:
        RuleBroken: The time is too short.
    """
    own, operations = facts["least"]
    nbytes = facts["sizes"][0] if own is None else own
    for count, speed, what in zip(
        (nbytes, operations or 0), speeds, ("bytes", "operations"), strict=True
    ):
        if seconds < count / speed:
            times = f"{1e6 * seconds:.3g} µs for {count:.3g} {what}"
            raise RuleBroken("floor", f"{times}, which need {1e6 * count / speed:.3g} µs")
