"""Columns of numbers without a form: a kernel density within each class, or bins.

    KernelColumn    p(x | k) = mean over the cells of class k of a normal bump
    BinnedColumn    p(x | k) = P(bin of x | k) / width of the bin

Both are estimated from the different values of a column with their weights in each class, which add
up over batches and come off again, as all sums of naive Bayes do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from novum.core.errors import InputError, ModelFileError
from novum.core.tables import Schema
from novum.data import CountedValues, equal_frequency_cuts, equal_width_cuts, mdl_cuts
from novum.distributions import ClassSums, Component, LawBlock, MixtureLaw, Normal, RealMixtureLaw
from novum.neighbors import KernelDensity
from novum.numerics import Floats, KernelSums, Positions, cached_property

# Relative error of sums over kernels.
_RTOL = 1e-10


@dataclass(frozen=True, eq=False)
class CellCounts:
    """The different cells of a column with their weights."""

    counts: CountedValues

    @staticmethod
    def statistics(cells: Floats, weight: Floats | None = None) -> CellCounts:
        return CellCounts(CountedValues.of(cells[:, np.newaxis], weight))

    @property
    def weight(self) -> float:
        return float(self.counts.weights.sum())

    def __add__(self, other: CellCounts) -> CellCounts:
        return CellCounts(self.counts + other.counts)

    def __sub__(self, other: CellCounts) -> CellCounts:
        return CellCounts(self.counts - other.counts)

    def __rmul__(self, factor: float) -> CellCounts:
        return CellCounts(factor * self.counts)

    def isclose(self, other: CellCounts, rtol: float = 1e-10) -> bool:
        return self.counts.isclose(other.counts, rtol)

    @property
    def spread(self) -> float:
        """The standard deviation."""
        values, weights = self.counts.values, self.counts.weights
        mean = np.average(values, weights=weights)
        return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


@dataclass(frozen=True, eq=False)
class KernelLaw:
    """A normal bump of one width at every cell."""

    values: Floats
    weights: Floats
    bandwidth: float

    @cached_property
    def _sums(self) -> KernelSums:
        return KernelSums.of(self.values[:, np.newaxis], self.weights)

    def log_density(self, x: Floats) -> Floats:
        if not len(x):
            return np.empty(0)
        queries = np.ascontiguousarray(x)[:, np.newaxis]
        sums = self._sums.log_sums(queries, "gaussian", self.bandwidth, _RTOL)
        total = self.bandwidth * float(self.weights.sum()) * np.sqrt(2.0 * np.pi)
        return np.asarray(sums - np.log(total))

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        rows = rng.choice(len(self.values), n, p=self.weights / self.weights.sum())
        return np.asarray(self.values[rows] + self.bandwidth * rng.standard_normal(n))


@dataclass(frozen=True, eq=False)
class HistogramLaw:
    """A constant density in every bin; the outer bins serve all that is beyond them."""

    edges: Floats
    probabilities: Floats

    def log_density(self, x: Floats) -> Floats:
        bins = np.searchsorted(self.edges[1:-1], x, side="right")
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities / np.diff(self.edges))[bins])

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        bins = rng.choice(len(self.probabilities), n, p=self.probabilities)
        return np.asarray(rng.uniform(self.edges[bins], self.edges[bins + 1]))


_LAWS = (KernelLaw, HistogramLaw, RealMixtureLaw)


@dataclass(frozen=True, eq=False)
class ValueBlock(LawBlock):
    """Columns whose laws are made of their cells."""

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        inside = ((self.columns >= 0) & (self.columns < schema.numeric.size)).all()
        laws = [law for column in self.laws for law in column]
        whole = all(law is None or isinstance(law, _LAWS) for law in laws)
        counts = {len(column) for column in self.laws}
        if not (inside and whole and len(self.laws) == len(self.columns) and counts <= {n_classes}):
            raise ModelFileError("The model has laws for columns or classes that it does not have.")


@dataclass(frozen=True)
class KernelColumn:
    """A kernel density within each class (Weka's `-K`).

    Parameters
    ----------
    bandwidth : float or {"silverman", "scott", "cv"}, default="silverman"
        As for `novum.neighbors.KernelDensity`, in each class by itself.

    Notes
    -----
    A class whose cells are all equal takes the bandwidth of the whole column; a constant column
    says nothing.

    Examples
    --------
    >>> from novum.bayes import NaiveBayes
    >>> X = [[0.0], [1.0], [9.0], [10.0], [4.0], [5.0], [6.0]]
    >>> model = NaiveBayes(numeric=KernelColumn(1.0)).fit(X, list("aaaabbb"))
    >>> model.predict([[0.5], [5.0], [9.5]]).tolist()
    ['a', 'b', 'a']
    """

    bandwidth: float | str = "silverman"
    sums: ClassVar[str] = "law"
    law: ClassVar[type] = CellCounts
    block_type: ClassVar[type] = ValueBlock

    def __post_init__(self) -> None:
        is_rule = self.bandwidth in ("silverman", "scott", "cv")
        number = isinstance(self.bandwidth, (int, float)) and not isinstance(self.bandwidth, bool)
        if not (is_rule or (number and 0 < self.bandwidth < np.inf)):  # type: ignore[operator]
            raise InputError(
                f"The bandwidth of KernelColumn is a positive number, 'silverman', 'scott' or "
                f"'cv', got {self.bandwidth!r}."
            )

    @property
    def has_units(self) -> bool:
        """Whether the bandwidth is in the units of its column."""
        return not isinstance(self.bandwidth, str)

    @staticmethod
    def block(models: Sequence[KernelColumn], columns: Positions, sums: ClassSums) -> Any:
        pairs = zip(models, columns.tolist(), strict=True)
        return ValueBlock(columns, tuple(model._laws(sums.law_sums(j)) for model, j in pairs))

    def _laws(self, sums: tuple[Any, ...]) -> tuple[Any, ...]:
        present = [cells for cells in sums if cells is not None and cells.weight > 0]
        whole = reduce(add, present) if present else None
        if whole is None or not whole.spread > 0:
            return (None,) * len(sums)
        return tuple(
            KernelLaw(
                (cells if cells is not None else whole).counts.values,
                (cells if cells is not None else whole).counts.weights,
                self._width(cells if cells is not None and cells.spread > 0 else whole),
            )
            for cells in sums
        )

    def _width(self, cells: CellCounts) -> float:
        rows = cells.counts.values[:, np.newaxis]
        model = KernelDensity(bandwidth=self.bandwidth)
        return model.fit(rows, sample_weight=cells.counts.weights).bandwidth_


@dataclass(frozen=True)
class MixtureColumn:
    """A mixture of laws of numbers within each class.

    Parameters
    ----------
    component : class of laws of numbers, or Component
    n_components : int
        Of every class; fewer where it has fewer different values.

    Notes
    -----
    A class whose cells have no such law (all equal) takes that of all classes together; a column
    that has none says nothing.

    Examples
    --------
    >>> from novum.bayes import NaiveBayes
    >>> X = [[0.0], [0.5], [1.0], [9.0], [9.5], [10.0], [4.0], [5.0], [6.0]]
    >>> model = NaiveBayes(numeric=MixtureColumn()).fit(X, list("aaaaaabbb"))
    >>> model.predict([[0.5], [5.0], [9.5]]).tolist()
    ['a', 'b', 'a']
    """

    component: Any = Normal
    n_components: int = 2
    sums: ClassVar[str] = "law"
    law: ClassVar[type] = CellCounts
    block_type: ClassVar[type] = ValueBlock
    has_units: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not Component.of(self.component).is_of_numbers:
            raise InputError(f"MixtureColumn takes a law of numbers, got {self.component!r}.")
        if not (isinstance(self.n_components, int) and self.n_components >= 1):
            raise InputError(f"n_components is at least 1, got {self.n_components!r}.")

    @staticmethod
    def block(models: Sequence[MixtureColumn], columns: Positions, sums: ClassSums) -> Any:
        pairs = zip(models, columns.tolist(), strict=True)
        return ValueBlock(columns, tuple(model._laws(sums.law_sums(j)) for model, j in pairs))

    def _laws(self, sums: tuple[Any, ...]) -> tuple[Any, ...]:
        present = [cells for cells in sums if cells is not None and cells.weight > 0]
        whole = self._fitted(reduce(add, present)) if present else None
        own = [None if cells is None else self._fitted(cells) for cells in sums]
        return tuple(whole if law is None else law for law in own)

    def _fitted(self, cells: CellCounts) -> Any:
        values, weights = cells.counts.values, cells.counts.weights
        K = min(self.n_components, len(values))
        try:
            return MixtureLaw.fit(values, weights, component=self.component, n_components=K)
        except InputError:
            return None


@dataclass(frozen=True)
class BinnedColumn:
    """Bins with a probability each within each class (Weka's `-D`).

    Parameters
    ----------
    rule : {"mdl", "equal_width", "equal_frequency"}, default="mdl"
        Where the column is cut: by minimum description length of the classes (Fayyad and Irani),
        into bins of one width, or into bins of equal weight.
    bins : int, default=10
        Of one width or equal weight.
    smoothing : float, default=1.0
        Pseudo-count of every bin in every class.

    Notes
    -----
    Cuts are found from all classes together, on the rows of a fit. A column without a cut says
    nothing.

    Examples
    --------
    >>> from novum.bayes import NaiveBayes
    >>> X = [[x] for x in range(60)]
    >>> model = NaiveBayes(numeric=BinnedColumn()).fit(X, ["a"] * 20 + ["b"] * 20 + ["a"] * 20)
    >>> model.predict([[3.0], [30.0], [99.0]]).tolist()
    ['a', 'b', 'a']
    """

    rule: str = "mdl"
    bins: int = 10
    smoothing: float = 1.0
    sums: ClassVar[str] = "law"
    law: ClassVar[type] = CellCounts
    block_type: ClassVar[type] = ValueBlock
    has_units: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.rule not in ("mdl", "equal_width", "equal_frequency"):
            raise InputError(
                "The rule of BinnedColumn is 'mdl', 'equal_width' or 'equal_frequency', got "
                f"{self.rule!r}."
            )
        if not (isinstance(self.bins, int) and self.bins >= 2):
            raise InputError(f"bins of BinnedColumn is a number of at least 2, got {self.bins!r}.")
        if not (np.isfinite(self.smoothing) and self.smoothing >= 0):
            raise InputError(
                f"The smoothing of BinnedColumn is a number of at least 0, got {self.smoothing!r}."
            )

    @staticmethod
    def block(models: Sequence[BinnedColumn], columns: Positions, sums: ClassSums) -> Any:
        pairs = zip(models, columns.tolist(), strict=True)
        return ValueBlock(columns, tuple(model._laws(sums.law_sums(j)) for model, j in pairs))

    def _laws(self, sums: tuple[Any, ...]) -> tuple[Any, ...]:
        present = [cells for cells in sums if cells is not None and cells.weight > 0]
        if not present:
            return (None,) * len(sums)
        whole = reduce(add, present).counts
        cuts = self._cuts(whole, sums)
        if not len(cuts):
            return (None,) * len(sums)
        edges = np.concatenate([whole.values[:1], cuts, whole.values[-1:]])
        laws = []
        for cells in sums:
            counts = np.full(len(edges) - 1, float(self.smoothing))
            if cells is not None:
                bins = np.searchsorted(cuts, cells.counts.values, side="right")
                counts += np.bincount(bins, cells.counts.weights, len(counts))
            total = counts.sum()
            empty = np.full(len(counts), 1.0 / len(counts))
            laws.append(HistogramLaw(edges, counts / total if total > 0 else empty))
        return tuple(laws)

    def _cuts(self, whole: CountedValues, sums: tuple[Any, ...]) -> Floats:
        if len(whole.values) < 2:
            return np.empty(0)
        if self.rule == "equal_width":
            return equal_width_cuts(whole.values, self.bins)
        if self.rule == "equal_frequency":
            return equal_frequency_cuts(whole.values, whole.weights, self.bins)
        counts = np.zeros((len(whole.values), len(sums)))
        for k, cells in enumerate(sums):
            if cells is not None:
                counts[np.searchsorted(whole.values, cells.counts.values), k] = cells.counts.weights
        return mdl_cuts(whole.values, counts)
