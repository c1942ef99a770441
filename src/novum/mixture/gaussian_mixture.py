"""Gaussian mixtures: groups as normal laws, rows as draws from one of them.

    p(x) = sum_k w_k N(x; m_k, C_k)

EM (`gaussian_em`) climbs to a local maximum of the likelihood of the present cells; the family of
covariances (`covariance_families`) says what components share, and split-and-merge moves
(`gaussian_starts`) lead out of poor maxima.

Reference: McLachlan and Peel, Finite Mixture Models, 2000.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from novum.clustering import KeptRows
from novum.core.errors import InputError
from novum.core.learners import count, deferred, fitted, later, parameter
from novum.core.runtime import RandomSource
from novum.core.sums import Additive, Fitted, fit_sums
from novum.core.tables import (
    Sample,
    Schema,
    check_features,
    check_sample,
    frame_of,
    is_frame,
)
from novum.mixture.covariance_families import NAMES, Family
from novum.mixture.gaussian_em import GaussianEM, GaussianParameters, Units, log_joint
from novum.mixture.gaussian_starts import always, first_parameters, moved_out
from novum.mixture.mixture_model import MixtureModel, Total, check_draws
from novum.mixture.normal_mixture import NormalMixture
from novum.numerics import ColumnMoments, Floats, Integers, as_argument, column_moments_of


@dataclass(frozen=True, eq=False)
class NumericSums(Additive):
    """First pass: moments of columns, and rows to start from."""

    schema: Schema
    columns: ColumnMoments
    weight: float
    rows: float
    kept: KeptRows

    @classmethod
    def of(cls, sample: Sample, *, keeps_rows: bool = True) -> NumericSums:
        X, weights = as_argument(sample.numeric), sample.weights
        try:
            columns = column_moments_of(X, sample.weight)
        except ValueError as error:
            raise InputError(str(error)) from None
        if np.isnan(np.sum(X)):
            known = ~np.isnan(X).all(axis=1)
            X, weights = X[known], weights[known]
        few = slice(None) if keeps_rows else slice(0)
        kept = KeptRows.of(X[few], weights[few])
        return cls(sample.schema, columns, float(weights.sum()), float(len(X)), kept)


class GaussianMixture(MixtureModel):
    """Mixture of normal laws.

    Parameters
    ----------
    covariance_type : {"full", "tied", "diag", "spherical", "EII", "EVI", "EEV", ..., "fixed"}
        What covariances may be: any, one for all, diagonal, a multiple of the identity; mclust's
        names of families with closed forms; "fixed" holds those of `precisions_init`, so that only
        weights and means are learned.
    tol : float
        EM ends when a step changes the log-likelihood per row by less.
    reg_covar : float
        No direction of a component has less than this share of the variance of the columns. A
        floor, not an addition: components above it are the likeliest ones to the last digit.
    init_params : {"kmeans", "k-means++", "random", "random_from_data", "hierarchical"}
        First groups: k-means, its first centers, random memberships, the rows nearest to random
        ones, or Ward's tree of up to 2000 rows.
    weights_init, means_init : array (K,), (K, d), optional
    precisions_init : array, optional
        Inverse covariances, of the shape of `precisions_`.
    moves : int
        Split-and-merge moves that are tried in a row without success, for three components or more
        and where no start is given.
    warm_start : bool
        Whether a fit starts at the parameters of the last one.
    verbose, verbose_interval : int
        Without effect.

    Attributes
    ----------
    weights_ : array (K,)
    means_ : array (K, d)
    covariances_, precisions_, precisions_cholesky_ : array
        (K, d, d), tied (d, d), diagonal (K, d), spherical (K,); families of mclust in the form
        they are like.
    law_ : NormalMixture
        The law itself: density, sample, marginal, condition, entropy.
    converged_, n_iter_, lower_bound_
        As in scikit-learn; `lower_bound_` is the mean log-likelihood.
    log_likelihood_ : float
        Of the present cells of all rows.
    units_ : array (2, d)
        Centers and units of the columns, in which the fit saw them.
    certificate_ : Certificate
        The likelihood after every step, which never falls, and what a further step would change.
    n_collapsed_ : int
        Components that have shrunk to the floor of `reg_covar` in some direction, by a few rows or
        by rows that agree in a column: what they add to the likelihood means little.
    choice_ : ComponentChoice
        With `n_components="auto"`.
    n_components_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    Missing cells are integrated out exactly: densities are those of the present cells, sums take
    conditional means and covariances. Rows without any cell say nothing. A pass costs
    O(n K d^2), diagonal ones O(n K d); with missing cells patterns share their factorizations.

    Examples
    --------
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = GaussianMixture(2, covariance_type="tied", random_state=0).fit(X)
    >>> model.means_[np.argsort(model.means_[:, 0])].round(6).tolist()
    [[1.0, 2.0], [10.0, 2.0]]
    >>> model.conditional({1: 4.0}).n_components, model.certificate_.verdict.value
    (2, 'local')
    """

    invariances = ("shift", "column_scale", "row_order", "duplication")

    n_components: int | str = parameter(count(1), {"auto"}, default=1, kw_only=False)
    covariance_type: str = parameter({*NAMES, "fixed"}, default="full")
    reg_covar: float = parameter(default=1e-6, at_least=0)
    init_params: str = parameter(
        {"kmeans", "k-means++", "random", "random_from_data", "hierarchical"}, default="kmeans"
    )
    weights_init: Any = parameter("array-like", None, default=None)
    means_init: Any = parameter("array-like", None, default=None)
    precisions_init: Any = parameter("array-like", None, default=None)
    moves: int = parameter(default=6, at_least=0)
    warm_start: bool = parameter(default=False)
    verbose: int = parameter("verbose", default=0)
    verbose_interval: int = parameter(default=10, at_least=1)

    means_: Floats = fitted()
    covariances_: Floats = fitted()
    n_collapsed_: int = fitted()
    units_: Floats = fitted()
    precisions_: Floats = deferred()
    precisions_cholesky_: Floats = deferred()

    # Steps of a fit

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:  # noqa: ARG002
        for name, kind in frame_of(X).schema.items() if is_frame(X) else ():
            if isinstance(kind, (nw.String, nw.Categorical, nw.Enum)):
                raise InputError(
                    f"{type(self).__name__} has normal laws of numbers, but column {name!r} holds "
                    "categories. Use MixedMixture for columns of different kinds, or leave it out."
                )
        return check_sample(
            self, X, None, sample_weight, target="none", schema=schema, allow_missing=True
        )

    def _first_sums(self) -> Any:
        given = (self.weights_init, self.means_init, self.precisions_init)
        # Rows are kept to start from.
        return partial(NumericSums.of, keeps_rows=any(part is None for part in given))

    @property
    def _family(self) -> Family:
        return Family.named(self.covariance_type, self.reg_covar)

    def _problem(self, sums: NumericSums, n_components: int) -> GaussianEM:
        columns = sums.columns
        empty = np.flatnonzero(columns.weight == 0)
        if empty.size:
            raise InputError(
                f"Column {sums.schema.names[empty[0]]!r} has no present cell, so nothing can be "
                "learned of it. Leave it out."
            )
        variance = columns.scatter / columns.weight
        family = self._family
        if family.has_one_unit:
            variance = np.full_like(variance, variance.mean())
        units = Units(columns.mean, np.sqrt(np.where(variance > 0, variance, 1.0)))
        offset = float(columns.weight @ np.log(units.unit))
        kept = replace(sums.kept, rows=units.rows(sums.kept.rows))
        given = self._given(n_components, units, family)
        begin = partial(first_parameters, family, kept, n_components, self.init_params, given)
        if self.warm_start and hasattr(self, "means_") and given == {}:
            known = units.inward(self._parameters_of_fit())
            if known.means.shape == (n_components, sums.schema.n_columns):
                begin = partial(always, known)
        return GaussianEM(family, units, begin, offset)

    def _given(self, K: int, units: Units, family: Family) -> dict[str, Floats]:
        """Parts of the start that are given, checked and in standard units."""
        d = len(units.unit)
        given: dict[str, Floats] = {}
        if self.weights_init is not None:
            weights = _shaped("weights_init", self.weights_init, (K,))
            if (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
                raise InputError(
                    f"weights_init sums to {weights.sum():g}; weights are at least 0 and sum to 1."
                )
            given["weights"] = weights
        if self.means_init is not None:
            given["means"] = units.rows(_shaped("means_init", self.means_init, (K, d)))
        if self.precisions_init is not None:
            shape: tuple[int, ...] = (K, d) if family.is_by_column else (K, d, d)
            shape = (d, d) if family.name == "tied" else (K,) if family.has_one_unit else shape
            precisions = _shaped("precisions_init", self.precisions_init, shape)
            given["covariances"] = _covariances_of(precisions, family, units)
        elif family.name == "fixed":
            raise InputError(
                "covariance_type='fixed' holds covariances as they are given: pass "
                f"precisions_init of shape {(K, d, d)}."
            )
        return given

    def _climbed(
        self, problem: GaussianEM, over: Total, options: dict[str, Any]
    ) -> Fitted[Any, Any]:
        best = fit_sums(problem, over, **options)
        given = (self.weights_init, self.means_init, self.precisions_init)
        if min(self.moves, self.max_iter) == 0 or any(part is not None for part in given):
            return best
        return moved_out(problem, over, best, self.moves, options)

    def _store(self, problem: GaussianEM, solution: Fitted[Any, Any]) -> None:
        order = np.argsort(-solution.params.weights, kind="stable")
        if solution.certificate.details.get("stopped_by") == "one step" or any(
            part is not None for part in (self.means_init, self.precisions_init)
        ):
            order = np.arange(len(order))
        self.n_collapsed_ = problem.n_collapsed(solution.params)
        inner = _ordered(solution.params, order)
        outer = problem.units.outward(inner)
        self.weights_, self.means_ = outer.weights, outer.means
        self.units_ = np.stack([problem.units.center, problem.units.unit])
        self.covariances_ = problem.family.shown(outer.covariances)
        self.precisions_cholesky_ = later(_precision_roots, self.covariances_, problem.family)
        self.precisions_ = later(_precisions, self.covariances_, problem.family)

    # Answers

    def _parameters_of_fit(self) -> GaussianParameters:
        d = self.means_.shape[1]
        shown = self.covariances_
        if shown.ndim == 1:
            shown = np.repeat(shown[:, None], d, axis=1)
        elif self._family.name == "tied":
            shown = shown[None]
        return GaussianParameters(self.weights_, self.means_, shown)

    def _fitted_problem(self) -> tuple[GaussianEM, GaussianParameters]:
        units = Units(*self.units_)
        problem = GaussianEM(self._family, units, None, 0.0)
        return problem, units.inward(self._parameters_of_fit())

    def _joint_of(self, sample: Sample) -> Floats:
        return log_joint(self._parameters_of_fit(), as_argument(sample.numeric))

    @property
    def _n_free(self) -> int:
        K, d = self.means_.shape
        return self._family.n_free(K, d) + K * d + K - 1

    def _n_parameters(self) -> int:
        return self._n_free

    @property
    def law_(self) -> NormalMixture:
        """The law of the fitted mixture."""
        check_is_fitted(self, "means_")
        K, d = self.means_.shape
        parts = self._parameters_of_fit().covariances
        if parts.ndim == 2:
            parts = parts[:, :, None] * np.eye(d)
        return NormalMixture(self.weights_, self.means_, np.broadcast_to(parts, (K, d, d)))

    def conditional(self, given: Mapping[Any, float]) -> NormalMixture:
        """The law of the other columns when some have the given values.

        Parameters
        ----------
        given : mapping from names or numbers of columns to values

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(300, 1)) * 3
        >>> model = GaussianMixture(1).fit(np.hstack([x, 2 * x + rng.normal(size=(300, 1))]))
        >>> model.conditional({"x0": 1.0}).mean.round(1).tolist()
        [2.0]
        """
        law = self.law_
        names = list(self.schema_.names)
        places = []
        for key in given:
            if not (key in names or (isinstance(key, int) and 0 <= key < len(names))):
                raise InputError(f"There is no column {key!r}; columns are {names}.")
            places.append(names.index(key) if key in names else int(key))
        values = np.array([float(v) for v in given.values()])
        if not np.isfinite(values).all() or not len(set(places)) == len(places) < len(names):
            raise InputError(
                "Give a finite value for some of the columns, each once; the law is of the others."
            )
        return law.condition(np.array(places, np.intp), values)

    def complete(self, X: Any) -> Floats:
        """Rows whose missing cells are replaced by their expected values given the present ones."""
        check_is_fitted(self, "means_")
        rows = np.array(check_features(self, X, allow_missing=True).numeric, np.float64)
        law = self.law_
        for row in np.flatnonzero(np.isnan(rows).any(axis=1)):
            known = np.flatnonzero(~np.isnan(rows[row]))
            rest = law.condition(known, rows[row, known]) if known.size else law
            rows[row, np.isnan(rows[row])] = rest.mean
        return rows

    def sample(
        self, n_samples: int = 1, random_state: RandomSource = None
    ) -> tuple[Floats, Integers]:
        """Rows drawn from the law, and the components that they come from."""
        check_draws(n_samples)
        source = self.random_state if random_state is None else random_state
        rows, codes = self.law_.sample_with_components(int(n_samples), source)
        return rows, np.asarray(codes)

    def _check_state(self) -> None:
        K, d = np.shape(self.means_)
        if d != self.schema_.n_columns or np.shape(self.weights_) != (K,):
            raise InputError("Weights, means and schema of this mixture do not fit together.")
        _ = self.law_


# --- Forms of parameters --------------------------------------------------------------------------


def _ordered(params: GaussianParameters, order: Any) -> GaussianParameters:
    spread = params.covariances
    spread = spread if len(spread) != len(order) else spread[order]
    return GaussianParameters(params.weights[order], params.means[order], spread)


def _shaped(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    array = np.array(values, np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(f"{name} has the shape {array.shape}, but {shape} is wanted, all finite.")
    return array


def _covariances_of(precisions: Floats, family: Family, units: Units) -> Floats:
    """Given precisions as covariances in standard units."""
    unit = units.unit
    if family.is_by_column:
        if precisions.ndim == 1:
            precisions = np.repeat(precisions[:, None], len(unit), axis=1)
        if not (precisions > 0).all():
            raise InputError("precisions_init holds values that are not above 0.")
        return 1.0 / (precisions * unit**2)
    scaled = np.atleast_3d(precisions.T).T * (unit[:, None] * unit)
    try:
        np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        raise InputError(
            "precisions_init holds a matrix that is not symmetric and positive definite."
        ) from None
    return np.asarray(np.linalg.inv(scaled))


def _precision_roots(covariances: Floats, family: Family) -> Floats:
    """Upper triangular `A` with `A A' = C^-1`, in the shape of the covariances."""
    if family.is_by_column:
        return 1.0 / np.sqrt(covariances)
    matrices = covariances[None] if covariances.ndim == 2 else covariances
    eye = np.eye(matrices.shape[-1])
    roots = [solve_triangular(np.linalg.cholesky(C), eye, lower=True).T for C in matrices]
    return np.asarray(roots[0] if covariances.ndim == 2 else np.array(roots))


def _precisions(covariances: Floats, family: Family) -> Floats:
    root = _precision_roots(covariances, family)
    return root**2 if family.is_by_column else root @ np.swapaxes(root, -1, -2)
