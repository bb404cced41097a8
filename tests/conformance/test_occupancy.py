"""Driver API, section 6.24: occupancy."""

import pytest


@pytest.fixture
def function(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("kernels"))
    return lambda name: cuda.cuModuleGetFunction(module, name)


def test_occupancy(cuda, function):
    nothing = function(b"nothing")
    assert cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 1024, 0) == 2
    assert cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 32, 0) == 32
    few = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 32, 48 << 10)
    assert few == 4  # 233472 bytes of shared memory, 49152 + 1024 to a block
    refused = ("cuOccupancyMaxActiveBlocksPerMultiprocessor", nothing, 0, 0)
    assert cuda.result(*refused) == "INVALID_VALUE"


def test_the_best_block_size(cuda, function):
    grid, block = cuda.cuOccupancyMaxPotentialBlockSize(function(b"nothing"), None, 0, 0)
    count = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    assert grid * block == 2048 * cuda.cuDeviceGetAttribute(count, 0)
    _, limited = cuda.cuOccupancyMaxPotentialBlockSize(function(b"nothing"), None, 0, 128)
    assert limited <= 128


def test_dynamic_shared_memory_for_so_many_blocks(cuda, function):
    nothing = function(b"nothing")
    available = cuda.cuOccupancyAvailableDynamicSMemPerBlock
    assert [available(nothing, blocks, 32) for blocks in (1, 2, 7)] == [49152, 49152, 33280]
    # A seventh of 228 KiB, without the KiB that is reserved for each block: so only six fit.
    assert cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 32, 33280) == 6


def test_no_more_dynamic_shared_memory_than_the_kernel_may_have(cuda, function):
    """Of 228 KiB an H200 has room for four blocks of 48 KiB, and said so where one was meant."""
    nothing = function(b"nothing")
    limit = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    for most in (49152, 100000, 232448):
        cuda.cuFuncSetAttribute(nothing, limit, most)
        assert cuda.cuOccupancyAvailableDynamicSMemPerBlock(nothing, 1, 32) == most
    assert cuda.cuOccupancyAvailableDynamicSMemPerBlock(nothing, 2, 32) == 116736
    assert cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 32, 116736) == 1
    assert cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 32, 116736 - 1024) == 2


@pytest.fixture
def config(cuda):
    """A configuration of 128 threads per block, with clusters of so many blocks."""

    def made(blocks=0):
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = 16, 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = 128, 1, 1
        if blocks:
            attribute = cuda.CUlaunchAttribute()
            attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            extent = attribute.value.clusterDim
            extent.x, extent.y, extent.z = blocks, 1, 1
            config.attrs, config.numAttrs = [attribute], 1
        return config

    return made


def test_clusters_that_are_resident(cuda, function, config):
    count = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    processors = cuda.cuDeviceGetAttribute(count, 0)
    # 528 on an H100: eight blocks per multiprocessor, of which 16 are resident without clusters.
    found = cuda.cuOccupancyMaxActiveClusters(function(b"nothing"), config(2))
    assert found == processors * 8 // 2


def test_a_launch_without_clusters_has_none(cuda, function, config):
    assert cuda.cuOccupancyMaxActiveClusters(function(b"nothing"), config()) == 0


def test_clusters_that_are_too_large(cuda, function, config):
    refused = ("cuOccupancyMaxActiveClusters", function(b"nothing"), config(16))
    assert cuda.result(*refused) == "INVALID_CLUSTER_SIZE"


def test_the_largest_cluster(cuda, function, config):
    nothing = function(b"nothing")
    assert cuda.cuOccupancyMaxPotentialClusterSize(nothing, config()) == 8
    attributes = cuda.CUfunction_attribute
    free = attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    cuda.cuFuncSetAttribute(nothing, free, 1)
    assert cuda.cuOccupancyMaxPotentialClusterSize(nothing, config()) == 16


@pytest.mark.parametrize(
    "name", ["cuOccupancyMaxActiveClusters", "cuOccupancyMaxPotentialClusterSize"]
)
def test_clusters_of_blocks_without_threads(cuda, function, config, name):
    given = config()
    given.blockDimY = 0
    assert cuda.result(name, function(b"nothing"), given) == "INVALID_VALUE"
