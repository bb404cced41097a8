"""The steps of ``cudarun ctx run`` as a table, used by the parser, the help and the docs.

The parser reads usage texts too (`script`). Their letters stand for names: A a context,
P a primary one, B memory, M a module or library, F a kernel, S a stream, E an event.
"""

from __future__ import annotations

from collections.abc import Mapping

from cudarun.base.records import dataclass
from cudarun.session.driver.contexts import CACHE_CONFIGS, FLAGS

BUILTIN = "builtin"  # the name of the IMAGE that is included in cudarun (`image`)

STATES = ("active", "inactive")
MEMORY_KINDS = ("device", "host", "managed", "unregistered")


@dataclass(frozen=True, slots=True)
class Verb:
    """A row of the table of steps."""

    name: str
    usage: str  # the operands; this text determines how they are parsed (`_OPERANDS`, `_OPTIONS`)
    help: str  # a description that starts with the driver call
    makes: str | None = None  # the kind of object that the first operand names from then on
    # The kind of its value: ``context``, ``number``, ``word``, ``words`` or ``data``.
    gives: str | None = None
    words: tuple[str, ...] = ()  # the possible words of a ``word`` or ``words`` value


CHAPTERS: Mapping[str, tuple[Verb, ...]] = {
    "Contexts": (
        Verb("create", "A [dev=N] [flags=WORDS]", "cuCtxCreate: create a context; it is pushed",
             makes="context", gives="context"),
        Verb("push", "A", "cuCtxPushCurrent: push a context"),
        Verb("pop", "", "cuCtxPopCurrent: pop the current context", gives="context"),
        Verb("set", "A|none", "cuCtxSetCurrent: replace the current context; none pops it"),
        Verb("current", "", "cuCtxGetCurrent: the current context", gives="context"),
        Verb("device", "", "cuCtxGetDevice: the current context's device, numbered like dev=",
             gives="number"),
        Verb("sync", "[S|E]", "cuCtxSynchronize, or wait for a stream or an event"),
        Verb("destroy", "A|S|E", "cuCtxDestroy, or destroy a stream or an event"),
        Verb("attach", "", "cuCtxAttach: increment the usage count of the current context",
             gives="context"),
        Verb("detach", "[A]", "cuCtxDetach: decrement the usage count (default: current context)"),
        Verb("flags", "[WORDS]", "cuCtxGetFlags; with WORDS, cuCtxSetFlags first",
             gives="words", words=tuple(FLAGS)),
        Verb("limit", "LIMIT[=SIZE]", "cuCtxGetLimit; with SIZE, cuCtxSetLimit first",
             gives="number"),
        Verb("cache", "[PREFER]", "cuCtxGetCacheConfig; with PREFER, cuCtxSetCacheConfig first",
             gives="word", words=CACHE_CONFIGS),
        Verb("api-version", "[A]", "cuCtxGetApiVersion (default: current context)",
             gives="number"),
    ),
    "Primary contexts": (
        Verb("retain", "A [dev=N]", "cuDevicePrimaryCtxRetain: increment the reference count",
             makes="primary", gives="context"),
        Verb("release", "[P] [dev=N]", "cuDevicePrimaryCtxRelease: decrement the reference count"),
        Verb("reset", "[P] [dev=N]", "cuDevicePrimaryCtxReset: free all its resources"),
        Verb("state", "[P] [dev=N]", "cuDevicePrimaryCtxGetState: active or inactive",
             gives="word", words=STATES),
        Verb("primary-flags", "[WORDS] [dev=N]",
             "cuDevicePrimaryCtxGetState: the flags; with WORDS, cuDevicePrimaryCtxSetFlags first",
             gives="words", words=tuple(FLAGS)),
    ),
    "Memory": (
        Verb("alloc", "B SIZE|VALUE",
             "cuMemAlloc: SIZE bytes, or a buffer as of launch: f32[256], f32[256]:iota, @x.npy",
             makes="buffer", gives="number"),
        Verb("write", "B VALUE", "cuMemcpyHtoD: a value as of launch: i32:5, f32[4]:[1,2,3,4]"),
        Verb("read", "B [TYPE]", "cuMemcpyDtoH: read as TYPE, such as i32 or f32[4] (default: the "
             "type last written)", gives="data"),
        Verb("check", "EXPR", "cuMemcpyDtoH: a check as of launch, over memory with a known type"),
        Verb("print", "EXPR", "cuMemcpyDtoH: print the value of an expression"),
        Verb("free", "B", "cuMemFree"),
        Verb("memory", "", "cuMemGetInfo: the free device memory in bytes", gives="number"),
    ),
    "Code": (
        Verb("module", "M IMAGE", "cuModuleLoadData: into the current context", makes="module"),
        Verb("library", "L IMAGE", "cuLibraryLoadData: for all contexts, including later ones",
             makes="library"),
        Verb("function", "F M.NAME", "cuModuleGetFunction or cuLibraryGetKernel", makes="function"),
        Verb("global", "B M.NAME [TYPE]",
             "cuModuleGetGlobal or cuLibraryGetGlobal: a variable's address",
             makes="variable", gives="number"),
        Verb("managed", "B M.NAME [TYPE]", "cuLibraryGetManaged: a managed variable's address",
             makes="variable", gives="number"),
        Verb("launch", "F [grid=X,Y,Z] [block=X,Y,Z] [smem=BYTES] [stream=S] [ARG…]",
             "cuLaunchKernel: an ARG is that of launch, or the name of memory (x, in=x, &x[8]); "
             "ARGs that are buffers are allocated; grid, block and smem can be expressions"),
        Verb("unload", "M", "cuModuleUnload or cuLibraryUnload"),
    ),
    "Streams and events": (
        Verb("stream", "S", "cuStreamCreate: in the current context", makes="stream"),
        Verb("event", "E", "cuEventCreate: in the current context", makes="event"),
        Verb("record", "E [S]", "cuEventRecord: record in a stream (default: the default stream)"),
    ),
    "Runtime API": (
        Verb("runtime-init", "[dev=N]",
             "cudaFree(0): initialize the runtime; without a current context, cudaSetDevice first"),
        Verb("runtime-current", "", "cudaMalloc: its context, by cuPointerGetAttribute",
             gives="context"),
        Verb("runtime-pointer", "B", "cudaPointerGetAttributes: the memory type of an address",
             gives="word", words=MEMORY_KINDS),
    ),
    "The process": (
        Verb("new-process", "", "continue in a new process; all names are undefined there"),
    ),
}  # fmt: skip

VERBS: Mapping[str, Verb] = {verb.name: verb for rows in CHAPTERS.values() for verb in rows}
