"""The host side of the emulated device: the state that a CUDA driver keeps between two calls.

``process`` holds everything (devices, handles, the fault, the log) behind one lock; ``contexts``,
``modules``, ``linker``, ``allocations``, ``streams`` and ``launches`` hold one kind of object
each and raise `Refusal` with the ``CUresult`` a call must return. The calls themselves, one
function each in CUDA's own names, are in ``cudarun.emulator.api``.
"""
