"""The consensus of a fleet: who differs, what is not compared, and which times are outliers."""

from __future__ import annotations

from cudarun.base.errors import ExitCode
from cudarun.base.machine import DeviceIdentity
from cudarun.model.fleet import Change, FleetCase, FleetGpu, FleetHost, FleetReport
from cudarun.session.fleet.consensus import compare


def gpu(
    label: str,
    digest: str,
    *,
    kind: str = "H200",
    changed: bool = False,
    time: float = 1.0,
    code: ExitCode = ExitCode.OK,
) -> FleetGpu:
    identity = DeviceIdentity(label, int(label), f"GPU-{label}", "0:0:0", kind, None, (13, 0))
    changes = (Change("y", 2, (digest, "other")),) if changed else ()
    verdict = "failed" if code else "passed"
    case = FleetCase("c", verdict, None, code, 3, time, {"y": digest}, changes)  # type: ignore[arg-type]
    return FleetGpu(identity, (case,))


def on(*gpus: FleetGpu) -> list[FleetHost]:
    return [FleetHost("a", 1.0, gpus[:2]), FleetHost("b", 1.0, gpus[2:])]


def test_a_minority_is_named_though_its_checks_pass() -> None:
    found = compare(on(gpu("0", "p"), gpu("1", "p"), gpu("0", "q"), gpu("1", "p")))
    [consensus] = found.consensus
    assert (consensus.agreeing, consensus.dissenting) == (3, ("b/0",))
    sick = found.hosts[1].gpus[0]
    assert sick.verdict == "wrong answer"
    assert sick.reason == "c: y differs from 3 of 4 GPUs of this kind"
    assert [each.verdict for host in found.hosts for each in host.gpus].count("ok") == 3
    assert found.compared == 1


def test_a_gpu_that_changes_its_output_is_named_where_the_others_do_not() -> None:
    found = compare(on(gpu("0", "p"), gpu("1", "p"), gpu("0", "p", changed=True), gpu("1", "p")))
    assert found.hosts[1].gpus[0].objections == (
        "c: y changes between runs; it does not on 3 of 4 GPUs",
    )


def test_a_node_with_many_gpus_does_not_outvote_several_nodes() -> None:
    many = tuple(gpu(str(number), "q") for number in range(50))
    honest = [FleetHost(name, 1.0, (gpu("0", "p"),)) for name in "abc"]
    found = compare([FleetHost("liar", 1.0, many), *honest])
    [consensus] = found.consensus
    assert (consensus.agreeing, len(consensus.dissenting)) == (0, 53)  # neither is blamed
    assert {each.verdict for host in found.hosts for each in host.gpus} == {"ok"}


def test_times_of_zero_have_no_outliers() -> None:
    times = (0.0, 0.0, 0.0, 1.0)
    found = compare(on(*(gpu(str(n), "p", time=time) for n, time in enumerate(times))))
    assert [each.slow for host in found.hosts for each in host.gpus] == [()] * 4


class CountedName(str):
    """A name that counts its comparisons with others."""

    __slots__ = ()
    __hash__ = str.__hash__
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        CountedName.comparisons += 1
        return str.__eq__(self, other)


def test_many_changes_take_no_longer_than_their_number() -> None:
    """Each digest was compared with each change: a document of 2 MB took minutes."""
    names = [CountedName(f"z{number}") for number in range(300)]
    changes = tuple(Change(CountedName(name), 2, ("a", "b")) for name in names)
    case = FleetCase("c", "passed", None, ExitCode.OK, 1, 1.0, dict.fromkeys(names, "a"), changes)
    host = FleetHost("a", 1.0, (FleetGpu(gpu("0", "p").identity, (case,)),))
    found = compare([host])
    assert (found.compared, len(found.consensus)) == (300, 300)
    assert CountedName.comparisons < 10 * 300


def test_an_output_that_most_gpus_change_is_not_compared() -> None:
    changing = [gpu(label, label, changed=True) for label in "012"]
    found = compare(on(*changing, gpu("3", "p")))
    [consensus] = found.consensus
    assert (consensus.is_deterministic, consensus.dissenting) == (False, ())
    assert all(each.verdict == "ok" for host in found.hosts for each in host.gpus)


def test_kinds_are_compared_by_themselves() -> None:
    found = compare(
        on(gpu("0", "p"), gpu("1", "p"), gpu("0", "q", kind="A100"), gpu("1", "q", kind="A100"))
    )
    assert (found.consensus, found.compared) == ((), 2)


def test_without_a_majority_nobody_is_blamed() -> None:
    hosts = on(gpu("0", "p"), gpu("1", "q"))
    found = compare(hosts)
    [consensus] = found.consensus
    assert (consensus.agreeing, consensus.dissenting) == (0, ("a/0", "a/1"))
    assert all(each.verdict == "ok" for each in found.hosts[0].gpus)
    report = FleetReport("s", None, 1.0, found.hosts[:1], found.consensus, found.compared)
    assert report.exit_code is ExitCode.CHECK_FAILED


def test_a_fault_has_no_output_to_compare() -> None:
    faulted = gpu("1", "q", code=ExitCode.DEVICE_FAILED)
    found = compare(on(gpu("0", "p"), faulted, gpu("0", "p"), gpu("1", "p")))
    assert (found.consensus, found.hosts[0].gpus[1].verdict) == ((), "fault")


def test_slow_gpus() -> None:
    times = [1.0, 1.01, 0.99, 1.02, 1.5]
    gpus = [gpu(str(place), "p", time=time) for place, time in enumerate(times)]
    found = compare(on(*gpus))
    slow = {each.identity.label: each.slow for host in found.hosts for each in host.gpus}
    assert {label for label, texts in slow.items() if texts} == {"4"}
    assert slow["4"] == ("c 1.5 ms, median 1.01 ± 0.01 ms (1.49 ×)",)
    assert found.hosts[1].gpus[-1].verdict == "ok"


def test_equal_times_have_no_outliers_by_a_hair() -> None:
    gpus = [gpu(str(place), "p", time=time) for place, time in enumerate([1.0, 1.0, 1.0, 1.01])]
    assert not any(each.slow for host in compare(on(*gpus)).hosts for each in host.gpus)
