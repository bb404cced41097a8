"""``cudarun compare``: two documents, which may be anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Run

TIMES = [1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09]


def spec(**cases: dict[str, float]) -> dict[str, Any]:
    """A document of ``launch --spec``: by case and device, the factor of its times."""
    return {
        "schema": "cudarun/launch-spec/1",
        "cases": [
            {
                "name": name,
                "device": device,
                "result": {
                    "timing": {"samples": [factor * time for time in TIMES]},
                    "grid": [4, 1, 1],
                    "block": [256, 1, 1],
                    "buffers": [{"name": "x", "type": "f32", "shape": [1000]}],
                },
            }
            for name, devices in cases.items()
            for device, factor in devices.items()
        ],
    }


@pytest.fixture
def compared(run: Run, tmp_path: Path) -> Any:
    def compared(old: Any, new: Any, *options: str) -> Any:
        for name, document in (("old", old), ("new", new)):
            (tmp_path / f"{name}.json").write_text(json.dumps(document))
        return run("compare", "old.json", "new.json", *options)

    return compared


def test_a_slower_case_fails(compared: Any) -> None:
    ran = compared(spec(a={"0": 1}, b={"0": 1}), spec(a={"0": 1.2}, b={"0": 0.5}), "--json")
    assert ran.code == 1
    found = {each["case"]: each for each in ran.document["cases"]}
    assert (found["a"]["verdict"], found["b"]["verdict"]) == ("slower", "faster")
    assert found["a"]["ratio"] == pytest.approx(1.2)
    assert found["a"]["low"] < 1.2 < found["a"]["high"]
    assert found["b"]["new"] == pytest.approx(0.5 * found["b"]["old"])


@pytest.mark.parametrize(("threshold", "code"), [("5%", 1), ("0.19", 1), ("20%", 0), ("1", 0)])
def test_the_threshold(compared: Any, threshold: str, code: int) -> None:
    ran = compared(spec(a={"0": 1}), spec(a={"0": 1.195}), "--threshold", threshold)
    assert ran.code == code


def test_a_difference_by_chance_is_none(compared: Any) -> None:
    ran = compared(spec(a={"0": 1}), spec(a={"0": 1.001}), "--threshold", "0", "--json")
    assert (ran.code, ran.document["cases"][0]["verdict"]) == (0, "no difference")


def test_a_wrong_result_is_not_faster(compared: Any) -> None:
    new = spec(a={"0": 0.1}, b={"0": 1})
    new["cases"][0]["verdict"] = "failed"
    ran = compared(spec(a={"0": 1}, b={"0": 1}), new, "--json")
    assert [each["case"] for each in ran.document["cases"]] == ["b"]
    assert ran.document["missing"] == [{"case": "a", "file": "old.json"}]


def test_other_work_is_noted(compared: Any) -> None:
    new = spec(a={"0": 1})
    new["cases"][0]["result"] |= {
        "block": [32, 1, 1],
        "buffers": [{"name": "x", "type": "f32", "shape": [50, 2]}],
    }
    ran = compared(spec(a={"0": 1}), new)
    assert ran.out.splitlines()[-2] == (
        "note: a is not the same launch: block 256×1×1 → 32×1×1, x f32[1000] → f32[50,2]"
    )


def test_devices_are_paired_by_label_and_a_single_one_with_another(compared: Any) -> None:
    old = spec(a={"0": 1, "1": 2}, b={"0": 1}, c={"0": 1})
    new = spec(a={"0": 1, "1": 2}, b={"3": 1}, d={"0": 1})
    document = compared(old, new, "--json").document
    assert [(each["case"], each["device"]) for each in document["cases"]] == [
        ("a", "0"), ("a", "1"), ("b", "0 → 3"),
    ]  # fmt: skip
    assert document["missing"] == [
        {"case": "c", "file": "old.json"}, {"case": "d", "file": "new.json"},
    ]  # fmt: skip


def test_fleets_are_compared_over_their_gpus(compared: Any) -> None:
    def fleet(factor: float) -> dict[str, Any]:
        gpus = [
            {
                "identity": {"name": "H200"},
                "cases": [
                    {"name": "a", "milliseconds": factor * time},
                    {"name": "b", "milliseconds": None},
                ],
            }
            for time in TIMES
        ]
        hosts = [{"host": "n", "gpus": gpus[:5]}, {"host": "m", "gpus": gpus[5:]}]
        return {"schema": "cudarun/fleet/1", "hosts": hosts}

    [case] = compared(fleet(1), fleet(1.5), "--json").document["cases"]
    assert (case["case"], case["device"], case["runs"]) == ("a", "H200", [10, 10])
    assert case["verdict"] == "slower"


def test_what_launch_writes_is_read(run: Run, tmp_path: Path) -> None:
    launch = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "n", "--repeat", "4")
    arguments = ("2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:64", "--json")
    (tmp_path / "a.json").write_text(run(*launch, *arguments).out)
    ran = run("compare", "a.json", "a.json")
    assert ran.code == 0
    header, row, totals = ran.out.splitlines()
    assert header.split()[:4] == ["case", "device", "old", "new"]
    assert row.split()[:2] == ["saxpy", "cpu"]
    assert totals == "0 slower, 0 faster, 1 without a difference (threshold 5 %)"


def test_markdown(compared: Any) -> None:
    ran = compared(spec(**{"a|<b>": {"0": 1}}), spec(**{"a|<b>": {"0": 2}}), "--format", "markdown")
    lines = ran.out.splitlines()
    assert lines[2].startswith("| a\\|&lt;b> | 0 | 1.045 ms | 2.09 ms | 2.000 |")
    assert lines[2].endswith("| **slower** |")


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ([], "old.json is not a document of launch, launch --spec or fleet"),
        ({"schema": "cudarun/load/1"}, "old.json is not a document of launch"),
        ({"schema": "cudarun/launch/1"}, "old.json: the document is incomplete: 'outcomes'"),
        ({"schema": "cudarun/launch/1", "outcomes": 3}, "old.json: the document is incomplete"),
        ({"schema": "cudarun/launch/1", "outcomes": []}, "old.json has no times"),
        (spec(a={"0": float("nan")}), "the document is incomplete: nan is not a time"),
        (spec(b={"0": 1}), "old.json and new.json have no case in common"),
    ],
)
def test_refusals(compared: Any, old: Any, message: str) -> None:
    ran = compared(old, spec(a={"0": 1}))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_no_json(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    ran = run("compare", "a.json", "a.json")
    assert (ran.code, ran.err) == (2, "error: a.json is not a JSON document\n")
    assert "'x%' is not a number" in run("compare", "a", "b", "--threshold", "x%").err
