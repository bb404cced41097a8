"""The emulated devices: their names, attributes and memory.

All devices of a process have one profile, whose limits they report and enforce; by default that of
an H200. The attribute of a feature that is not implemented is 0, so that a program that queries it
before use does the right thing.
"""

from __future__ import annotations

import os
import resource
from functools import cache

from cuda.bindings.driver import CUdevice_attribute

from cudarun.base.profiles import (
    DEFAULT,
    PROFILE_VARIABLE,
    REGISTERS,
    SHARED_WITHOUT_OPTIN,
    WARP,
    Profile,
    profile_named,
    profiles,
)
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.machine.launch import DeviceTraits
from cudarun.emulator.memory import Memory

COUNT_VARIABLE = "CUDARUN_CPU_DEVICES"
_MOST_DIGITS = 100  # int() refuses thousands
MOST_DEVICES = 31  # each has 2 TiB of addresses below the host's own

_NAME = "cudarun emulated device"
_WITH_CLUSTERS = 90

_ADDRESSES = 1 << 41
HOST_ADDRESSES = (MOST_DEVICES + 1) * _ADDRESSES  # no device has addresses from here on
_MOST_MEMORY = 1 << 39
_GRAIN = 2 << 20
_NEWEST_ATTRIBUTE = 148  # the largest of CUDA 13.0

# The largest extents of textures and surfaces, by the common part of their names.
_EXTENTS = """
TEXTURE1D               WIDTH=131072 LINEAR_WIDTH=268435456 MIPMAPPED_WIDTH=32768
TEXTURE1D_LAYERED       WIDTH=32768 LAYERS=2048
TEXTURE2D               WIDTH=131072 HEIGHT=65536
TEXTURE2D_GATHER        WIDTH=32768 HEIGHT=32768
TEXTURE2D_LAYERED       WIDTH=32768 HEIGHT=32768 LAYERS=2048
TEXTURE2D_LINEAR        WIDTH=131072 HEIGHT=65000 PITCH=2097120
TEXTURE2D_MIPMAPPED     WIDTH=32768 HEIGHT=32768
TEXTURE3D               WIDTH=16384 HEIGHT=16384 DEPTH=16384
TEXTURE3D               WIDTH_ALTERNATE=8192 HEIGHT_ALTERNATE=8192 DEPTH_ALTERNATE=32768
TEXTURECUBEMAP          WIDTH=32768
TEXTURECUBEMAP_LAYERED  WIDTH=32768 LAYERS=2046
SURFACE1D               WIDTH=32768
SURFACE1D_LAYERED       WIDTH=32768 LAYERS=2048
SURFACE2D               WIDTH=131072 HEIGHT=65536
SURFACE2D_LAYERED       WIDTH=32768 HEIGHT=32768 LAYERS=2048
SURFACE3D               WIDTH=16384 HEIGHT=16384 DEPTH=16384
SURFACECUBEMAP          WIDTH=32768
SURFACECUBEMAP_LAYERED  WIDTH=32768 LAYERS=2046
"""
_FEATURES = """
GPU_OVERLAP CAN_MAP_HOST_MEMORY CONCURRENT_KERNELS UNIFIED_ADDRESSING STREAM_PRIORITIES_SUPPORTED
GLOBAL_L1_CACHE_SUPPORTED LOCAL_L1_CACHE_SUPPORTED MANAGED_MEMORY CONCURRENT_MANAGED_ACCESS
COMPUTE_PREEMPTION_SUPPORTED CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM HOST_REGISTER_SUPPORTED
COOPERATIVE_LAUNCH   CAN_TEX2D_GATHER
MEMORY_POOLS_SUPPORTED VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED MEM_SYNC_DOMAIN_COUNT
"""
"""The attributes that are 1."""
_POOLS_OF_HOST = {142: 1, 144: 1}  # HOST_NUMA_ and HOST_MEMORY_POOLS_SUPPORTED, since CUDA 13


_ATTRIBUTES = {
    # programming guide, technical specifications per compute capability
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": (1 << 31) - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": SHARED_WITHOUT_OPTIN,
    "TOTAL_CONSTANT_MEMORY": 64 << 10,
    "WARP_SIZE": WARP,
    "MAX_REGISTERS_PER_BLOCK": REGISTERS,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": REGISTERS,
    "MAX_PITCH": (1 << 31) - 1,
    "TEXTURE_ALIGNMENT": 512,
    "TEXTURE_PITCH_ALIGNMENT": 32,
    "SURFACE_ALIGNMENT": 512,
    # performance figures are placeholders: small, but not 0, as programs divide by them
    "CLOCK_RATE": 1_000_000,
    "MEMORY_CLOCK_RATE": 1_000_000,
    "GLOBAL_MEMORY_BUS_WIDTH": 64,
    "ASYNC_ENGINE_COUNT": 1,
    **{
        f"MAXIMUM_{kind}_{side}": int(most)
        for kind, *sides in map(str.split, _EXTENTS.strip().splitlines())
        for side, most in (each.split("=") for each in sides)
    },
    **dict.fromkeys(_FEATURES.split(), 1),
}


def _number(name: str) -> int:
    return int(getattr(CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"))


@cache
def _values(profile: Profile) -> dict[int, int]:
    major, minor = divmod(profile.architecture, 10)
    own = {
        "COMPUTE_CAPABILITY_MAJOR": major,
        "COMPUTE_CAPABILITY_MINOR": minor,
        "MULTIPROCESSOR_COUNT": profile.multiprocessors,
        "MAX_THREADS_PER_MULTIPROCESSOR": profile.threads,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": profile.blocks,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": profile.shared,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": profile.shared_optin,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": profile.shared_reserved,
        "L2_CACHE_SIZE": profile.l2_cache,
        "MAX_PERSISTING_L2_CACHE_SIZE": profile.persisting_l2,
        "MAX_ACCESS_POLICY_WINDOW_SIZE": (128 << 20) * bool(profile.persisting_l2),
        "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": profile.double_ratio,
        "CLUSTER_LAUNCH": int(profile.cluster > 0),
        "TENSOR_MAP_ACCESS_SUPPORTED": int(profile.architecture >= _WITH_CLUSTERS),
    }
    named = {_number(name): value for name, value in (_ATTRIBUTES | own).items()}
    return named | _POOLS_OF_HOST


def current_profile() -> Profile:
    """Return the profile of this process's devices, which ``CUDARUN_CPU_PROFILE`` names.

    Raises:
        Refusal: There is no such profile.
    """
    name = os.environ.get(PROFILE_VARIABLE) or DEFAULT
    profile = profile_named(name)
    if profile is None:
        raise Refusal(
            "NO_DEVICE", f"{PROFILE_VARIABLE}={name}: expected one of {', '.join(profiles())}"
        )
    return profile


class EmulatedDevice:
    """One emulated device."""

    def __init__(self, ordinal: int, capacity: int) -> None:
        self.ordinal = ordinal
        self.profile = current_profile()  # the GPU that it emulates
        self.memory = Memory(_ADDRESSES * (ordinal + 1), min(capacity, self.profile.memory))
        given = self.profile.multiprocessors, self.profile.threads, self.profile.architecture
        self.traits = DeviceTraits(ordinal, *given)
        # A kernel is running on it, launched by any thread; guarded by the process's lock.
        self.busy = False
        # By kernel, why a GPU may refuse its last launch; empty if it does not.
        self.launch_notes: dict[str, str] = {}
        self.pci = (0, 0xE0 + ordinal, 0)  # domain, bus, device: buses that PCs rarely use

    @property
    def name(self) -> str:
        """The name that the driver reports; with the product's if a profile was requested."""
        requested = os.environ.get(PROFILE_VARIABLE)
        return f"cudarun emulated {self.profile.product}" if requested else _NAME

    def attribute(self, attribute: CUdevice_attribute) -> int:
        """Return the value of a ``CUdevice_attribute``.

        Raises:
            Refusal: There is no such attribute in CUDA 13.0.
        """
        number = int(attribute)
        refuse_if(not 1 <= number <= _NEWEST_ATTRIBUTE, f"{number} is not a CUdevice_attribute")
        pci = zip(("PCI_DOMAIN_ID", "PCI_BUS_ID", "PCI_DEVICE_ID"), self.pci, strict=True)
        own = {_number(name): value for name, value in pci}
        return own.get(number, _values(self.profile).get(number, 0))


def attribute_value(name: str) -> int:
    """Return the value that emulated devices of all profiles have for the attribute ``name``."""
    return _ATTRIBUTES[name]


def make_devices() -> tuple[EmulatedDevice, ...]:
    """Create the devices that ``CUDARUN_CPU_DEVICES`` asks for.

    Raises:
        Refusal: It is not a number, or out of range.
    """
    text = os.environ.get(COUNT_VARIABLE) or "1"
    words = f"{COUNT_VARIABLE}={text}: expected a number from 1 to {MOST_DEVICES}"
    refuse_if(not is_count(text), words, "NO_DEVICE")
    capacity = memory_size() // int(text) // _GRAIN * _GRAIN
    return tuple(EmulatedDevice(ordinal, capacity) for ordinal in range(int(text)))


def is_count(text: str) -> bool:
    """Return whether a text is a number of devices that there can be."""
    return text.isdecimal() and len(text) < _MOST_DIGITS and 1 <= int(text) <= MOST_DEVICES


def memory_size() -> int:
    """Return the bytes of one kind of emulated memory: half of the machine's physical memory.

    Of limited addresses (``ulimit -v``) it is an eighth: twice the memory is reserved for each of
    the two kinds, and the rest of the process needs addresses, too.
    """
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
    limited = _MOST_MEMORY if addresses == resource.RLIM_INFINITY else addresses // 8
    return min(physical // 2, limited, _MOST_MEMORY)
