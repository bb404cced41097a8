"""Threads, faults and printing: what the state of the whole process does.

Kernels are stood in for by functions, run where a kernel would.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from cuda.bindings.driver import CUgraphNodeType

from cudarun.emulator import driver
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.host.graphs import Operation
from tests.support.processes import PATIENCE


def code(answer):
    return int(answer[0])


@pytest.fixture
def device(fresh_process):
    driver.cuInit(0)
    _, context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    yield fresh_process.devices[0]
    driver.cuCtxSetCurrent(None)


def run(process, device, work):
    """What a launch does with its kernel."""
    with process.lock:
        process.run(device, work)


def faulting():
    raise DeviceFault(700, "kernel k: illegal address\n  at 0x1")


def test_other_threads_make_calls_while_a_kernel_runs(fresh_process, device):
    started, end = threading.Event(), threading.Event()

    def kernel():
        started.set()
        assert end.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        launch = pool.submit(run, fresh_process, device, kernel)
        assert started.wait(PATIENCE)
        assert driver.cuDeviceGetCount()[1] == 1
        assert code(driver.cuMemAlloc(16)) == 0
        assert driver.cuStreamQuery(0)[0].name == "CUDA_ERROR_NOT_READY"
        end.set()
        launch.result(PATIENCE)
    assert code(driver.cuStreamQuery(0)) == 0


def test_synchronising_waits_for_the_kernel_of_another_thread(fresh_process, device):
    started, end = threading.Event(), threading.Event()
    order = []

    def kernel():
        started.set()
        assert end.wait(PATIENCE)
        order.append("kernel")

    with ThreadPoolExecutor(1) as pool:
        launch = pool.submit(run, fresh_process, device, kernel)
        assert started.wait(PATIENCE)
        threading.Timer(0.05, end.set).start()
        assert code(driver.cuCtxSynchronize()) == 0
        order.append("synchronised")
        launch.result(PATIENCE)
    assert order == ["kernel", "synchronised"]


def test_kernels_of_one_device_run_one_after_the_other(fresh_process, device):
    running, most = 0, 0
    lock = threading.Lock()

    def kernel():
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with lock:
            running -= 1

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(run, fresh_process, device, kernel) for _ in range(40)]:
            future.result(PATIENCE)
    assert most == 1


def test_a_fault_is_told_by_the_first_call_that_synchronises(fresh_process, device):
    _, event = driver.cuEventCreate(0)
    run(fresh_process, device, faulting)
    assert code(driver.cuEventRecord(event, 0)) == 0
    assert code(driver.cuDeviceGetCount()) == 0
    assert code(driver.cuCtxGetCurrent()) == 0
    assert fresh_process.log.since(0) == b""
    assert code(driver.cuCtxSynchronize()) == 700
    assert code(driver.cuEventRecord(event, 0)) == 700
    assert code(driver.cuDeviceGetCount()) == 0


def test_a_faults_report_is_in_the_log_once(fresh_process, device):
    run(fresh_process, device, faulting)
    driver.cuStreamSynchronize(0)
    driver.cuCtxSynchronize()
    text = fresh_process.log.since(0).decode()
    assert text.count("kernel k: illegal address\n  at 0x1\n") == 1
    words, first, again = text.split("[CUDA][E] ")[1:]
    assert words.startswith("kernel k: illegal address\n")
    assert first.startswith("Returning 700 (CUDA_ERROR_ILLEGAL_ADDRESS) from cuStreamSynchronize\n")
    assert again.startswith("Returning 700 (CUDA_ERROR_ILLEGAL_ADDRESS) from cuCtxSynchronize\n")


def test_nothing_runs_after_a_fault(fresh_process, device):
    ran = []
    address = driver.cuMemAlloc(16)[1]
    driver.cuMemsetD8(address, 1, 16)
    run(fresh_process, device, faulting)
    run(fresh_process, device, lambda: ran.append("kernel"))
    assert code(driver.cuMemsetD8Async(address, 2, 16, 0)) == 0
    assert ran == []
    assert fresh_process.memory_at(int(address)).bytes_at(int(address), 16).tolist() == [1] * 16


def test_the_first_fault_stays(fresh_process, device):
    def another():
        raise DeviceFault(716, "misaligned")

    run(fresh_process, device, faulting)
    run(fresh_process, device, another)
    assert code(driver.cuCtxSynchronize()) == 700


def test_a_fault_is_every_threads_and_every_devices(fresh_process, monkeypatch):
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    driver.cuInit(0)
    _, second = driver.cuDevicePrimaryCtxRetain(1)
    run(fresh_process, fresh_process.devices[0], faulting)

    def elsewhere():
        driver.cuCtxSetCurrent(second)
        return code(driver.cuCtxSynchronize()), code(driver.cuMemAlloc(16))

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result(PATIENCE) == (700, 700)
    assert code(driver.cuDevicePrimaryCtxReset(1)) == 0
    assert code(driver.cuDevicePrimaryCtxRetain(0)) == 700


def test_after_a_fault_a_destroyed_context_says_that_it_is(fresh_process, device):
    run(fresh_process, device, faulting)
    assert code(driver.cuCtxSynchronize()) == 700
    assert code(driver.cuDevicePrimaryCtxReset(0)) == 0
    assert code(driver.cuCtxSynchronize()) == 709
    assert code(driver.cuLibraryLoadData(b"", [], [], 0, [], [], 0)) == 709
    assert code(driver.cuCtxCreate(None, 0, 0)) == 700
    driver.cuCtxPopCurrent()
    assert code(driver.cuCtxSynchronize()) == 201


def test_a_defect_of_the_emulator_is_no_fault(fresh_process, device):
    with pytest.raises(ZeroDivisionError):
        run(fresh_process, device, lambda: 1 / 0)
    assert code(driver.cuCtxSynchronize()) == 0


def test_printed_text_comes_when_something_synchronises(fresh_process, device, capfd):
    run(fresh_process, device, lambda: fresh_process.printed(b"one\n"))
    run(fresh_process, device, lambda: fresh_process.printed(b"two\n"))
    assert capfd.readouterr().out == ""
    driver.cuCtxSynchronize()
    assert capfd.readouterr().out == "one\ntwo\n"
    driver.cuCtxSynchronize()
    assert capfd.readouterr().out == ""


def test_printed_text_is_written_whole(fresh_process, capfd):
    text = b"0123456789abcdef" * (1 << 14)  # more than a pipe holds at once
    fresh_process.printed(text[:5])
    fresh_process.printed(text[5:])
    fresh_process.show_printed()
    assert capfd.readouterr().out.encode() == text


def test_printed_text_that_nobody_can_read_is_lost_in_silence(fresh_process):
    stdout, (read, write) = os.dup(1), os.pipe()
    os.close(read)
    os.dup2(write, 1)
    try:
        fresh_process.printed(b"into a closed pipe")
        fresh_process.show_printed()
    finally:
        os.dup2(stdout, 1)
        for descriptor in (stdout, write):
            os.close(descriptor)


def test_threads_have_stacks_of_their_own(fresh_process, device):
    def elsewhere():
        before = int(driver.cuCtxGetCurrent()[1])
        created = driver.cuCtxCreate(None, 0, 0)[1]
        return before, int(created), int(driver.cuCtxGetCurrent()[1])

    here = int(driver.cuCtxGetCurrent()[1])
    with ThreadPoolExecutor(1) as pool:
        before, created, after = pool.submit(elsewhere).result(PATIENCE)
    assert (before, after) == (0, created)
    assert int(driver.cuCtxGetCurrent()[1]) == here


def test_a_stream_of_another_device_is_waited_for(fresh_process, monkeypatch):
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    driver.cuInit(0)
    driver.cuCtxCreate(None, 0, 1)
    stream = driver.cuStreamCreate(0)[1]
    driver.cuCtxCreate(None, 0, 0)
    started, end = threading.Event(), threading.Event()

    def kernel():
        started.set()
        assert end.wait(PATIENCE)
        faulting()

    with ThreadPoolExecutor(1) as pool:
        launch = pool.submit(run, fresh_process, fresh_process.devices[1], kernel)
        assert started.wait(PATIENCE)
        assert code(driver.cuCtxSynchronize()) == 0
        threading.Timer(0.05, end.set).start()
        assert code(driver.cuStreamSynchronize(stream)) == 700
        launch.result(PATIENCE)


# --- streams that run on their own ---------------------------------------------------------------


class Kernel(Operation):
    """Work for the first device."""

    @property
    def device(self):
        return driver.process.devices[0]


def submit(process, stream, work, kind=Operation):
    with process.lock:
        operation = kind(CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST, work)
        return process.submit(process.stream(stream), operation)


@pytest.fixture
def stream(fresh_process, device):
    fresh_process.run_streams()
    return driver.cuStreamCreate(1)[1]


def test_a_stream_runs_its_kernel_when_another_thread_leaves_the_device(
    fresh_process, device, stream
):
    started, end, done = threading.Event(), threading.Event(), threading.Event()

    def kernel():
        started.set()
        assert end.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(run, fresh_process, device, kernel)
        assert started.wait(PATIENCE)
        submit(fresh_process, stream, done.set, Kernel)
        threading.Timer(0.05, end.set).start()  # its thread waits for the device by then
        other.result(PATIENCE)
        assert done.wait(PATIENCE)


def test_a_host_function_of_a_graph_waits_for_another_kernel(fresh_process, stream):
    ran, found = threading.Event(), []
    kind = CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST
    function = Operation(kind, lambda: found.append(ran.wait(PATIENCE)))
    nodes = Kernel(kind, lambda: None), function
    with fresh_process.lock:
        fresh_process.submit(fresh_process.stream(stream), *nodes)
    submit(fresh_process, driver.cuStreamCreate(1)[1], ran.set, Kernel)
    assert code(driver.cuCtxSynchronize()) == 0
    assert found == [True]


def test_a_defect_ends_no_stream(fresh_process, stream, monkeypatch):
    defects = []
    monkeypatch.setattr(threading, "excepthook", defects.append)
    task = submit(fresh_process, stream, lambda: 1 / 0)
    submit(fresh_process, stream, lambda: None)
    assert code(driver.cuStreamSynchronize(stream)) == 999
    submit(fresh_process, stream, lambda: None)
    assert code(driver.cuCtxSynchronize()) == 999
    assert [each.exc_type for each in defects] == [ZeroDivisionError]
    assert task.refusal.words == "internal error: ZeroDivisionError('division by zero')"


def test_work_that_is_done_is_not_kept_by_later_work(fresh_process, stream):
    end = threading.Event()
    first = submit(fresh_process, stream, lambda: end.wait(PATIENCE))
    blocked = driver.cuStreamCreate(1)[1]
    with fresh_process.lock:
        last = fresh_process.queues.submit(fresh_process.stream(blocked), (), first)
    end.set()
    assert code(driver.cuStreamSynchronize(blocked)) == 0
    assert last.done
    assert not last.before
    assert not last.operations
