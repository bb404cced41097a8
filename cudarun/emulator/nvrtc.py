"""NVRTC for the emulated device: that of the bindings, with PTX as its machine code.

NVRTC needs no GPU, and compiles for ``sm_90``, which the emulated device reports, to a cubin. The
emulated device runs PTX. So `CompilerModule` hands out the PTX of the same compilation where a
program asks for the cubin; a compilation for a virtual architecture has neither there nor here.
All other functions are NVRTC's own.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


class CompilerModule(ModuleType):
    """A module of the bindings in which the functions for cubins return PTX.

    Args:
        module: ``cuda.bindings.nvrtc``, or ``cuda.bindings._v2.nvrtc`` of CUDA 13.4.
    """

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__spec__ = module.__spec__
        self._module = module
        if hasattr(module, "nvrtcGetCUBIN"):
            self.nvrtcGetCUBINSize = self._size
            self.nvrtcGetCUBIN = self._fill
        else:
            self.get_cubin_size = self._size_or_raise
            self.get_cubin = self._text

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def __dir__(self) -> list[str]:
        return dir(self._module)

    def _size(self, prog: object) -> object:
        error, size = self._module.nvrtcGetCUBINSize(prog)
        return self._module.nvrtcGetPTXSize(prog) if size else (error, size)

    def _fill(self, prog: object, cubin: object) -> object:
        _error, size = self._module.nvrtcGetCUBINSize(prog)
        if size:
            return self._module.nvrtcGetPTX(prog, cubin)
        return self._module.nvrtcGetCUBIN(prog, cubin)

    def _size_or_raise(self, prog: object) -> object:
        size = self._module.get_cubin_size(prog)
        return self._module.get_ptx_size(prog) if size else size

    def _text(self, prog: object) -> object:
        if self._module.get_cubin_size(prog):
            return self._module.get_ptx(prog)
        return self._module.get_cubin(prog)
