"""``vprintf``: formatted output of a kernel, in the format of C's ``printf``.

CUDA C++ Programming Guide, "Formatted output": the text of a call goes to a buffer of limited size
that is written when the kernel ends. When it is full the oldest output is overwritten.
"""

from __future__ import annotations

import re
import struct
from collections import deque
from collections.abc import Callable

StringReader = Callable[[int], bytes]

_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|-?\d*))?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<conversion>[diouxXeEfFgGaAcsp%])"
)
_FLOATS = "eEfFgGaA"
_WIDE = {b"l", b"ll", b"j", b"z", b"t"}
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

    def integer(self, *, wide: bool, signed: bool) -> int:
        """Return the next ``int`` or ``long long``."""
        letter = "q" if wide else "i"
        return int(self._take("<" + (letter if signed else letter.upper()), 8 if wide else 4))

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
        arguments: The arguments.
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
    conversion = match["conversion"].decode()
    if conversion == "%":
        return b"%"
    flags = match["flags"].decode()
    width, flags = _width(match, arguments, flags)
    precision = _precision(match, arguments)
    wide = match["length"] in _WIDE
    if conversion in _FLOATS:
        return _pad(_float(arguments.double(), conversion, flags, precision), width, flags)
    if conversion == "c":
        text = bytes([arguments.integer(wide=False, signed=True) & 0xFF])
        return _pad(text, width, flags.replace("0", ""))
    if conversion == "s":
        text = read_string(arguments.integer(wide=True, signed=False))
        return _pad(text[:precision], width, flags.replace("0", ""))
    if conversion == "p":
        address = arguments.integer(wide=True, signed=False)
        text = b"(nil)" if address == 0 else b"%#x" % address
        return _pad(text, width, flags.replace("0", ""))
    value = arguments.integer(wide=wide, signed=conversion in "di")
    if precision is not None:
        flags = flags.replace("0", "")
    return _pad(_integer(value, match["length"], conversion, flags, precision), width, flags)


def _width(match: re.Match[bytes], arguments: Arguments, flags: str) -> tuple[int, str]:
    if match["width"] == b"*":
        width = arguments.integer(wide=False, signed=True)
        flags = flags if width >= 0 else flags + "-"
        return min(abs(width), LONGEST_TEXT), flags
    return _bounded(match["width"] or b"0"), flags


def _precision(match: re.Match[bytes], arguments: Arguments) -> int | None:
    given = match["precision"]
    if given is None:
        return None
    if given == b"*":
        value = arguments.integer(wide=False, signed=True)
        return min(value, LONGEST_TEXT) if value >= 0 else None
    return None if given.startswith(b"-") else _bounded(given or b"0")


def _bounded(digits: bytes) -> int:
    """Return a width or precision, which need be no larger than `LONGEST_TEXT`."""
    significant = digits.lstrip(b"0")
    if len(significant) > len(str(LONGEST_TEXT)):
        return LONGEST_TEXT  # Python refuses to convert more than 4300 digits
    return min(int(significant or b"0"), LONGEST_TEXT)


def _integer(
    value: int, length: bytes | None, conversion: str, flags: str, precision: int | None
) -> bytes:
    if length in (b"h", b"hh"):
        bits = 16 if length == b"h" else 8
        value &= (1 << bits) - 1
        if conversion in "di" and value >> (bits - 1):
            value -= 1 << bits
    digits = {"o": "{:o}", "x": "{:x}", "X": "{:X}"}.get(conversion, "{:d}").format(abs(value))
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    sign = _sign(value < 0, flags) if conversion in "di" else ""
    if "#" in flags and conversion == "o" and not digits.startswith("0"):
        digits = "0" + digits
    if "#" in flags and conversion in "xX" and value != 0:
        sign = "0" + conversion
    return (sign + digits).encode()


def _sign(negative: bool, flags: str) -> str:
    if negative:
        return "-"
    return "+" if "+" in flags else " " if " " in flags else ""


def _float(value: float, conversion: str, flags: str, precision: int | None) -> bytes:
    kept = "".join(flag for flag in "+ #" if flag in flags)
    if conversion in "aA":
        text = _hexadecimal(abs(value), precision, pointed="#" in flags)
        text = _sign(struct.pack(">d", value)[0] >= 0x80, flags) + text
        return (text.upper() if conversion == "A" else text).encode()
    if value != value:  # C prints the sign of a NaN, Python does not
        text = _sign(struct.pack(">d", value)[0] >= 0x80, flags) + "nan"
        return (text.upper() if conversion.isupper() else text).encode()
    digits = "" if precision is None else f".{precision}"
    return f"%{kept}{digits}{conversion}".encode() % value


def _hexadecimal(value: float, precision: int | None, *, pointed: bool) -> str:
    if value == float("inf") or value != value:
        return "inf" if value == value else "nan"
    mantissa, exponent = value.hex()[2:].split("p")
    whole, _, fraction = mantissa.partition(".")
    if precision is None:
        fraction = fraction.rstrip("0")
    else:
        bits = (int(whole + fraction, 16) << 4 * precision, 4 * len(fraction))
        number, rest = bits[0] >> bits[1], bits[0] & ((1 << bits[1]) - 1)
        half = 1 << bits[1] >> 1
        number += rest > half or (rest == half and half > 0 and number & 1)
        text = f"{number:x}".rjust(precision + 1, "0")
        whole, fraction = (text[:-precision], text[-precision:]) if precision else (text, "")
    point = "." if fraction or pointed else ""
    return f"0x{whole}{point}{fraction}p{exponent}"


def _pad(text: bytes, width: int, flags: str) -> bytes:
    if "-" in flags:
        return text.ljust(width)
    if "0" in flags and not text.lower().endswith((b"nan", b"inf")):
        head = re.match(rb"[-+ ]?(0[xX])?", text)
        prefix = head[0] if head else b""
        return prefix + text[len(prefix) :].rjust(width - len(prefix), b"0")
    return text.rjust(width)
