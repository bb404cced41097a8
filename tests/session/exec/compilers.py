"""A program that compiles and links its kernels: to machine code, from PTX and from LTO-IR."""

import ctypes

from cuda.bindings import driver, nvjitlink, nvrtc

TWICE = "extern __device__ int twice(int x);"
KERNEL = TWICE + 'extern "C" __global__ void run(int *p) { *p = twice(*p) + 1; }'
GRID = """
extern "C" __global__ void run(int *p) {
  if (blockIdx.x == 1) *p += 1;
  int error = cudaCGSynchronize(cudaCGGetIntrinsicHandle(cudaCGScopeGrid), 0);
  if (blockIdx.x == 0 && threadIdx.x == 0) *p = *p * 2 + error;
}
"""
MANY = """
extern "C" __global__ void run(int *p) {
  int values[64];
#pragma unroll
  for (int i = 0; i < 64; i++) values[i] = p[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; i++) p[i + 1] = values[i];
}
"""
DEVICE_RUNTIME = b"!<arch>\ncuda_device_runtime.o/ 0           0     0     644     0         `\n"
FUNCTION = "__device__ int twice(int x) { return 2 * x; }"
ARCH = b"sm_90"


def checked(answer):
    error, *values = answer
    if error:
        raise SystemExit(str(error))
    return values[0] if values else None


def compiled(code, kind, *options):
    program = checked(nvrtc.nvrtcCreateProgram(code.encode(), b"code.cu", 0, [], []))
    words = [b"-arch=" + ARCH, *options]
    checked(nvrtc.nvrtcCompileProgram(program, len(words), words))
    image = bytes(checked(getattr(nvrtc, f"nvrtcGet{kind}Size")(program)))
    checked(getattr(nvrtc, f"nvrtcGet{kind}")(program, image))
    return image


def linked(kind, *inputs, library=b"", options=()):
    words = ["-arch=sm_90", *options, *["-lto"] * (kind is nvjitlink.InputType.LTOIR)]
    link = nvjitlink.create(len(words), words)
    try:
        for number, image in enumerate(inputs):
            nvjitlink.add_data(link, kind, image, len(image), f"input{number}")
        if library:
            nvjitlink.add_data(link, nvjitlink.InputType.LIBRARY, library, len(library), "library")
        nvjitlink.complete(link)
    except nvjitlink.nvJitLinkError:
        log = bytearray(nvjitlink.get_error_log_size(link))
        nvjitlink.get_error_log(link, log)
        print(log.decode().strip("\0"))
        return b""
    image = bytearray(nvjitlink.get_linked_cubin_size(link))
    nvjitlink.get_linked_cubin(link, image)
    nvjitlink.destroy(link)
    return bytes(image)


def result_of(image, blocks=1):
    module = checked(driver.cuModuleLoadData(image))
    function = checked(driver.cuModuleGetFunction(module, b"run"))
    memory = checked(driver.cuMemAlloc(4))
    number = ctypes.c_int(20)
    checked(driver.cuMemcpyHtoD(memory, ctypes.addressof(number), 4))
    launch = driver.cuLaunchCooperativeKernel
    checked(launch(function, blocks, *5 * (1,), 0, 0, ((memory,), (None,))))
    checked(driver.cuMemcpyDtoH(ctypes.addressof(number), memory, 4))
    return number.value


checked(driver.cuInit(0))
checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(0))))
PTX, LTOIR = nvjitlink.InputType.PTX, nvjitlink.InputType.LTOIR
print(result_of(compiled(FUNCTION + KERNEL, "CUBIN")))
parts = [compiled(each, "PTX", b"-rdc=true") for each in (KERNEL, FUNCTION)]
linked(PTX, parts[0])
print(result_of(linked(PTX, parts[0], b"// cuda_device_runtime.o\n" + parts[1])))
grid = compiled(GRID, "PTX", b"-rdc=true")
print(result_of(linked(PTX, grid, library=DEVICE_RUNTIME), blocks=2))
many = compiled(MANY, "PTX")
for options in ((), ("-maxrregcount=40",)):
    module = checked(driver.cuModuleLoadData(linked(PTX, many, options=options)))
    registers = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS
    kernel = checked(driver.cuModuleGetFunction(module, b"run"))
    print(min(checked(driver.cuFuncGetAttribute(registers, kernel)), 41))
lto = [compiled(each, "LTOIR", b"-dlto", b"-rdc=true") for each in (KERNEL, FUNCTION)]
print(result_of(linked(LTOIR, *lto)))


def refused(call, *arguments):
    try:
        call(*arguments)
    except nvjitlink.nvJitLinkError as error:
        return nvjitlink.Result(error.status).name.removeprefix("ERROR_")


print(refused(nvjitlink.create, 2, ["-arch=sm_90", "-ptx"]))
link = nvjitlink.create(1, ["-arch=sm_90"])
print(nvjitlink.get_error_log_size(link))
print(refused(nvjitlink.add_data, link, PTX, b"garbage", 7, "code"))
log = bytearray(nvjitlink.get_error_log_size(link))
nvjitlink.get_error_log(link, log)
print(log.decode().strip("\0"))
print(refused(nvjitlink.add_data, link, PTX, b"", 0, "code"))
nvjitlink.add_data(link, PTX, parts[1], len(parts[1]), "code")
nvjitlink.complete(link)
print(refused(nvjitlink.get_linked_ptx_size, link))
print(refused(nvjitlink.complete, link))
link = nvjitlink.create(2, ["-arch=sm_90", "-lto"])
nvjitlink.add_data(link, LTOIR, b"garbage", 7, "code")
print(refused(nvjitlink.complete, link) is not None)
print(refused(nvjitlink.complete, link))
