"""Devices and peer access."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings import runtime as cudart

from cudarun.emulator.runtime_api.calls import (
    RuntimeRefusal,
    checked_device,
    current_device,
    driver_call,
    primary_context,
    reset_device,
    runtime_call,
    select_device,
)
from cudarun.emulator.runtime_api.forwards import forward_calls
from cudarun.emulator.runtime_api.properties import device_properties

_INVALID_VALUE = 1
_BUS_ID_BYTES = 13
_CORE_DUMPS = 0x40  # CU_CTX_USER_COREDUMP_ENABLE, which can be set but is not returned
_DEFAULT_FLAGS = 8  # cudaDeviceMapHost, which is always set

forward_calls(
    __name__,
    """
cudaDeviceSynchronize() = cuCtxSynchronize
    Wait for the work of the current device; report a kernel's fault.
cudaDeviceGetLimit(limit: enum) -> int = cuCtxGetLimit
cudaDeviceSetLimit(limit: enum, value: int) = cuCtxSetLimit
cudaDeviceGetStreamPriorityRange() -> int, int = cuCtxGetStreamPriorityRange
cudaDeviceEnablePeerAccess(peerDevice: context, flags: int) = cuCtxEnablePeerAccess
cudaDeviceDisablePeerAccess(peerDevice: context) = cuCtxDisablePeerAccess
    Undo `cudaDeviceEnablePeerAccess`.
""",
)
forward_calls(
    __name__,
    """
cudaSetDeviceFlags(flags: int) = cuDevicePrimaryCtxSetFlags(current_device, flags)
    Set the flags of the current device's primary context.
cudaGetDeviceCount() -> int = cuDeviceGetCount
cudaDeviceGetAttribute(attr: enum, device: device) -> int
    Return the value of a ``cudaDeviceAttr``: that of the ``CUdevice_attribute``.
cudaDeviceGetByPCIBusId(pciBusId) -> int
cudaDeviceCanAccessPeer(device: device, peerDevice: device) -> int
""",
    uses_context=False,
)


@runtime_call(uses_context=False)
def cudaSetDevice(device: int) -> None:
    """Make a device and its primary context current to this thread."""
    select_device(device)


@runtime_call(1, uses_context=False)
def cudaGetDevice() -> int:
    """Return the device that is current to this thread."""
    return current_device()


@runtime_call(uses_context=False)
def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> None:
    """Create the primary context of a device, without making it current."""
    if flags:  # cudaInitDeviceFlagsAreValid
        driver_call("cuDevicePrimaryCtxSetFlags", checked_device(device), deviceFlags)
    primary_context(checked_device(device))


@runtime_call(1, uses_context=False)
def cudaGetDeviceFlags() -> int:
    """Return the flags of the current device's primary context."""
    flags = int(driver_call("cuDevicePrimaryCtxGetState", current_device())[0])
    return flags & ~_CORE_DUMPS | _DEFAULT_FLAGS


@runtime_call(uses_context=False)
def cudaDeviceReset() -> None:
    """Destroy everything in the primary context of the current device."""
    reset_device(current_device())


@runtime_call(1, uses_context=False)
def cudaGetDeviceProperties(device: int) -> cudart.cudaDeviceProp:
    """Return the properties of a device."""
    return device_properties(device)


@runtime_call(1, uses_context=False)
def cudaDeviceGetPCIBusId(length: int, device: int) -> bytes:
    """Return ``domain:bus:device.function`` in ``length`` bytes."""
    if length < _BUS_ID_BYTES:
        raise RuntimeRefusal(_INVALID_VALUE)
    text: bytes = driver_call("cuDeviceGetPCIBusId", length, checked_device(device))
    return text
