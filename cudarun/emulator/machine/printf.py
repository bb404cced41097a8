"""``vprintf``: formatted output of a kernel, in the format of C's ``printf``.

CUDA C++ Programming Guide, "Formatted output": the text of a call goes to a buffer of limited size
that is written when the kernel ends. When it is full the oldest output is overwritten.
"""

from __future__ import annotations

import re
import struct
from collections import deque
from collections.abc import Callable
from ctypes import CDLL, c_double, c_int, c_longlong, c_void_p, create_string_buffer

StringReader = Callable[[int], bytes]

_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|-?\d*))?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<conversion>[diouxXeEfFgGaAcsp%])"
)
_FLOATS = "eEfFgGaA"
_WIDE = {b"l", b"ll", b"j", b"z", b"t"}
_LARGEST_ADDRESS = (1 << 64) - 1
_snprintf, _newlocale, _uselocale = (
    getattr(CDLL(None), name) for name in ("snprintf", "newlocale", "uselocale")
)
_newlocale.restype = _uselocale.restype = c_void_p
_NUMERIC_MASK = 2
_C_LOCALE = c_void_p(_newlocale(_NUMERIC_MASK, b"C", None))
_RECORD_BYTES = 32  # bytes per call in the buffer besides its text

LONGEST_TEXT = 1 << 20
"""The maximum length of the text of one call. A longer one is cut off: ``%2000000000d`` would take
seconds in which no time limit can end the launch."""


class PrintBuffer:
    """The output of one launch."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._records: deque[bytes] = deque()

    def add(self, text: bytes) -> None:
        """Append the text of one call."""
        self._records.append(text)
        self._used += len(text) + _RECORD_BYTES
        while self._used > self._size and len(self._records) > 1:
            self._used -= len(self._records.popleft()) + _RECORD_BYTES

    def take(self) -> bytes:
        """Return the text and clear the buffer."""
        text = b"".join(self._records)
        self._records.clear()
        self._used = 0
        return text


class Arguments:
    """The argument buffer of a call: consecutive values, each at its natural alignment."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0

    def _take(self, template: str, size: int) -> int | float:
        start = -(-self._offset // size) * size
        self._offset = start + size
        if self._offset > len(self._data):
            return 0
        value: int | float = struct.unpack_from(template, self._data, start)[0]
        return value

    def integer(self, *, wide: bool) -> int:
        """Return the next ``int`` or ``long long``."""
        return int(self._take("<q", 8) if wide else self._take("<i", 4))

    def double(self) -> float:
        """Return the next ``double``."""
        return float(self._take("<d", 8))


def argument_bytes(template: bytes) -> int:
    """Return the maximum size of the arguments of a format, in bytes."""
    return 16 * (template.count(b"%") + template.count(b"*"))


def render(template: bytes, arguments: Arguments, read_string: StringReader) -> bytes:
    """Return the text of one call, at most `LONGEST_TEXT` bytes.

    Args:
        template: The format string without its final NUL.
        read_string: Returns the characters at a device address, for ``%s``.
    """
    text = bytearray()
    end = 0
    for match in _CONVERSION.finditer(template):
        text += template[end : match.start()]
        if len(text) >= LONGEST_TEXT:
            break
        text += _convert(match, arguments, read_string)
        end = match.end()
    text += template[end:]
    return bytes(text[:LONGEST_TEXT])


def _convert(match: re.Match[bytes], arguments: Arguments, read_string: StringReader) -> bytes:
    conversion, flags = match["conversion"].decode(), match["flags"].decode()
    if conversion == "%":
        return b"%"
    width, flags = _width(match, arguments, flags)
    precision = _precision(match, arguments)
    if conversion in "cs":
        if conversion == "c":
            text = bytes([arguments.integer(wide=False) & 0xFF])
        else:
            text = read_string(arguments.integer(wide=True) & _LARGEST_ADDRESS)[:precision]
        return text.ljust(width) if "-" in flags else text.rjust(width)
    directive = f"%{flags}{width or ''}"
    if conversion == "p":
        directive = f"%{'-' if '-' in flags else ''}{width or ''}"
        return _formatted(f"{directive}p", c_void_p(arguments.integer(wide=True)))
    if precision is not None:
        directive += f".{precision}"
    if conversion in _FLOATS:
        return _formatted(directive + conversion, c_double(arguments.double()))
    if match["length"] in _WIDE:
        return _formatted(f"{directive}ll{conversion}", c_longlong(arguments.integer(wide=True)))
    length = match["length"].decode() if match["length"] in (b"h", b"hh") else ""
    return _formatted(directive + length + conversion, c_int(arguments.integer(wide=False)))


def _formatted(
    directive: str, value: c_void_p | c_double | c_longlong | c_int, size: int = 512
) -> bytes:
    """Return the text that the C library makes of a value."""
    buffer = create_string_buffer(size)
    before = c_void_p(_uselocale(_C_LOCALE))  # the locale of the host has another decimal point
    length: int = _snprintf(buffer, size, directive.encode(), value)
    _uselocale(before)
    return buffer.value if length < size else _formatted(directive, value, length + 1)


def _width(match: re.Match[bytes], arguments: Arguments, flags: str) -> tuple[int, str]:
    if match["width"] == b"*":
        width = arguments.integer(wide=False)
        flags = flags if width >= 0 else flags + "-"
        return min(abs(width), LONGEST_TEXT), flags
    return _bounded(match["width"] or b"0"), flags


def _precision(match: re.Match[bytes], arguments: Arguments) -> int | None:
    given = match["precision"]
    if given is None:
        return None
    if given == b"*":
        value = arguments.integer(wide=False)
        return min(value, LONGEST_TEXT) if value >= 0 else None
    return None if given.startswith(b"-") else _bounded(given or b"0")


def _bounded(digits: bytes) -> int:
    """Return a width or precision, which need be no larger than `LONGEST_TEXT`."""
    significant = digits.lstrip(b"0")
    if len(significant) > len(str(LONGEST_TEXT)):
        return LONGEST_TEXT  # Python refuses to convert more than 4300 digits
    return min(int(significant or b"0"), LONGEST_TEXT)
