"""The driver of a device with the profile of another GPU: what it reports and refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudarun.emulator import driver
from cudarun.emulator.engines import COMPILE, INTERPRET
from cudarun.emulator.host.process import Process

ADD = """\
.version 8.0
.target {target}
.address_size 64
.extern .shared .align 4 .b8 dynamic[];
.visible .entry k(.param .u64 out)
{{
    .reg .u64 %p; .reg .u32 %r<3>;
    ld.param.u64 %p, [out];
    mov.u32 %r0, %nsmid;
    st.global.u32 [%p], %r0;
    mov.u32 %r1, dynamic;
    st.shared.u32 [%r1], %r0;
    ret;
}}
"""


def ok(answer: Any) -> Any:
    result, *values = answer
    assert result == 0, result
    return values[0] if values else None


@pytest.fixture
def start(fresh_process: Process, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that initializes the driver with a profile and a context."""

    def start(profile: str) -> None:
        monkeypatch.setenv("CUDARUN_CPU_PROFILE", profile)
        ok(driver.cuInit(0))
        ok(driver.cuCtxCreate(None, 0, 0))

    return start


def attribute(name: str) -> int:
    number = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(ok(driver.cuDeviceGetAttribute(number, 0)))


@pytest.mark.parametrize(
    ("profile", "capability", "processors", "optin", "clusters"),
    [
        ("t4", (7, 5), 40, 65536, 0),
        ("a100", (8, 0), 108, 166912, 0),
        ("H100", (9, 0), 132, 232448, 1),  # in any case
        ("thor", (11, 0), 20, 232448, 1),
        ("gb10", (12, 1), 48, 101376, 1),
    ],
)
def test_attributes(
    start: Any, profile: str, capability: Any, processors: int, optin: int, clusters: int
) -> None:
    start(profile)
    assert ok(driver.cuDeviceGetName(64, 0)).startswith(b"cudarun emulated ")
    assert driver.cuDeviceComputeCapability(0)[1:] == capability
    assert attribute("MULTIPROCESSOR_COUNT") == processors
    assert attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN") == optin
    assert attribute("CLUSTER_LAUNCH") == attribute("TENSOR_MAP_ACCESS_SUPPORTED") == clusters


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
@pytest.mark.parametrize(
    ("profile", "bytes_", "result"),
    [
        ("rtx5090", 131072, "CUDA_ERROR_INVALID_VALUE"),
        ("rtx5090", 101376, "CUDA_SUCCESS"),
        ("a100", 131072, "CUDA_SUCCESS"),
        ("t4", 65540, "CUDA_ERROR_INVALID_VALUE"),
    ],
)
def test_dynamic_shared_memory(
    start: Any, engine: str, profile: str, bytes_: int, result: str
) -> None:
    start(profile)
    driver.select_engine(engine, 1)
    module = ok(driver.cuModuleLoadData(ADD.format(target="sm_75").encode()))
    function = ok(driver.cuModuleGetFunction(module, b"k"))
    optin = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    assert driver.cuFuncSetAttribute(function, optin, bytes_)[0].name == result
    address = ok(driver.cuMemAlloc(4))
    values = ((address,), (None,))
    (launched,) = driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, bytes_, 0, values, 0)
    assert launched.name == result
    if result == "CUDA_SUCCESS":
        out = np.zeros(1, np.uint32)
        ok(driver.cuMemcpyDtoH(out, address, 4))
        assert out[0] == attribute("MULTIPROCESSOR_COUNT")


def test_a_cooperative_grid_fills_the_device(start: Any) -> None:
    start("gb10")
    module = ok(driver.cuModuleLoadData(ADD.format(target="sm_75").encode()))
    function = ok(driver.cuModuleGetFunction(module, b"k"))
    address = ok(driver.cuMemAlloc(4))
    values = ((address,), (None,))
    most = 48 * 24  # blocks of one warp
    for blocks, result in ((most, "SUCCESS"), (most + 1, "ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")):
        shape = (blocks, 1, 1, 32, 1, 1)
        (launched,) = driver.cuLaunchCooperativeKernel(function, *shape, 4, 0, values)
        assert launched.name == f"CUDA_{result}"


@pytest.mark.parametrize(
    ("profile", "size", "result"),
    [
        ("a100", 1, "CUDA_ERROR_NOT_SUPPORTED"),
        ("rtx5090", 8, "CUDA_SUCCESS"),
        ("rtx5090", 16, "CUDA_ERROR_INVALID_CLUSTER_SIZE"),
        ("b200", 16, "CUDA_SUCCESS"),
    ],
)
def test_clusters(start: Any, profile: str, size: int, result: str) -> None:
    start(profile)
    module = ok(driver.cuModuleLoadData(ADD.format(target="sm_75").encode()))
    function = ok(driver.cuModuleGetFunction(module, b"k"))
    wide = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    ok(driver.cuFuncSetAttribute(function, wide, 1))
    config, each = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    config.gridDimX, config.gridDimY, config.gridDimZ = size, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 1, 1, 1
    config.sharedMemBytes = 4
    each.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    extent = each.value.clusterDim
    extent.x, extent.y, extent.z = size, 1, 1
    config.attrs, config.numAttrs = [each], 1
    address = ok(driver.cuMemAlloc(4))
    (launched,) = driver.cuLaunchKernelEx(config, function, ((address,), (None,)), 0)
    assert launched.name == result


def test_preferred_clusters_are_ignored(start: Any) -> None:
    start("b200")
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
    .reg .b64 %o; .reg .b32 %n, %b; ld.param.u64 %o, [out]; mov.u32 %n, %cluster_nctarank;
    mov.u32 %b, %ctaid.x; mad.wide.u32 %o, %b, 4, %o; st.global.u32 [%o], %n; ret;
}"""
    function = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(text.encode())), b"k"))
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = 4, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 1, 1, 1
    given = []
    for name, field, size in (
        ("CLUSTER_DIMENSION", "clusterDim", 2),
        ("PREFERRED_CLUSTER_DIMENSION", "preferredClusterDim", 4),
    ):
        attribute = driver.CUlaunchAttribute()
        attribute.id = getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
        extent = getattr(attribute.value, field)
        extent.x, extent.y, extent.z = size, 1, 1
        given.append(attribute)
    config.attrs, config.numAttrs = given, 2
    address = ok(driver.cuMemAlloc(16))
    ok(driver.cuLaunchKernelEx(config, function, ((address,), (None,)), 0))
    found = np.zeros(4, "u4")
    ok(driver.cuMemcpyDtoH(found, address, 16))
    assert found.tolist() == [2] * 4


# By .target of PTX, the profiles that compile it: as ptxas 13.0 does for their architectures.
TARGETS = {
    "sm_75": "t4 a100 sm_86 orin l4 h200 b200 b300 thor rtx5090 gb10",
    "sm_86": "sm_86 orin l4 h200 b200 b300 thor rtx5090 gb10",
    "sm_90a": "h200",
    "sm_100": "b200 b300 thor rtx5090 gb10",
    "sm_100a": "b200",
    "sm_100f": "b200 b300",
    "sm_103f": "b300",
    "sm_110f": "thor",
    "sm_120": "rtx5090 gb10",
    "sm_120a": "rtx5090",
    "sm_120f": "rtx5090 gb10",
    "sm_121": "gb10",
}


@pytest.mark.parametrize("profile", TARGETS["sm_75"].split())
def test_targets(start: Any, profile: str) -> None:
    start(profile)
    found = {
        target: driver.cuModuleLoadData(ADD.format(target=target).replace("8.0", "9.0").encode())[
            0
        ].name
        for target in TARGETS
    }
    expected = {
        target: "CUDA_SUCCESS" if profile in names.split() else "CUDA_ERROR_INVALID_PTX"
        for target, names in TARGETS.items()
    }
    assert found == expected


@pytest.mark.parametrize(
    ("profile", "most"), [("a100", 49152), ("h200", 232448), ("l4", 49152), ("gb10", 101376)]
)
def test_static_shared_memory(start: Any, profile: str, most: int) -> None:
    start(profile)
    text = ADD.format(target="sm_75").replace(".extern .shared", ".shared")
    for size, result in ((most, "CUDA_SUCCESS"), (most + 4, "CUDA_ERROR_INVALID_PTX")):
        image = text.replace("dynamic[]", f"dynamic[{size}]").encode()
        assert driver.cuModuleLoadData(image)[0].name == result


def test_an_unknown_profile(fresh_process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CPU_PROFILE", "voodoo2")
    assert driver.cuInit(0)[0].name == "CUDA_ERROR_NO_DEVICE"
    assert b"expected one of t4" in fresh_process.log.since(0)
