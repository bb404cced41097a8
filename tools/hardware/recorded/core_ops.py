"""A kernel that cuda.core compiles and launches."""

from __future__ import annotations

import numpy as np

try:
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
except ImportError:
    from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = r"""
extern "C" __global__ void triple(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3 * y[i] + 1;
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(arch=f"sm_{device.arch}")
kernel = Program(CODE, code_type="c++", options=options).compile("cubin").get_kernel("triple")
memory = device.allocate(4096, stream=stream)
config = LaunchConfig(grid=4, block=256)
launch(stream, config, kernel, memory, np.int32(1000))
stream.sync()
print("done")
