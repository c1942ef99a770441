"""How many components: enough variance, the best held-out likelihood, or the largest evidence.

A table with variances `l_1 >= ... >= l_d` along its axes is modeled, with k components, as a
k-dimensional signal in noise of equal variance `v = (l_(k+1) + ... + l_d) / (d - k)` in every
direction (probabilistic PCA). Three rules to choose k:

- variance: the smallest k with `l_1 + ... + l_k > share * (l_1 + ... + l_d)`;
- likelihood: the k under which rows that were left out are most probable;
- evidence: the k of largest probability of the table, all parameters integrated out by Laplace's
  method. With `m = d k - k (k + 1) / 2` free angles and `lhat_j = l_j` up to k and `v` beyond,

    log p(X | k) = log p(U) - n/2 sum_(j<=k) log l_j - n (d - k)/2 log v + (m + k)/2 log(2 pi)
                   - 1/2 log |A| - k/2 log n  + a term without k
    log |A|      = sum_(i<=k) sum_(j>i) log(1/lhat_j - 1/lhat_i) + log(l_i - l_j) + log n
    log p(U)     = -k log 2 + sum_(i<=k) log Gamma((d - i + 1)/2) - (d - i + 1)/2 log pi

Where more rows than its rank lie exactly in a subspace (dummies that sum to one), the density on it
is infinite and so are likelihood and evidence of `k = rank`, which both rules then choose.

References
----------
Minka, "Automatic choice of dimensionality for PCA", NIPS 2000, eq. 77 to 80 of the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.decomposition.spectrum import Spectrum
from novum.numerics import Floats, Positions

# Pairs of variances closer than this share span a plane in which no axis can be told from another.
_EQUAL = 1e-12


# --- Rules ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ByVariance:
    """Enough components for more than a share of the variance.

    Parameters
    ----------
    share : float above 0, at most 1

    Examples
    --------
    >>> ByVariance(0.95)
    ByVariance(share=0.95)
    """

    share: float = 0.95

    def __post_init__(self) -> None:
        if not (isinstance(self.share, Real) and 0 < self.share <= 1):
            raise InputError(
                f"ByVariance keeps a share of the variance above 0 and at most 1, got "
                f"{self.share!r}."
            )

    def choose(self, spectrum: Spectrum) -> int:
        """The smallest number of components that explains more than the share."""
        if spectrum.total == 0:
            return min(1, spectrum.limit)
        explained = np.cumsum(spectrum.squares[: spectrum.limit]) / spectrum.total
        # All of the variance is reached up to rounding, and never exceeded.
        goal = min(float(self.share), float(explained[-1]) * (1 - 1e-12))
        return min(int(np.searchsorted(explained, goal, side="right")) + 1, spectrum.limit)


@dataclass(frozen=True)
class ByEvidence:
    """The number of components of largest evidence, by Minka's approximation.

    Examples
    --------
    >>> ByEvidence()
    ByEvidence()
    """

    def scores(self, spectrum: Spectrum) -> Floats:
        """Log-evidence of 0, 1, 2, ... components, up to a constant that all share."""
        return log_evidences(spectrum)

    def choose(self, spectrum: Spectrum) -> int:
        """The number of largest evidence, at least 1 where there can be one."""
        scores = self.scores(spectrum)
        return int(np.argmax(scores[1:])) + 1 if len(scores) > 1 else min(1, spectrum.limit)


@dataclass(frozen=True)
class ByLikelihood:
    """The number of components under which rows that were left out are most probable.

    Parameters
    ----------
    folds : int of at least 2
    random_state : int
        Seed of the random assignment of rows to folds. Equal rows share a fold, wherever they
        stand, so that neither their order nor writing a row twice changes the choice.

    Notes
    -----
    Each fold is scored under the closed-form probabilistic PCA of the other rows, for every number
    of components at once. The rows themselves are needed, so such a fit has no statistics.

    Examples
    --------
    >>> ByLikelihood(folds=10)
    ByLikelihood(folds=10, random_state=0)
    """

    folds: int = 5
    random_state: int = 0

    def __post_init__(self) -> None:
        if not (isinstance(self.folds, Integral) and self.folds >= 2):
            raise InputError(f"ByLikelihood needs at least 2 folds, got {self.folds!r}.")
        if not (isinstance(self.random_state, Integral) and self.random_state >= 0):
            raise InputError(
                f"The random_state of ByLikelihood is an integer of at least 0, got "
                f"{self.random_state!r}."
            )


Rule = ByVariance | ByEvidence | ByLikelihood


def rule_of(n_components: Any) -> Rule | int | None:
    """What a value of the parameter `n_components` asks for.

    >>> rule_of(0.9), rule_of("mle"), rule_of(3)
    (ByVariance(share=0.9), ByEvidence(), 3)
    """
    if n_components is None or isinstance(n_components, Rule):
        return n_components
    if isinstance(n_components, str) and n_components == "mle":
        return ByEvidence()
    if isinstance(n_components, Integral):
        return int(n_components)
    return ByVariance(float(n_components))


def component_count(
    rule: Rule | int | None, spectrum: Spectrum, default: int, learner: str
) -> tuple[int, Floats | None]:
    """The number of components that a rule chooses, and its scores where it has some."""
    if rule is None:
        return default, None
    if isinstance(rule, ByEvidence):
        return rule.choose(spectrum), rule.scores(spectrum)
    if isinstance(rule, ByVariance):
        return rule.choose(spectrum), None
    if isinstance(rule, ByLikelihood):
        raise InputError(
            f"{learner} chooses by likelihood from rows, which sums have lost. Use ByEvidence() or "
            "ByVariance(share) here."
        )
    if rule > spectrum.limit:
        raise InputError(
            f"n_components={rule} must be between 0 and min(n_samples, n_features)="
            f"{spectrum.limit}. Choose fewer components, or add rows or columns."
        )
    return rule, None


# --- Evidence -------------------------------------------------------------------------------------


def log_evidences(spectrum: Spectrum) -> Floats:
    """Log-evidence of 0, 1, ..., r components, up to a constant that all share.

    r is one less than the rank, so that some noise is left; if the rows lie in a subspace although
    they could leave it, r is the rank, and its evidence `inf`.

    Notes
    -----
    O(r d) operations. Variances are the most likely ones, divided by the weight. Axes of equal
    variance cannot be told apart, and angles between them are no parameters.
    """
    n, d = spectrum.weight, spectrum.n_columns
    most = min(spectrum.rank, d) - 1
    if most < 0:
        return np.zeros(0)
    values = np.zeros(d)
    known = min(len(spectrum.squares), d)
    values[:known] = spectrum.squares[:known] / n
    k, i = np.arange(most + 1), np.arange(1, most + 1)
    noise = np.cumsum(values[::-1])[::-1][: most + 1] / (d - k)
    sphere = np.cumsum(special.gammaln((d - i + 1) / 2) - (d - i + 1) / 2 * np.log(np.pi))
    signal = np.cumsum(np.log(values[:most]))
    freedom = d * k - k * (k + 1) / 2
    scores = np.asarray(
        np.append(0.0, sphere)
        - k * np.log(2.0)
        - n / 2 * np.append(0.0, signal)
        - n * (d - k) / 2 * np.log(noise)
        + (freedom + k) / 2 * np.log(2 * np.pi)
        - np.append(0.0, _log_angles(values, most, n)) / 2
        - k / 2 * np.log(n)
    )
    return np.append(scores, np.inf) if spectrum.has_no_noise else scores


def _log_angles(values: Floats, most: int, n: float) -> Floats:
    """`log |A|` for 1, ..., `most` components: pairs within the signal, and with the noise."""
    d, signal = len(values), values[:most]
    gaps = np.triu(signal[:, None] - values[None, :], 1)
    told = gaps > _EQUAL * signal[:, None]
    logs = np.log(np.where(told, gaps, 1.0))
    # 1/l_j - 1/l_i = (l_i - l_j) / (l_i l_j) for two directions of the signal.
    products = np.log(signal)[:, None] + np.log(signal) - np.log(n)
    pairs = 2 * logs[:, :most] - told[:, :most] * products
    within = np.cumsum(pairs.sum(axis=0))
    # Row i, column k - 1: sums over the directions j beyond the first k.
    log_sums, counts = np.cumsum(logs, axis=1), np.cumsum(told, axis=1)
    beyond: Positions = counts[:, -1:] - counts[:, :most]
    noise = np.cumsum(values[::-1])[::-1][1 : most + 1] / (d - np.arange(1, most + 1))
    lift = np.maximum(1.0 / noise - 1.0 / signal[:, None], np.finfo(float).tiny)
    across = log_sums[:, -1:] - log_sums[:, :most] + beyond * (np.log(lift) + np.log(n))
    return np.asarray(within + np.triu(across).sum(axis=0))
