"""Faults: the driver's result, and the whole text of the report."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.faults import DeviceFault
from tests.emulator.device import HEADER, Device

STORE = (
    HEADER
    + """
.file 1 "kernels/fill.cu"
.visible .entry fill(.param .u64 out, .param .s64 step)
{
    .reg .b32 %t; .reg .b64 %p, %s, %o;
    mov.u32 %t, %tid.x;
    ld.param.u64 %p, [out];
    ld.param.s64 %s, [step];
    cvt.u64.u32 %o, %t;
    mad.lo.s64 %p, %o, %s, %p;
    .loc 1 12 9
    st.global.u32 [%p+4], %t;
    ret;
}
"""
)


def fault(device: Device, *launch: object, **options: object) -> DeviceFault:
    with pytest.raises(DeviceFault) as caught:
        device.launch(*launch, **options)  # type: ignore[arg-type]
    return caught.value


def test_the_whole_report() -> None:
    device = Device(STORE)
    out = device.buffer(np.zeros(33, "u4"))
    report = fault(device, "fill", (2,), (40, 2), out, 4).report
    assert report == (
        "kernel fill: illegal address in a 4-byte store\n"
        "  global address 0x7f0000000084 is just past the end of 132 bytes at 0x7f0000000000 "
        "(buffer)\n"
        "  at PTX line 15: st.global.u32 [%p+4], %t;\n"
        "  from kernels/fill.cu:12\n"
        "  block (0, 0, 0), thread (32, 0, 0)"
    )


@pytest.mark.parametrize(
    ("marks", "line"),
    [
        (".loc 1 12 9, function_name a, inlined_at 2 3 5", "kernels/fill.cu:12"),
        (".loc 2 12 9, function_name a, inlined_at 1 3 5", "kernels/fill.cu:3"),
        (
            ".loc 2 7 9, function_name a, inlined_at 1 3 5\n"
            ".loc 2 9 1, function_name b, inlined_at 2 7 9\n"
            ".loc 3 12 9, function_name c, inlined_at 2 9 1",
            "kernels/fill.cu:3",
        ),
        (".loc 4 12 9, function_name a, inlined_at 1 3 5", "/home/me/cuda/include/fill.cuh:12"),
        (".loc 2 12 9", "/usr/local/cuda-13.0/include/atomics.hpp:12"),
        (  # whatever the calls are
            ".loc 2 7 9, function_name a, inlined_at 2 7 9",
            "/usr/local/cuda-13.0/include/atomics.hpp:7",
        ),
    ],
)
def test_functions_of_the_toolkit_have_the_line_of_their_call(marks: str, line: str) -> None:
    files = (
        '.file 2 "/usr/local/cuda-13.0/include/atomics.hpp"\n'
        '.file 3 "/site-packages/nvidia/cu13/include/cub/block.cuh"\n'
        '.file 4 "/home/me/cuda/include/fill.cuh"\n'
    )
    device = Device(STORE.replace(".loc 1 12 9", marks) + files)
    report = fault(device, "fill", (1,), (1,), 0, 4).report
    assert f"from {line}\n" in report


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (4, "is just past the end of 64 bytes"),
        (400, "bytes past the end of 64 bytes"),
        (-8, "is 4 bytes before 64 bytes"),
        (1 << 45, "past the end of 64 bytes"),
    ],
)
def test_distance_to_the_nearest_allocation(step: int, words: str) -> None:
    device = Device(STORE)
    device.memory.allocate(1 << 16)
    out = device.buffer(np.zeros(16, "u4"))
    assert words in fault(device, "fill", (1,), (32,), out, step).report


@pytest.mark.parametrize(
    ("used", "words"), [(False, "the end of 64 bytes"), (True, "before 1 bytes")]
)
def test_variables_that_the_kernel_does_not_use_are_not_the_nearest(used: bool, words: str) -> None:
    """As the function objects of libcu++, which are empty variables in many modules."""
    text = STORE.replace(".visible .entry", ".global .b8 empty[1];\n.visible .entry", 1)
    if used:
        text = text.replace("ret;", "mov.u64 %o, empty; ret;")
    device = Device(text)
    out = device.buffer(np.zeros(16, "u4"))
    device.symbols["empty"] = device.memory.allocate(1, label="variable empty")
    assert words in fault(device, "fill", (1,), (32,), out, 400).report


def test_an_access_that_reaches_over_the_end() -> None:
    device = Device(
        STORE.replace("st.global.u32", "st.global.b64").replace("[%p+4], %t", "[%p+4], %o")
    )
    out = device.memory.allocate(42)
    problem = fault(device, "fill", (1,), (32,), out + 4, 8)
    assert problem.result == 700
    assert "8-byte store" in problem.report
    assert "reaches 6 bytes past the end of 42 bytes" in problem.report


def test_freed_memory() -> None:
    device = Device(STORE)
    out = device.buffer(np.zeros(64, "u4"))
    device.launch("fill", (1,), (32,), out, 4)
    device.memory.free(out)
    report = fault(device, "fill", (1,), (32,), out, 4).report
    assert "is in freed memory: offset 4 of 256 bytes at" in report


def test_memory_freed_between_launches_is_not_remembered_as_good() -> None:
    device = Device(STORE)
    first, second = (device.buffer(np.zeros(64, "u4")) for _ in range(2))
    device.launch("fill", (1,), (32,), second, 4)
    device.memory.free(second)
    device.launch("fill", (1,), (32,), first, 4)
    assert fault(device, "fill", (1,), (32,), second, 4).result == 700


def test_null_pointers() -> None:
    device = Device(STORE)
    report = fault(device, "fill", (1,), (1,), -4, 4).report
    assert "global address 0x0 is a null pointer" in report
    report = fault(device, "fill", (1,), (1,), 0, 4).report
    assert "is a null pointer plus 4" in report


def test_misalignment_comes_first() -> None:
    device = Device(STORE)
    out = device.buffer(np.zeros(4, "u4"))
    problem = fault(device, "fill", (1,), (32,), out + 3, 4)
    assert (problem.result, problem.name) == (716, "CUDA_ERROR_MISALIGNED_ADDRESS")
    assert "misaligned by 3 for a 4-byte access" in problem.report


@pytest.mark.parametrize("address", [31, (1 << 64) - 1])
def test_misaligned_in_nobodys_memory_is_illegal(address: int) -> None:
    """As on an H200."""
    problem = fault(Device(STORE), "fill", (1,), (1,), address, 4)
    assert (problem.result, problem.name) == (700, "CUDA_ERROR_ILLEGAL_ADDRESS")


def test_the_first_lane_in_order_is_reported_wherever_it_is() -> None:
    """A stride from lane to lane over many allocations, one of them missing."""
    device = Device(STORE)
    buffers = [device.memory.allocate(512) for _ in range(64)]
    step = buffers[1] - buffers[0]
    device.launch("fill", (1,), (64,), buffers[0], step)
    assert device.read(buffers[63] + 4, "u4", 1) == [63]
    device.memory.free(buffers[40])
    assert "thread (40, 0, 0)" in fault(device, "fill", (1,), (64,), buffers[0], step).report


SHARED = """
.visible .entry test(.param .u32 at)
{
    .reg .b32 %a, %v; .shared .align 4 .b8 own[64]; .extern .shared .align 4 .b8 more[];
    mov.u32 %v, own;
    ld.param.u32 %a, [at];
    ld.shared.u32 %v, [%a];
    st.shared.u32 [%a], %v;
    ret;
}
"""


def test_shared_memory() -> None:
    """A kernel's own shared memory begins at 0x400; the memory before it is the system's."""
    device = Device(SHARED.replace(".extern .shared .align 4 .b8 more[];", ""))
    device.launch("test", (2,), (32,), 0x400)
    device.launch("test", (2,), (32,), 0x43C)
    problem = fault(device, "test", (2,), (32,), 0x440)
    assert problem.result == 700
    assert "4-byte load" in problem.report
    assert "shared address 0x440 is just past the 64 bytes of shared memory" in problem.report
    report = fault(device, "test", (1,), (32,), 0x464).report
    assert "is 36 bytes past the 64 bytes of shared memory" in report
    assert fault(device, "test", (1,), (32,), 0x402).result == 716
    for address, distance in ((0x3FC, 4), (0, 0x400)):
        report = fault(device, "test", (1,), (32,), address).report
        assert f"is {distance} bytes before the 64 bytes of shared memory" in report


def test_writing_a_kernel_parameter() -> None:
    device = Device(
        """
        .visible .entry test(.param .u64 a)
        {
            .reg .b64 %p;
            mov.u64 %p, a; cvta.param.u64 %p, %p;
            st.u32 [%p], 1;
            ret;
        }
        """
    )
    assert fault(device, "test", (1,), (1,), 0).result == 700


def test_the_chain_of_calls_is_told() -> None:
    device = Device(
        """
        .func inner(.param .b64 where)
        {
            .reg .b64 %p; ld.param.b64 %p, [where];
            st.global.u32 [%p], 1;
            ret;
        }
        .func outer(.param .b64 where)
        {
            .reg .b64 %p; ld.param.b64 %p, [where];
            { .param .b64 x; st.param.b64 [x], %p; call inner, (x); }
            ret;
        }
        .visible .entry test(.param .u64 where)
        {
            .reg .b64 %p; ld.param.u64 %p, [where];
            { .param .b64 x; st.param.b64 [x], %p; call outer, (x); }
            ret;
        }
        """
    )
    report = fault(device, "test", (1,), (1,), 8).report
    assert "called from outer, PTX line 14" in report
    assert "called from test, PTX line 20" in report
    assert report.index("outer") < report.index("from test")


def test_assertions(capfd: pytest.CaptureFixture[str]) -> None:
    device = Device(
        """
        .extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,
                                    .param .b64 s);
        .global .b8 message[6] = {120, 32, 62, 32, 48, 0};
        .global .b8 file[5] = {97, 46, 99, 117, 0};
        .global .b8 name[7] = {107, 101, 114, 110, 101, 108, 0};
        .visible .entry test()
        {
            .reg .b32 %t; .reg .pred %p; .reg .b64 %m, %f, %n;
            mov.u32 %t, %tid.x;
            setp.ne.u32 %p, %t, 5;
            @%p bra fine;
            mov.u64 %m, message; mov.u64 %f, file; mov.u64 %n, name;
            {
                .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
                st.param.b64 [p0], %m; st.param.b64 [p1], %f; st.param.b32 [p2], 17;
                st.param.b64 [p3], %n; st.param.b64 [p4], 1;
                call.uni __assertfail, (p0, p1, p2, p3, p4);
            }
        fine:
            ret;
        }
        """
    )
    problem = fault(device, "test", (2,), (32,))
    assert (problem.result, problem.name) == (710, "CUDA_ERROR_ASSERT")
    line = "a.cu:17: kernel: block: [{},0,0], thread: [5,0,0] Assertion `x > 0` failed."
    assert line.format(0) in problem.report
    assert capfd.readouterr().err.splitlines() == [line.format(0), line.format(1)]


# --- deadlocks -----------------------------------------------------------------------------------

MEETING = """
.visible .entry test()
{
    .reg .b32 %t; .reg .pred %p;
    mov.u32 %t, %tid.x;
    setp.lt.u32 %p, %t, 32;
    @%p bra low;
    bar.sync 1;
    bra done;
low:
    bar.sync 2;
done:
    ret;
}
"""


def test_deadlock_at_two_barriers() -> None:
    problem = fault(Device(MEETING), "test", (1,), (33,))
    assert (problem.result, problem.name) == (719, "CUDA_ERROR_LAUNCH_FAILED")
    assert problem.report == (
        "kernel test: deadlock: no thread can make progress\n"
        "  32 threads wait at barrier 2: block (0, 0, 0), thread (0, 0, 0); block (0, 0, 0), "
        "thread (1, 0, 0); block (0, 0, 0), thread (2, 0, 0) and 29 more\n"
        "    at PTX line 14: bar.sync 2;\n"
        "  1 thread waits at barrier 1: block (0, 0, 0), thread (32, 0, 0)\n"
        "    at PTX line 11: bar.sync 1;"
    )


def test_deadlock_of_a_warp() -> None:
    text = MEETING.replace("setp.lt.u32 %p, %t, 32", "setp.lt.u32 %p, %t, 16")
    text = text.replace("bar.sync 1;", "shfl.sync.idx.b32 %t, %t, 0, 31, -1;").replace(
        "bar.sync 2", "bar.warp.sync -1"
    )
    report = fault(Device(text), "test", (1,), (32,)).report
    assert "16 threads wait at a warp barrier" in report
    assert "16 threads wait for the other threads of their member mask" in report


def test_a_barrier_with_a_thread_count_that_never_comes() -> None:
    text = MEETING.replace("bar.sync 1;", "bar.sync 1, 64;").replace("bar.sync 2;", "")
    assert "32 threads wait at barrier 1" in fault(Device(text), "test", (1,), (64,)).report


@pytest.mark.parametrize(
    ("number", "threads", "words"), [(16, 32, "barrier number"), (1, 33, "thread count")]
)
def test_barriers_that_do_not_exist(number: int, threads: int, words: str) -> None:
    setting = f"mov.u32 %n, {number}; mov.u32 %m, {threads};"
    text = MEETING.replace("bar.sync 1;", f"{setting} bar.sync %n, %m;")
    text = text.replace(".reg .b32 %t;", ".reg .b32 %t, %n, %m;")
    assert words in fault(Device(text), "test", (1,), (64,)).report


# --- local arrays --------------------------------------------------------------------------------

LOCAL = """
.func leaf(.reg .b64 %to, .reg .u32 %v) { st.u32 [%to], %v; ret; }
.func deep(.reg .b64 %to, .reg .u32 %v) {
    .local .b32 own[3]; .reg .b64 %o;
    mov.u64 %o, own; st.local.u32 [%o+8], %v; st.u32 [%to], %v; ret;
}
.func again(.reg .b64 %to, .reg .u32 %v) {
    .reg .pred %p; .reg .u32 %n;
    setp.eq.u32 %p, %v, 0; @%p bra end;
    sub.u32 %n, %v, 1; st.u32 [%to], %v; call again, (%to, %n);
    end: ret;
}
.visible .entry k(.param .u64 out, .param .u32 index)
{
    .local .align 4 .b8 depot[20];
    .reg .b64 %o, %a, %g; .reg .u32 %i, %r;
    ld.param.u64 %o, [out]; ld.param.u32 %i, [index];
    mov.u64 %a, depot; cvta.local.u64 %g, %a;
    mad.wide.u32 %a, %i, 4, %a; mad.wide.u32 %g, %i, 4, %g;
    BODY
    ld.local.u32 %r, [%a]; st.global.u32 [%o], %r;
    ret;
}
"""


@pytest.mark.parametrize(
    ("body", "size"),
    [
        ("st.local.u32 [%a], 3;", 20),
        ("call leaf, (%g, 3);", 20),  # its frame is empty
        ("call deep, (%g, 3);", 48 + 12),  # the kernel's frame takes 48 bytes
    ],
)
def test_the_end_of_local_variables(body: str, size: int) -> None:
    device = Device(HEADER + LOCAL.replace("BODY", body))
    out = device.buffer(np.zeros(1, "u4"))
    device.launch("k", (1,), (1,), out, 4)
    assert device.read(out, "u4", 1).tolist() == [3]
    report = fault(device, "k", (1,), (1,), out, size // 4).report
    assert f"is just past the {size} bytes of local memory" in report


def test_a_stack_that_grows_is_accessible() -> None:
    device = Device(HEADER + LOCAL.replace("BODY", "call again, (%g, 3);"))
    out = device.buffer(np.zeros(1, "u4"))
    device.launch("k", (1,), (1,), out, 20)
    assert device.read(out, "u4", 1).tolist() == [1]
