"""What programs over numbers should compute: inputs and results, on the host.

As ``host_arrays``; here with Python's own integers, fractions and mathematical functions.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import math
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from host_exact import signed

Arrays = dict[str, npt.NDArray[Any]]
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def _words(numbers: Iterable[int], count: int, width: int) -> npt.NDArray[Any]:
    """Each number in ``count`` words of ``width`` bits, the lowest first."""
    mask = (1 << width) - 1
    table = [[number >> width * k & mask for k in range(count)] for number in numbers]
    return np.array(table, dtype=f"u{width // 8}")


def _bits(rng: np.random.Generator, width: int) -> int:
    return int.from_bytes(rng.bytes(width // 8), "little")


def bignum() -> Arrays:
    """Sums, differences and products of 256 bits; powers modulo 2^255 - 19."""
    rng = np.random.default_rng(11)
    top = (1 << 256) - 1
    edges = [0, 1, top, 1 << 255, (1 << 128) - 1, 1 << 32, top - 1]
    pairs = list(itertools.product(edges, edges))
    pairs += [(_bits(rng, 256), _bits(rng, 256)) for _ in range(128 - len(pairs))]
    a, b = zip(*pairs, strict=True)
    modulus = (1 << 255) - 19
    bases = [0, 1, modulus - 1, *(_bits(rng, 256) % modulus for _ in range(29))]
    exponents = [5, M64, 2, *(_bits(rng, 64) for _ in range(28)), 0]
    over = [[x + y >> 256, int(x < y)] for x, y in pairs]
    powers = [pow(x, e, modulus) for x, e in zip(bases, exponents, strict=True)]
    return {
        "bignum-a": _words(a, 8, 32),
        "bignum-b": _words(b, 8, 32),
        "bignum-sum": _words((x + y for x, y in pairs), 8, 32),
        "bignum-difference": _words((x - y for x, y in pairs), 8, 32),
        "bignum-over": np.array(over, dtype=np.uint32),
        "bignum-products": _words((x * y for x, y in pairs), 16, 32),
        "bignum-bases": _words(bases, 4, 64),
        "bignum-exponents": np.array(exponents, dtype=np.uint64),
        "bignum-powers": _words(powers, 4, 64),
    }


def _murmur(data: bytes, seed: int) -> int:
    """MurmurHash3_x86_32."""
    h, length = seed, len(data)
    for at in range(0, length - 3, 4):
        k = int.from_bytes(data[at : at + 4], "little") * 0xCC9E2D51 & M32
        k = (k << 15 | k >> 17) & M32
        h ^= k * 0x1B873593 & M32
        h = (h << 13 | h >> 19) & M32
        h = h * 5 + 0xE6546B64 & M32
    assert length % 4 == 0
    h ^= length
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ h >> shift) * factor & M32
    return h


def _siphash(data: bytes, key: bytes) -> int:
    """SipHash-2-4, after Aumasson and Bernstein."""
    k0, k1 = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    start = b"somepseudorandomlygeneratedbytes"
    v = [int.from_bytes(start[at : at + 8], "big") for at in range(0, 32, 8)]
    v = [v[0] ^ k0, v[1] ^ k1, v[2] ^ k0, v[3] ^ k1]

    def turn(x: int, n: int) -> int:
        return (x << n | x >> (64 - n)) & M64

    def rounds(count: int) -> None:
        for _ in range(count):
            for a, b, n in ((0, 1, 13), (2, 3, 16)):
                v[a] = v[a] + v[b] & M64
                v[b] = turn(v[b], n) ^ v[a]
            v[0] = turn(v[0], 32)
            for a, b, n in ((2, 1, 17), (0, 3, 21)):
                v[a] = v[a] + v[b] & M64
                v[b] = turn(v[b], n) ^ v[a]
            v[2] = turn(v[2], 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def hash_() -> Arrays:
    """Digests by hashlib and zlib, hashes of keys, a table of keys with their counts."""
    rng = np.random.default_rng(12)
    messages = [rng.bytes(40) for _ in range(48)]
    keys = [rng.bytes(8) for _ in range(200)]
    assert _siphash(bytes(range(15)), bytes(range(16))) == 0xA129CA6149BE45E5  # from the paper
    digests = [np.frombuffer(hashlib.sha256(m).digest(), dtype=">u4") for m in messages]
    slots = [[M32, M32] for _ in range(256)]
    counts = rng.integers(1, 1000, 100).tolist()
    sought = rng.permutation(100).tolist()
    for key in sought:
        at = _murmur(key.to_bytes(8, "little"), 7) % 256
        while slots[at][0] != M32:
            at = (at + 1) % 256
        slots[at] = [key, counts[key] - 1]
    return {
        "hash-messages": np.array([list(m) for m in messages], dtype=np.uint8),
        "hash-sha256": np.array(digests, dtype=np.uint32),
        "hash-crc32": np.array([zlib.crc32(m) for m in messages], dtype=np.uint32),
        "hash-keys": np.array([int.from_bytes(k, "little") for k in keys], dtype=np.uint64),
        "hash-murmurs": np.array([_murmur(k, 0x9747B28C) for k in keys], dtype=np.uint32),
        "hash-siphashes": np.array([_siphash(k, bytes(range(16))) for k in keys], dtype=np.uint64),
        "hash-sought": np.arange(100, dtype=np.uint32),
        "hash-slots": np.array([low | high << 32 for low, high in slots], dtype=np.uint64),
        "hash-counts": np.array(counts, dtype=np.uint32),
    }


def calls() -> Arrays:
    """Arguments and values of Ackermann's function, by its closed forms."""
    forms: list[Callable[[int], int]] = [
        lambda n: n + 1,
        lambda n: n + 2,
        lambda n: 2 * n + 3,
        lambda n: 2 ** (n + 3) - 3,
    ]
    arguments = [(i % 4, i // 4 % (3 if i % 4 == 3 else 8)) for i in range(32)]
    values = [forms[m](n) for m, n in arguments]
    return {
        "calls-arguments": np.array(arguments, dtype=np.uint32),
        "calls-values": np.array(values, dtype=np.uint32),
    }


def _philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Philox 4×32-10, after Salmon and others."""
    a, b, c, d = (word & M32 for word in counter)
    k, m = key
    for _ in range(10):
        p, q = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = q >> 32 ^ b ^ k, q & M32, p >> 32 ^ d ^ m, p & M32
        k, m = k + 0x9E3779B9 & M32, m + 0xBB67AE85 & M32
    return a, b, c, d


def random() -> Arrays:
    """Numbers of Philox, points in a circle, prices of an option, ends of random walks."""
    assert _philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    key = (0xDEADBEEF, 0x12345678)
    numbers = [_philox((i, i * i, ~i, 7), key) for i in range(200)]
    inside = 0
    for i, turn in itertools.product(range(128), range(6)):
        x, y, z, w = _philox((i, turn, 0, 0), (7, 9))
        inside += (x * x >> 32) + (y * y >> 32) < 1 << 32
        inside += z * z + w * w <= M64
    payoffs = []
    for i in range(128):
        x, y, _, _ = _philox((i, 0, 0, 1), (3, 4))
        normal = math.sqrt(-2 * math.log((x + 1) / 2**32)) * math.cos(2 * math.pi * (y / 2**32))
        payoffs.append(max(100 * math.exp(-0.02 + 0.2 * normal) - 95, 0))
    rng = np.random.default_rng(13)
    states = [(_bits(rng, 64), _bits(rng, 64)) for _ in range(64)]
    ends, places = zip(*(_walk(a, b, 100) for a, b in states), strict=True)
    return {
        "random-philox": np.array(numbers, dtype=np.uint32),
        "random-inside": np.array([inside], dtype=np.uint32),
        "random-payoffs": np.array(payoffs),
        "random-states": np.array(states, dtype=np.uint64),
        "random-ends": np.array(ends, dtype=np.uint64),
        "random-places": np.array(places, dtype=np.int32),
    }


def _walk(a: int, b: int, steps: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """xorshift128+, and a walk between walls at ±9 by its highest two bits."""
    place = [0, 0]
    for _ in range(steps):
        way = (a + b & M64) >> 62
        a, b = b, (a ^ a << 23) & M64
        b ^= a ^ b >> 17 ^ a >> 26
        axis, move = way // 2, 1 - 2 * (way % 2)
        place[axis] += move
        if abs(place[axis]) > 9:
            place[axis] -= 2 * move
    return (a, b), (place[0], place[1])


def triton() -> Arrays:
    """A linear recurrence along rows, and which elements Triton's random numbers leave."""
    rng = np.random.default_rng(17)
    a, x = (rng.uniform(-1, 1, (3, 256)).astype(np.float32) for _ in range(2))
    states, state = np.zeros((3, 256)), np.zeros(3)
    for i in range(256):
        state = a[:, i] * state + x[:, i].astype(np.float64)
        states[:, i] = state
    numbers = [signed(_philox((i, 0, 0, 0), (1234, 0))[0]) for i in range(500)]
    kept = [(n if n >= 0 else ~n) * 4.6566127342e-10 > 0.3 for n in numbers]
    return {
        "triton-a": a,
        "triton-x": x,
        "triton-states": states.astype(np.float32),
        "triton-kept": np.array(kept, dtype=np.uint8),
    }


def fractal() -> Arrays:
    """How many steps until a point is away, in double precision and in fixed point."""
    mandelbrot = np.zeros((32, 48), dtype=np.uint16)
    for y, x in np.ndindex(32, 48):
        cx, cy = -0.75 + (x - 24) * 0.06, 0.1 + (y - 16) * 0.06
        zx = zy = 0.0
        count = 0
        while count < 80 and zx * zx + zy * zy <= 4:
            zx, zy = zx * zx - zy * zy + cx, 2 * zx * zy + cy
            count += 1
        mandelbrot[y, x] = count
    julia = np.zeros((30, 40), dtype=np.uint8)
    for y, x in np.ndindex(30, 40):
        re, im = (x - 20) * ((3 << 28) // 40), (y - 15) * ((3 << 28) // 30)
        count = 0
        while count < 200 and re * re + im * im <= 4 << 56:
            re, im = (re * re - im * im >> 28) - 214748365, (re * im >> 27) + 41943040
            count += 1
        julia[y, x] = count
    return {"fractal-mandelbrot": mandelbrot, "fractal-julia": julia}


def linear() -> Arrays:
    """Positive definite matrices; symmetric ones with their eigenvalues, some of them equal."""
    rng = np.random.default_rng(14)
    roots = rng.standard_normal((3, 16, 16))
    symmetric = rng.standard_normal((24, 4, 4))
    symmetric += symmetric.transpose(0, 2, 1)
    symmetric[0] = np.diag([3, -1, 2, 2])
    symmetric[1] = 1
    definite = (roots @ roots.transpose(0, 2, 1) + 16 * np.eye(16)).astype(np.float32)
    return {
        "linear-definite": definite,
        "linear-symmetric": symmetric,
        "linear-eigenvalues": np.linalg.eigvalsh(symmetric),
    }


def geometry() -> Arrays:
    """The nearest sphere along each ray and how far, by the roots of the quadratic equation."""
    scene = [(0, 0, 5, 1), (1.5, 0, 6, 1), (-1.5, 0.5, 4, 0.5), (0, -40, 20, 38), (0, 0, -5, 2)]
    spheres = np.full((30, 40), -1, dtype=np.int16)
    distances = np.full((30, 40), 1e30)
    for y, x in np.ndindex(30, 40):
        ray = np.array([(x - 20) / 30, (y - 15) / 30, 1])
        ray /= np.linalg.norm(ray)
        for k, (*center, radius) in enumerate(scene):
            roots = np.roots([1, -2 * ray @ center, np.dot(center, center) - radius**2])
            if np.isreal(roots).all() and 0 < roots.real.min() < distances[y, x]:
                distances[y, x], spheres[y, x] = roots.real.min(), k
    points = np.random.default_rng(16).standard_normal((300, 3)).astype(np.float32)
    low, high = points.min(axis=0).view(np.int32), points.max(axis=0).view(np.int32)
    assert (low < 0).all()
    assert (high > 0).all()
    return {
        "geometry-spheres": spheres,
        "geometry-distances": distances,
        "geometry-points": points,
        "geometry-low": low ^ 0x7FFFFFFF,
        "geometry-high": high,
    }


def debugging() -> Arrays:
    """Expressions and their values, by Python's own parser; division is towards zero."""
    text = """
        1+2*3  (1+2)*3  10-4-3  100/7/2  2*(3+4)*5-6  7  (((8)))  12*12-(1-(2-3))  5/0+1  0-7/2
        9*8*7-6*5*4-3*2*1  1-(2-(3-(4-(5-6))))  99999*9  (0-17)/5  8/3*3  2*2+2*2+2*2  3-3
        (1+1)*(2+2)*(3+3)  1000/(10-(2*5))  4+(6/(1+1))
    """
    lines = text.split()
    values = [_value(ast.parse(line, mode="eval").body) for line in lines]
    table = np.zeros((20, 32), dtype=np.uint8)
    for row, line in enumerate(lines):
        table[row, : len(line)] = list(line.encode())
    return {"debugging-lines": table, "debugging-values": np.array(values, dtype=np.int32)}


def _value(node: ast.expr) -> int:
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int)
        return node.value
    assert isinstance(node, ast.BinOp)
    a, b = _value(node.left), _value(node.right)
    match node.op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
    return 0 if b == 0 else int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b))


def unoptimised() -> Arrays:
    """Twelve steps of Runge and Kutta's method around a center."""
    rng = np.random.default_rng(15)
    angle, far = rng.uniform(0, 2 * np.pi, 12), rng.uniform(0.8, 2, 12)
    speed = rng.uniform(0.7, 1.2, 12) / np.sqrt(far)
    states = np.stack(
        [far * np.cos(angle), far * np.sin(angle), -speed * np.sin(angle), speed * np.cos(angle)], 1
    )

    def derivative(s: npt.NDArray[Any]) -> npt.NDArray[Any]:
        cube = (s[:, :2] ** 2).sum(axis=1, keepdims=True) ** 1.5
        return np.concatenate([s[:, 2:], -s[:, :2] / cube], axis=1)

    ends, step = states, 0.05
    for _ in range(12):
        k1 = derivative(ends)
        k2 = derivative(ends + step / 2 * k1)
        k3 = derivative(ends + step / 2 * k2)
        k4 = derivative(ends + step * k3)
        ends = ends + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return {"unoptimised-states": states, "unoptimised-ends": ends}
