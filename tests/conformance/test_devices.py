"""Driver API, section 6.5: devices."""

import re

import pytest


def attribute(cuda, name, device):
    return cuda.cuDeviceGetAttribute(
        getattr(cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device
    )


def test_every_device_is_found_by_its_index(cuda):
    count = cuda.cuDeviceGetCount()
    assert count >= 1
    assert [int(cuda.cuDeviceGet(index)) for index in range(count)] == list(range(count))


@pytest.mark.parametrize("ordinal", [-1, 1000])
def test_an_index_that_is_none(cuda, ordinal):
    assert cuda.result("cuDeviceGet", ordinal) == "INVALID_DEVICE"


@pytest.mark.parametrize(
    "name", ["cuDeviceTotalMem", "cuDeviceGetUuid", "cuDevicePrimaryCtxRetain"]
)
def test_a_device_that_is_none(cuda, name):
    assert cuda.result(name, 1000) == "INVALID_DEVICE"


def test_the_name_ends_in_nul(cuda, device):
    name, _, rest = cuda.cuDeviceGetName(128, device).partition(b"\0")
    assert name.decode().strip()
    assert len(name) + 1 + len(rest) == 128


def test_uuids_tell_devices_apart(cuda):
    count = cuda.cuDeviceGetCount()
    uuids = {bytes(cuda.cuDeviceGetUuid(index).bytes) for index in range(count)}
    assert len(uuids) == count
    assert all(len(uuid) == 16 and any(uuid) for uuid in uuids)


def test_a_device_is_found_by_its_pci_bus_id(cuda, device):
    identity = cuda.cuDeviceGetPCIBusId(32, device).split(b"\0")[0]
    assert re.fullmatch(rb"[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.0", identity)
    assert int(cuda.cuDeviceGetByPCIBusId(identity)) == int(device)
    domain, bus, rest = identity.split(b":")
    assert attribute(cuda, "PCI_DOMAIN_ID", device) == int(domain, 16)
    assert attribute(cuda, "PCI_BUS_ID", device) == int(bus, 16)
    assert attribute(cuda, "PCI_DEVICE_ID", device) == int(rest.split(b".")[0], 16)


def test_no_device_at_a_pci_bus_id(cuda):
    assert cuda.result("cuDeviceGetByPCIBusId", b"0000:FF:1F.0") == "INVALID_DEVICE"
    assert cuda.result("cuDeviceGetByPCIBusId", b"nonsense") == "INVALID_VALUE"


def test_what_every_device_can_do(cuda, device):
    assert attribute(cuda, "WARP_SIZE", device) == 32
    assert attribute(cuda, "MAX_THREADS_PER_BLOCK", device) == 1024
    assert attribute(cuda, "MAX_BLOCK_DIM_Z", device) == 64
    assert attribute(cuda, "MAX_GRID_DIM_X", device) == 2**31 - 1
    assert attribute(cuda, "MAX_GRID_DIM_Y", device) == 65535
    assert attribute(cuda, "UNIFIED_ADDRESSING", device) == 1
    assert attribute(cuda, "MANAGED_MEMORY", device) == 1
    assert attribute(cuda, "COOPERATIVE_LAUNCH", device) == 1
    assert attribute(cuda, "TENSOR_MAP_ACCESS_SUPPORTED", device) == 1
    assert attribute(cuda, "CAN_TEX2D_GATHER", device) == 1
    assert attribute(cuda, "TOTAL_CONSTANT_MEMORY", device) == 65536
    assert attribute(cuda, "MAX_SHARED_MEMORY_PER_BLOCK", device) == 49152
    assert attribute(cuda, "MULTIPROCESSOR_COUNT", device) >= 1


def test_what_compute_capability_9_0_can_do(cuda, device):
    major = attribute(cuda, "COMPUTE_CAPABILITY_MAJOR", device)
    minor = attribute(cuda, "COMPUTE_CAPABILITY_MINOR", device)
    if (major, minor) != (9, 0):
        pytest.skip(f"compute capability {major}.{minor}")
    assert attribute(cuda, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", device) == 232448
    assert attribute(cuda, "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR", device) == 233472
    assert attribute(cuda, "RESERVED_SHARED_MEMORY_PER_BLOCK", device) == 1024
    assert attribute(cuda, "MAX_REGISTERS_PER_BLOCK", device) == 65536
    assert attribute(cuda, "MAX_THREADS_PER_MULTIPROCESSOR", device) == 2048
    assert attribute(cuda, "MAX_BLOCKS_PER_MULTIPROCESSOR", device) == 32
    assert attribute(cuda, "CLUSTER_LAUNCH", device) == 1


@pytest.mark.parametrize("number", [0, 100_000])
def test_an_attribute_that_is_none(cuda, device, number):
    assert cuda.result("cuDeviceGetAttribute", number, device) == "INVALID_VALUE"


def test_total_memory_is_what_a_context_sees(cuda, device, context):
    free, total = cuda.cuMemGetInfo()
    assert total == cuda.cuDeviceTotalMem(device)
    assert 0 < free <= total


def test_a_device_is_no_peer_of_itself(cuda, device):
    assert cuda.cuDeviceCanAccessPeer(device, device) == 0


def test_the_link_between_two_devices(cuda, device, second_device):
    reachable = cuda.cuDeviceCanAccessPeer(device, second_device)
    access = cuda.CUdevice_P2PAttribute.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
    assert cuda.cuDeviceGetP2PAttribute(access, device, second_device) == reachable
    assert cuda.result("cuDeviceGetP2PAttribute", access, device, device) == "INVALID_DEVICE"
