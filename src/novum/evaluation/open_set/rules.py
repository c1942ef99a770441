"""Rules for "none of these": how well a row fits what a classifier was trained on.

| rule | known score of a row | unknown is |
|---|---|---|
| `Margin("posterior")` | largest posterior | a row that no class claims |
| `Margin("difference")` | largest minus second largest posterior | a row between classes |
| `Density()` | log of the mixture of one normal density for each class | a row in thin air |
| `Density(estimator)` | `score_samples` of any density estimator | the same |
| `Distance(k)` | minus the distance to the k-th nearest training row | a row far from all |

Larger is more known. Margins ask the classifier and are blind to rows far outside, where posteriors
are sure of themselves; densities and distances look at the rows. Columns are put on a common scale
for distances; nominal ones are coded as 0 and 1.

References: Chow, IEEE Trans. Information Theory 16 (1970), for the posterior; Lee et al., NeurIPS
2018, for normal densities with one covariance; Mendes Júnior et al., Machine Learning 106 (2017),
for distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, spatial
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.runtime import fitted_model
from novum.numerics import Array, Floats, log_sum_exp, moments_of

# A variance below this share of its column's has no digits left to divide by.
_FLOOR = 1e-9


@dataclass(frozen=True)
class Margin:
    """Reject what the classifier itself is unsure of.

    Parameters
    ----------
    kind : {"posterior", "difference"}
        The largest posterior, or how far it is above the second largest.

    Examples
    --------
    >>> Margin("difference").known_scores(np.array([[0.5, 0.25, 0.25]])).tolist()
    [0.25]
    """

    kind: str = "posterior"

    def known_scores(self, posteriors: Floats) -> Floats:
        """Scores of rows from their posteriors."""
        if self.kind not in ("posterior", "difference"):
            raise InputError(f"kind is 'posterior' or 'difference', got {self.kind!r}.")
        ranked = np.sort(posteriors, axis=1)
        return ranked[:, -1] if self.kind == "posterior" else ranked[:, -1] - ranked[:, -2]


@dataclass(frozen=True)
class Density:
    """Reject rows where the training rows have low density.

    Parameters
    ----------
    estimator : estimator with `fit(X)` and `score_samples(X)`, optional
        Reads the table as it came. Default: normal densities of the classes.
    covariance : {"tied", "full"}
        Of the default: one for all classes, or one for each.
    """

    estimator: Any = None
    covariance: str = "tied"

    def fit(self, table: Any, design: Floats | None, codes: Array, weight: Any) -> Any:
        """The fitted density, of the table or of its numeric design."""
        if self.estimator is not None:
            more = {} if weight is None else {"sample_weight": weight}
            return FittedDensity(fitted_model(clone(self.estimator), table, **more))
        if self.covariance not in ("tied", "full"):
            raise InputError(f"covariance is 'tied' or 'full', got {self.covariance!r}.")
        assert design is not None
        return _class_normals(design, codes, weight, tied=self.covariance == "tied")


@dataclass(frozen=True)
class Distance:
    """Reject rows far from every training row.

    Parameters
    ----------
    n_neighbors : int
        The distance is that to the n-th nearest training row.
    """

    n_neighbors: int = 1

    def fit(self, table: Any, design: Floats | None, codes: Array, weight: Any) -> Any:
        """The training rows, on a common scale."""
        del table, codes
        assert design is not None
        if not isinstance(self.n_neighbors, int) or self.n_neighbors < 1:
            raise InputError(f"n_neighbors is a positive integer, got {self.n_neighbors!r}.")
        if len(design) < self.n_neighbors:
            raise InputError(
                f"There are {len(design)} training rows, fewer than n_neighbors={self.n_neighbors}."
            )
        moments = moments_of(design, weight)
        deviation = np.sqrt(moments.variance())
        unit = np.where(deviation > 0, deviation, 1.0)
        center = np.asarray(moments.mean, float)
        return TrainingDistances((design - center) / unit, center, unit, self.n_neighbors)


# --- Fitted rules ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FittedDensity:
    """A density estimator from elsewhere, fitted to the table."""

    estimator: Any

    def known_scores(self, table: Any, design: Floats | None) -> Floats:
        del design
        scores = np.asarray(self.estimator.score_samples(table), np.float64)
        return np.where(np.isnan(scores), -np.inf, scores)


@dataclass(frozen=True, eq=False)
class ClassNormals:
    """One normal density for each class, mixed in the proportions of training.

    Attributes
    ----------
    log_shares : array of shape (K,)
    means : array of shape (K, d)
    factors : array of shape (K, d, d)
        Lower Cholesky factors of the covariances.
    """

    log_shares: Floats
    means: Floats
    factors: Floats

    def known_scores(self, table: Any, design: Floats | None) -> Floats:
        del table
        assert design is not None
        logs = []
        for share, mean, factor in zip(self.log_shares, self.means, self.factors, strict=True):
            white = linalg.solve_triangular(factor, (design - mean).T, lower=True)
            constant = np.log(np.diagonal(factor)).sum() + len(mean) * np.log(2 * np.pi) / 2
            logs.append(share - constant - (white**2).sum(axis=0) / 2)
        return log_sum_exp(np.stack(logs, axis=1), axis=1)


@dataclass(frozen=True, eq=False)
class TrainingDistances:
    """Training rows on a common scale, and how to bring others to it."""

    rows: Floats
    center: Floats
    unit: Floats
    n_neighbors: int

    def known_scores(self, table: Any, design: Floats | None) -> Floats:
        del table
        assert design is not None
        asked = (design - self.center) / self.unit
        near = spatial.cKDTree(self.rows).query(asked, k=[self.n_neighbors])[1][:, 0]
        # Recomputed by direct differences, which have the same bits for one row and for many.
        return -np.sqrt(((asked - self.rows[near]) ** 2).sum(axis=1))


def _class_normals(design: Floats, codes: Array, weight: Any, *, tied: bool) -> ClassNormals:
    K = int(codes.max()) + 1
    parts = [
        moments_of(design[codes == k], None if weight is None else weight[codes == k])
        for k in range(K)
    ]
    weights = np.array([float(part.weight) for part in parts])
    spread = np.asarray(moments_of(design, weight).variance(), float)
    floor = np.diag(_FLOOR * np.where(spread > 0, spread, 1.0))
    each = [np.asarray(part.covariance(), float) for part in parts]
    pooled = np.einsum("k,kij->ij", weights / weights.sum(), np.stack(each))
    covariances = [pooled if tied else own for own in each]
    factors = np.stack([linalg.cholesky(own + floor, lower=True) for own in covariances])
    means = np.stack([np.asarray(part.mean, float) for part in parts])
    return ClassNormals(np.log(weights / weights.sum()), means, factors)


RULES: dict[str, Any] = {"density": Density(), "distance": Distance(), "margin": Margin()}


def open_set_rule(rule: Any) -> Any:
    """The rule of a name, or the rule itself.

    Examples
    --------
    >>> open_set_rule("distance")
    Distance(n_neighbors=1)
    """
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]
    if isinstance(rule, (Density, Distance, Margin)):
        return rule
    raise InputError(
        f"The 'rule' parameter is one of {', '.join(map(repr, RULES))}, or Density(...), "
        f"Distance(...) or Margin(...); got {rule!r} instead."
    )
