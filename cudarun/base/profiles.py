"""Profiles: the facts of real GPUs that ``cpu@NAME`` reports and enforces, and ``load --for`` uses.

Sources: limits of architectures are from the CUDA programming guide ("Technical Specifications per
Compute Capability") and ``cuda_occupancy.h`` of CUDA 13.0; facts of GPUs from NVIDIA's data sheets
and from published outputs of deviceQuery. docs/reference/profiles.md shows them. Only those of
the H200 were measured.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache

from cudarun.base.records import dataclass

PROFILE_VARIABLE = "CUDARUN_CPU_PROFILE"
DEFAULT = "h200"
SHARED_WITHOUT_OPTIN = 48 << 10
WARP = 32
REGISTERS = 65536  # of a multiprocessor
_REGISTERS_PER_THREAD = 255
_REGISTER_UNIT = 256  # in which registers are allocated to a warp
_PARTITIONS = 4  # of a multiprocessor: each has a quarter of the registers, and of a block's warps
_FIRST_SPECIFIC = 90

# Per multiprocessor: threads, blocks, KiB of shared memory; per block: KiB of shared memory with
# opt-in, KiB reserved. The unit in bytes in which shared memory is allocated; the largest cluster;
# sixteenths of the L2 cache that can persist; f32 operations in the time of one of f64.
_ARCHITECTURES = """
 75  1024 16   64  64 0  256   0   0 32
 80  2048 32  164 163 1  128   0  10  2
 86  1536 16  100  99 1  128   0  11 64
 87  1536 16  164 163 1  128   0  11 64
 89  1536 24  100  99 1  128   0  11 64
 90  2048 32  228 227 1  128  16  10  2
100  2048 32  228 227 1  128  16  10  2
103  2048 32  228 227 1  128  16  10 64
110  1536 24  228 227 1  128   8  11 64
120  1536 24  100  99 1  128   8  11 64
121  1536 24  100  99 1  128   8  11 64
"""
# Architecture, multiprocessors, memory in MiB, L2 cache in KiB. The first GPU of an architecture
# stands for it: `sm_86` has its numbers.
_GPUS = """
t4          75   40  15360   4096 Tesla T4
rtx2080ti   75   68  11264   5632 NVIDIA GeForce RTX 2080 Ti
a100        80  108  81920  40960 NVIDIA A100-SXM4-80GB
a30         80   56  24576  24576 NVIDIA A30
rtx3090     86   82  24576   6144 NVIDIA GeForce RTX 3090
a10         86   72  23028   6144 NVIDIA A10
a40         86   84  46068   6144 NVIDIA A40
rtxa6000    86   84  49140   6144 NVIDIA RTX A6000
orin        87   16  62841   4096 Orin
rtx4090     89  128  24564  73728 NVIDIA GeForce RTX 4090
rtx4080     89   76  16376  65536 NVIDIA GeForce RTX 4080
l4          89   58  23034  49152 NVIDIA L4
l40s        89  142  46068  98304 NVIDIA L40S
rtx6000ada  89  142  49140  98304 NVIDIA RTX 6000 Ada Generation
h200        90  132 143771  61440 NVIDIA H200
h100        90  132  81559  51200 NVIDIA H100 80GB HBM3
b200       100  148 183359 129536 NVIDIA B200
b300       103  148 275040 129536 NVIDIA B300 SXM6 AC
thor       110   20 125772  32768 NVIDIA Thor
rtx5090    120  170  32607  98304 NVIDIA GeForce RTX 5090
rtx5080    120   84  16303  65536 NVIDIA GeForce RTX 5080
rtxpro6000 120  188  97887 131072 NVIDIA RTX PRO 6000 Blackwell Workstation Edition
gb10       121   48 122544  24576 NVIDIA GB10
"""


@dataclass(frozen=True, slots=True)
class Profile:
    """The facts of a GPU."""

    name: str  # its name after ``cpu@``: ``rtx5090``, or ``sm_120`` for an architecture
    product: str  # its name as a driver reports it; of an architecture ``sm_120``
    architecture: int  # 120 for compute capability 12.0
    multiprocessors: int  # their number
    memory: int  # bytes of device memory
    l2_cache: int  # bytes of the L2 cache
    threads: int  # the maximum number of resident threads per multiprocessor
    blocks: int  # the maximum number of resident blocks per multiprocessor
    shared: int  # bytes of shared memory per multiprocessor
    shared_optin: int  # bytes of shared memory that a block can have with opt-in
    shared_reserved: int  # bytes of shared memory that the system reserves for each block
    shared_unit: int  # bytes in which shared memory is allocated
    cluster: int  # the maximum number of blocks in a cluster; 0 if there are no clusters
    persisting_l2: int  # bytes of the L2 cache that persisting accesses can have
    double_ratio: int  # the throughput of f32 divided by that of f64

    def __str__(self) -> str:
        return self.name

    @property
    def target(self) -> str:
        """The target for which its driver compiles PTX: ``sm_90a``, with specific features."""
        return f"sm_{self.architecture}{'a' * self._has_specific_target}"

    @property
    def static_shared(self) -> int:
        """Bytes of static shared memory that ptxas accepts for that target."""
        return self.shared_optin if self._has_specific_target else SHARED_WITHOUT_OPTIN

    def most_registers(self, threads: int) -> int:
        """Return the most registers of a thread with which a block of so many threads fits."""
        warps = _round_up(-(-threads // WARP), _PARTITIONS)
        allocated = REGISTERS // (warps * _REGISTER_UNIT) * (_REGISTER_UNIT // WARP)
        return min(allocated, _REGISTERS_PER_THREAD)

    def resident_blocks(self, threads: int, registers: int, shared: int) -> int:
        """Return the number of resident blocks per multiprocessor; 0 if not even one fits.

        The arithmetic is that of ``cuda_occupancy.h``.

        Args:
            threads: Threads per block.
            registers: Registers per thread.
            shared: Bytes of shared memory per block, static and dynamic.
        """
        if registers > self.most_registers(threads):
            return 0
        warps = -(-threads // WARP)
        allocated = max(_round_up(registers * WARP, _REGISTER_UNIT), 1)
        used = max(_round_up(shared + self.shared_reserved, self.shared_unit), 1)
        return min(
            self.blocks,
            self.threads // (warps * WARP),
            REGISTERS // _PARTITIONS // allocated * _PARTITIONS // warps,
            self.shared // used,
        )

    @property
    def _has_specific_target(self) -> bool:
        return self.architecture >= _FIRST_SPECIFIC


@cache
def profiles() -> dict[str, Profile]:
    """Return the profiles by name: the GPUs, then the architectures."""
    limits = {row[0]: list(map(int, row[1:])) for row in _rows(_ARCHITECTURES)}
    gpus: dict[str, Profile] = {}
    architectures: dict[str, Profile] = {}
    for name, number, processors, mebibytes, l2, product in _rows(_GPUS, 5):
        threads, blocks, shared, optin, reserved, unit, cluster, persisting, ratio = limits[number]
        gpus[name] = Profile(
            name,
            product,
            architecture=int(number),
            multiprocessors=int(processors),
            memory=int(mebibytes) << 20,
            l2_cache=int(l2) << 10,
            threads=threads,
            blocks=blocks,
            shared=shared << 10,
            shared_optin=optin << 10,
            shared_reserved=reserved << 10,
            shared_unit=unit,
            cluster=cluster,
            persisting_l2=(int(l2) << 10) * persisting // 16,
            double_ratio=ratio,
        )
        target = f"sm_{number}"
        architectures.setdefault(target, replace(gpus[name], name=target, product=target))
    return gpus | architectures


@lru_cache(256)  # names of clients, too
def profile_named(name: str) -> Profile | None:
    """Return the profile with a name, in any case; ``None`` if there is none."""
    return profiles().get(name.lower())


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def _rows(table: str, splits: int = -1) -> list[list[str]]:
    return [line.split(None, splits) for line in table.strip().splitlines()]
