"""Asks the management library (NVML), as programs do; see test_exec.py."""

import ctypes
from ctypes import byref, c_char_p, c_uint, c_void_p

nvml = ctypes.CDLL("libnvidia-ml.so.1")
cuda = ctypes.CDLL("libcuda.so.1")
count, device, other, text = c_uint(), c_void_p(), c_void_p(), ctypes.create_string_buffer(96)
print(nvml.nvmlDeviceGetCount_v2(byref(count)))
assert nvml.nvmlInit_v2() == nvml.nvmlDeviceGetCount_v2(byref(count)) == 0
print(count.value, [nvml.nvmlDeviceGetHandleByIndex_v2(i, byref(device)) for i in (1, 2, 0)])
nvml.nvmlDeviceGetName(device, text, 96)
name = text.value
cuda.cuDeviceGetName(text, 96, 0)
print(name == text.value)
cuda.cuDeviceGetUuid_v2(text, 0)
digits = text.raw[:16].hex()
print(nvml.nvmlDeviceGetUUID(device, text, 8), nvml.nvmlDeviceGetUUID(device, text, 96))
print(text.value.decode().replace("-", "") == "GPU" + digits)
print(nvml.nvmlDeviceGetHandleByUUID(text, byref(other)), other.value == device.value)
print(nvml.nvmlDeviceGetHandleByUUID(b"GPU-0", byref(other)))
memory, address, context = (ctypes.c_uint64 * 3)(), c_void_p(), c_void_p()
cuda.cuDevicePrimaryCtxRetain(byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(byref(address), ctypes.c_size_t(1 << 20))
print(nvml.nvmlDeviceGetMemoryInfo(device, memory), memory[2] >= 1 << 20)
print(memory[0] == memory[1] + memory[2])
print(nvml.nvmlDeviceGetTemperature(device, 0, text))
nvml.nvmlErrorString.restype = c_char_p
print(nvml.nvmlErrorString(3).decode())
print(nvml.nvmlShutdown(), nvml.nvmlShutdown())
