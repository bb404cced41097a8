"""Driver API, sections 6.13, 6.15 and 6.17: advice on managed memory, and its pools."""

import ctypes

import pytest

CPU, INVALID = -1, -2
PAGES = 4 << 20


@pytest.fixture
def memory(cuda, context):
    return cuda.cuMemAllocManaged(PAGES, 1)


@pytest.fixture
def place(cuda):
    """The argument for a device, or for the host."""

    def made(number):
        if cuda.module.CUDA_VERSION < 13000:
            return cuda.CUdevice(number)
        location = cuda.CUmemLocation()
        kinds = cuda.CUmemLocationType
        location.type = kinds.CU_MEM_LOCATION_TYPE_HOST
        if number != CPU:
            location.type = kinds.CU_MEM_LOCATION_TYPE_DEVICE
            location.id = number
        return location

    return made


@pytest.fixture
def advise(cuda, memory, place):
    def call(name, location=0, offset=0, size=PAGES):
        advice = getattr(cuda.CUmem_advise, f"CU_MEM_ADVISE_{name}")
        address = cuda.CUdeviceptr(int(memory) + offset)
        cuda.cuMemAdvise(address, size, advice, place(location))

    return call


@pytest.fixture
def ask(cuda, memory):
    def call(name, size=4):
        attribute = getattr(cuda.CUmem_range_attribute, f"CU_MEM_RANGE_ATTRIBUTE_{name}")
        return cuda.cuMemRangeGetAttribute(size, attribute, memory, PAGES)

    return call


def test_read_mostly(advise, ask):
    assert ask("READ_MOSTLY") == 0
    advise("SET_READ_MOSTLY", size=PAGES // 2)
    assert ask("READ_MOSTLY") == 0
    advise("SET_READ_MOSTLY", offset=PAGES // 2, size=PAGES // 2)
    assert ask("READ_MOSTLY") == 1
    advise("UNSET_READ_MOSTLY")
    assert ask("READ_MOSTLY") == 0


def test_the_preferred_location(advise, ask):
    assert ask("PREFERRED_LOCATION") == INVALID
    for location in (0, CPU):
        advise("SET_PREFERRED_LOCATION", location)
        assert ask("PREFERRED_LOCATION") == location
    advise("UNSET_PREFERRED_LOCATION", CPU)
    assert ask("PREFERRED_LOCATION") == INVALID


def test_devices_that_access(advise, ask):
    assert ask("ACCESSED_BY", 8) == [INVALID, INVALID]
    advise("SET_ACCESSED_BY")
    assert ask("ACCESSED_BY", 8) == [0, INVALID]
    advise("UNSET_ACCESSED_BY", size=PAGES // 2)
    assert ask("ACCESSED_BY", 4) == [INVALID]


def test_the_last_prefetch(cuda, memory, ask, place):
    assert ask("LAST_PREFETCH_LOCATION") == INVALID
    flags = (0,) if cuda.module.CUDA_VERSION >= 13000 else ()
    cuda.cuMemPrefetchAsync(memory, PAGES, place(0), *flags, 0)
    assert ask("LAST_PREFETCH_LOCATION") == 0


def test_types_of_locations(cuda, advise, ask):
    kinds = cuda.CUmemLocationType
    try:
        ask("PREFERRED_LOCATION_TYPE")
    except TypeError as error:  # bindings 13.3 and older
        pytest.skip(f"the bindings do not know the attribute: {error}")
    assert ask("PREFERRED_LOCATION_TYPE") == int(kinds.CU_MEM_LOCATION_TYPE_INVALID)
    advise("SET_PREFERRED_LOCATION", 0)
    assert ask("PREFERRED_LOCATION_TYPE") == int(kinds.CU_MEM_LOCATION_TYPE_DEVICE)
    assert ask("PREFERRED_LOCATION_ID") == 0


def test_several_attributes(cuda, memory, advise):
    advise("SET_READ_MOSTLY")
    kinds = cuda.CUmem_range_attribute
    attributes = [
        kinds.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
        kinds.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
    ]
    found = cuda.cuMemRangeGetAttributes([4, 8], attributes, 2, memory, PAGES)
    assert found == [1, [INVALID, INVALID]]


def test_advice_that_is_refused(cuda, memory):
    attribute = cuda.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY
    refused = ("cuMemRangeGetAttribute", 8, attribute, memory, PAGES)
    assert cuda.result(*refused) == "INVALID_VALUE"
    refused = ("cuMemRangeGetAttribute", 4, attribute, cuda.cuMemAlloc(64), 64)
    assert cuda.result(*refused) == "INVALID_VALUE"


# --- pools ---------------------------------------------------------------------------------------


@pytest.fixture
def properties(cuda):
    def made(kind, location):
        props = cuda.CUmemPoolProps()
        props.allocType = getattr(cuda.CUmemAllocationType, f"CU_MEM_ALLOCATION_TYPE_{kind}")
        props.location.type = getattr(cuda.CUmemLocationType, f"CU_MEM_LOCATION_TYPE_{location}")
        return props

    return made


def access(cuda, flags=3):
    """Return the access of the first device, to read and to write by default."""
    made = cuda.CUmemAccessDesc()
    made.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    made.flags = cuda.CUmemAccess_flags(flags)
    return made


@pytest.mark.parametrize("name", ["HOST_MEMORY_POOLS", "HOST_NUMA_MEMORY_POOLS"])
def test_pools_of_the_host_are_supported(cuda, device, name):
    if cuda.module.CUDA_VERSION < 13000:
        pytest.skip("needs CUDA 13")
    attribute = getattr(cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}_SUPPORTED")
    assert cuda.cuDeviceGetAttribute(attribute, device) == 1


@pytest.mark.parametrize(
    ("kind", "location"), [("MANAGED", "DEVICE"), ("PINNED", "HOST"), ("PINNED", "HOST_NUMA")]
)
def test_a_pool_of_memory_that_the_host_accesses(cuda, context, properties, kind, location):
    if cuda.module.CUDA_VERSION < 13000 and kind == "MANAGED":
        pytest.skip("needs CUDA 13")
    pool = cuda.cuMemPoolCreate(properties(kind, location))
    if kind == "PINNED":
        cuda.cuMemPoolSetAccess(pool, [access(cuda)], 1)
    stream = cuda.cuStreamCreate(0)
    address = cuda.cuMemAllocFromPoolAsync(64, pool, stream)
    cuda.cuMemsetD8Async(address, 7, 64, stream)
    cuda.cuStreamSynchronize(stream)
    assert ctypes.string_at(int(address), 64) == bytes([7]) * 64
    attribute = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
    assert bool(cuda.cuPointerGetAttribute(attribute, address)) == (kind == "MANAGED")
    cuda.cuMemFreeAsync(address, stream)
    cuda.cuMemPoolDestroy(pool)


def test_a_device_has_no_access_to_a_pool_of_the_host_at_first(cuda, context, properties):
    """An H100 refuses the fill; that it accepts it after the call is documented."""
    pool, stream = cuda.cuMemPoolCreate(properties("PINNED", "HOST")), cuda.cuStreamCreate(0)
    granted = access(cuda)  # which holds the memory of the location
    device = granted.location
    assert int(cuda.cuMemPoolGetAccess(pool, device)) == 0
    address = cuda.cuMemAllocFromPoolAsync(64, pool, stream)
    cuda.cuStreamSynchronize(stream)
    assert cuda.result("cuMemsetD8Async", address, 7, 64, stream) == "INVALID_VALUE"
    cuda.cuMemPoolSetAccess(pool, [granted], 1)
    assert int(cuda.cuMemPoolGetAccess(pool, device)) == 3
    cuda.cuMemsetD8(address, 7, 64)
    cuda.cuMemPoolSetAccess(pool, [access(cuda, flags=0)], 1)
    assert int(cuda.cuMemPoolGetAccess(pool, device)) == 0


def test_the_default_pool_of_managed_memory(cuda, context, properties):
    if cuda.module.CUDA_VERSION < 13000:
        pytest.skip("needs CUDA 13")
    props = properties("MANAGED", "DEVICE")
    location, kind = props.location, props.allocType
    pool = cuda.cuMemGetMemPool(location, kind)
    assert int(pool) == int(cuda.cuMemGetDefaultMemPool(location, kind))
    stream = cuda.cuStreamCreate(0)
    cuda.cuMemFreeAsync(cuda.cuMemAllocFromPoolAsync(64, pool, stream), stream)
    own = cuda.cuMemPoolCreate(props)
    cuda.cuMemSetMemPool(location, kind, own)
    assert int(cuda.cuMemGetMemPool(location, kind)) == int(own)
