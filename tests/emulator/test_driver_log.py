"""The driver's log: its form, what it forgets, where it is shown."""

import re
import threading

import pytest

from cudarun.emulator import driver
from cudarun.emulator.host.log import CAPACITY, ErrorLog

LINE = re.compile(r"\[\d\d:\d\d:\d\d\.\d{3}\]\[\d+\]\[CUDA\]\[E\] it failed\n")


@pytest.fixture(autouse=True)
def not_shown(monkeypatch):
    monkeypatch.delenv("CUDA_LOG_FILE", raising=False)


def test_an_entry_is_a_line_in_the_drivers_form():
    log = ErrorLog()
    log.write("it failed\n")
    assert LINE.fullmatch(log.since(0).decode())


def test_an_iterator_is_where_the_next_entry_goes():
    log = ErrorLog()
    log.write("first")
    here = log.next
    assert log.since(here) == b""
    log.write("second")
    assert b"second" in log.since(here)
    assert b"first" not in log.since(here)


def test_the_oldest_entries_are_forgotten_and_it_says_so():
    log = ErrorLog()
    for number in range(600):
        log.write(f"entry {number} " + "x" * 60)
    text = log.since(0)
    assert len(text) <= CAPACITY
    assert b"the oldest messages were dropped" in text.splitlines()[0]
    assert text.rstrip().endswith(b"x" * 60)
    assert b"entry 599 " in text
    assert b"entry 0 " not in text


def test_the_newest_entries_are_kept_in_a_small_buffer():
    log = ErrorLog()
    for number in range(10):
        log.write(f"entry {number}")
    text = log.since(0, limit=200)
    assert len(text) <= 200
    assert b"entry 9" in text
    assert b"entry 0" not in text
    assert log.since(0, limit=10) is None


def test_it_is_shown_where_the_environment_says(monkeypatch, tmp_path, capsys):
    log = ErrorLog()
    for target in ("stdout", "stderr", str(tmp_path / "log")):
        monkeypatch.setenv("CUDA_LOG_FILE", target)
        log.write(f"to {target}")
    captured = capsys.readouterr()
    assert captured.out.endswith("to stdout\n")
    assert captured.err.endswith("to stderr\n")
    assert (tmp_path / "log").read_text().endswith("log\n")


@pytest.mark.parametrize("target", ["x" * 5000, "/proc", "/nonexistent/log"])
def test_a_file_that_cannot_be_written_fails_no_call(monkeypatch, target):
    monkeypatch.setenv("CUDA_LOG_FILE", target)
    log = ErrorLog()
    log.write("kept")
    assert log.since(0).decode().endswith("kept\n")


def test_every_refusal_has_its_reason_there(fresh_process):
    iterator = driver.cuLogsCurrent(0)[1]
    driver.cuInit(0)
    driver.cuDeviceGet(77)
    buffer = bytearray(1000)
    _, moved, size = driver.cuLogsDumpToMemory(iterator, buffer, len(buffer), 0)
    assert moved is iterator
    said, returned = buffer[:size].decode().splitlines()
    assert said.endswith("[CUDA][E] device 77 does not exist")
    assert returned.endswith("[CUDA][E] Returning 101 (CUDA_ERROR_INVALID_DEVICE) from cuDeviceGet")
    assert driver.cuLogsDumpToMemory(iterator, buffer, len(buffer), 0)[2] == 0


def test_the_last_words_are_those_of_the_thread(fresh_process):
    driver.cuInit(0)
    driver.cuDeviceGet(77)
    other = threading.Thread(target=driver.cuDeviceGet, args=(78,))
    other.start()
    other.join()
    assert fresh_process.log.last_words == "device 77 does not exist"


def test_a_dump_to_nowhere(fresh_process, tmp_path):
    assert int(driver.cuLogsDumpToMemory(None, None, 10, 0)[0]) == 1
    assert int(driver.cuLogsDumpToFile(None, str(tmp_path / "a" / "b").encode(), 0)[0]) == 1
