"""The kernels that earlier processes compiled, so that their machine code is in the cache."""

from __future__ import annotations

from cudarun.emulator.code import FunctionCode


def is_known(function: FunctionCode, detect: frozenset[str]) -> bool:
    """Return whether the cache has an entry for a kernel: its machine code is there, probably."""
    from cudarun.base.cache import ResultCache, cache_folder

    return ResultCache(cache_folder("kernels")).load(_key(function, detect)) is not None


def remember(function: FunctionCode, detect: frozenset[str]) -> None:
    """Add the entry of a kernel to the cache."""
    from cudarun.base.cache import ResultCache, cache_folder

    ResultCache(cache_folder("kernels")).store(_key(function, detect), {"compiled": b""})


def _key(function: FunctionCode, detect: frozenset[str]) -> str:
    import hashlib

    from cudarun import __version__

    head = f"{__version__} {function.name} {len(function.slots)} {sorted(detect)}"
    digest = hashlib.sha256(head.encode())
    for operation in function.operations:
        digest.update(operation.site.text.encode())
    return digest.hexdigest()
