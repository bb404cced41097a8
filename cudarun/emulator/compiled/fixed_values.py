"""The values that a launch fixes: operands with one value for all threads, and numbers of threads.

A kernel keeps those of its last launch, for launches that are equal to it.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.code import RegisterUse
from cudarun.emulator.compiled.kernels import CompiledKernel
from cudarun.emulator.compiled.lanes.vectors import WIDTH
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.frame import SparseFrame
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.threads import block_registers
from cudarun.emulator.numerics.arrays import Array


def fixed_values(kernel: CompiledKernel, launch: Launch, frame: SparseFrame) -> Array:
    """Return the values of the operands that a launch fixes, or the last launch's equal ones."""
    inputs, uses = launch.fixed_inputs, kernel.code.fixed.uses
    known, memory = kernel.fixed
    if inputs == known:
        return memory
    memory = np.zeros(16 * max(len(uses), 1), dtype=np.uint8)
    for use in uses:
        if isinstance(use, RegisterUse):
            value = frame.registers[use.slot][:1]
        else:
            value = frame.register_values(use, slice(0, 1))
        data = np.ascontiguousarray(value).view(np.uint8).reshape(-1)
        offset = kernel.code.fixed.place(use)
        memory[offset : offset + len(data)] = data
    kernel.fixed = inputs, memory
    return memory


def lane_values(kernel: CompiledKernel, batch: Batch) -> Array:
    """Return the special registers with a value per thread: a row for each."""
    names, block = kernel.code.fixed.lane_registers, batch.launch.config.block
    known, rows = kernel.lanes
    if block == known:
        return rows
    rows = np.zeros((max(len(names), 1), batch.threads.warps * WIDTH), dtype=np.uint32)
    for name, place in names.items():
        values = batch.threads.special(name)[: batch.launch.block_threads]
        rows[place, : len(values)] = values
    kernel.lanes = block, rows
    return rows


def block_values(kernel: CompiledKernel, launch: Launch, first: int, count: int) -> Array:
    """Return the special registers with a value per block: a row for each from ``first`` on."""
    inputs = launch.config.grid, launch.cluster, launch.device, first, count
    known, rows = kernel.blocks
    if inputs == known:
        return rows
    names = list(kernel.code.fixed.block_registers)
    rows = np.ascontiguousarray(block_registers(launch, names, first, count))
    kernel.blocks = inputs, rows
    return rows
