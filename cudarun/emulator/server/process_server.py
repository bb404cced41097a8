"""The server of one process of the program: a thread for each of its threads that calls CUDA."""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import select
import socket
import struct
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from cuda.bindings.driver import CUresult
from cuda.bindings.runtime import cudaError_t

from cudarun.base.records import dataclass
from cudarun.emulator import driver
from cudarun.emulator.api.calls import CALLS
from cudarun.emulator.host import addresses
from cudarun.emulator.host.modules import LibraryKernel, LoadedFunction
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.memory import exchange_by
from cudarun.emulator.program import KernelCode
from cudarun.emulator.runtime_api.calls import RUNTIME_CALLS, thread
from cudarun.emulator.server import connections, runtime_calls
from cudarun.emulator.server.client_memory import BASE, ClientMemory
from cudarun.emulator.server.driver_calls import DRIVER_CALLS
from cudarun.emulator.server.linking import link
from cudarun.emulator.server.marshalling import Handler, Slots, handler
from cudarun.emulator.server.return_values import ignores_result
from cudarun.programs.prototypes import LIBRARIES, PER_LIBRARY, Prototype, read_table
from cudarun.programs.report import CLIENT, SKIPS_KERNELS, FailedCall, KernelTimes, ProcessReport

SYNC, REGISTER, SITE, GET_KERNEL, INIT_MODULE, LAUNCH, FOREIGN, LINK = range(
    0xFFFF_FF00, 0xFFFF_FF08
)
LAUNCH_BY_CALL, POST, GET_PARAMETERS = range(0xFFFF_FF08, 0xFFFF_FF0B)
"""Requests beside the calls of the tables, as in ``client.h``."""

_NAMES = {LINK: "nvJitLinkComplete", GET_PARAMETERS: "cuLaunchKernel"} | dict.fromkeys(
    (LAUNCH, LAUNCH_BY_CALL, POST, GET_KERNEL, INIT_MODULE), "cudaLaunchKernel"
)

DRAIN, STOP = b"drain", b"stop!"
"""Messages of the parent: end after the work that is left, or at once."""

_CONNECTION = b"connection"
_AT_ONCE = (STOP, b"")  # nothing if the parent has ended

_OUT_OF_MEMORY, _INVALID_HANDLE, _NOT_SUPPORTED, _UNKNOWN = 2, 400, 801, 999
_HEAD = struct.Struct("=QQ")
_CODE = 48  # bytes of code after a call
# Errors that a program need not look at: they report a state, or follow from an earlier one.
_STATES = (4, 600, 704, 705, 709)  # unloading, not ready, peer access as it is, context destroyed
_READS_ERROR = ("cudaGetLastError", "cudaPeekAtLastError")
_COMPILERS = (b"libnvrtc", b"libnvJitLink")  # libraries that do without the private table
_ALL = 1 << 64  # more launches than a request can wait for
_POLL = 0.02  # seconds between looks at the work that is left


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``cudarun exec`` that a server needs."""

    folder: Path  # the folder for reports
    detect: Collection[str] = ()  # the detectors
    stats: bool = False  # count instructions
    engine: str | None = None  # the engine of launches; ``None`` for the default
    # Seconds without a finished block after which work that outlives the program is stopped.
    stall: float | None = None


Control = Callable[[Callable[..., Any], Any, Callable[[], None]], Callable[..., None]]
"""Returns what executes launches, as `execution.execute` does.

It is called with `driver.debug_observer`, the lock of the driver, and a function that parts a copy
of the server from the program.
"""


class ProcessServer:
    """The emulated driver for a process.

    Args:
        pid: The process.
        options: The options.
        control: Lets a debugger control launches.
    """

    def __init__(self, pid: int, options: Options, control: Control | None = None) -> None:
        self._options = options
        self._report = ProcessReport(pid)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._ends: list[socket.socket] = []
        self._callbacks = connections.Callbacks()
        self._memory = ClientMemory(pid, self._ask, self._call_back)
        self._handlers: dict[int, Handler] = {
            GET_KERNEL: _get_kernel,
            GET_PARAMETERS: _get_parameters,
            INIT_MODULE: _init_module,
            LINK: link,
            SYNC: lambda _: (0, ()),
        }
        self._unsupported: Counter[str] = Counter()
        self._unchecked: Counter[FailedCall] = Counter()
        self._posted = 0  # the number of launches that were posted, and have been submitted
        self._ordered = threading.Condition(process.mutex)  # notified when it changes
        threading.excepthook = lambda args: self._note_defect(args.exc_value)
        addresses.host = self._memory
        exchange = ctypes.CDLL(os.fspath(options.folder / CLIENT)).cr_exchange
        exchange.argtypes = [ctypes.c_uint64, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64]
        exchange_by(exchange)
        process.show = connections.show_printed
        driver.cuInit(0)
        driver.compile_on_demand()
        if options.engine is not None:
            driver.select_engine(options.engine)
        if options.detect or options.stats:
            driver.start_detectors(tuple(options.detect), count=options.stats)
        if control is not None:
            process.execute = control(driver.debug_observer, process.lock, self._isolate)
        process.execute = self._timed(process.execute)
        process.run_streams()

    def _isolate(self) -> None:
        """Part a copy of this process from the program: its memory and its connections."""
        self._memory.isolate()
        with open(os.devnull, "rb") as nothing:
            for each in map(int, os.listdir("/proc/self/fd")):
                if each > 2:  # an object that is freed later closes its number
                    os.dup2(nothing.fileno(), each)

    # --- until the process ends ------------------------------------------------------------------

    def serve(self, control: socket.socket, ended: int) -> None:
        """Serve until the process has ended and its work is done, or the parent says stop.

        Args:
            control: It gets the connections of the process and the messages of the parent.
            ended: A descriptor that is readable when the process has ended.
        """
        message, ready = _CONNECTION, [control.fileno()]
        while message == _CONNECTION and ended not in ready:
            ready = select.select([control.fileno(), ended], [], [])[0]
            if control.fileno() in ready:
                message = self._receive(control)
        has_ended = bool(select.select([ended], [], [], 0)[0])
        if message in _AT_ONCE or not has_ended or not self._drain(control):
            self._report.running = (driver.thread_states() or ("",))[0] or None
        self._write()

    def _receive(self, control: socket.socket) -> bytes:
        """Receive a message of the parent, or serve a connection."""
        message, descriptors, _, _ = socket.recv_fds(control, 64, 1)
        for descriptor in descriptors:
            end = socket.socket(fileno=descriptor)
            arguments = end, bool(_HEAD.unpack(message)[0])  # whether it is for callbacks
            thread = threading.Thread(target=self._serve_thread, args=arguments, daemon=True)
            thread.start()
            self._threads = [each for each in self._threads if each.is_alive()] + [thread]
            self._ends = [each for each in self._ends if each.fileno() >= 0] + [end]
        return _CONNECTION if descriptors else message

    def _drain(self, control: socket.socket) -> bool:
        """Wait for the work that is left; return false if the parent says stop, or it stalls."""
        self._callbacks.end()
        with process.mutex:  # a thread can have ended before it sent the launch of its number
            self._posted = _ALL
            self._ordered.notify_all()
        launch, ended, since = process.launch, 0, time.monotonic()
        while process.has_work() or any(each.is_alive() for each in self._threads):
            for end in self._ends:  # a process that the program forked can hold the other ends
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RD)  # what was sent is still received
            if select.select([control], [], [], _POLL)[0] and self._receive(control) in _AT_ONCE:
                return False
            latest = process.launch
            blocks = 0 if latest is None else latest.ended
            # The launch itself: its successors can have the address of one that has been deleted.
            if latest is not launch or blocks != ended or driver.is_compiling():
                launch, ended, since = latest, blocks, time.monotonic()
            elif self._options.stall is not None and time.monotonic() - since > self._options.stall:
                return False
        return True

    def _write(self) -> None:
        """Write the report."""
        report = self._report
        report.unchecked, report.unsupported = dict(self._unchecked), dict(self._unsupported)
        report.refused = runtime_calls.code.notes
        if process.fault is not None and not report.defects:
            report.fault = process.fault.report
        if self._options.detect or self._options.stats:
            report.findings, report.statistics = driver.stop_detectors()
        report.engine_notes = [str(note) for note in driver.engine_notes()]
        path = self._options.folder / f"report-{os.getpid()}"
        with suppress(FileNotFoundError):  # the parent was killed, and its folder is deleted
            path.with_suffix(".part").write_bytes(pickle.dumps(report))
            path.with_suffix(".part").rename(path)

    def _timed(self, execute: Callable[..., None]) -> Callable[..., None]:
        """Return the execution of launches that notes their times, until the parent ends it."""
        skips = os.fspath(self._options.folder / SKIPS_KERNELS)

        def run(program: Any, code: KernelCode, *rest: Any, **named: Any) -> None:
            if os.access(skips, os.F_OK):  # faster than `os.path.exists`
                return
            start = time.perf_counter()
            try:
                execute(program, code, *rest, **named)
            finally:
                spent = time.perf_counter() - start
                with self._lock:
                    times = self._report.kernels.setdefault(code.name, KernelTimes())
                    times.launches += 1
                    times.seconds += spent

        return run

    # --- threads of the process ------------------------------------------------------------------

    def _ask(self, kind: int, *words: int) -> int:
        connection = connections.local.connection
        assert connection is not None, "only calls of the program ask it"
        return connection.ask(kind, *words)

    def _call_back(self, kind: int, function: int, arguments: tuple[int, ...]) -> int:
        if kind >= 0:
            return self._callbacks.call(kind, function, arguments)
        if connections.local.connection is not None:
            self._callbacks.start(connections.local.connection)
        return 0

    def _serve_thread(self, end: socket.socket, is_for_callbacks: bool) -> None:
        """Serve a thread of the process until it ends; one for callbacks only waits for them."""
        answer = struct.pack("=3Q", os.getpid(), BASE, self._memory.size)
        with suppress(ConnectionError):  # the program has ended
            socket.send_fds(end, [answer], [self._memory.file])
        if is_for_callbacks:
            self._callbacks.connect(end)
            return
        ignored: Counter[FailedCall] = Counter()  # errors that the thread can still ask for
        with end:
            self._answer(connections.ProgramConnection(end), ignored)
        with self._lock:
            self._unchecked.update(ignored)

    def _answer(self, own: connections.ProgramConnection, ignored: Counter[FailedCall]) -> None:
        """Answer the requests of a thread, and note the errors that it ignores."""
        connections.local.connection = own
        view, failed = own.view, ("", 0)
        words = view.cast("Q")
        while size := own.receive():
            number = words[0]
            if words[1] > self._posted:
                with process.mutex:
                    self._ordered.wait_for(lambda n=words[1]: self._posted >= n)  # type: ignore[misc]
            if number == REGISTER:
                runtime_calls.code.register(bytes(view[16:size]))
                continue
            if number == SITE:
                self._note_site(bytes(view[16:size]), *failed, ignored)
                continue
            outputs: connections.Outputs = ()
            try:
                if number == POST:
                    self._post(bytes(view[16:size]))
                    continue
                if number in (LAUNCH, LAUNCH_BY_CALL):
                    result = int(runtime_calls.launch_packed(bytes(view[16:size]))[0])
                elif number == FOREIGN:
                    self._note_foreign(bytes(view[16:size]))
                    result = 0
                else:
                    perform = self._handlers.get(number) or self._handler(number)
                    result, outputs = perform(words[2 : size // 8].tolist())
                    outputs = outputs and connections.write_long(outputs)
            except Refusal as refusal:  # of an argument
                result, outputs = int(refusal.result), ()
                thread.error = result if number >= PER_LIBRARY else thread.error
            except MemoryError:
                result, outputs = _OUT_OF_MEMORY, ()
            except Exception as error:  # a defect: the program gets an error
                self._note_defect(error)
                result, outputs = _UNKNOWN, ()
            if result:
                failed = self._name(number), result
                if failed[0] in _READS_ERROR:
                    ignored.clear()
            if number != POST:  # refused: another thread has destroyed its kernel or stream
                own.reply(result, outputs)

    def _post(self, message: bytes) -> None:
        """Submit a launch that has no answer."""
        with process.mutex:
            try:
                runtime_calls.submit_posted(message)
            finally:
                self._posted += 1
                self._ordered.notify_all()

    # --- calls -----------------------------------------------------------------------------------

    def _name(self, number: int) -> str:
        if number in _NAMES:
            return _NAMES[number]
        call = _call(number)
        return call if isinstance(call, str) else call.documented

    def _handler(self, number: int) -> Handler:
        """Return what performs a call, made at its first use."""
        library, call = LIBRARIES[number // PER_LIBRARY], _call(number)
        made: Handler | None = None
        if not isinstance(call, str):
            made = DRIVER_CALLS.get(call.documented) if library == "cuda" else None
            calls = CALLS if library == "cuda" else {**RUNTIME_CALLS, **runtime_calls.PROGRAM_CALLS}
            made = made or handler(library, call, calls)
            if made is None and library != "cuda":
                made = forwarded(call)
        if made is None:
            made = self._not_supported(call if isinstance(call, str) else call.name, library)
        self._handlers[number] = made
        return made

    def _not_supported(self, name: str, library: str) -> Handler:
        def refuse(_: Slots) -> tuple[int, connections.Outputs]:
            with self._lock:
                self._unsupported[name] += 1
            if library != "cuda":
                thread.error = _NOT_SUPPORTED
            return _NOT_SUPPORTED, ()

        return refuse

    # --- what the report says --------------------------------------------------------------------

    def _note_site(
        self, message: bytes, name: str, error: int, ignored: Counter[FailedCall]
    ) -> None:
        """Note a failed call if the program does not look at its error."""
        number, _, offset = struct.unpack_from("=3Q", message)
        code, file = message[24 : 24 + _CODE], os.fsdecode(message[24 + _CODE :])
        is_sticky = process.fault is not None and process.fault.is_known
        if error in _STATES or is_sticky or error == _NOT_SUPPORTED or name in _READS_ERROR:
            return
        is_driver = number < PER_LIBRARY
        errors: tuple[CUresult | cudaError_t, ...] = tuple(CUresult if is_driver else cudaError_t)
        text = next((str(each.name) for each in errors if each == error), f"error {error}")
        failed = FailedCall(name, text, file, offset)
        if number == LAUNCH or (not is_driver and ignores_result(code)):
            ignored[failed] += 1
        elif is_driver and ignores_result(code):
            with self._lock:
                self._unchecked[failed] += 1

    def _note_defect(self, error: BaseException | None) -> None:
        """Note an error of this process, with its traceback on stderr."""
        traceback.print_exception(error)
        self._report.defects.append(f"{type(error).__name__}: {error}")

    def _note_foreign(self, message: bytes) -> None:
        file, _, function = message.partition(b"\0")
        if not os.path.basename(file).startswith(_COMPILERS):
            self._report.foreign.setdefault(os.fsdecode(file), function.decode(errors="replace"))


_VERSION = re.compile(r"_v[0-9]+$")  # of a function


def _call(number: int) -> Prototype | str:
    """Return the prototype of a call, or the name of one without."""
    table, place = read_table(LIBRARIES[number // PER_LIBRARY]), number % PER_LIBRARY
    calls: tuple[Prototype | str, ...] = (*table.calls, *table.others)
    return calls[place]


def forwarded(call: Prototype) -> Handler | None:
    """Return what performs a runtime call by the driver call with the same name and arguments."""
    name = f"cu{_VERSION.sub('', call.documented).removeprefix('cuda')}"
    shape = _shape(call)
    for found in read_table("cuda").calls:
        if _VERSION.sub("", found.documented) == name and shape == _shape(found):
            perform = DRIVER_CALLS.get(name) or handler("cuda", found, CALLS)
            return perform and partial(_in_runtime, perform)
    return None


def _shape(call: Prototype) -> list[tuple[bool, int, int]]:
    """Return what the parameters of a call are; a device address is a pointer of the runtime."""
    return [
        (each.kind == "struct" and not each.stars, 8 if each.stars else each.size, each.slot)
        for each in call.parameters
    ]


def _in_runtime(perform: Handler, slots: Slots) -> tuple[int, connections.Outputs]:
    """Perform a driver call as one of the runtime: in its context, with its last error."""
    written: list[tuple[int, bytes]] = []
    error, *_ = runtime_calls.performed(lambda: perform(slots), written)
    return int(error), written


def _get_kernel(slots: Slots) -> tuple[int, connections.Outputs]:
    error, kernel = runtime_calls.PROGRAM_CALLS["cudaGetKernel"](slots[0])
    return (int(error), ()) if error else _get_parameters([kernel, slots[1]])


def _get_parameters(slots: Slots) -> tuple[int, connections.Outputs]:
    """Return a kernel or function, and the layout of its parameters."""
    handles, handle = process.handles, slots[0]
    found = handles.find(handle, LibraryKernel) or handles.find(handle, LoadedFunction)
    if found is None:  # the launch itself is refused
        return _INVALID_HANDLE, ()
    parameters = found.code.parameters
    head = struct.pack("=QIIiI", handle, len(parameters), found.code.parameter_bytes, 0, 0)
    return 0, [(slots[1], head + b"".join(struct.pack("=II", *each) for each in parameters))]


def _init_module(slots: Slots) -> tuple[int, connections.Outputs]:
    """Load the code with managed variables; write their addresses."""
    error, found = runtime_calls.managed_of(slots[0])
    return int(error), [(host, struct.pack("=Q", address)) for host, address in found or ()]
