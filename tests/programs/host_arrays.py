"""What programs over arrays, text and graphs should compute: inputs and results, on the host.

Each function returns arrays by the name of their file in ``data/``. Written from what the program
is for, not from its source; sizes stand in the spec beside it.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


def scan() -> Arrays:
    """Sums that begin anew at heads, and at the first of each 256."""
    rng = np.random.default_rng(1)
    values = rng.integers(-99, 100, 512).astype(np.float64)
    heads = (rng.random(512) < 0.1).astype(np.uint8)
    out, total = [], 0.0
    for index in range(512):
        total = values[index] + (0 if heads[index] or index % 256 == 0 else total)
        out.append(total)
    return {"scan-in": values, "scan-heads": heads, "scan-out": np.array(out)}


def fft() -> Arrays:
    """Fourier transforms, a convolution modulo a prime, the matrix of the cosine transform."""
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((4, 256, 2)).astype(np.float32)
    spectrum = np.fft.fft(rows[..., 0].astype(np.float64) + 1j * rows[..., 1])
    a, b = (rng.integers(0, 998244353, 256, dtype=np.uint32) for _ in range(2))
    product = [0] * 256
    for i, j in itertools.product(range(256), repeat=2):
        product[(i + j) % 256] += int(a[i]) * int(b[j])
    block = np.cos((2 * np.arange(8) + 1) * np.arange(8)[:, None] * np.pi / 16) / 2
    block[0] /= np.sqrt(2)
    return {
        "fft-in": rows.view(np.float32),
        "fft-out": np.stack([spectrum.real, spectrum.imag], axis=-1),
        "convolve-a": a,
        "convolve-b": b,
        "convolve-out": np.array([value % 998244353 for value in product], dtype=np.uint32),
        "cosines": np.kron(np.eye(4), block),
    }


def stencil() -> Arrays:
    """A generation of the game of life on a torus, 32 cells in a word, the lowest bit leftmost."""
    cells = np.random.default_rng(3).random((48, 128)) < 0.35
    around = sum(
        np.roll(cells, (dy, dx), (0, 1)).astype(int)
        for dy, dx in itertools.product((-1, 0, 1), repeat=2)
        if (dy, dx) != (0, 0)
    )
    after = (around == 3) | (cells & (around == 2))
    weights = (1 << np.arange(32)).astype(np.uint64)

    def words(grid: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return (grid.reshape(48, 4, 32) * weights).sum(axis=2).astype(np.uint32)

    return {"life-in": words(cells), "life-out": words(after)}


def nbody() -> Arrays:
    """Accelerations of bodies (x, y, z, mass) on each other."""
    bodies = np.random.default_rng(4).uniform(-3, 3, (200, 4))
    bodies[:, 3] = np.abs(bodies[:, 3])
    single = bodies.astype(np.float32)

    def attract(these: npt.NDArray[Any]) -> npt.NDArray[Any]:
        apart = these[None, :, :3] - these[:, None, :3]
        squared = (apart**2).sum(axis=2) + np.float64(np.float32(0.01) if these is wide else 0.01)
        return (these[None, :, 3, None] * apart / squared[..., None] ** 1.5).sum(axis=1)

    wide = single.astype(np.float64)
    return {
        "nbody-bodies": single,
        "nbody-acceleration": attract(wide),
        "nbody-bodies-double": bodies,
        "nbody-acceleration-double": attract(bodies),
    }


def sparse() -> Arrays:
    """A sparse matrix by rows, with an empty and a long one among them, and as a dense one."""
    rng = np.random.default_rng(5)
    dense = np.where(rng.random((100, 80)) < 0.08, rng.standard_normal((100, 80)), 0)
    dense[7] = 0
    dense[9] = rng.standard_normal(80)
    dense = dense.astype(np.float32)
    rows, columns = np.nonzero(dense)
    return {
        "sparse-starts": np.searchsorted(rows, np.arange(101)).astype(np.int32),
        "sparse-columns": columns.astype(np.int32),
        "sparse-values": dense[rows, columns],
        "sparse-x": rng.standard_normal(80).astype(np.float32),
        "sparse-dense": dense,
    }


def graph() -> Arrays:
    """Distances from vertex 17 by edges, components, and shortest paths from vertex 0."""
    rng = np.random.default_rng(6)
    lists: list[list[int]] = [[] for _ in range(300)]
    for a, b in rng.integers(0, 270, (420, 2)).tolist():
        lists[a].append(b)
        lists[b].append(a)
    far, queue = {17: 0}, deque([17])
    while queue:
        here = queue.popleft()
        for other in lists[here]:
            if other not in far:
                far[other] = far[here] + 1
                queue.append(other)
    edges = rng.integers(0, 300, (240, 2))
    smallest = list(range(300))
    for _ in range(300):
        for a, b in edges.tolist():
            smallest[a] = smallest[b] = min(smallest[a], smallest[b])
    lengths = np.stack([*rng.integers(0, 300, (2, 900)), rng.integers(1, 1000, 900)], axis=1)
    paths = [0] + [0xFFFFFFFF] * 299
    for _ in range(300):
        for a, b, length in lengths.tolist():
            if paths[a] != 0xFFFFFFFF:
                paths[b] = min(paths[b], paths[a] + length)
    return {
        "graph-starts": np.cumsum([0, *map(len, lists)]).astype(np.int32),
        "graph-neighbours": np.array([other for each in lists for other in each], dtype=np.int32),
        "graph-distance": np.array([far.get(v, -1) for v in range(300)], dtype=np.int32),
        "graph-edges": edges.astype(np.int32),
        "graph-components": np.array(smallest, dtype=np.int32),
        "graph-lengths": lengths.astype(np.int32),
        "graph-far": np.array([0] + [0xFFFFFFFF] * 299, dtype=np.uint32),
        "graph-paths": np.array(paths, dtype=np.uint32),
    }


def quantised() -> Arrays:
    """A 3×3 convolution of bytes over four channels, rounded, shifted by 6 and clamped."""
    rng = np.random.default_rng(10)
    image = rng.integers(-128, 128, (16, 24, 4), dtype=np.int8)
    weights = rng.integers(-128, 128, (9, 4), dtype=np.int8)
    total = np.zeros((14, 22), dtype=np.int64)
    for place, (y, x) in enumerate(itertools.product(range(3), repeat=2)):
        part = image[y : y + 14, x : x + 22].astype(np.int64)
        total += (part * weights[place]).sum(axis=2)
    return {
        "quantised-image": image,
        "quantised-weights": weights,
        "quantised-out": np.clip(np.floor((total + 32) / 64), 0, 255).astype(np.uint8),
    }


def groups() -> Arrays:
    """Rank, size and sum of indices among lanes with the same label; the last by parity."""
    labels = np.random.default_rng(7).integers(0, 5, 64).tolist()
    ranks, sizes, sums = [], [], []
    for index, label in enumerate(labels):
        warp = range(index // 32 * 32, index // 32 * 32 + 32)
        same = [lane for lane in warp if labels[lane] == label]
        parity = [lane for lane in warp if labels[lane] % 2 == label % 2]
        ranks.append(same.index(index))
        sizes.append(len(same))
        sums.append(sum(same) + 100000 * labels[parity[-1]])
    return {
        "groups-labels": np.array(labels, dtype=np.int32),
        "groups-ranks": np.array(ranks, dtype=np.int32),
        "groups-sizes": np.array(sizes, dtype=np.int32),
        "groups-sums": np.array(sums, dtype=np.int32),
    }


def warp() -> Arrays:
    """Votes and matches of each warp, and reductions over the lanes with one remainder by 3."""
    values = np.random.default_rng(8).integers(0, 100, 128)
    values[32:64] |= 5 << 20
    values[40] = 0
    numbers = values.tolist()
    ballots, answers, sums = [], [], []
    for index, value in enumerate(numbers):
        mine = numbers[index // 32 * 32 : index // 32 * 32 + 32]

        def mask(lanes: Any) -> int:
            return sum(1 << lane for lane, true in enumerate(lanes) if true)

        alike = len({each >> 20 for each in mine}) == 1
        same = mask(each % 5 == value % 5 for each in mine)
        ballots.append([mask(mine), same, 0xFFFFFFFF * alike, mask(x == value for x in mine)])
        answers.append([1, any(each > 90 for each in mine), alike, 32])
        third = [each for each in mine if each % 3 == value % 3]
        bits_and, bits_or, bits_xor = third[0], 0, 0
        for each in third:
            bits_and, bits_or, bits_xor = bits_and & each, bits_or | each, bits_xor ^ each
        if value % 3 == 0:
            sums.append([sum(third), min(third) ^ (bits_or << 8)])
        else:
            sums.append([max(third), bits_and ^ (bits_xor << 8)])
    return {
        "warp-in": values.astype(np.int32),
        "warp-ballots": np.array(ballots, dtype=np.uint32),
        "warp-answers": np.array(answers, dtype=np.int32),
        "warp-sums": np.array(sums, dtype=np.uint64).astype(np.uint32),
    }


def text() -> Arrays:
    """Places of a pattern, counts of words, distances of words, scores of local alignments."""
    words = (
        "the three thieves thought of 12 things, of 7 paths and 1234 months;\nother the-n\t th 9a "
    )
    letters = (words * 20)[:1200]
    places = [at for at in range(1199) if letters.startswith("th", at)]
    assert len(places) <= 200
    places += [-1] * (200 - len(places))
    kinds = ["d" if c.isdigit() else "a" if c.isalpha() else " " for c in letters]
    runs = [kind for kind, _ in itertools.groupby(kinds)]
    rng = np.random.default_rng(9)
    pairs = [_similar(rng, 4) for _ in range(40)]
    rows = [_related(rng) for _ in range(4)]
    padded = [np.zeros((40, 64), dtype=np.uint8) for _ in range(2)]
    for row, pair in enumerate(pairs):
        for side, word in zip(padded, pair, strict=True):
            side[row, : len(word)] = list(word.encode())
    return {
        "text-text": np.frombuffer(letters.encode(), dtype=np.uint8),
        "text-count": np.array([sum(at >= 0 for at in places)], dtype=np.int32),
        "text-places": np.array(sorted(places, reverse=True), dtype=np.int32),
        "text-counts": np.array([runs.count("a"), letters.count("\n"), runs.count("d")], np.int32),
        "text-a": padded[0],
        "text-b": padded[1],
        "text-lengths-a": np.array([len(a) for a, _ in pairs], dtype=np.int32),
        "text-lengths-b": np.array([len(b) for _, b in pairs], dtype=np.int32),
        "text-distances": np.array([_distance(a, b) for a, b in pairs], dtype=np.int32),
        "text-left": np.array([list(a.encode()) for a, _ in rows], dtype=np.uint8),
        "text-right": np.array([list(b.encode()) for _, b in rows], dtype=np.uint8),
        "text-scores": np.array([_alignment(a, b) for a, b in rows], dtype=np.int32),
    }


def _similar(rng: np.random.Generator, letters: int) -> tuple[str, str]:
    """Two words of up to 64 letters that have something in common."""
    word = [chr(97 + c) for c in rng.integers(0, letters, int(rng.integers(1, 60)))]
    other = [c for c in word if rng.random() < 0.8]
    for _ in range(4):
        other.insert(int(rng.integers(0, len(other) + 1)), chr(97 + int(rng.integers(0, letters))))
    return "".join(word), "".join(other)


def _related(rng: np.random.Generator) -> tuple[str, str]:
    """A sequence of 48 and one of 60 bases that has parts of it."""
    left = "".join(rng.choice(list("ACGT"), 48))
    right = left[5:20] + "".join(rng.choice(list("ACGT"), 6)) + left[22:45]
    return left, (right + "".join(rng.choice(list("ACGT"), 60)))[:60]


def _distance(a: str, b: str) -> int:
    """Levenshtein's distance by the table of all prefixes."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        last, row = row, [i]
        for j, other in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (letter != other)))
    return row[-1]


def _alignment(a: str, b: str) -> int:
    """The best local score: 2 for a match, -1 for a mismatch, a gap of n costs 2 + n."""
    scores = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            ways = [0, scores[i - 1, j - 1] + (2 if a[i - 1] == b[j - 1] else -1)]
            ways += [scores[i - n, j] - 2 - n for n in range(1, i + 1)]
            ways += [scores[i, j - n] - 2 - n for n in range(1, j + 1)]
            scores[i, j] = max(ways)
    return int(scores.max())


def local() -> Arrays:
    """Permutations with their cycles; a program for the stack machine, and what it computes."""
    orders = list(itertools.islice(itertools.permutations(range(8)), 200))
    return {
        "local-permutations": np.array(orders, dtype=np.uint8),
        "local-cycles": np.array([_cycles(order) for order in orders], dtype=np.int32),
        "local-program": _collatz_program(),
        "local-collatz": np.array([_collatz(number) for number in range(1, 41)], dtype=np.int64),
    }


def _cycles(order: tuple[int, ...]) -> int:
    seen: set[int] = set()
    count = 0
    for start in range(8):
        count += start not in seen
        while start not in seen:
            seen.add(start)
            start = order[start]
    return count


def _collatz(number: int) -> int:
    """The steps to 1, and a million times the largest number on the way."""
    steps, largest = 0, number
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        largest = max(largest, number)
        steps += 1
    return steps + 1_000_000 * largest


def _collatz_program() -> npt.NDArray[Any]:
    """That in code: memory 0 is the number, 1 counts, 2 is the largest."""
    codes = "PUSH ADD SUB MUL DIV MOD DUP SWAP OVER DROP JUMP IF_ZERO LESS STORE LOAD HALT"
    names = codes.split()
    lines = """
        LOAD 0  STORE 2
    loop:
        LOAD 0  PUSH 1  SUB  IF_ZERO done
        LOAD 0  DUP  PUSH 2  MOD  IF_ZERO even
        PUSH 3  MUL  PUSH 1  ADD  JUMP next
    even:
        PUSH 2  DIV
    next:
        DUP  STORE 0
        LOAD 2  OVER  LESS  IF_ZERO small
        DUP  STORE 2
    small:
        DROP  LOAD 1  PUSH 1  ADD  STORE 1  JUMP loop
    done:
        LOAD 2  PUSH 100  MUL  PUSH 100  MUL  PUSH 100  MUL
        LOAD 1  SWAP  ADD  HALT
    """
    code: list[int | str] = []
    labels: dict[str, int] = {}
    for word in lines.split():
        if word.endswith(":"):
            labels[word[:-1]] = len(code)
        elif word in names:
            code.append(names.index(word))
        else:
            code.append(int(word) if word.isdigit() else word)
    return np.array(
        [c if isinstance(c, int) else labels[c] - at for at, c in enumerate(code)], dtype=np.int8
    )
