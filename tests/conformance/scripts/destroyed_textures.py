"""Use handles of CUDA arrays and texture objects that have been destroyed; print what calls say.

By itself, for a driver that takes such a handle for a pointer dies of it. The second argument is
which call to make.
"""

import importlib
import sys

driver = importlib.import_module(sys.argv[1])
create = (None, 0, 0) if driver.CUDA_VERSION >= 13000 else (0, 0)


def call(name, *arguments):
    result, *values = getattr(driver, name)(*arguments)
    assert int(result) == 0, f"{name}: {result!r}"
    return values[0] if values else None


call("cuInit", 0)
call("cuCtxCreate", *create)
descriptor = driver.CUDA_ARRAY_DESCRIPTOR()
descriptor.Format = driver.CUarray_format.CU_AD_FORMAT_FLOAT
descriptor.NumChannels, descriptor.Width = 1, 16
array = call("cuArrayCreate", descriptor)

resource, description = driver.CUDA_RESOURCE_DESC(), driver.CUDA_TEXTURE_DESC()
resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
resource.res.array.hArray = array
texture = call("cuTexObjectCreate", resource, description, None)
call("cuTexObjectDestroy", texture)
call("cuArrayDestroy", array)

arguments = {
    "cuArrayDestroy": (array,),
    "cuArrayGetDescriptor": (array,),
    "cuTexObjectCreate": (resource, description, None),
    "cuTexObjectDestroy": (texture,),
    "cuTexObjectGetResourceDesc": (texture,),
    "cuTexObjectGetTextureDesc": (texture,),
}
print(int(getattr(driver, sys.argv[2])(*arguments[sys.argv[2]])[0]))
