"""The shapes and types of products of matrices."""

from __future__ import annotations

from cudarun.base.records import dataclass
from cudarun.emulator.compiled.lanes.lowering import LaneType
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
class MatrixShape:
    """The shape and the types of a product, as compiled code computes it."""

    rows: int  # rows of A and D
    columns: int  # columns of B and D
    depth: int  # elements of A along k, without the zeros of a sparse matrix
    run: int  # the number of products that are added at once
    types: dict[str, Type]  # the types of ``d``, ``a``, ``b``, ``c``
    satfinite: bool = False  # clamp integers
    op: str = ""  # the operation on single bits
    mode: str = NEAREST  # the rounding of f64
    sparsity: Sparsity | None = None  # the places of the elements of a sparse A
    by_warpgroup: bool = False  # the product is part of ``wgmma``
    negated: bool = False  # the products are subtracted

    @property
    def name(self) -> str:
        """A name of its own."""
        types = ".".join(self.types[which].name for which in "dabc")
        words = [f"m{self.rows}n{self.columns}k{self.depth}", types, f"run{self.run}", self.mode]
        for word, chosen in (
            ("satfinite", self.satfinite),
            (self.op, bool(self.op)),
            ("wgmma", self.by_warpgroup),
            ("negated", self.negated),
        ):
            if chosen:
                words.append(word)
        if self.sparsity is not None:
            words.append(f"sparse{self.sparsity.selector}")
        return ".".join(words)

    @property
    def is_float(self) -> bool:
        """True unless the elements are integers or bits."""
        return self.types["a"].kind is TypeKind.FLOAT

    @property
    def is_double(self) -> bool:
        """True for f64."""
        return self.types["a"].name == "f64"

    @property
    def has_eight_bits(self) -> bool:
        """True for floats of 8 bits."""
        return element(self.types["a"]) in EIGHT_BITS

    @property
    def adds_last(self) -> bool:
        """True if C is added to the rounded sum of the products."""
        return self.has_eight_bits and not self.by_warpgroup

    @property
    def kept(self) -> int:
        """The bits of a sum below the largest exponent."""
        return KEPT_OF_EIGHT_BITS if self.has_eight_bits and self.by_warpgroup else KEPT

    @property
    def least(self) -> dict[str, int]:
        """The exponents of subnormal numbers."""
        return LEAST_BY_WARPGROUP if self.has_eight_bits and self.by_warpgroup else LEAST

    @property
    def words(self) -> int:
        """Words of a row of A, each of 32 bits."""
        return self.depth * self.types["a"].bits // 32

    @property
    def right_words(self) -> int:
        """Words of a column of B."""
        return self.words * (2 if self.sparsity else 1)

    @property
    def result(self) -> str:
        """The LLVM type of an element of D."""
        return LaneType(self.types["d"].dtype).element

    @property
    def addend(self) -> str:
        """The LLVM type of the elements of C in memory."""
        if self.is_double:
            return "double"
        return "float" if self.is_float else "i32"

    def place_of(self, number: int, count: int) -> tuple[int, int]:
        """Return where the elements of words are computed along k: of the first word, and the step.

        Args:
            number: The number of the element, from the first word on.
            count: The elements of the words that are taken at once.
        """
        if not self.adds_last:
            return number, count
        half = number // 2 * (self.depth // 2)  # the upper two elements are in the second run
        return half + number % 2, 2
