"""The CUDA runtime API over the emulated driver: a chapter of the runtime API manual per module.

`calls` has the parts of every call: the context of the calling thread and its last error.
"""
