"""Hostile ``.npy`` files: damaged headers, shapes, types and lengths."""

from __future__ import annotations

import io
import random
import struct

import numpy as np

from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.parser import parse_expression
from tests.support.processes import ROOT
from tools.fuzz import text
from tools.fuzz.fuzzer import Fuzzer, command, file

_TYPES = (
    *("'<f4'", "'>f4'", "'|b1'", "'<i8'", "'<U5'", "'|S3'", "'|O'", "'<c8'", "'|V8'", "'<M8[s]'"),
    *("[('a', '<i4'), ('b', '<f4')]", "'f'", "''", "1", "None", "[]", "'<f2'", "'<f99'", "'|u1'"),
    *(
        "[('a', '<i4', (2, 3))]",
        "('<f4', (2,))",
        "{'names': ['a'], 'formats': ['<i4']}",
        "'bfloat16'",
    ),
    *("[('" + "a" * 5000 + "', '<i4')]", "[('a', " * 500 + "'<i4'" + ")]" * 500),
)
_SHAPES = (
    *("(8,)", "()", "(2, 4)", "(0,)", "(-1,)", "(True,)", "(1.5,)", "8", "[8]", "None", "('8',)"),
    *("(4294967296, 4294967296)", "(4611686018427387904,)", "(9223372036854775807, 0)", "(8,)*99"),
    *("(" + "1, " * 70 + ")", "(" * 300 + ")" * 300, "(8,", "(1 << 3,)", "(" + "9" * 5000 + ",)"),
)
_SAXPY = str(ROOT / "samples" / "saxpy.ptx")
_ORDERS = ("False", "True", "None", "0", "'x'", "(" * 3000 + ")" * 3000)
_WORDS = (*_TYPES, *_SHAPES, *_ORDERS, "{", "}", "'", ",", ":", "descr", "shape", "L", "-")


class Npy(Fuzzer[bytes]):
    """Files of ``load("…")`` and of buffers."""

    name = "npy"

    def case(self, chance: random.Random) -> bytes:
        """Return a file: a header of odd parts, or a sound file that is damaged."""
        if chance.randrange(2):
            stream = io.BytesIO()
            np.save(stream, np.ones(8, chance.choice(("f4", "i8", "f2", "?"))))
            data = bytearray(stream.getvalue())
            for _ in range(chance.randint(0, 3)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            return bytes(data[: chance.choice((len(data), chance.randrange(len(data))))])
        order = chance.choice(_ORDERS[:2]) if chance.randrange(3) else chance.choice(_ORDERS)
        header = (
            f"{{'descr': {chance.choice(_TYPES)}, 'fortran_order': {order}, "
            f"'shape': {chance.choice(_SHAPES)}}}"
        )
        if chance.randrange(3) == 0:
            header = text.damaged(header, chance, _WORDS)
        encoded = header.encode(chance.choice(("latin1", "utf-8")), "replace") + b"\n"
        version = chance.choice((1, 1, 1, 2, 3, 0, 9))
        length = chance.choice((len(encoded),) * 4 + (0, 1 << 31, 65535))
        size = struct.pack("<H", length & 0xFFFF) if version == 1 else struct.pack("<I", length)
        magic = b"\x93NUMPY" + bytes([version, chance.choice((0, 0, 0, 1))])
        return magic + size + encoded + bytes(chance.choice((32, 64, 0, 7)))

    def exit_code(self, case: bytes) -> int:
        """Read it as a buffer's contents, and in an expression."""
        with file(self.folder, "x.npy", case):
            buffer = "f32[8]:cast(@x.npy)" if case[-1:] < b"\x40" else "@x.npy"
            words = ("--threads", "8", "2", buffer, "f32[8]:zeros", "8")
            code = command(["launch", "--dry-run", "-d", "cpu", _SAXPY, *words])
            Evaluator(parse_expression('sum(load("x.npy"))'), {}, {}, self.folder).result()
            return code
