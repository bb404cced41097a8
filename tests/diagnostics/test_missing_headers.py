"""The remedy for a header that a compiler does not find: where it comes from."""

from __future__ import annotations

import pytest

from cudarun.diagnostics.explanations import explain
from cudarun.diagnostics.log_parser import parse_log
from cudarun.diagnostics.refusals import LoadTarget, RefusalFacts

JITLINK = LoadTarget("nvJitLink 13.5", 90, cuda=(13, 5), is_driver=False)


@pytest.mark.parametrize(
    ("header", "cuda", "words"),
    [
        ("curand_kernel.h", 13, "pip install nvidia-curand"),
        ("curand_kernel.h", 12, "pip install nvidia-curand-cu12"),
        ("cublas_v2.h", 13, "pip install nvidia-cublas"),
        ("cub/block/block_scan.cuh", 13, "pip install nvidia-cuda-cccl"),
        ("cuda/std/array", 12, "pip install nvidia-cuda-cccl-cu12"),
        ("cudnn.h", 12, "pip install nvidia-cudnn-cu12"),
        ("nccl.h", 13, "pip install nvidia-nccl-cu13"),
        ("cute/tensor.hpp", 13, "add -I cutlass/include"),
        ("helper_math.h", 13, "add -I cuda-samples/Common"),
        ("torch/extension.h", 13, "it is PyTorch's"),
        ("helper.h", 13, "add its directory: -I DIR; searched: the headers of CUDA"),
        ("my/cub.h", 13, "add its directory: -I DIR; searched: the headers of CUDA"),
    ],
)
def test_where_a_header_comes_from(header: str, cuda: int, words: str) -> None:
    for log in (
        f'a.cu(1): catastrophic error: cannot open source file "{header}"\n',
        f"a.cu:1:10: fatal error: {header}: No such file or directory\n",
    ):
        place = LoadTarget("NVRTC", 90, cuda=(cuda, 0))
        found = explain(RefusalFacts(place, diagnostics=parse_log(log), log=log))
        assert found is not None
        assert found.remedy.endswith(words) or words.startswith(("add -I", "it is"))
        assert words in found.remedy


def header_remedy(header: str) -> str:
    """The remedy for a header that NVRTC does not find."""
    log = f'a.cu(1): catastrophic error: cannot open source file "{header}"\n'
    explained = explain(RefusalFacts(
        target=JITLINK, contents=None, cuda_error=None,
        diagnostics=parse_log(log), log=log,
    ))  # fmt: skip
    assert explained is not None
    return explained.remedy


@pytest.mark.parametrize(
    ("header", "is_of_cuda"),
    [
        ("cuda.h", True),
        ("cuda_fp16.h", True),
        ("cuda_bf16.hpp", True),
        ("cuda_runtime.h", True),
        ("cudaTypedefs.h", True),
        ("cudaEGLTypedefs.h", True),
        ("cuComplex.h", True),
        ("cooperative_groups.h", True),
        ("cooperative_groups/reduce.h", True),
        ("cuda_pipeline_primitives.h", True),
        ("device_launch_parameters.h", True),
        ("math_constants.h", True),
        ("mma.h", True),
        ("vector_types.h", True),
        ("texture_fetch_functions.h", True),
        ("cub/block/block_reduce.cuh", True),
        ("cuda/std/array", True),
        ("nv/target", True),
        ("thrust/device_vector.h", True),
        ("common.h", False),
        ("cuda_utils.h", False),
        ("cuda_fp16_helpers.h", False),
        ("device_helpers.h", False),
        ("cutlass/cutlass.h", False),
        ("helper_cuda.h", False),
        ("math_functions.cuh", False),
    ],
)
def test_only_headers_of_cuda_are_looked_for_in_the_toolkit(header: str, is_of_cuda: bool) -> None:
    assert ("CUDA_HOME" in header_remedy(header)) is is_of_cuda
