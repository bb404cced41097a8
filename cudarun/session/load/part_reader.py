"""The parts of a file without a driver: read on all cores, each with its own verdict."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from cudarun.base.errors import CudarunError, ImageRefused
from cudarun.base.machine import available_cores
from cudarun.base.records import dataclass
from cudarun.images.contents import Data, MappedFile
from cudarun.images.facts import Part
from cudarun.images.fatbin import Entry
from cudarun.images.reader import kernels_of, read_part
from cudarun.session.workers.pool import Steps, WorkerPool
from cudarun.session.workers.progress import ProgressDisplay, displayed
from cudarun.session.workers.worker import WorkerSpec

T = TypeVar("T")

_WORTH_A_PROCESS = 16 << 20  # decompressed bytes
_CHUNK = 32 << 20  # decompressed bytes that a worker reads before it answers
_MOST_WORKERS = 16

Answers = dict[int, "T | CudarunError"]
"""What was read from each part, by its index, or the reason why nothing was."""


@dataclass(frozen=True, slots=True)
class FileParts:
    """The parts of a file, known from their headers."""

    data: Data
    origin: str
    parts: Sequence[Entry]

    @property
    def fatbins(self) -> int:
        """The number of their fatbins."""
        return len({part.fatbin for part in self.parts})

    def kernels(self, display: ProgressDisplay | None = None) -> Answers[tuple[str, ...]]:
        """Return the names of the kernels of each part, by its index in ``parts``."""
        return self._read(kernels_of, [*range(len(self.parts))], display)

    def contents(
        self, chosen: Iterable[int], display: ProgressDisplay | None = None
    ) -> Answers[Part]:
        """Return parts with all facts. One that cannot be read has the reason instead."""
        return self._read(read_part, [*chosen], display)

    def _read(
        self, read: Callable[[Entry, str], T], chosen: list[int], display: ProgressDisplay | None
    ) -> Answers[T]:
        sizes = {index: self.parts[index].size for index in chosen}
        task = partial(_read_parts, read, chosen)
        if sum(sizes.values()) < _WORTH_A_PROCESS:
            return task(self)
        found: Answers[T] = {}
        waiting = deque(_chunks(sizes))
        spec = WorkerSpec(lambda _: self)  # it has the parts from its parent's memory
        lanes = min(len(waiting), available_cores(), _MOST_WORKERS)

        def progress() -> tuple[str, float]:
            return f"reading {self.origin}", len(found) / len(chosen)

        def lane() -> Steps[None]:
            """Read chunks in a worker, and in another one the rest of a chunk that killed it."""
            while waiting:
                worker = pool.acquire(spec)
                is_usable = True
                while waiting and is_usable:
                    chunk = waiting.popleft()
                    worker.submit(partial(_read_parts, read, chunk))
                    answer = yield worker
                    is_usable = answer.error is None
                    if answer.error is None:
                        found.update(answer.value or {})
                    elif len(chunk) == 1:
                        found[chunk[0]] = answer.error
                    else:
                        waiting.extend([index] for index in chunk)
                pool.discard(worker)

        with WorkerPool() as pool, displayed(display, [("", progress)]) as update:
            pool.run([lane() for _ in range(lanes)], update or (lambda: None))
        return found


def _read_parts(
    read: Callable[[Entry, str], T], chosen: Iterable[int], parts: FileParts
) -> Answers[T]:
    mapped = parts.data if isinstance(parts.data, MappedFile) else None
    found: Answers[T] = {}
    for index in chosen:
        try:
            if mapped is not None:
                mapped.check_size(parts.origin)
            found[index] = read(parts.parts[index], parts.origin)
        except ImageRefused as error:
            found[index] = error
        if mapped is not None:
            mapped.forget()
    return found


def _chunks(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield parts to read together, the largest first, so that all workers end at once."""
    chunk: list[int] = []
    total = 0
    for index in sorted(sizes, key=lambda each: -sizes[each]):
        if chunk and total + sizes[index] > _CHUNK:
            yield chunk
            chunk, total = [], 0
        chunk.append(index)
        total += sizes[index]
    if chunk:
        yield chunk
