"""Fisher's discriminant projection: where classes differ most relative to their own spread.

    maximize  w'Bw / w'Ww,    B between-class, W within-class covariance,

direction after direction, each uncorrelated within classes with those before. K classes have at
most K - 1 such directions. The table enters only through the weight and mean of every class and
the scatter within them, which add up over chunks; the eigenproblem is solved in coordinates where
W is the identity (`discriminant_directions`, which also treats a singular W).

The directions see means and one common covariance and nothing else: classes that differ in spread,
or that their means do not tell apart, need a quadratic model.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Stopwatch, fitted, parameter, warn_if_stopped
from novum.core.runtime import fit_context, fitting, long_call
from novum.core.sums import StatisticsMixin
from novum.core.tables import Sample, Schema, check_features, check_sample
from novum.data import ClassScatter
from novum.decomposition.discriminant_directions import (
    Directions,
    certify,
    directions_of,
    ratio_shares,
)
from novum.decomposition.numeric_rows import no_number, refuse_text
from novum.numerics import Floats, blocks_of_rows, one_blas_thread


def _adds_up(model: DiscriminantProjection) -> bool:
    """Whether the fit is a function of sums; scikit-learn hides `partial_fit` otherwise."""
    if not model._is_additive():
        raise AttributeError(
            "shrinkage='auto' needs fourth powers of all rows at once and cannot add to them. Give "
            "shrinkage as a number."
        )
    return True


class DiscriminantProjection(
    ClassNamePrefixFeaturesOutMixin, StatisticsMixin, TransformerMixin, Learner
):
    """Projection on the directions of largest between- over within-class variance.

    Maximizes `w'Bw / w'Ww` with `B = sum_k p_k (m_k - m)(m_k - m)'` and
    `W = sum_k p_k C_k`, by an eigenproblem in whitened coordinates.

    Parameters
    ----------
    n_components : int, optional
        Directions to keep; by default all, at most the number of classes minus one.
    shrinkage : None, "auto" or float from 0 to 1
        Moves W towards its mean variance times the identity; "auto" moves the covariance of each
        class by the amount of Ledoit and Wolf, and needs all rows at once.
    priors : array-like of shape (n_classes,), optional
        Shares `p_k` of the classes, in the order of `classes_`; those of the rows by default.

    Attributes
    ----------
    scalings_ : array (n_columns, n_components_)
        The directions, as columns. Variance within classes along each is 1; the largest entry, in
        spreads of the columns, is positive.
    eigenvalues_ : array (n_components_,)
        Between- over within-class variance; infinite along a direction without spread within
        classes, which is scaled to a variance of 1 between them.
    explained_variance_ratio_ : array (n_components_,)
        Shares of the sum of the eigenvalues of all directions. Infinite ones share 1 equally.
    means_ : array (n_classes, n_columns)
    covariance_ : array (n_columns, n_columns)
        W, shrunk if so asked.
    xbar_ : array (n_columns,)
        Mean of the class means, weighted by the priors.
    priors_, classes_, class_count_ : arrays (n_classes,)
    reconstruction_ : array (n_components_, n_columns)
        What one unit of each coordinate adds in `inverse_transform`.
    n_components_ : int
        Directions kept: fewer than asked for where the class means span fewer dimensions.
    certificate_, statistics_, schema_

    Notes
    -----
    `O(n d^2 + d^3)` time and `O(d^2 + K d)` memory, `O(K d^2)` with priors. Weights count
    repetitions. Missing cells are refused. Collinear columns and fewer rows than columns make W
    singular: directions without spread within classes along which means differ come first, those
    along which nothing varies are left out. Neither units nor offsets of the columns matter, except
    with shrinkage.

    References
    ----------
    Fisher 1936; Rao 1948; Howland, Jeon and Park 2003 for a singular W.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0], [1.0, 1.0], [5.0, 1.0]]
    >>> model = DiscriminantProjection().fit(X, ["a", "a", "b", "b", "a", "b"])
    >>> model.eigenvalues_.round(9).tolist(), model.transform(X).round(3).ravel().tolist()
    ([18.0], [-4.95, -4.95, 3.536, 3.536, -2.828, 5.657])
    """

    n_components: int | None = parameter(default=None, at_least=1, kw_only=False)
    shrinkage: str | float | None = parameter({"auto"}, default=None, at_least=0, at_most=1)
    priors: ArrayLike | None = parameter("array-like", default=None)

    n_components_: int = fitted()
    statistics_: ClassScatter = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; shrinkage compares columns with each other."""
        units = "common_scale" if self.shrinkage else "column_scale"
        return ("shift", "row_order", "duplication", units)

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds the directions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, None)
            # One block: blocks would have to be merged, and memory stays small anyway.
            statistics = self._sum(sample)
            if self._is_additive():
                self._estimate(statistics, watch)
            else:
                shares = self._shares(statistics)
                self._store(statistics, shares, ledoit_wolf_within(sample, shares), watch)
                self.__dict__.pop("statistics_", None)
        return self

    @available_if(_adds_up)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to those the model has learned from; the first call starts anew."""
        return super().partial_fit(X, y, sample_weight)

    def _is_additive(self) -> bool:
        return not isinstance(self.shrinkage, str)

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        refuse_text(self, X)
        sample = check_sample(self, X, y, sample_weight, target="classes", schema=schema)
        if not sample.schema.is_numeric:
            raise no_number(self, sample.schema.categorical_columns[0].name, "categories")
        return sample

    def _sum(self, sample: Sample) -> ClassScatter:
        return ClassScatter.of(sample, by_class=self._is_additive() and self.priors is not None)

    def _estimate(self, statistics: ClassScatter, watch: Stopwatch | None = None) -> None:
        shares = self._shares(statistics)
        if statistics.by_class:
            weight = np.where(statistics.weight > 0, statistics.weight, 1.0)
            within = np.einsum("k,kij->ij", shares / weight, statistics.scatter)
        else:
            within = statistics.within / statistics.total_weight
        if self.shrinkage:
            within = shrunk(within, float(self.shrinkage))
        self._store(statistics, shares, within, watch or Stopwatch())
        self.statistics_ = statistics

    def _store(
        self, statistics: ClassScatter, shares: Floats, within: Floats, watch: Stopwatch
    ) -> None:
        d = len(within)
        directions = long_call(
            lambda: directions_of(within, statistics.mean, shares),
            9.0 * d**3,
            f"The eigenvectors of {d} columns",
        )
        m = self._checked_count(directions, statistics)
        middle = statistics.mean[int(shares.argmax())]
        self.xbar_ = middle + shares @ (statistics.mean - middle)
        self.means_, self.covariance_, self.priors_ = statistics.mean, within, shares
        self.classes_, self.class_count_ = statistics.classes, statistics.weight
        self.scalings_ = np.ascontiguousarray(directions.scalings[:, :m])
        self.reconstruction_ = np.ascontiguousarray(directions.reconstruction[:m])
        self.eigenvalues_ = directions.ratios[:m]
        self.explained_variance_ratio_ = ratio_shares(directions)[:m]
        self.n_components_ = self._n_features_out = m
        self.schema_ = statistics.schema
        self.certificate_ = certify(directions, m, watch.seconds)
        warn_if_stopped(self.certificate_, type(self).__name__)

    def _checked_count(self, directions: Directions, statistics: ClassScatter) -> int:
        available = directions.scalings.shape[1]
        classes = int((statistics.weight > 0).sum())
        most = min(classes - 1, len(directions.scalings))
        if self.n_components is not None and self.n_components > most:
            raise InputError(
                f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}, got "
                f"{self.n_components}: {classes} class means span no more directions."
            )
        if available == 0:
            raise InputError(
                f"The means of the {classes} classes coincide, so no direction tells them apart by "
                "their means. Use a model of their spreads, such as "
                "novum.bayes.QuadraticDiscriminantAnalysis."
            )
        return available if self.n_components is None else min(self.n_components, available)

    def _shares(self, statistics: ClassScatter) -> Floats:
        classes, weight = statistics.classes, statistics.weight
        if (weight > 0).sum() < 2:
            raise InputError(
                "DiscriminantProjection needs rows of at least two classes; the number of classes "
                f"has to be greater than one, got {int((weight > 0).sum())} class. Chunks that "
                "hold one class each go to `fit_stream`, which sums them first."
            )
        if self.priors is None:
            return weight / weight.sum()
        priors = np.array(self.priors, float)
        if priors.shape != weight.shape:
            raise InputError(
                f"DiscriminantProjection was given priors of shape {priors.shape} for the "
                f"{len(classes)} classes {classes.tolist()[:20]}. Give one for each, in this order."
            )
        if not ((priors >= 0).all() and abs(priors.sum() - 1) <= 1e-9):
            raise InputError(
                f"priors must be non-negative and sum to 1, got {priors.tolist()[:20]}. Divide "
                "them by their sum if they are meant as proportions."
            )
        unknown = np.flatnonzero((priors > 0) & (weight == 0))
        if unknown.size:
            raise InputError(
                f"Class {classes[unknown[0]]!s} has prior {priors[unknown[0]]:g} but no rows, so "
                "its mean is unknown. Give it prior 0."
            )
        return priors

    # Projection

    def transform(self, X: Any) -> Floats:
        """Coordinates of the rows along the directions (n_rows, n_components_)."""
        check_is_fitted(self)
        rows = check_features(self, X).numeric
        out = np.empty((len(rows), self.n_components_))
        with one_blas_thread():
            for start, stop in blocks_of_rows(*rows.shape):
                out[start:stop] = (rows[start:stop] - self.xbar_) @ self.scalings_
        return out

    def inverse_transform(self, X: Any) -> Floats:
        """The likeliest rows with these coordinates (n_rows, n_columns).

        Of all points that are projected to z this is the one of smallest Mahalanobis distance from
        `xbar_`, so that projecting it again gives z.
        """
        check_is_fitted(self)
        Z = check_array(X, dtype=np.float64)
        if Z.shape[1] != self.n_components_:
            raise InputError(
                f"There are {self.n_components_} directions, but {Z.shape[1]} coordinates for each "
                "row. Pass what `transform` returns."
            )
        with one_blas_thread():
            return np.asarray(Z @ self.reconstruction_ + self.xbar_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        d, m, K = self.schema_.n_columns, self.n_components_, len(self.classes_)
        shapes = {
            "scalings_": (d, m),
            "reconstruction_": (m, d),
            "xbar_": (d,),
            "means_": (K, d),
            "priors_": (K,),
            "eigenvalues_": (m,),
        }
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value.shape != shape:
                raise ModelFileError(f"The model's {name} has shape {value.shape}, not {shape}.")
            if name != "eigenvalues_" and not np.isfinite(value).all():
                raise ModelFileError(f"The model's {name} holds numbers that are not finite.")


# --- Shrinkage ------------------------------------------------------------------------------------
#
# Covariances moved towards a multiple of the identity, by a given amount or by Ledoit and Wolf's.
#
#     C(s) = (1 - s) C + s (tr C / d) I,        0 <= s <= 1
#
# makes a covariance from few rows regular. The amount that is best in expected squared distance
# from the truth needs fourth powers of the rows; with rows z in units of their deviations (so that
# units do not matter), total weight n, `E = sum z z' / n` and `mu = tr E / d`,
#
#     s = min(b, a) / a,   a = |E - mu I|^2 / d,   b = (sum_i |z_i|^4 / n - |E|^2) / (d n).
#
# Each class has its own amount, and the classes are then averaged by their shares.
#
# # Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004.


def shrunk(matrix: Floats, amount: float) -> Floats:
    """The matrix moved by `amount` towards its mean variance times the identity.

    >>> shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]
    """
    d = len(matrix)
    moved = (1 - amount) * matrix
    moved[np.diag_indices(d)] += amount * np.trace(matrix) / d
    return moved


def ledoit_wolf_within(sample: Sample, shares: Floats) -> Floats:
    """Average by `shares` of the covariances of the classes, each shrunk by its best amount.

    Parameters
    ----------
    sample : Sample with classes
    shares : array (K,)
    """
    d = sample.numeric.shape[1]
    total = np.zeros((d, d))
    for k in np.flatnonzero(shares):
        rows = sample.target == k
        weight = np.ones(int(rows.sum())) if sample.weight is None else sample.weight[rows]
        total += shares[k] * _ledoit_wolf(sample.numeric[rows], weight)
    return total


def _ledoit_wolf(X: Floats, weight: Floats) -> Floats:
    n = float(weight.sum())
    # About the first row first, so that an offset takes no digits.
    centered = X - X[0]
    centered -= weight @ centered / n
    unit = np.sqrt(weight @ centered**2 / n)
    unit = np.where(unit > 0, unit, 1.0)
    z = centered / unit
    E = (z * weight[:, None]).T @ z / n
    return shrunk(E, _best_amount(E, z, weight, n)) * unit[:, None] * unit


def _best_amount(E: Floats, z: Floats, weight: Floats, n: float) -> float:
    d = len(E)
    mu = float(np.trace(E)) / d
    fourth = float(weight @ np.einsum("ij,ij->i", z, z) ** 2) / n
    square = float((E**2).sum())
    a = (square - d * mu**2) / d
    b = (fourth - square) / (d * n)
    return min(b, a) / a if a > 0 and b > 0 else 0.0
