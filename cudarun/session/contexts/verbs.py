"""The steps of ``cudarun ctx run`` as a table, used by the parser, the help and the docs.

The parser reads usage texts too (`script`). Their letters stand for names: A a context,
P a primary one, B memory, M a module or library, F a kernel, S a stream, E an event.
"""

from __future__ import annotations

from collections.abc import Mapping

from cudarun.records import dataclass
from cudarun.session.driver.contexts import CACHE_CONFIGS, FLAGS

BUILTIN = "builtin"
"""The name of the IMAGE that is included in cudarun (`image`)."""

STATES = ("active", "inactive")
MEMORY_KINDS = ("device", "host", "managed", "unregistered")


@dataclass(frozen=True, slots=True)
class Verb:
    """A row of the table of steps.

    Attributes:
        name: The word.
        usage: The operands; this text determines how they are parsed (`_OPERANDS`, `_OPTIONS`).
        help: A description that starts with the driver call.
        makes: The kind of object that the first operand names from then on.
        gives: The kind of its value: ``context``, ``number``, ``word``, ``words`` or ``data``.
        words: The possible words of a ``word`` or ``words`` value.
    """

    name: str
    usage: str
    help: str
    makes: str | None = None
    gives: str | None = None
    words: tuple[str, ...] = ()


CHAPTERS: Mapping[str, tuple[Verb, ...]] = {
    "Contexts": (
        Verb("create", "A [dev=N] [flags=WORDS]", "cuCtxCreate: make a context; it is pushed",
             makes="context", gives="context"),
        Verb("push", "A", "cuCtxPushCurrent: make a context current, above the one that is"),
        Verb("pop", "", "cuCtxPopCurrent: take the current context off the stack", gives="context"),
        Verb("set", "A|none", "cuCtxSetCurrent: replace the current context; none pops it"),
        Verb("current", "", "cuCtxGetCurrent: which context is current", gives="context"),
        Verb("device", "", "cuCtxGetDevice: the device of the current context, as dev= counts",
             gives="number"),
        Verb("sync", "[S|E]", "cuCtxSynchronize, or wait for a stream or an event"),
        Verb("destroy", "A|S|E", "cuCtxDestroy, or destroy a stream or an event"),
        Verb("attach", "", "cuCtxAttach: count one more use of the current context",
             gives="context"),
        Verb("detach", "[A]", "cuCtxDetach: count one use less, by default of the current context"),
        Verb("flags", "[WORDS]", "cuCtxGetFlags, or cuCtxSetFlags and then cuCtxGetFlags",
             gives="words", words=tuple(FLAGS)),
        Verb("limit", "LIMIT[=SIZE]", "cuCtxGetLimit, or cuCtxSetLimit and then cuCtxGetLimit",
             gives="number"),
        Verb("cache", "[PREFER]", "cuCtxGetCacheConfig, or cuCtxSetCacheConfig and then that",
             gives="word", words=CACHE_CONFIGS),
        Verb("api-version", "[A]", "cuCtxGetApiVersion: of the current context by default",
             gives="number"),
    ),
    "Primary contexts": (
        Verb("retain", "A [dev=N]", "cuDevicePrimaryCtxRetain: hold it once more; not made current",
             makes="primary", gives="context"),
        Verb("release", "[P] [dev=N]", "cuDevicePrimaryCtxRelease: hold it once less"),
        Verb("reset", "[P] [dev=N]", "cuDevicePrimaryCtxReset: give back all that is in it"),
        Verb("state", "[P] [dev=N]", "cuDevicePrimaryCtxGetState: active or inactive",
             gives="word", words=STATES),
        Verb("primary-flags", "[WORDS] [dev=N]", "the flags of cuDevicePrimaryCtxGetState, or "
             "cuDevicePrimaryCtxSetFlags and then that", gives="words", words=tuple(FLAGS)),
    ),
    "Memory": (
        Verb("alloc", "B SIZE", "cuMemAlloc: memory of the current context",
             makes="buffer", gives="number"),
        Verb("write", "B VALUE", "cuMemcpyHtoD: a value in the argument grammar, such as i32:5"),
        Verb("read", "B [TYPE]", "cuMemcpyDtoH: as what was last written, or as a type",
             gives="data"),
        Verb("free", "B", "cuMemFree"),
        Verb("memory", "", "cuMemGetInfo: the free bytes of the device", gives="number"),
    ),
    "Code": (
        Verb("module", "M IMAGE", "cuModuleLoadData: into the current context", makes="module"),
        Verb("library", "L IMAGE", "cuLibraryLoadData: for all contexts, also those made later",
             makes="library"),
        Verb("function", "F M.NAME", "cuModuleGetFunction or cuLibraryGetKernel", makes="function"),
        Verb("global", "B M.NAME", "cuModuleGetGlobal or cuLibraryGetGlobal: a variable's address",
             makes="variable", gives="number"),
        Verb("managed", "B M.NAME", "cuLibraryGetManaged: a managed variable's address",
             makes="variable", gives="number"),
        Verb("launch", "F [grid=X,Y,Z] [block=X,Y,Z] [smem=BYTES] [stream=S] [ARG…]",
             "cuLaunchKernel: an ARG is a buffer's name, or a value in the argument grammar; grid, "
             "block and smem can be expressions over them"),
        Verb("unload", "M", "cuModuleUnload or cuLibraryUnload"),
    ),
    "Streams and events": (
        Verb("stream", "S", "cuStreamCreate: in the current context", makes="stream"),
        Verb("event", "E", "cuEventCreate: in the current context", makes="event"),
        Verb("record", "E [S]", "cuEventRecord: in a stream, by default the default one"),
    ),
    "The runtime API": (
        Verb("runtime-init", "[dev=N]", "cudaFree(0): whatever the runtime does on its first call; "
             "cudaSetDevice before it where no context is current"),
        Verb("runtime-current", "", "cudaMalloc, and the context that cuPointerGetAttribute says "
             "the memory belongs to", gives="context"),
        Verb("runtime-pointer", "B", "cudaPointerGetAttributes: what an address is to the runtime",
             gives="word", words=MEMORY_KINDS),
    ),
    "The process": (
        Verb("new-process", "", "end the process and go on in a new one, where no name is left"),
    ),
}  # fmt: skip

VERBS: Mapping[str, Verb] = {verb.name: verb for rows in CHAPTERS.values() for verb in rows}
