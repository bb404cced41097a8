"""Functions of compiled code in C, and their LLVM assembly (``tools/generate_runtime.py``)."""
