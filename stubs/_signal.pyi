"""What Python's `signal` is made of, as far as it is used before `signal` is imported."""

from collections.abc import Callable
from types import FrameType

_Handler = Callable[[int, FrameType | None], object] | int | None

SIGINT: int

def default_int_handler(number: int, frame: FrameType | None, /) -> None: ...
def getsignal(number: int, /) -> _Handler: ...
def signal(number: int, handler: _Handler, /) -> _Handler: ...
