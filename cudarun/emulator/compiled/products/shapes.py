"""The shapes and types of products of matrices."""

from __future__ import annotations

from cudarun.base.records import dataclass
from cudarun.emulator.machine.sparsity import Sparsity
from cudarun.emulator.numerics.formats import element
from cudarun.emulator.numerics.products import (
    EIGHT_BITS,
    KEPT,
    KEPT_OF_EIGHT_BITS,
    LEAST,
    LEAST_BY_WARPGROUP,
)
from cudarun.emulator.numerics.rounding import NEAREST
from cudarun.emulator.numerics.types import Type, TypeKind


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """A product of matrices, as a function in C computes it (``native/products.c``)."""

    rows: int  # rows of A and D
    columns: int  # columns of B and D
    depth: int  # elements of A along k, without the zeros of a sparse matrix
    run: int  # the number of products that are added at once
    types: dict[str, Type]  # the types of ``d``, ``a``, ``b``, ``c``
    # The first columns of the scratch with registers of ``a``, ``b``, ``c``, and then of others:
    # ``metadata`` of a sparse A, ``keep`` whether C is added, and the results ``d``.
    places: dict[str, int]
    satfinite: bool = False  # clamp integers
    op: str = ""  # the operation on single bits
    mode: str = NEAREST  # the rounding of f64
    sparsity: Sparsity | None = None  # the places of the elements of a sparse A
    by_warpgroup: bool = False  # the product is part of ``wgmma``
    negated: bool = False  # the products are subtracted
    in_registers: bool = True  # whether A is, and not in shared memory
    across: tuple[bool, bool] = (False, False)  # whether A and B are transposed in shared memory

    @property
    def is_float(self) -> bool:
        """True unless the elements are integers or bits."""
        return self.types["a"].kind is TypeKind.FLOAT

    @property
    def is_double(self) -> bool:
        """True for f64."""
        return self.types["a"].name == "f64"

    @property
    def words(self) -> int:
        """Words of a row of A, each of 32 bits, or numbers of 64 bits."""
        return self.depth if self.is_double else self.depth * self.types["a"].bits // 32

    @property
    def right_words(self) -> int:
        """Words of a column of B."""
        return self.words * (2 if self.sparsity else 1)

    @property
    def shortens(self) -> bool:
        """True if results of f32 have as few bits as the sums of elements of 8 bits."""
        return self.by_warpgroup and element(self.types["a"]) in EIGHT_BITS

    def numbers(self) -> dict[str, int]:
        """Return the fields of ``struct product``."""
        name = element(self.types["a"])
        found = {
            **{each: getattr(self, each) for each in ("rows", "columns", "depth", "run")},
            **{each: getattr(self, each) for each in ("words", "right_words", "is_float")},
            **{each: getattr(self, each) for each in ("is_double", "satfinite", "negated")},
            "bits": self.types["a"].bits,
            "counts_bits": bool(self.op),
            "is_xor": self.op == "xor",
            "has_short_c": element(self.types["c"]) == "f16",
            "has_short_d": element(self.types["d"]) == "f16",
            "has_wide": name in ("bf16", "tf32"),  # exponents beyond those of products in f32
            # C is added to the rounded sum of the products.
            "adds_last": name in EIGHT_BITS and not self.by_warpgroup,
            "kept": KEPT_OF_EIGHT_BITS if self.shortens else KEPT,  # bits of a sum
            "chunks": self.sparsity.chunks if self.sparsity else 0,
            # Bytes of a unit of a sparse A, or 0.
            "unit_bytes": (2 if self.types["a"].bits >= 16 else 1) if self.sparsity else 0,
            "in_registers": self.in_registers,
            "left_across": self.across[0],
            "right_across": self.across[1],
        }
        least = LEAST_BY_WARPGROUP if self.shortens else LEAST
        for which, ptx_type in self.types.items():
            found[f"least_{which}"] = least.get(element(ptx_type), 0)
            found[f"is_signed_{which}"] = ptx_type.kind is TypeKind.SIGNED
        for which in ("a", "b", "c", "metadata", "keep", "d"):
            found[f"{which}_place"] = self.places.get(which, 0)
        return {each: int(number) for each, number in found.items()}
