"""The emulated devices: how many, and what they say of themselves."""

import pytest

from cudarun.emulator import driver


@pytest.mark.parametrize("count", [1, 3, 31])
def test_the_environment_says_how_many(fresh_process, monkeypatch, count):
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", str(count))
    assert int(driver.cuInit(0)[0]) == 0
    assert driver.cuDeviceGetCount()[1] == count
    identities = {driver.cuDeviceGetPCIBusId(16, device)[1] for device in range(count)}
    assert len(identities) == count


@pytest.mark.parametrize("text", ["0", "-1", "32", "many"])
def test_a_count_that_is_none(fresh_process, monkeypatch, text):
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", text)
    assert driver.cuInit(0)[0].name == "CUDA_ERROR_NO_DEVICE"
    assert text.encode() in fresh_process.log.since(0)
    assert driver.cuDeviceGetCount()[0].name == "CUDA_ERROR_NOT_INITIALIZED"


def test_one_by_default_and_the_same_every_time(fresh_process, monkeypatch):
    monkeypatch.delenv("CUDARUN_CPU_DEVICES", raising=False)
    identities = set()
    for _ in range(2):
        fresh_process.reset()
        driver.cuInit(0)
        assert driver.cuDeviceGetCount()[1] == 1
        identities.add(bytes(driver.cuDeviceGetUuid(0)[1].bytes))
    assert len(identities) == 1


def test_devices_have_addresses_of_their_own(fresh_process, monkeypatch):
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    driver.cuInit(0)
    ranges = []
    for device in range(2):
        _, context = driver.cuDevicePrimaryCtxRetain(device)
        driver.cuCtxSetCurrent(context)
        ranges.append(int(driver.cuMemAlloc(1 << 20)[1]) >> 41)
    assert ranges == [1, 2]


def test_features_that_the_emulator_has_not_are_0(fresh_process):
    driver.cuInit(0)
    attribute = driver.CUdevice_attribute
    missing = (
        attribute.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        attribute.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
        attribute.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED,
    )
    assert [driver.cuDeviceGetAttribute(number, 0)[1] for number in missing] == [0, 0, 0]


@pytest.mark.parametrize("text", [b"0000:E0:00.0", b"e0:0", b"0:E0:0", b"00000000:E0:00.0"])
def test_ways_to_write_a_pci_bus_id(fresh_process, text):
    driver.cuInit(0)
    result, device = driver.cuDeviceGetByPCIBusId(text)
    assert (int(result), int(device)) == (0, 0)
