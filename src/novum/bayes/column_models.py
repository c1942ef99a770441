"""What a naive Bayes model may assume of a column within a class: small values, one per law.

| value | law of a cell within a class | estimate |
|---|---|---|
| `GaussianColumn` | normal | mean and variance, by maximum likelihood above a floor |
| `StudentTColumn` | posterior predictive of a normal: Student's t | normal-gamma posterior |
| `CategoricalColumn` | categorical over the levels | Dirichlet or m-estimate |
| `BernoulliColumn` | whether a number exceeds a threshold | the same, with two levels |
| `CountsBlock` | several columns: multinomial counts | Dirichlet over the columns |
| `LawColumn` | any law of `novum.distributions` that is estimated from sums | maximum likelihood |

`KernelColumn` and `BinnedColumn`, which have no form, are in `value_columns`.

Each names the sums it needs (`sums`) and the block of `novum.distributions` that holds its laws of
all classes; `block` estimates it for the columns that have this kind of model.

The m-estimate of a probability is `(n + m p) / (N + m)`: as if `m` further cells had been seen, of
which the share `p` had the level. A pseudo-count `alpha` for each of `L` levels is the m-estimate
with `m = alpha L` and `p = 1 / L`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from novum import distributions
from novum.core.errors import InputError, ModelFileError
from novum.core.tables import Column, Level, level_key
from novum.distributions import (
    BernoulliBlock,
    ClassSums,
    CountBlock,
    EstimableLaw,
    GaussianBlock,
    LawBlock,
    LevelPrior,
    StudentTBlock,
)
from novum.numerics import Floats, Positions

# --- Smoothing ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MEstimate:
    """`m` further cells, shared among the levels by their prior probabilities.

    Parameters
    ----------
    m : float
        Weight of the prior, in cells; 0 is maximum likelihood.
    prior : mapping of level to probability, optional
        Sums to one; equal shares by default. A level that the mapping lacks has none.

    Examples
    --------
    >>> color = CategoricalColumn(MEstimate(4, {"red": 0.75, "blue": 0.25}))
    """

    m: float
    prior: Mapping[Level, float] | None = None

    def __post_init__(self) -> None:
        _check_at_least_zero(self.m, "m of MEstimate")
        if self.prior is not None:
            shares = np.array(list(self.prior.values()), float)
            if not ((shares >= 0).all() and abs(shares.sum() - 1) < 1e-6):
                raise InputError(
                    f"The prior of an m-estimate holds probabilities that sum to one, got "
                    f"{dict(self.prior)!r}. Divide them by their sum."
                )
            # Mappings arrive in any order; one order makes equal values equal files.
            object.__setattr__(self, "prior", dict(self.prior))

    def pseudo_counts(self, column: Column) -> tuple[Floats, float]:
        """Of the levels of the column, and of a level it does not have."""
        if self.prior is None:
            n_levels = max(1, column.n_levels)
            return np.full(column.n_levels, self.m / n_levels), self.m / (n_levels + 1)
        shares = {level_key(level): share for level, share in self.prior.items()}
        known = [shares.pop(level_key(level), 0.0) for level in column.levels]
        return self.m * np.array(known, float), self.m * sum(shares.values())


def level_prior(smoothing: float | MEstimate, column: Column) -> LevelPrior:
    """Pseudo-counts of the levels of a column.

    Meeting a level for the first time, a column turns out to have one more: with a pseudo-count for
    each level the total grows by it, while an m-estimate shares the same `m` among one more.
    """
    if isinstance(smoothing, MEstimate):
        return LevelPrior(*smoothing.pseudo_counts(column), smoothing.m)
    alpha = float(smoothing)
    return LevelPrior(np.full(column.n_levels, alpha), alpha, alpha * (column.n_levels + 1.0))


# --- Models of a column ---------------------------------------------------------------------------


@dataclass(frozen=True)
class GaussianColumn:
    """Normal within each class.

    Parameters
    ----------
    variance_floor : float, default=1e-9
        Least variance, as a part of the column's variance over all classes. A class of one row, or
        one where the column is constant, has this variance.
    """

    variance_floor: float = 1e-9
    sums: ClassVar[str] = "moments"
    block_type: ClassVar[type] = GaussianBlock
    has_units: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.variance_floor) and self.variance_floor > 0):
            raise InputError(
                f"variance_floor is a positive part of the column's variance, got "
                f"{self.variance_floor!r}. A small number such as 1e-9 serves."
            )

    @staticmethod
    def block(models: Sequence[GaussianColumn], columns: Positions, sums: ClassSums) -> Any:
        floors = np.array([model.variance_floor for model in models])
        return GaussianBlock.estimate(columns, sums, floors)


@dataclass(frozen=True)
class StudentTColumn:
    """Normal with unknown mean and variance, integrated out: Student's t within each class.

    The prior is normal-gamma and says what `strength` cells say about the mean and
    `degrees_of_freedom` cells about the variance.

    Parameters
    ----------
    strength, degrees_of_freedom : float, default=1.0
        Positive.
    mean, variance : float, optional
        Of the prior; those of the column over all classes by default, so that units do not matter.
    """

    strength: float = 1.0
    degrees_of_freedom: float = 1.0
    mean: float | None = None
    variance: float | None = None
    sums: ClassVar[str] = "moments"
    block_type: ClassVar[type] = StudentTBlock

    def __post_init__(self) -> None:
        for name in ("strength", "degrees_of_freedom", "variance"):
            value = getattr(self, name)
            optional = name == "variance" and value is None
            if not (optional or (np.isfinite(value) and value > 0)):
                raise InputError(f"{name} of StudentTColumn is positive, got {value!r}.")
        if self.mean is not None and not np.isfinite(self.mean):
            raise InputError(f"The prior mean of StudentTColumn is a number, got {self.mean!r}.")

    @property
    def has_units(self) -> bool:
        """Whether the prior is in the units of its column."""
        return self.mean is not None or self.variance is not None

    @staticmethod
    def block(models: Sequence[StudentTColumn], columns: Positions, sums: ClassSums) -> Any:
        names = ("strength", "degrees_of_freedom", "mean", "variance")
        # None is NaN: the column's own mean and variance.
        prior = (np.array([getattr(model, name) for model in models], float) for name in names)
        return StudentTBlock.estimate(columns, sums, *prior)


@dataclass(frozen=True)
class CategoricalColumn:
    """Categorical within each class.

    Parameters
    ----------
    smoothing : float or MEstimate, default=1.0
        A pseudo-count for each level, or an m-estimate; 0 is maximum likelihood.
    """

    smoothing: float | MEstimate = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.smoothing, MEstimate):
            _check_at_least_zero(self.smoothing, "smoothing of CategoricalColumn")


@dataclass(frozen=True)
class BernoulliColumn:
    """Whether a number exceeds a threshold, with its own probability within each class.

    Parameters
    ----------
    threshold : float, default=0.0
    smoothing : float, default=1.0
        Pseudo-count of either outcome.
    """

    threshold: float = 0.0
    smoothing: float = 1.0
    sums: ClassVar[str] = "totals"
    block_type: ClassVar[type] = BernoulliBlock
    has_units: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_at_least_zero(self.smoothing, "smoothing of BernoulliColumn")
        if not np.isfinite(self.threshold):
            raise InputError(f"The threshold of BernoulliColumn is a number: {self.threshold!r}.")

    @staticmethod
    def block(models: Sequence[BernoulliColumn], columns: Positions, sums: ClassSums) -> Any:
        thresholds = np.array([model.threshold for model in models])
        alpha = np.array([model.smoothing for model in models])
        return BernoulliBlock.estimate(columns, sums, thresholds, alpha)


@dataclass(frozen=True)
class CountsBlock:
    """Columns of counts that are multinomial together, such as words of a text.

    Parameters
    ----------
    columns : sequence of str
        Names of the numeric columns.
    smoothing : float, default=1.0
        Pseudo-count of each column.
    """

    columns: tuple[str, ...]
    smoothing: float = 1.0
    sums: ClassVar[str] = "totals"
    block_type: ClassVar[type] = CountBlock
    has_units: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.columns, str) or not all(isinstance(c, str) for c in self.columns):
            raise InputError(
                f"CountsBlock takes a list of column names, got {self.columns!r}. A single column "
                "goes into a list."
            )
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise InputError(
                f"CountsBlock needs at least one column, and each once, got {self.columns!r}."
            )
        _check_at_least_zero(self.smoothing, "smoothing of CountsBlock")

    @staticmethod
    def block(models: Sequence[CountsBlock], columns: Positions, sums: ClassSums) -> Any:
        return CountBlock.estimate(columns, sums, np.array([models[0].smoothing]))


@dataclass(frozen=True)
class LawColumn:
    """A law of `novum.distributions` within each class, by maximum likelihood.

    Parameters
    ----------
    law : class of laws of numbers
        One that is estimated from sums, such as `Gamma`, `Beta` or `Normal`. Cells that the law
        does not have are refused.

    Notes
    -----
    A class whose cells have no most likely law (fewer than two different values) takes that of all
    classes together.

    Examples
    --------
    >>> from novum.bayes import NaiveBayes
    >>> from novum.distributions import Gamma
    >>> X = [[0.5], [1.0], [1.5], [4.0], [8.0], [12.0]]
    >>> model = NaiveBayes(numeric=LawColumn(Gamma)).fit(X, list("aaabbb"))
    >>> model.predict([[0.2], [9.0]]).tolist()
    ['a', 'b']
    """

    law: type[EstimableLaw]
    sums: ClassVar[str] = "law"
    block_type: ClassVar[type] = LawBlock
    has_units: ClassVar[bool] = True
    _saved_fields: ClassVar[tuple[str, ...]] = ("law_name",)

    def __post_init__(self) -> None:
        wanted = ("statistics", "from_statistics", "log_density", "sample", "discrete")
        if not isinstance(self.law, type) or not all(hasattr(self.law, name) for name in wanted):
            raise InputError(
                f"LawColumn takes a class of laws of numbers that are estimated from sums, such as "
                f"Gamma, got {self.law!r}."
            )

    @property
    def law_name(self) -> str:
        """The name by which model files know the law."""
        name = self.law.__name__
        if getattr(distributions, name, None) is not self.law:
            raise ModelFileError(
                f"{name} is no law of novum.distributions and cannot be written to a model file."
            )
        return name

    @classmethod
    def _from_saved(cls, law_name: str) -> LawColumn:
        if law_name not in distributions.__all__:
            raise InputError(f"There is no law {law_name!r} in novum.distributions.")
        return cls(getattr(distributions, law_name))

    @staticmethod
    def block(models: Sequence[LawColumn], columns: Positions, sums: ClassSums) -> Any:
        return LawBlock.estimate(columns, sums, [model.law for model in models])


# Models of numeric columns that have a form, in the order of their blocks.
PARAMETRIC_MODELS = (GaussianColumn, StudentTColumn, BernoulliColumn, CountsBlock, LawColumn)


def _check_at_least_zero(value: float, name: str) -> None:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (number and np.isfinite(value) and value >= 0):
        raise InputError(f"The {name} is a number of at least 0, got {value!r}.")
