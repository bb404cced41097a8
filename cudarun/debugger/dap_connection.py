"""The messages of the Debug Adapter Protocol over a pair of streams.

Its specification has a "base protocol": a header with the length, and a JSON object. A thread reads
requests, so that one that arrives while the launch runs can interrupt it.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from cudarun.base.errors import RequestError

_LENGTH = b"content-length:"
_MOST_BYTES = 1 << 26  # of a message


class Request(dict[str, Any]):
    """A request: its number, its command and its arguments; or an object in it."""

    def __missing__(self, name: str) -> Any:
        raise RequestError(f"the request has no {name}")


_END = Request(seq=0, command="disconnect")
_MALFORMED = Request()


class DapConnection:
    """A connection with an editor."""

    def __init__(self, received: BinaryIO, sent: BinaryIO) -> None:
        self._received = received  # the stream of requests
        self._sent = sent  # the stream of responses and events
        self._number = 0
        self._requests: queue.Queue[Request] = queue.Queue()
        # Called by the reading thread when a request has arrived.
        self.on_request: Callable[[Request], object] = lambda request: None
        threading.Thread(target=self._read, daemon=True).start()

    def next(self) -> Request:
        """Return the next request; a ``disconnect`` at the end of the stream.

        Raises:
            RequestError: The stream has something else than requests.
        """
        request = self._requests.get()
        if request is _MALFORMED:
            raise RequestError("a message of the editor is malformed")
        return request

    @property
    def has_request(self) -> bool:
        """True if a request waits."""
        return not self._requests.empty()

    def respond(self, request: Request, body: object = None) -> None:
        """Send the response to a request."""
        self._send("response", self._answer(request), success=True, body=body or {})

    def refuse(self, request: Request, message: str) -> None:
        """Send the response to a request that failed."""
        error = {"id": 1, "format": message.replace("{", "(").replace("}", ")"), "showUser": True}
        answer = self._answer(request)
        self._send("response", answer, success=False, message=message, body={"error": error})

    def event(self, name: str, **body: object) -> None:
        """Send an event."""
        self._send("event", {"event": name}, body=body)

    @staticmethod
    def _answer(request: Request) -> dict[str, object]:
        return {"request_seq": request["seq"], "command": request["command"]}

    def _send(self, kind: str, facts: Mapping[str, object], **others: object) -> None:
        self._number += 1
        message = {"seq": self._number, "type": kind, **facts, **others}
        data = json.dumps(message, ensure_ascii=False).encode()
        with suppress(BrokenPipeError):  # the editor has ended: requests end, too
            self._sent.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
            self._sent.flush()

    def _read(self) -> None:
        request = None
        while request is not _END and request is not _MALFORMED:
            try:
                length = 0
                for line in self._received:
                    if line.lower().startswith(_LENGTH):
                        length = int(line[len(_LENGTH) :])
                    elif not line.strip():
                        break
                if not 0 <= length <= _MOST_BYTES:
                    raise ValueError
                data = self._received.read(length)
                request = json.loads(data, object_hook=Request) if data else _END
                if not isinstance(request, Request) or not {"seq", "command"} <= request.keys():
                    raise ValueError
            except (ValueError, RecursionError):
                request = _MALFORMED
            self._requests.put(request)
            self.on_request(request)
