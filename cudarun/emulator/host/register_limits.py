"""The registers of a block: if they exceed those of a multiprocessor, a GPU refuses its launch.

The emulated device allocates no registers. nvJitLink, which needs no GPU, does where it is
installed: a kernel for which it has to spill registers, although it may use half more than there
are for each thread, cannot run. With fewer this is uncertain, because nvJitLink compiles
relocatable code, which can need that many more registers than the code that a driver compiles.
"""

from __future__ import annotations

import functools
import re

from cudarun.base.bindings import is_missing_library
from cudarun.emulator.host.devices import current_profile
from cudarun.emulator.host.refusal import refuse_if
from cudarun.emulator.program import KernelCode
from cudarun.ptx.parser import SHORT

_MOST = 255  # registers of a thread


def register_note(text: str, kernel: KernelCode, threads: int) -> str:
    """Check that a block's registers fit; return a note if this is uncertain, or an empty string.

    Args:
        text: The PTX of the kernel.
        kernel: The kernel; only if it declares more registers than fit, nvJitLink compiles it.

    Raises:
        Refusal: The registers do not fit.
    """
    limit = current_profile().most_registers(threads)
    if kernel.registers <= limit:
        return ""
    available = f"{limit} registers per thread are available to blocks of {threads} threads"
    most = min(limit + limit // 2, _MOST)
    log = "the PTX is too long to compile it"
    if len(text) <= SHORT:
        log = _compiler_log(text, most, current_profile().target)
    counts = re.search(
        rf"Compiling entry function '{re.escape(kernel.name)}' for .*?"
        r"(?P<spilled>\d+) bytes spill stores.*?Used (?P<used>\d+) registers",
        log,
        re.DOTALL,
    )
    if counts is None:
        reason = log.partition("\n")[0]
        return f"{available}; the number that it needs is unknown ({reason})"
    words = (
        f"{available}; {kernel.name} needs more than {most}, unless it is compiled with "
        f"__launch_bounds__({threads})"
    )
    refuse_if(int(counts["spilled"]), words, "LAUNCH_OUT_OF_RESOURCES")
    if int(counts["used"]) <= limit:
        return ""
    return f"{available}; nvJitLink allocates {counts['used']}: a GPU may refuse the launch (701)"


@functools.lru_cache(maxsize=64)
def _compiler_log(text: str, most: int, target: str) -> str:
    """Return what nvJitLink states about the kernels of a text, or why it cannot."""
    from cuda.bindings import nvjitlink  # few launches need it

    from cudarun.base.cache import ResultCache, cache_folder, digest_of

    try:
        version = nvjitlink.version()
    except RuntimeError as error:
        if not is_missing_library(error):
            raise
        return "nvJitLink is not installed"
    cache = ResultCache(cache_folder("registers"))
    key = digest_of(each.encode() for each in (str(version), str(most), target, text))
    known = cache.load(key)
    if known is not None:
        return known["log"].decode()
    limit = f"-maxrregcount={most}"
    # Of code that nvJitLink finds in its cache, it states no spills.
    options = [f"-arch={target}", limit, "-verbose", "-no-cache"]
    handle = nvjitlink.create(len(options), options)
    try:
        data = text.encode("latin-1") + b"\0"
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "ptx")
        buffer = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, buffer)
    except nvjitlink.nvJitLinkError:
        return f"nvJitLink {'.'.join(map(str, version))} does not compile it"
    finally:
        nvjitlink.destroy(handle)
    cache.store(key, {"log": bytes(buffer)})
    return buffer.decode()
