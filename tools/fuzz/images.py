"""Damaged images of every kind: `cudarun load` only ever refuses them.

Whatever a file holds: no traceback, no hang, exit code 0, 2 or 4 of each. On a GPU a driver may
crash of a cubin, which is 7, and only the worker dies of it::

    python -m tools.fuzz.images --count 2000 --device cpu
    python -m tools.fuzz.images --count 200 --device 0 --kinds cubin ptx
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cudarun.emulator import driver
from cudarun.emulator.host.process import process
from cudarun.model.images import LoadReport
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.load.offline import load_offline
from cudarun.session.load.parent import load, prefetch
from cudarun.session.load.request import LoadRequest
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.pool import WorkerPool
from tests.images.golden_files import archive
from tools.fuzz.fuzzer import Fuzzer

ROOT = Path(__file__).resolve().parents[2]
KINDS = ["ptx", "cubin", "fatbin", "o", "a", "ltoir", "cu"]
TEXTS = {"ptx", "cu"}
REFUSALS = {2, 4}
_WORD = re.compile(rb"\s+|[.%]?[\w$]+|.", re.DOTALL)
SECONDS_EACH = 15
SHOWN = 20


def originals(kinds: list[str] | None = None) -> dict[str, bytes]:
    """The files that are damaged, by name; of all kinds, or of some suffixes."""
    folders = ["tests/images/golden", "samples", "samples/link", "tests/emulator/isa"]
    found = {
        path.name: path.read_bytes()
        for folder in folders
        for path in sorted((ROOT / folder).iterdir())
        if path.is_file()
    }
    packed = sorted(name for name in found if name.endswith(".gz"))
    found |= {name.removesuffix(".gz"): gzip.decompress(found.pop(name)) for name in packed}
    found["both.a"] = archive((b"tiny.o/", found["tiny.o"]), (b"rdc.o/", found["tiny_rdc.o"]))
    wanted = kinds or KINDS
    return {name: data for name, data in found.items() if name.rpartition(".")[2] in wanted}


def damaged(files: dict[str, bytes], count: int, seed: int) -> Iterator[Image]:
    """Images with flipped bits, cut off, spliced from two, or with a piece missing.

    Each kind of file as often as any other. Every other text has its words changed instead.
    """
    chance = random.Random(seed)
    kinds = sorted({name.rpartition(".")[2] for name in files})
    for number in range(count):
        kind = chance.choice(kinds)
        names = sorted(name for name in files if name.endswith(f".{kind}"))
        name = chance.choice(names)
        if kind in TEXTS and chance.randrange(2):
            data = _words_changed(files[name], files[chance.choice(names)], chance)
        else:
            data = _bytes_changed(files[name], files[chance.choice(sorted(files))], chance)
        yield Image(f"{number}-{name}", data)


def _bytes_changed(original: bytes, other: bytes, chance: random.Random) -> bytes:
    data = bytearray(original)
    at = chance.randrange(len(data))
    match chance.randrange(4):
        case 0:
            for _ in range(chance.randrange(1, 5)):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case 1:
            del data[at:]
        case 2:
            start = chance.randrange(len(other))
            piece = other[start : start + chance.randrange(400)]
            data[at : at + chance.randrange(200)] = piece
        case _:
            del data[at : at + chance.randrange(1, 64)]
    return bytes(data)


def _words_changed(original: bytes, other: bytes, chance: random.Random) -> bytes:
    """A modifier, register, name, number or mark in the place of another, twice, or gone."""
    words, others = _WORD.findall(original), _WORD.findall(other)
    places = [at for at, word in enumerate(words) if not word.isspace()]
    for _ in range(chance.randrange(1, 4)):
        at = chance.choice(places)
        match chance.randrange(4):
            case 0:
                words[at] = b""
            case 1:
                words[at] *= 2
            case 2:
                words[at] = words[chance.choice(places)]
            case _:
                words[at] = chance.choice(others)
    return b"".join(words)


def load_all(images: tuple[Image, ...], device: str) -> LoadReport:
    """Through workers, a new one after each that dies."""
    target = Target(parse_devices(device), timeout=SECONDS_EACH, capture=True)

    with WorkerPool() as pool:
        return load(LoadRequest(images), DeviceWorkers(pool, target, prefetch))


class Images(Fuzzer[bytes]):
    """Damaged images of every kind, read without a driver and loaded by the emulated device."""

    name = "images"
    allowed = frozenset({0, 2, 4})

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._files = originals()

    def case(self, chance: random.Random) -> bytes:
        """Return one damaged image."""
        return next(damaged(self._files, 1, chance.randrange(1 << 62))).data

    def exit_code(self, case: bytes) -> int:
        """Read and load it."""
        return load_both(Image("image", case))


def load_both(image: Image) -> int:
    """Read an image offline, then load it into the emulated device; return the worse exit code."""
    [file] = load_offline((image,)).files
    offline = file.error.exit_code if file.error else 0
    # The checks of a worker's half of `load` stand before the driver.
    if file.kind not in ("ptx", "cubin", "fatbin") or offline:
        return offline
    process.reset()
    driver.cuInit(0)
    driver.cuCtxCreate(None, 0, 0)
    result, *rest = driver.cuLibraryLoadData(image.code + b"\0", [], [], 0, [], [], 0)
    if result == 0:
        _, count = driver.cuLibraryGetKernelCount(rest[0])
        driver.cuLibraryEnumerateKernels(count, rest[0])
        driver.cuLibraryUnload(rest[0])
    return 0 if result == 0 else 4


def main() -> int:
    """Damage and load; 1 when anything but a refusal came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--kinds", nargs="+", help="suffixes of the files to damage")
    parser.add_argument("--keep", type=Path, help="a folder for the images that were not refused")
    arguments = parser.parse_args()

    images = tuple(damaged(originals(arguments.kinds), arguments.count, arguments.seed))
    offline = load_offline(images)
    strange = [f for f in offline.files if f.error and f.error.exit_code not in REFUSALS]
    print(f"offline: {len(images)} images, {len(strange)} not refused as they should be")

    outcomes = load_all(images, arguments.device).outcomes
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    print(f"{arguments.device}: {dict(sorted(verdicts.items()))}")
    on_gpu = arguments.device != "cpu"
    worse = {5, 6, 7} if on_gpu else set[int]()  # of the device, in time, of the process
    by_name = {image.origin: image for image in images}
    odd = [o for o in outcomes if o.error and o.error.exit_code not in REFUSALS]
    for number, outcome in enumerate(odd):
        if number < SHOWN:
            print(f"  {outcome.verdict} {outcome.image}: {outcome.error}")
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / outcome.image).write_bytes(by_name[outcome.image].data)
    bad = [o for o in odd if o.error and o.error.exit_code not in worse]
    return 1 if strange or bad else 0


if __name__ == "__main__":
    sys.exit(main())
