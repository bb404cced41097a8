"""Record the occupancy that ``cuda_occupancy.h`` of a CUDA toolkit computes for each architecture.

::

    python -m tools.record_occupancy /usr/local/cuda/include > tests/golden/occupancy.json

Each row has block size, registers per thread, static and dynamic shared memory, and the resident
blocks per multiprocessor. The limits of an architecture that the header takes as input are those
that a driver reports, which are the profile's; all others are the header's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from cudarun.base.profiles import SHARED_WITHOUT_OPTIN, Profile, profiles

BLOCKS = (1, 32, 96, 128, 256, 288, 384, 512, 672, 768, 1024)
REGISTERS = (16, 33, 40, 64, 96, 128, 168, 255)
SHARED = ((0, 0), (1, 100), (12_000, 0), (1024, 40_000), (0, 49_152), (512, 65_000), (0, 101_376))
SHARED_LARGE = ((0, 101_377), (0, 166_912), (0, 232_448), (1, 232_448))

_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_occupancy.h"
int main(int n, char **v) {
    cudaOccDeviceProp p; cudaOccDeviceState s; memset(&p, 0, sizeof p); memset(&s, 0, sizeof s);
    p.computeMajor = atoi(v[1]) / 10; p.computeMinor = atoi(v[1]) % 10;
    p.maxThreadsPerBlock = 1024; p.maxThreadsPerMultiprocessor = atoi(v[2]);
    p.regsPerBlock = p.regsPerMultiprocessor = 65536; p.warpSize = 32; p.numSms = 1;
    p.sharedMemPerBlock = atoi(v[3]); p.sharedMemPerMultiprocessor = atoi(v[4]);
    p.sharedMemPerBlockOptin = atoi(v[5]); p.reservedSharedMemPerBlock = atoi(v[6]);
    s.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
    int block, registers, fixed, dynamic;
    while (scanf("%d %d %d %d", &block, &registers, &fixed, &dynamic) == 4) {
        cudaOccFuncAttributes f; memset(&f, 0, sizeof f);
        f.maxThreadsPerBlock = block; f.numRegs = registers; f.sharedSizeBytes = fixed;
        f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; f.maxDynamicSharedSizeBytes = dynamic;
        f.numBlockBarriers = 1;
        cudaOccResult r;
        int e = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, block, dynamic);
        printf("%d\\n", e ? -e : r.activeBlocksPerMultiprocessor);
    }
}
"""


def main(include: str) -> None:
    """Compile the header, and print its results."""
    cases = [(b, r, *s) for b, r, s in product(BLOCKS, REGISTERS, SHARED)]
    cases += [(b, 32, *s) for b, s in product(BLOCKS, SHARED_LARGE)]
    with tempfile.TemporaryDirectory() as name:
        source, program = Path(name, "occupancy.c"), Path(name, "occupancy")
        source.write_text(_PROGRAM)
        subprocess.run(["cc", "-I", include, "-o", program, source], check=True)
        found = {
            label: _blocks(program, profile, cases)
            for label, profile in profiles().items()
            if label.startswith("sm_")
        }
    print(json.dumps({"cases": cases, "blocks": found}, separators=(",", ":")))


def _blocks(program: Path, profile: Profile, cases: list[tuple[int, ...]]) -> list[int]:
    limits = (
        *(profile.architecture, profile.threads, SHARED_WITHOUT_OPTIN, profile.shared),
        *(profile.shared_optin, profile.shared_reserved),
    )
    text = "\n".join(" ".join(map(str, case)) for case in cases)
    done = subprocess.run(
        [program, *map(str, limits)], input=text, capture_output=True, text=True, check=True
    )
    return [int(line) for line in done.stdout.split()]


if __name__ == "__main__":
    main(sys.argv[1])
