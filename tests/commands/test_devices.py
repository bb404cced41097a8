"""``cudarun devices`` on emulated devices, and where there is no GPU."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

import pytest

from tests.support.toolkit import without_driver

if TYPE_CHECKING:
    from conftest import Run

TWO = {"CUDARUN_CPU_DEVICES": "2"}
_UUID = r"GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def test_a_row_for_each_device_and_who_reaches_whom(run: Run) -> None:
    ran = run("devices", "-d", "cpu:all", env=TWO)
    assert (ran.code, ran.err) == (0, "")
    header, first, second, *uuids, peers, one, other = ran.out.splitlines()
    assert header.split() == [
        *("device", "name", "cc", "SMs", "free/total", "GiB", "PCI", "driver", "PTX")
    ]
    assert first.startswith("cpu     cudarun emulated device  9.0  132")
    assert second.startswith("cpu:1   cudarun emulated device  9.0  132")
    assert [re.fullmatch(rf"cpu(:1)?: {_UUID}", line) is not None for line in uuids] == [True] * 2
    assert [line.split() for line in (peers, one, other)] == [
        ["peer", "access", "cpu", "cpu:1"],
        ["cpu", "-", "yes"],
        ["cpu:1", "yes", "-"],
    ]


def test_json(run: Run) -> None:
    ran = run("devices", "-d", "cpu:1", "--json", env=TWO)
    document = ran.document
    [device] = document.pop("devices")
    assert document.pop("attributes") == {}
    machine = document.pop("machine")
    assert machine["host"] == socket.gethostname()
    [identity] = machine["devices"]
    assert identity == {key: device.get(key) for key in identity}
    assert document == {
        "schema": "cudarun/devices/1", "exit_code": 0, "error": None, "no_gpu": None,
    }  # fmt: skip
    assert device["memory_free"] <= device["memory_total"]
    assert re.fullmatch(_UUID, device["uuid"])
    for changing in ("memory_free", "memory_total", "uuid"):
        del device[changing]
    assert device == {
        "label": "cpu:1",
        "index": 1,
        "name": "cudarun emulated device",
        "pci_bus_id": "0000:E1:00.0",
        "compute_capability": [9, 0],
        "multiprocessors": 132,
        "driver_version": [13, 0],
        "ptx_version": [9, 5],
        "peers": [0],
    }


def test_quiet_is_a_uuid_a_line(run: Run) -> None:
    ran = run("devices", "-d", "cpu:all", "-q", env=TWO)
    assert [re.fullmatch(_UUID, line) is not None for line in ran.out.splitlines()] == [True] * 2


@without_driver
def test_without_a_gpu_the_emulated_devices_are_listed(run: Run) -> None:
    ran = run("devices", env=TWO)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()[1:3]] == ["cpu", "cpu:1"]
    assert ran.out.splitlines()[-1] == (
        "note no GPU: no CUDA driver: libcuda.so.1 was not found; "
        "'cudarun devices --doctor' shows the reason"
    )
    document = run("devices", "--json", env=TWO).document
    assert [device["label"] for device in document["devices"]] == ["cpu", "cpu:1"]
    assert (document["exit_code"], document["error"]) == (0, None)
    assert document["no_gpu"] == "no CUDA driver: libcuda.so.1 was not found"


def test_a_device_that_is_not_there(run: Run) -> None:
    ran = run("devices", "-d", "cpu:5", "--json")
    assert ran.code == 3
    assert ran.document["error"]["message"] == "no device cpu:5: the driver reports 1"


@without_driver
def test_the_doctor_where_there_is_no_driver(run: Run) -> None:
    ran = run("devices", "--doctor", env={"CUDA_VISIBLE_DEVICES": "", "CUDARUN_CPU_DEVICES": "3"})
    assert (ran.code, ran.err) == (3, "")
    rows = ran.out.splitlines()
    assert "WRONG  driver library        libcuda.so.1 was not found" in rows
    assert "WRONG  CUDA_VISIBLE_DEVICES  '' hides every GPU" in rows
    assert "ok     device cpu            3 emulated, PTX only" in rows
    assert any("llvmlite" in row for row in rows)


@without_driver
def test_the_doctor_quietly_and_in_json(run: Run) -> None:
    env = {"CUDARUN_CPU_DEVICES": "none"}
    quiet = run("devices", "--doctor", "-q", env=env)
    assert not re.search(r"^ok", quiet.out, re.MULTILINE)
    assert "fix: CUDARUN_CPU_DEVICES=2 creates two emulated devices" in quiet.out
    ran = run("devices", "--doctor", "--json", env=env)
    document = ran.document
    assert (document["schema"], document["exit_code"]) == ("cudarun/devices-doctor/1", 3)
    wrong = [found["subject"] for found in document["findings"] if found["state"] == "wrong"]
    assert (ran.code, wrong) == (3, ["device nodes", "driver library", "device cpu"])


def test_the_doctor_names_a_variable_of_the_engines(run: Run) -> None:
    rows = run("devices", "--doctor", env={"CUDARUN_CPU_TARGET": "none"}).out.splitlines()
    assert rows[-2].startswith("WRONG  device cpu            CUDARUN_CPU_TARGET=none: expected ")
    assert rows[-1].strip() == "fix: unset CUDARUN_CPU_TARGET"


def test_attributes(run: Run) -> None:
    ran = run("devices", "-d", "cpu:all", "--attributes", "-q", env=TWO)
    header, *rows = [line.split() for line in ran.out.splitlines()]
    assert header == ["attribute", "cpu", "cpu:1"]
    assert ["WARP_SIZE", "32", "32"] in rows
    assert ["PCI_BUS_ID", "224", "225"] in rows
    assert len(rows) > 100
    found = run("devices", "-d", "cpu", "--attributes", "--json").document["attributes"]
    assert found["cpu"]["COMPUTE_CAPABILITY_MAJOR"] == 9
    assert found["cpu"].keys() == {name for name, *_ in rows}


@pytest.mark.parametrize("value", ["abc", "0", "32", "-1", "9" * 5000])
def test_a_count_of_emulated_devices_that_is_none(run: Run, value: str) -> None:
    for command in (("devices",), ("launch", "samples/saxpy.ptx", "--block", "1")):
        ran = run(*command, "-d", "cpu", env={"CUDARUN_CPU_DEVICES": value})
        assert (ran.code, ran.out) == (2, "")
        assert f"CUDARUN_CPU_DEVICES={value[:200]}" in ran.err
        assert "expected a number from 1 to 31" in ran.err
        assert "hint: CUDARUN_CPU_DEVICES=2 creates two emulated devices\n" in ran.err
