"""What tests of captures and of graphs use: streams, memory and the work to be done."""

import ctypes
from types import SimpleNamespace

import numpy as np

FILL = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
BLOCKING, NON_BLOCKING = range(2)
UNSUPPORTED, IMPLICIT = "STREAM_CAPTURE_UNSUPPORTED", "STREAM_CAPTURE_IMPLICIT"
INVALIDATED, SUCCESS = "STREAM_CAPTURE_INVALIDATED", "CUDA_SUCCESS"


class World(SimpleNamespace):
    """Two streams, two buffers of 16 cells and what calls need besides."""

    def __init__(self, cuda, ptx, flags: int = NON_BLOCKING) -> None:
        module = cuda.cuModuleLoadData(ptx("kernels"))
        super().__init__(
            cuda=cuda,
            module=module,
            fill=cuda.cuModuleGetFunction(module, b"fill"),
            nothing=cuda.cuModuleGetFunction(module, b"nothing"),
            stream=cuda.cuStreamCreate(flags),
            other=cuda.cuStreamCreate(NON_BLOCKING),
            memory=cuda.cuMemAlloc(64),
            second=cuda.cuMemAlloc(64),
            event=cuda.cuEventCreate(0),
            host=np.zeros(16, np.uint32),
            graph=cuda.cuGraphCreate(0),
        )
        self.executable = cuda.cuGraphInstantiate(self.graph, 0)
        cuda.cuMemsetD32(self.memory, 0, 16)
        cuda.cuMemsetD32(self.second, 0, 16)
        cuda.cuEventRecord(self.event, self.other)
        cuda.cuCtxSynchronize()

    def begin(self, mode: int = THREAD_LOCAL, stream=None) -> None:
        mode = self.cuda.CUstreamCaptureMode(mode)
        self.cuda.cuStreamBeginCapture(stream or self.stream, mode)

    def end(self, stream=None) -> str:
        return self.cuda.result("cuStreamEndCapture", stream or self.stream)

    def launch(self, value: int, count: int, stream=None) -> None:
        values = (int(self.memory), value, count)
        self.cuda.launch(self.fill, values, FILL, block=(32, 1, 1), stream=stream or self.stream)

    def status(self, stream=None) -> str:
        name = self.cuda.cuStreamIsCapturing(stream or self.stream).name
        return name.removeprefix("CU_STREAM_CAPTURE_STATUS_")

    def fork(self, event) -> None:
        """Let the other stream join the capture."""
        self.cuda.cuEventRecord(event, self.stream)
        self.cuda.cuStreamWaitEvent(self.other, event, 0)

    def execute(self, graph, times: int = 1) -> None:
        executable = self.cuda.cuGraphInstantiate(graph, 0)
        for _ in range(times):
            self.cuda.cuGraphLaunch(executable, self.stream)
        self.cuda.cuStreamSynchronize(self.stream)
        self.cuda.cuGraphExecDestroy(executable)

    def cells(self, address=None) -> list[int]:
        data = np.empty(16, np.uint32)
        self.cuda.cuMemcpyDtoH(data, address or self.memory, 64)
        return data.tolist()

    def nodes(self, graph) -> list:
        nodes, count = self.cuda.cuGraphGetNodes(graph, 32)
        return nodes[:count]

    def shape(self, graph) -> tuple[list[str], list[tuple[int, int]]]:
        """The types of the nodes, and the edges by their places."""
        nodes = self.nodes(graph)
        place = {int(node): index for index, node in enumerate(nodes)}
        kinds = [self.cuda.cuGraphNodeGetType(node).name for node in nodes]
        before, after, *_, count = self.cuda.cuGraphGetEdges(graph, 32)
        pairs = zip(before[:count], after[:count], strict=True)
        edges = [(place[int(a)], place[int(b)]) for a, b in pairs]
        return [kind.removeprefix("CU_GRAPH_NODE_TYPE_") for kind in kinds], edges

    def parameters(self, value: int, count: int, **fields):
        made = self.cuda.CUDA_KERNEL_NODE_PARAMS()
        made.func = self.fill
        made.gridDimX = made.gridDimY = made.gridDimZ = 1
        made.blockDimX, made.blockDimY, made.blockDimZ = 32, 1, 1
        made.kernelParams = ((int(self.memory), value, count), FILL)
        for name, field in fields.items():
            setattr(made, name, field)
        return made

    def memset(self, **fields):
        made = self.cuda.CUDA_MEMSET_NODE_PARAMS()
        made.dst, made.value, made.elementSize = self.memory, 5, 4
        made.width, made.height = 16, 1
        for name, field in fields.items():
            setattr(made, name, field)
        return made

    def copy(self, width: int = 64):
        made = self.cuda.CUDA_MEMCPY3D()
        made.srcMemoryType = made.dstMemoryType = self.cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
        made.srcDevice, made.dstDevice = self.memory, self.second
        made.WidthInBytes, made.Height, made.Depth = width, 1, 1
        return made


def edges_arguments(cuda, count):
    """What follows the nodes: data since CUDA 13, and the number."""
    return (None, count) if cuda.module.CUDA_VERSION >= 13000 else (count,)
