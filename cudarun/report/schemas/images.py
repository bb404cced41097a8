"""The documents of ``load``, ``load --offline`` and ``link``.

Sizes are in bytes, times in milliseconds.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.devices import DeviceRecord
from cudarun.report.schemas.errors import DiagnosticRecord, ErrorRecord, Head
from cudarun.report.schemas.values import Extent, Version


class ParameterRecord(TypedDict):
    """A parameter of a kernel.

    Attributes:
        index: Its position, from 0.
        offset: The offset in the parameter buffer.
        size: Its size.
        alignment: Its alignment, where the image has it.
        type: Its type in C++ or PTX, where the image has it.
        name: Its name, where the image has one.
    """

    index: int
    offset: int
    size: int
    alignment: int | None
    type: str | None
    name: str | None


class OccupancyRecord(TypedDict):
    """The occupancy of a multiprocessor with blocks of a size.

    Attributes:
        block: The block.
        blocks: The number of resident blocks.
        threads: The number of resident threads.
        share: Of the threads that a multiprocessor can hold, from 0 to 1.
    """

    block: Extent
    blocks: int
    threads: int
    share: float


class KernelRecord(TypedDict):
    """A kernel; null is what neither the driver nor the file tells.

    Attributes:
        name: Its mangled name.
        demangled: Its name in C++ spelling.
        parameters: Its parameters.
        registers: Registers per thread.
        shared_bytes: Static shared memory per block.
        const_bytes: User constant memory of the module.
        local_bytes: Local memory per thread.
        max_threads: The largest number of threads per block.
        max_dynamic_shared: The dynamic shared memory of a launch that sets no attribute.
        required_block: The block that a launch must have.
        required_cluster: The cluster that a launch must have.
        binary_version: The architecture of its machine code, 90 for sm_90.
        ptx_version: The virtual architecture that it was compiled for.
        is_loaded: Whether it is loaded on the device.
        occupancy: The occupancy with --block.
        is_estimated: Whether registers and occupancy are estimates, as on cpu.
        launch: A command that launches it; null where launch does not take the file.
    """

    name: str
    demangled: str
    parameters: list[ParameterRecord]
    registers: int | None
    shared_bytes: int | None
    const_bytes: int | None
    local_bytes: int | None
    max_threads: int | None
    max_dynamic_shared: int | None
    required_block: Extent | None
    required_cluster: Extent | None
    binary_version: int | None
    ptx_version: int | None
    is_loaded: bool | None
    occupancy: OccupancyRecord | None
    is_estimated: bool
    launch: str | None


class ImageVariableRecord(TypedDict):
    """A variable of an image.

    Attributes:
        name: Its symbol.
        demangled: Its name in C++ spelling.
        space: global or const.
        size: Its size.
        managed: Whether it is a __managed__ variable.
        type: Its type, where the image has it.
        address: Its address in the context; null without one.
    """

    name: str
    demangled: str
    space: str
    size: int
    managed: bool
    type: str | None
    address: int | None


class HandleRecord(TypedDict):
    """The handles of a kernel.

    Attributes:
        name: The kernel.
        kernel: Its CUkernel, the same in every context.
        function: Its CUfunction.
    """

    name: str
    kernel: int | None
    function: int


class LoaderRecord(TypedDict):
    """The loading of an image by cuLibrary or by cuModule.

    Attributes:
        via: library or module.
        before_contexts: Whether it was loaded before any context existed.
        load_calls: The number of driver calls that load the image; with a library, once for all
            contexts.
        load_milliseconds: Their time.
        context_calls: The number of driver calls in the context that make its kernels available.
        context_milliseconds: Their time.
        memory_bytes: The device memory that it took in the context.
        handles: The handles of its kernels.
        info_log: The log of the driver's compiler.
        silence: Why the log is empty although one was asked for.
        error: Why it failed.
    """

    via: str
    before_contexts: bool
    load_calls: int
    load_milliseconds: float
    context_calls: int
    context_milliseconds: float
    memory_bytes: int | None
    handles: list[HandleRecord]
    info_log: str
    silence: str | None
    error: ErrorRecord | None


class RefusedKernelRecord(TypedDict):
    """A kernel that the driver refuses, of an image that it loads.

    Attributes:
        name: Its mangled name.
        demangled: Its name in C++ spelling.
        reasons: Why, each with its line in PTX where there is one.
    """

    name: str
    demangled: str
    reasons: list[str]


class LoadResultRecord(TypedDict):
    """An image on a device.

    Attributes:
        image: The file; with a number where it holds several images.
        ways: The loading by each of the loaders.
        kernels: Its kernels.
        refusals: The kernels that the driver refuses.
        variables: Its variables; null where they are not known.
        differences: What the loaders report differently.
        diagnostics: Of the compiler, where the image loaded.
        fatbin: The number of the fatbin in the file, from 1; null where it holds only one.
        target: The target of the code in the fatbin that the device takes.
        verdict: That of the fatbin, as of the file.
        error: Why the fatbin was not loaded.
    """

    image: str
    ways: list[LoaderRecord]
    kernels: list[KernelRecord]
    refusals: list[RefusedKernelRecord]
    variables: list[ImageVariableRecord] | None
    differences: list[str]
    diagnostics: list[DiagnosticRecord]
    fatbin: int | None
    target: str | None
    verdict: str | None
    error: ErrorRecord | None


class LoadOutcomeRecord(TypedDict):
    """A file on a device.

    Attributes:
        image: The file.
        label: The device, as for --device.
        verdict: loaded; refused; failed, where the fault is not the image's; killed at --timeout;
            or crashed with the driver.
        device: The device; null where it is not known.
        results: The images of the file.
        error: Why it did not load.
        output: What the driver printed.
    """

    image: str
    label: str
    verdict: str
    device: DeviceRecord | None
    results: list[LoadResultRecord]
    error: ErrorRecord | None
    output: str


class LoadDocument(Head):
    """Files loaded on devices.

    Attributes:
        schema: The schema of this document.
        outcomes: One for each file and device, in order.
    """

    schema: Literal["cudarun/load/1"]
    outcomes: list[LoadOutcomeRecord]


class TargetRecord(TypedDict):
    """The images for one target in a file.

    Attributes:
        target: The architecture.
        kind: Their format.
        parts: The number of images.
        kernels: The number of their kernels.
        size: Their size, decompressed.
        stored: Their size in the file.
        unread: The number of images that cannot be read.
    """

    target: str
    kind: str
    parts: int
    kernels: int
    size: int
    stored: int
    unread: int


class ImagePartRecord(TypedDict):
    """An image inside a file.

    Attributes:
        number: Its number in the file, from 1.
        fatbin: The number of its fatbin in the file, from 1.
        kind: Its format.
        target: Its architecture.
        size: Its size, decompressed.
        stored: Its size in the file.
        unread: Why it cannot be read.
        kernels: Its kernels.
    """

    number: int
    fatbin: int
    kind: str
    target: str
    size: int
    stored: int
    unread: str | None
    kernels: list[KernelRecord]


class FileRecord(TypedDict):
    """A file, read without a driver.

    Attributes:
        image: The file.
        kind: Its format.
        size: Its size.
        targets: The architectures that it has code for.
        ptx_version: The version of PTX.
        toolkit: The toolkit that built it, where the file names it.
        is_relocatable: Whether it must be linked before it can be loaded.
        kernels: Its kernels.
        variables: The variables that the host can address.
        externs: Its undefined symbols.
        relocations: The number of relocations of machine code.
        fatbins: The number of fatbins inside it.
        summary: The images inside it, for each target.
        parts: The images inside it.
        diagnostics: Notes on its debug information.
        error: Why it cannot be read.
    """

    image: str
    kind: str
    size: int
    targets: list[str]
    ptx_version: Version | None
    toolkit: str | None
    is_relocatable: bool | None
    kernels: list[KernelRecord]
    variables: list[ImageVariableRecord]
    externs: list[str]
    relocations: int | None
    fatbins: int
    summary: list[TargetRecord]
    parts: list[ImagePartRecord]
    diagnostics: list[DiagnosticRecord]
    error: ErrorRecord | None


class OfflineDocument(Head):
    """Files read without a driver.

    Attributes:
        schema: The schema of this document.
        files: The files, in order.
    """

    schema: Literal["cudarun/load/1"]
    files: list[FileRecord]


class LinkInputRecord(TypedDict):
    """An input of a link.

    Attributes:
        name: The file.
        kind: Its format.
        size: Its size.
    """

    name: str
    kind: str
    size: int


class LinkDocument(Head):
    """A link.

    Attributes:
        schema: The schema of this document.
        output: The file that was written.
        linker: The linker and its version.
        target: The architecture.
        inputs: The inputs, in order.
        milliseconds: The time of the linker.
        size: The size of the output.
        kind: The format of the output.
        kernels: Its kernels.
        variables: Its variables.
        info_log: The log of the linker.
        diagnostics: Its warnings.
        loads: The output on each device, with --load.
    """

    schema: Literal["cudarun/link/1"]
    output: str
    linker: str
    target: str
    inputs: list[LinkInputRecord]
    milliseconds: float
    size: int
    kind: str
    kernels: list[KernelRecord]
    variables: list[ImageVariableRecord]
    info_log: str
    diagnostics: list[DiagnosticRecord]
    loads: list[LoadOutcomeRecord]
