"""Programs that need the device runtime: linked on a GPU, as they are on the emulated device."""

import glob
import sys


def library():
    """Return the path of ``libcudadevrt.a``: of a toolkit, or of NVIDIA's packages for Python."""
    patterns = ["/usr/local/cuda*/lib64/libcudadevrt.a", "/usr/local/cuda*/lib/libcudadevrt.a"]
    patterns += [f"{folder}/nvidia/*/lib/libcudadevrt.a" for folder in sys.path]
    found = [path for pattern in patterns for path in sorted(glob.glob(pattern))]
    return found[0] if found else None


def image(driver, text):
    """Return an image to load: the text itself, or a cubin linked with the device runtime.

    ``driver`` is the module; ``None`` if it needs a library that is not there.
    """
    if driver.__name__.startswith("cudarun."):
        return text
    runtime = library()
    if runtime is None:
        return None
    kinds = driver.CUjitInputType
    result, state = driver.cuLinkCreate(0, [], [])
    assert int(result) == 0
    for name, *arguments in (
        ("cuLinkAddData", kinds.CU_JIT_INPUT_PTX, text, len(text), b"children", 0, [], []),
        ("cuLinkAddFile", kinds.CU_JIT_INPUT_LIBRARY, runtime.encode(), 0, [], []),
    ):
        (result,) = getattr(driver, name)(state, *arguments)
        assert int(result) == 0, name
    result, cubin, size = driver.cuLinkComplete(state)
    assert int(result) == 0
    import ctypes

    return ctypes.string_at(int(cubin), size)
