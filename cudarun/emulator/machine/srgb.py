"""sRGB colors of textures: the numbers that bytes stand for.

They are the table of an H200 (``tests/golden``), which has fewer bits than the standard's formula.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics.arrays import Array

# For each byte four digits: the number in units of 2 ** -14.
_TABLE = (
    "00000005000a000f00140019001e00230028002d00320037003c00420048004e0055005c0063006b0073007b"
    "0083008c0096009f00a900b400be00c900d500e000ec00fa0106011401220130013e014c015c016c017c018c"
    "019c01ae01c001d201e401f8020c022002340248025c0270028802a002b402cc02e402fc0314033003480360"
    "0380039803b003d003e80408042804400460048004a004c004e00500052005480568058805b005d005f80618"
    "06400668068806b006d8070007280750078007a007d0080008200850088008b008e009100940097009a009d0"
    "0a000a300a600a900ac00b000b300b600ba00bd00c000c400c700cb00ce00d200d600d900dd00e100e500e80"
    "0ec00f000f400f800fc010001040108010c01100114011a011e01220126012a013001340138013c014201460"
    "14a01500154015a015e01640168016c01720178017c01820186018c01900196019c01a201a601ac01b201b60"
    "1bc01c201c801ce01d401da01e001e401ec01f001f801fc0204020802100214021c0224022802300234023c0"
    "244024802500258025c0264026c0270027802800284028c0294029c02a402a802b002b802c002c802cc02d40"
    "2dc02e402ec02f402fc0304030c0314031c0324032c0334033c0344034c0354035c0364036c0374037c03840"
    "38c039403a003a803b003b803c003c803d003d803e803f003f804000"
)
_UNIT = 2.0**-14
_LAST_BITS = np.repeat(_UNIT * 2.0 ** np.arange(8), (4, 2, 2, 4, 5, 6, 8, 1))
"""The values of the last bits of numbers, which 8 bytes have in common."""
_LINEAR_PART = 0.0031308
COLORS = {1: 1, 2: 1, 4: 3}
"""The number of channels of texels that are colors, by the number of channels."""


def linear_light(colors: Array) -> Array:
    """Return the numbers that bytes of a color stand for."""
    table = np.frombuffer(bytes.fromhex(_TABLE), dtype=">u2").astype(np.float32)
    found: Array = table[colors] * np.float32(_UNIT)
    return found


def last_bits(colors: Array) -> Array:
    """Return the value of the last bit of the numbers that bytes stand for."""
    found: Array = _LAST_BITS[colors >> 3]
    return found


def encoded(light: Array) -> Array:
    """Return the bytes that are nearest to numbers, by the standard's formula."""
    numbers = np.clip(np.nan_to_num(light.astype(np.float64), nan=0.0), 0.0, 1.0)
    curve = 1.055 * numbers ** (1 / 2.4) - 0.055
    shares = np.where(numbers <= _LINEAR_PART, numbers * 12.92, curve)
    found: Array = np.rint(shares * 255).astype(np.uint32)
    return found
