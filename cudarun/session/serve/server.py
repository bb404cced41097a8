"""The server: a queue of requests, and threads that run them in service processes.

This process runs no command, so that it answers whatever happens to one. A fault or a hang ends a
worker of a service process. The death of a service process is an answer, and another one starts.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections import deque
from contextlib import suppress

from cudarun.base import machine
from cudarun.base.errors import CudarunError, Interrupted, WorkerDied
from cudarun.session.serve.clients import Client, PendingRequest
from cudarun.session.serve.messages import ServerRequest
from cudarun.session.workers.service import ServiceProcess
from cudarun.session.workers.service_messages import ServiceEnded, is_of_this_user

_FEWEST_JOBS = 4
_CHUNK = 1 << 16
_PAUSE = 1.0  # seconds
_EMPTY_KERNEL = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }\n"


class Server:
    """A server.

    Args:
        jobs: The most commands at a time; ``None``: by the number of cores.
        device: The device that each service process launches an empty kernel on before its first
            command, so that its imports are made and a worker has a context.
        spares: The number of further workers with a context in each service process.
    """

    def __init__(self, jobs: int | None, device: str, spares: int = 0) -> None:
        self._spares = spares
        self._jobs = jobs or max(_FEWEST_JOBS, 2 * machine.available_cores())
        words = ("launch", "-", "--device", device, "--threads", "1")
        self._first = ServerRequest(argv=words, stdin=_EMPTY_KERNEL)
        self._waiting: deque[PendingRequest] = deque()
        self._changed = threading.Condition()
        self._idle = 0
        self._threads = 0
        self._services: set[ServiceProcess] = set()
        self._has_ended = False

    def serve_socket(self, connection: socket.socket) -> None:
        """Serve the clients that connect to a socket, until a signal ends the process."""
        self._start_thread()
        while True:
            try:
                accepted, _ = connection.accept()
            except OSError as error:  # no descriptor is free
                _report(error)
                continue
            if is_of_this_user(accepted):
                self._start(accepted)
            else:
                accepted.close()

    def serve_streams(self) -> None:
        """Serve the client at stdin and stdout until it ends."""
        self._start_thread()
        own, of_client = socket.socketpair()

        def copy_stdin() -> None:
            with suppress(OSError):  # the server ends
                while data := os.read(0, _CHUNK):
                    own.sendall(data)
                own.shutdown(socket.SHUT_WR)

        threading.Thread(target=copy_stdin, daemon=True).start()
        self._start(of_client)
        while data := own.recv(_CHUNK):
            try:
                with os.fdopen(1, "wb", closefd=False) as stream:
                    stream.write(data)
            except OSError:  # the reader has ended
                break
        own.close()

    def _start(self, connection: socket.socket) -> None:
        threading.Thread(
            target=Client(connection, self._add, self._cancel).serve, daemon=True
        ).start()

    def end(self) -> None:
        """End all service processes, with their workers."""
        with self._changed:
            self._has_ended = True
            services = [*self._services]
        for service in services:
            service.begin_end()
        for service in services:
            service.end()

    def _add(self, pending: PendingRequest) -> None:
        """Queue a request."""
        with self._changed:
            self._waiting.append(pending)
            if len(self._waiting) > self._idle and self._threads < self._jobs:
                self._start_thread()
            self._changed.notify()

    def _cancel(self, pending: PendingRequest) -> None:
        """Cancel a request: one that waits is answered, a command is interrupted."""
        with self._changed:
            pending.is_canceled = True
            if pending.service is not None:
                pending.service.interrupt()
                return
            if pending not in self._waiting:  # it is answered
                return
            self._waiting.remove(pending)
        pending.fail(Interrupted("canceled before it was started"))

    def _start_thread(self) -> None:
        self._threads += 1
        threading.Thread(target=self._run_requests, daemon=True).start()

    def _run_requests(self) -> None:
        """Run one request after the other in a service process."""
        service = self._new_service()
        while not self._has_ended:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(lambda: self._waiting)
                self._idle -= 1
                pending = self._waiting.popleft()
                pending.service = service
            failure: CudarunError | None = None
            try:
                members = service.call(pending.request, pending.files, pending.send)
            except ServiceEnded as error:
                failure = WorkerDied(str(error))
            with self._changed:
                pending.service = None
            if failure is None:
                pending.answer(members)
            else:  # a signal that came before the command has ended the process, too
                pending.fail(Interrupted("canceled") if pending.is_canceled else failure)
            if failure is not None or pending.is_canceled:
                with self._changed:
                    self._services.discard(service)
                service.end()
                service = self._new_service()

    def _new_service(self) -> ServiceProcess:
        """Start a service process that is ready for commands."""
        service: ServiceProcess | None = None
        while service is None:
            try:
                with self._changed:
                    if self._has_ended:
                        sys.exit()  # the thread
                    service = ServiceProcess(keeps_gpus=True, spares=self._spares)
                    self._services.add(service)
            except OSError as error:
                _report(error)
        with suppress(ServiceEnded):  # the next command reports it
            service.call(self._first, ())
        return service


def _report(error: OSError) -> None:
    """Report what the operating system refuses, and wait until it may have what is needed."""
    print(f"note: {error.strerror}", file=sys.stderr)
    time.sleep(_PAUSE)
