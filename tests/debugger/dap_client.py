"""A client of the Debug Adapter Protocol, as an editor has one, with a real process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

Body = dict[str, Any]


class Refused(Exception):
    """The adapter has answered a request with an error."""


class DapClient:
    """An editor: a context manager."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "cudarun", "debug", "--dap"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.events: list[Body] = []
        self._number = 0

    def __enter__(self) -> DapClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def send(self, command: str, **arguments: object) -> int:
        """Send a request, and return its number."""
        self._number += 1
        message = {"seq": self._number, "type": "request", "command": command}
        data = json.dumps(message | {"arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()
        return self._number

    def request(self, command: str, **arguments: object) -> Body:
        """Send a request, and return the body of its response."""
        return self.response(self.send(command, **arguments))

    def response(self, number: int) -> Body:
        """Return the response to a request; events before it are kept."""
        while True:
            message = self._receive()
            if message["type"] == "event":
                self.events.append(message)
            elif message["request_seq"] == number:
                if not message["success"]:
                    raise Refused(message["message"])
                return message.get("body", {})

    def event(self, name: str, fits: Callable[[Body], bool] = lambda body: True) -> Body:
        """Return the body of the next event of a name; those before it are forgotten."""
        while True:
            message = self.events.pop(0) if self.events else self._receive()
            if message["type"] == "event" and message["event"] == name and fits(message["body"]):
                return message["body"]

    def _receive(self) -> Body:
        length = 0
        while line := self.process.stdout.readline().strip():
            assert line.startswith(b"Content-Length: "), line
            length = int(line[16:])
        assert length, "the adapter has ended"
        return json.loads(self.process.stdout.read(length))

    # --- what editors do -------------------------------------------------------------------------

    def launch(self, *words: str, **options: object) -> Body:
        """Initialize, and launch; return the capabilities."""
        capabilities = self.request("initialize", adapterID="cudarun", linesStartAt1=True)
        self.request("launch", args=[*words], **options)
        self.event("initialized")
        return capabilities

    def begin(self) -> Body:
        """Begin to run; return the first stop."""
        self.request("configurationDone")
        return self.event("stopped")

    def move(self, command: str, thread: int, **options: object) -> Body:
        """Move a thread, and return the stop."""
        self.request(command, threadId=thread, **options)
        return self.event("stopped")

    def frames(self, thread: int) -> list[Body]:
        """The calls of a thread."""
        return self.request("stackTrace", threadId=thread)["stackFrames"]

    def variables(self, frame: int, scope: str = "Variables") -> dict[str, Body]:
        """The variables of a scope by name."""
        scopes = self.request("scopes", frameId=frame)["scopes"]
        [found] = [each for each in scopes if each["name"].startswith(scope)]
        return self.children(found["variablesReference"])

    def children(self, reference: int) -> dict[str, Body]:
        """The variables of a reference by name."""
        found = self.request("variables", variablesReference=reference)["variables"]
        return {each["name"]: each for each in found}
