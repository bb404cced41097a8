"""Context scripts carried out on the emulated device: results, stacks, floating contexts, ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudarun.base.errors import ImageRefused, OutOfTime, RequestError
from cudarun.model.contexts import ScriptReport, StepReport
from cudarun.session.contexts.parent import run_script
from cudarun.session.contexts.parser import parse_script
from cudarun.session.contexts.script import Step
from cudarun.session.contexts.worker import _last_seen
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from tests.support.processes import PATIENCE


@pytest.fixture(autouse=True)
def two_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")


def ran(
    text: str, devices: str = "cpu:all", timeout: float | None = PATIENCE, **images: Image
) -> ScriptReport:
    return run_script(
        parse_script(text), Target(parse_devices(devices), timeout=timeout, capture=True), images
    )


def drawn(step: StepReport) -> str:
    """Stacks as one text, the current context first: ``main:BA t1: floating:C``."""
    threads = [
        f"{stack.thread}:" + "".join(c.name + ("" if c.alive else "!") for c in stack.contexts)
        for stack in step.stacks
    ]
    floating = [f"floating:{''.join(step.floating)}"] if step.floating else []
    return " ".join(threads + floating)


@pytest.mark.parametrize(
    ("script", "stacks"),
    [
        ("create A; create B; create C", ["main:A", "main:BA", "main:CBA"]),
        ("create A; push A; pop; pop", ["main:A", "main:AA", "main:A", "main: floating:A"]),
        ("create A; create B; set A; set none", ["main:A", "main:BA", "main:AA floating:B",
                                                 "main:A floating:B"]),
        ("create A; create B; pop; @t1 push B; @t2 current",
         ["main:A", "main:BA", "main:A floating:B", "main:A t1:B", "main:A t1:B t2:"]),
        ("create A; create B; destroy A; destroy B", ["main:A", "main:BA", "main:BA!", "main:A!"]),
        ("create A; create B; @t1 destroy B; create C; pop; pop; pop",
         ["main:A", "main:BA", "main:B!A t1:", "main:CB!A t1:", "main:B!A t1: floating:C",
          "main:A t1: floating:C", "main: t1: floating:AC"]),
        ("create A; @t1 destroy A; create B; set none; set none",
         ["main:A", "main:A! t1:", "main:BA! t1:", "main:A! t1: floating:B",
          "main: t1: floating:B"]),
        ("create A; push A; @t1 destroy A; pop; create B",
         ["main:A", "main:AA", "main:A!A! t1:", "main:A! t1:", "main:BA! t1:"]),
        ("retain P; push P; release P; retain P; pop",
         ["main: floating:P", "main:P", "main:P!", "main:P", "main: floating:P"]),
        ("retain P; retain Q; push Q; destroy Q",
         ["main: floating:P", "main: floating:P", "main:P", "main:P"]),
        ("create A; attach; detach; detach A; current",
         ["main:A", "main:A", "main:A", "main:", "main:"]),
    ],
)  # fmt: skip
def test_stacks(script: str, stacks: list[str]) -> None:
    assert [drawn(step) for step in ran(script).steps] == stacks


def test_looking_at_a_stack_leaves_it_as_it_was() -> None:
    """Every step draws all stacks: what the script sees must not depend on that."""
    report = ran("create A; create B; @t1 create C; @t1 push A; pop == B; pop == A; @t1 pop == A")
    assert report.exit_code == 0
    assert [step.verdict for step in report.steps][4:] == ["passed"] * 3


def test_threads_live_as_long_as_the_script() -> None:
    report = ran("@t1 create A; @t2 create B; @t1 current == A; @t2 current == B; current == none")
    assert report.exit_code == 0
    assert drawn(report.steps[-1]) == "t1:A t2:B main:"


def test_what_was_written_is_read_by_a_kernel_and_by_the_host() -> None:
    report = ran(
        """
        create A; alloc B 8; write B u32*2:1,2
        module M builtin; function F M.store
        launch F B 9; sync
        read B == 9,2
        global G M.counter; read G u32 == 5
        """
    )
    assert report.exit_code == 0
    assert report.steps[7].value == "[9, 2]"


def test_values() -> None:
    report = ran(
        """
        create A dev=1; device; flags spin; flags; limit stack=2048; cache equal; api-version
        state dev=1; primary-flags yield dev=1; current; set none; current
        """
    )
    assert [step.value for step in report.steps] == [
        None, "dev=1", "spin", "spin", "2048", "equal", "3020",
        "inactive", "yield", "A", None, "none",
    ]  # fmt: skip


def test_a_named_value_is_that_of_its_moment() -> None:
    report = ran("create A; limit stack as old; limit stack=8192 != old; limit stack == 8192")
    assert report.exit_code == 0


# --- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "verdict", "code"),
    [
        ("current", "ok", 0),
        ("pop", "error", 5),
        ("pop -> INVALID_CONTEXT", "passed", 0),
        ("pop -> failure", "passed", 0),
        ("pop -> any", "passed", 0),
        ("pop -> INVALID_VALUE", "failed", 1),
        ("current -> INVALID_CONTEXT", "failed", 1),
        ("current -> failure", "failed", 1),
        ("create A != A", "failed", 1),
        ("device == 0", "failed", 1),
        ("alloc B 4 -> any; free B", "not run", 5),
        ("alloc B 4 -> any; free B -> any", "passed", 0),
        ("alloc B 4 -> any; create A; alloc C 4 != B", "not run", 5),
        ("runtime-init", "ok", 0),
        ("runtime-init -> any", "passed", 0),
        ("create A; module M builtin; managed V M.shared_counter", "not supported", 5),
    ],
)
def test_verdicts(script: str, verdict: str, code: int) -> None:
    report = ran(script)
    assert (report.steps[-1].verdict, report.exit_code) == (verdict, code)


def test_a_failure_is_no_end() -> None:
    report = ran("pop; create A; current == A")
    assert [step.verdict for step in report.steps] == ["error", "ok", "passed"]
    failed = report.steps[0]
    assert (failed.call, failed.result, failed.code) == (
        "cuCtxPopCurrent", "CUDA_ERROR_INVALID_CONTEXT", 201,
    )  # fmt: skip


def test_the_largest_code_counts() -> None:
    assert ran("pop; current != none").exit_code == 5


def test_a_step_that_is_not_supported_names_no_call() -> None:
    step = ran("create A; module M builtin; managed V M.shared_counter").steps[-1]
    assert (step.call, step.result, step.code) == ("", "", None)
    assert step.reason == "managed variables require a library, not a module"


# --- ends ----------------------------------------------------------------------------------------


def test_a_fault_is_every_later_answer_until_a_new_process() -> None:
    report = ran(
        """
        @t1 create B
        create A; module M builtin; function F M.store; launch F null 1
        sync; @t1 sync
        new-process
        create C; sync
        """
    )
    assert [step.code for step in report.steps] == [0, 0, 0, 0, 0, 700, 700, None, 0, 0]
    assert report.exit_code == 5
    assert "null pointer" in (report.steps[5].reason or "")
    assert [drawn(step) for step in report.steps[4:]] == [
        "t1:B main:A", "t1:B main:A", "t1:B main:A", "", "main:C", "main:C",
    ]  # fmt: skip


def test_stacks_are_followed_after_a_fault() -> None:
    report = ran(
        """
        create A; create B; module M builtin; function F M.store; launch F null 1
        sync -> ILLEGAL_ADDRESS; pop; push B; set A; set none; pop
        """
    )
    assert [drawn(step) for step in report.steps[5:]] == [
        "main:BA", "main:A floating:B", "main:BA", "main:AA floating:B", "main:A floating:B",
        "main: floating:AB",
    ]  # fmt: skip


def test_a_kernel_that_never_ends_is_ended_by_the_limit() -> None:
    steps = ["create A", "module M builtin", "function F M.spin", "launch F", "sync"]
    report = ran("; ".join(steps), timeout=2)
    assert isinstance(report.error, OutOfTime)
    assert report.error.message == (
        "the script timed out after 2 s (--timeout 2); the worker was killed"
    )
    assert report.exit_code == 6
    done = [step.text for step in report.steps]
    assert done == steps[: len(done)]
    assert len(done) < len(steps)


def test_arguments_that_do_not_fit_end_the_script() -> None:
    report = ran("create A; module M builtin; function F M.store; launch F 1; sync")
    assert isinstance(report.error, RequestError)
    assert report.error.context["step"] == "4 (launch F 1)"
    assert (len(report.steps), report.exit_code) == (3, 2)


def test_an_image_that_the_driver_refuses_is_an_answer() -> None:
    text = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { ret.xx; }\n"
    report = ran("create A; module M broken -> INVALID_PTX; library L broken; function F L.f",
                 broken=Image("failed", text))  # fmt: skip
    assert [step.code for step in report.steps] == [0, 218, 0, 218]
    assert "line 4" in (report.steps[3].reason or "")


def test_a_source_that_does_not_compile_is_refused_before_the_first_step() -> None:
    source = Image("bad.cu", b"__global__ void f() { nonsense }")
    with pytest.raises(ImageRefused):
        ran("create A; module M bad", bad=source)


def test_more_devices_than_were_chosen() -> None:
    with pytest.raises(RequestError, match=r"the script uses dev=1, but only 1 device is selected"):
        ran("create A dev=1", "cpu")


def test_devices_of_two_drivers() -> None:
    with pytest.raises(RequestError, match="one process cannot use GPUs and emulated devices"):
        ran("create A", "0,cpu")


# --- a stack that cannot be looked into ----------------------------------------------------------


def step_of(verb: str, **operands: object) -> Step:
    return Step(1, 1, "main", verb, verb, operands)


@pytest.mark.parametrize(
    ("before", "top", "own", "after"),
    [
        ([1, 2], 2, None, [1, 2]),
        ([1, 2], 1, step_of("pop"), [1]),
        ([1, 1], 1, step_of("pop"), [1]),
        ([1], 2, step_of("push", context="B"), [1, 2]),
        ([1], 1, step_of("push", context="A"), [1, 1]),
        ([1, 2], 3, step_of("set", context="C"), [1, 3]),
        ([1, 2], 1, step_of("set", context=None), [1]),
        ([1, 2], 1, step_of("destroy", thing="B"), [1]),
        ([], 5, step_of("runtime-init"), [5]),
    ],
)
def test_what_was_last_seen(
    before: list[int], top: int, own: Step | None, after: list[int]
) -> None:
    assert _last_seen(before, top, own) == after


@pytest.mark.parametrize("owner", ["module", "library"])
def test_a_kernel_by_the_name_that_c_plus_plus_has_for_it(owner: str) -> None:
    text = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry _Z4savev() { ret; }\n"
    script = f"create A; {owner} M file; function F M.save; function G M.nothing"
    *_, mangled, missing = ran(script, file=Image("file", text)).steps
    assert mangled.reason == "the driver accepts only mangled names: _Z4savev"
    assert missing.reason == f"the {owner} does not contain a kernel 'nothing'"


SAXPY = Path(__file__).parents[3] / "samples/saxpy.ptx"


def test_values_checks_and_prints_are_those_of_launch() -> None:
    text = """
        library L builtin; create A
        alloc x f32[8]:iota; alloc w 64
        module M saxpy; function F M.saxpy
        launch F block=n a=2 in=x y=f32[n]:ones n=8
        check y == 2*x + 1; check y == x; print y[6:]
        launch F block=2 0 &x[6] &y[6] 2
        read y f32[2] == [1,3]; read x == iota; read x == ones
        alloc p ptr[2]:[&x, &y[4]]; write w {p=&y[1], n=i32:5}
        memory as free; check free > 1000
        global G L.counter u32; check G == 5
        check x == 0 -> SUCCESS
    """
    report = ran(text, saxpy=Image("saxpy", SAXPY.read_bytes()))
    assert report.error is None
    said = {step.text: step for step in report.steps}
    assert said["check y == 2*x + 1"].verdict == "passed"
    failed = said["check y == x"]
    assert failed.verdict == "failed"
    assert (failed.reason or "").startswith("8 of 8 elements mismatched")
    assert said["print y[6:]"].value == "[13., 15.]"
    assert said["read y f32[2] == [1,3]"].verdict == "passed"
    assert said["read x == iota"].verdict == "passed"
    assert said["read x == ones"].verdict == "failed"
    assert said["check free > 1000"].verdict == said["check G == 5"].verdict == "passed"
    assert said["check x == 0 -> SUCCESS"].verdict == "passed"
    beyond = ran("create A; alloc x f32[4]; alloc p ptr[1]:[&x[5]]").error
    assert isinstance(beyond, RequestError)
    assert beyond.message == "&x[5] is out of bounds: x has 4 elements"
