"""The messages of the Debug Adapter Protocol over a pair of streams.

Its specification has a "base protocol": a header with the length, and a JSON object. A thread reads
requests, so that one that arrives while the launch runs can interrupt it.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

Request = Mapping[str, Any]  # a request: its number, its command and its arguments

_LENGTH = b"content-length:"
_END: Request = {"seq": 0, "command": "disconnect"}


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
        """Return the next request; a ``disconnect`` at the end of the stream."""
        return self._requests.get()

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
        self._sent.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self._sent.flush()

    def _read(self) -> None:
        while (request := self._message()) is not None:
            self._requests.put(request)
            self.on_request(request)
        self._requests.put(_END)
        self.on_request(_END)

    def _message(self) -> Request | None:
        """Return the next message; ``None`` at the end of the stream."""
        length = 0
        for line in self._received:
            if line.lower().startswith(_LENGTH):
                length = int(line[len(_LENGTH) :])
            elif not line.strip():
                break
        data = self._received.read(length)
        return json.loads(data) if data else None
