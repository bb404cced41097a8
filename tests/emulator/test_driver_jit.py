"""Options of the compiler: which are honoured, which change nothing, which are refused by name."""

import pytest
from cuda.bindings.driver import CUjit_cacheMode, CUjit_option, CUjit_target

from cudarun.emulator.host.jit import DriverJitOptions
from cudarun.emulator.host.refusal import Refusal


def option(name):
    return getattr(CUjit_option, f"CU_JIT_{name}")


class Logs:
    """Both logs of options."""

    def __init__(self, **given):
        self._buffers = {"error": bytearray(1000), "info": bytearray(1000)}
        options = {option(name): value for name, value in given.items()}
        for log, buffer in self._buffers.items():
            options[option(f"{log.upper()}_LOG_BUFFER")] = buffer
            options[option(f"{log.upper()}_LOG_BUFFER_SIZE_BYTES")] = len(buffer)
        self.refusal = None
        try:
            DriverJitOptions(len(options), [*options], [*options.values()])
        except Refusal as refusal:
            self.refusal = refusal.result.name

    def __getitem__(self, log):
        return self._buffers[log].split(b"\0")[0].decode()


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("MAX_REGISTERS", 32, "the emulated device does not allocate registers"),
        ("OPTIMIZATION_LEVEL", 5, "the levels are 0 to 4"),
        ("MAX_THREADS_PER_BLOCK", 128, "the emulated device does not implement it"),
        ("OVERRIDE_DIRECTIVE_VALUES", 1, "the emulated device does not implement it"),
        ("LTO", 1, "the emulated device does not implement it"),
        ("GLOBAL_SYMBOL_COUNT", 1, "the emulated device does not implement it"),
    ],
)
def test_what_is_refused_is_named(name, value, why):
    logs = Logs(**{name: value})
    assert logs.refusal == "CUDA_ERROR_NOT_SUPPORTED"
    assert logs["error"].startswith(f"ptxas fatal   : CU_JIT_{name} is not supported: {why}")


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("OPTIMIZATION_LEVEL", 0, "the emulated device does not optimize PTX"),
        ("CACHE_MODE", CUjit_cacheMode.CU_JIT_CACHE_OPTION_CA, "the emulated device has no caches"),
        ("MIN_CTA_PER_SM", 2, "the emulated device does not allocate registers"),
    ],
)
def test_what_changes_nothing_says_so(name, value, why):
    logs = Logs(**{name: value})
    assert logs.refusal is None
    assert logs["info"] == f"ptxas info    : CU_JIT_{name} has no effect: {why}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TARGET", CUjit_target.CU_TARGET_COMPUTE_90),
        ("TARGET", CUjit_target.CU_TARGET_COMPUTE_90A),
        ("TARGET", 90),
        ("THREADS_PER_BLOCK", 1024),
        ("THREADS_PER_BLOCK", 4096),
        ("LTO", 0),
        ("GENERATE_DEBUG_INFO", 1),
        ("POSITION_INDEPENDENT_CODE", 1),
    ],
)
def test_what_is_so_anyway_is_taken(name, value):
    logs = Logs(**{name: value})
    assert (logs.refusal, logs["error"], logs["info"]) == (None, "", "")


@pytest.mark.parametrize("target", [CUjit_target.CU_TARGET_COMPUTE_80, 80])
def test_a_link_for_another_architecture_is_refused(target):
    """Its result would have to be machine code; of loads see tests/conformance/test_jit.py."""
    options = DriverJitOptions(1, [option("TARGET")], [target])
    assert options.for_another_device
    with pytest.raises(
        Refusal, match="the emulated device links only for itself, sm_90"
    ) as refused:
        options.check_of_link()
    assert refused.value.result.name == "CUDA_ERROR_NOT_SUPPORTED"
