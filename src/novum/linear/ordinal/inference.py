"""What an ordinal regression says about its coefficients.

Near the optimum the likelihood is that of a normal law, whose covariance is the inverse of the
observed information, the Hessian of the negative log-likelihood. Under the logit link `exp(b_j)` is
the factor by which the odds of a higher class grow with one unit of column j, at every threshold:

    odds(class > k | x_j + 1) = exp(b_j) odds(class > k | x_j).

Without columns the likelihood has a closed form, the shares of the classes, so the likelihood-ratio
test of all coefficients comes for free.

The test of parallel slopes asks whether a column shifts all thresholds alike. The model says
`P(class <= k | x) = F(theta_k - x'b)` with one `b` for all k. The wider model has its own
`b_k = b + d_k` at each threshold. Under the model the score of the `d_k` at the estimate is
asymptotically normal with the information that estimating `theta` and `b` leaves,

    S = U' (I_dd - I_dn I_nn^-1 I_nd)^-1 U   ~   chi squared on rank (K - 2) degrees,

Rao's score test; only the estimated model is fitted. A column alone has `K - 2` degrees. The
information is the expected one: with `s_k` the slope of the log-likelihood by `theta_k - x'b_k`,

    E s_k^2 = f_k^2 (1 / p_k + 1 / p_k+1),        E s_k s_k+1 = -f_k f_k+1 / p_k+1.

Reference: Peterson and Harrell, Applied Statistics 39 (1990), 205-217.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from novum.core.errors import InputError
from novum.core.sums import Additive
from novum.core.text import printable
from novum.display import element
from novum.linear.ordinal.links import Link
from novum.linear.ordinal.newton import interval_ends
from novum.linear.ordinal.rows import Coordinates, OrdinalRows, Passes
from novum.numerics import Floats


@dataclass(frozen=True, eq=False)
class OrdinalInference:
    """Standard errors, tests and intervals of an ordinal regression.

    Arrays have the coefficients first and the thresholds after them.

    Attributes
    ----------
    names : tuple of str
        Of coefficients, then of thresholds as `lower|upper`.
    n_coefs : int
    values, standard_errors : arrays of shape (n_coefs + n_thresholds,)
        NaN errors where the rows leave a coefficient open.
    log_likelihood, null_log_likelihood : float
        With all columns, and with thresholds only.
    rank : int
        Coefficients that the rows determine.
    weight : float
        Number of rows, by their weights.
    link : str
    """

    names: tuple[str, ...]
    n_coefs: int
    values: Floats
    standard_errors: Floats
    log_likelihood: float
    null_log_likelihood: float
    rank: int
    weight: float
    link: str

    @property
    def coef(self) -> Floats:
        return self.values[: self.n_coefs]

    @property
    def thresholds(self) -> Floats:
        return self.values[self.n_coefs :]

    @property
    def z_values(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.values / self.standard_errors)

    @property
    def p_values(self) -> Floats:
        """Two-sided p values of Wald's test that a value is zero."""
        return np.asarray(2 * special.ndtr(-np.abs(self.z_values)))

    def intervals(self, confidence: float = 0.95) -> Floats:
        """Confidence intervals, lower and upper ends along the last axis."""
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is a probability between 0 and 1, got {confidence!r}.")
        half = special.ndtri((1 + confidence) / 2) * self.standard_errors
        return np.stack([self.values - half, self.values + half], axis=-1)

    @property
    def odds_ratios(self) -> Floats:
        """Factor of the odds of a higher class for one unit of each column."""
        self._require_odds()
        return np.exp(self.coef)

    def odds_ratio_intervals(self, confidence: float = 0.95) -> Floats:
        """Confidence intervals of the odds ratios."""
        self._require_odds()
        return np.exp(self.intervals(confidence)[: self.n_coefs])

    @property
    def likelihood_ratio(self) -> float:
        """Twice the gain of log-likelihood by all columns."""
        return max(0.0, 2 * (self.log_likelihood - self.null_log_likelihood))

    @property
    def likelihood_ratio_p_value(self) -> float:
        """Of the test that all coefficients are zero; NaN without columns that vary."""
        if self.rank == 0:
            return float("nan")
        return float(special.chdtrc(self.rank, self.likelihood_ratio))

    @property
    def pseudo_r_squared(self) -> float:
        """McFadden's: the share of the null log-likelihood that the columns remove."""
        return 1 - self.log_likelihood / self.null_log_likelihood

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * self._free - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion."""
        return float(np.log(self.weight)) * self._free - 2 * self.log_likelihood

    @property
    def _free(self) -> int:
        return self.rank + len(self.thresholds)

    def _require_odds(self) -> None:
        if self.link != "logit":
            raise InputError(
                f"Odds ratios belong to the logit link, and this model has {self.link!r}. Fit with "
                "link='logit', or read `coef` as shifts in standard deviations."
            )

    def __repr__(self) -> str:
        names = [printable(name) for name in self.names]
        width, ends = max(map(len, names)), self.intervals()
        lines = [
            f"{'':{width}}  {'value':>12} {'std err':>11} {'z':>9} {'P>|z|':>9}   95 % interval"
        ]
        for j, name in enumerate(names):
            lines.append(
                f"{name:{width}}  {self.values[j]:12.6g} {self.standard_errors[j]:11.4g} "
                f"{self.z_values[j]:9.4g} {self.p_values[j]:9.2g}   "
                f"[{ends[j, 0]:.6g}, {ends[j, 1]:.6g}]"
            )
        lines.append(
            f"log-likelihood {self.log_likelihood:.6g} (thresholds only "
            f"{self.null_log_likelihood:.6g}), likelihood ratio {self.likelihood_ratio:.6g} on "
            f"{self.rank} degrees of freedom, p = {self.likelihood_ratio_p_value:.2g}"
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return element("pre", repr(self))


# Scores of the estimate itself are zero for the rows it was estimated from.
_STATIONARY = 1e-4


@dataclass(frozen=True, eq=False)
class ProportionalOddsTest:
    """Score test that one coefficient serves all thresholds, over all columns and by column.

    Attributes
    ----------
    statistic, degrees_of_freedom, p_value
        Of all columns together.
    names : tuple of str
    column_statistics, column_p_values : arrays of shape (n_coefs,)
        Of each column alone; NaN for a column that does not vary.
    column_degrees_of_freedom : int
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    names: tuple[str, ...]
    column_statistics: Floats
    column_p_values: Floats
    column_degrees_of_freedom: int

    def __repr__(self) -> str:
        names = [printable(name) for name in self.names]
        width = max([len("all columns"), *map(len, names)])
        lines = [f"{'':{width}}  {'chi2':>10} {'df':>4} {'P':>9}"]
        cells = zip(names, self.column_statistics, self.column_p_values, strict=True)
        for name, statistic, p_value in cells:
            lines.append(
                f"{name:{width}}  {statistic:10.5g} {self.column_degrees_of_freedom:4d} "
                f"{p_value:9.2g}"
            )
        lines.append(
            f"{'all columns':{width}}  {self.statistic:10.5g} {self.degrees_of_freedom:4d} "
            f"{self.p_value:9.2g}"
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return element("pre", repr(self))


@dataclass(frozen=True, eq=False)
class ScoreSums(Additive):
    """Score (m, rank + 1) and information of thresholds with slopes of their own."""

    score: Floats
    information: Floats
    weight: float


@dataclass(frozen=True, eq=False)
class ScoreStep:
    """The step over chunks: scores and expected information at given parameters."""

    link: Link
    params: Floats
    m: int

    def __call__(self, rows: OrdinalRows) -> ScoreSums:
        m, width = self.m, rows.z.shape[1] + 1
        derivatives = self.link.slopes(*interval_ends(self.params, rows, m))
        n = np.arange(len(rows.codes))
        slopes = np.zeros((len(n), m + 2))
        slopes[n, rows.codes + 1] = derivatives.upper
        slopes[n, rows.codes] += derivatives.lower
        design = np.column_stack([np.ones(len(n)), rows.z])
        weighted = rows.weight[:, np.newaxis] * slopes[:, 1:-1]
        information = np.zeros((m, width, m, width))
        for k, (own, next_) in enumerate(self._expected(rows)):
            information[k, :, k, :] = (design * (rows.weight * own)[:, np.newaxis]).T @ design
            if k + 1 < m:
                shared = (design * (rows.weight * next_)[:, np.newaxis]).T @ design
                information[k, :, k + 1, :] = information[k + 1, :, k, :] = shared
        size = m * width
        return ScoreSums(
            weighted.T @ design, information.reshape(size, size), float(rows.weight.sum())
        )

    def _expected(self, rows: OrdinalRows) -> list[tuple[Floats, Floats]]:
        """For each threshold the expectations of `s_k^2` and of `s_k s_k+1` in every row."""
        slopes, densities = [], []
        for k in range(self.m + 1):
            ends = interval_ends(
                self.params, rows._replace(codes=np.full_like(rows.codes, k)), self.m
            )
            slopes.append(self.link.slopes(*ends))
            densities.append(self.link.density(ends[0]))
        pairs = []
        for k in range(self.m):
            own = densities[k] * (slopes[k].upper - slopes[k + 1].lower)
            pairs.append((own, slopes[k + 1].lower * densities[k + 1]))
        return pairs


def proportional_odds_test(
    link: Link, coordinates: Coordinates, params: Floats, passes: Passes, names: tuple[str, ...]
) -> ProportionalOddsTest:
    """The test at the estimated `params` (thresholds, then coordinates)."""
    m, rank = coordinates.n_thresholds, coordinates.rank
    sums: ScoreSums = passes(ScoreStep(link, params, m))
    map_, n_nuisance = _deviations(m, rank)
    score, information = map_.T @ sums.score.ravel(), map_.T @ sums.information @ map_
    _refuse_other_rows(score[:n_nuisance], sums.weight)
    left = _left_over(information, n_nuisance)
    gain = score[n_nuisance:]
    statistic, freedom = _quadratic(gain, left)
    # A deviation of one column is that of the coordinates along its loadings.
    back = coordinates.loadings
    by_column = [_column(gain, left, back[j], m) for j in range(len(names))]
    return ProportionalOddsTest(
        statistic,
        freedom,
        float(special.chdtrc(freedom, statistic)) if freedom else float("nan"),
        names,
        np.array([one for one, _ in by_column]),
        np.array([p for _, p in by_column]),
        m - 1,
    )


def _deviations(m: int, rank: int) -> tuple[Floats, int]:
    """From slopes at each threshold to thresholds, common slopes, and deviations from them.

    Rows are (threshold k; 1, z); columns theta_k, b, d_1, ..., d_m-1.
    """
    width, n_nuisance = rank + 1, m + rank
    deviations = np.zeros((m * width, n_nuisance + rank * (m - 1)))
    for k in range(m):
        deviations[k * width, k] = 1.0
        slopes = np.arange(rank)
        deviations[k * width + 1 + slopes, m + slopes] = -1.0
        if k:
            deviations[k * width + 1 + slopes, n_nuisance + (k - 1) * rank + slopes] = -1.0
    return deviations, n_nuisance


def _left_over(information: Floats, n_nuisance: int) -> Floats:
    nuisance = information[:n_nuisance, :n_nuisance]
    shared = information[:n_nuisance, n_nuisance:]
    solved = linalg.lstsq(nuisance, shared)[0]
    return np.asarray(information[n_nuisance:, n_nuisance:] - shared.T @ solved)


def _quadratic(score: Floats, information: Floats) -> tuple[float, int]:
    """`U' I^- U` and the rank of I, on the directions in which there is information."""
    if not score.size:
        return 0.0, 0
    values, vectors = linalg.eigh(information)
    kept = values > 1e-10 * max(float(values[-1]), 0.0)
    turned = vectors[:, kept].T @ score
    return float((turned**2 / values[kept]).sum()), int(kept.sum())


def _column(score: Floats, information: Floats, weights: Floats, m: int) -> tuple[float, float]:
    if not weights.any():
        return float("nan"), float("nan")
    turn = np.kron(np.eye(m - 1), weights[:, np.newaxis])
    statistic, freedom = _quadratic(turn.T @ score, turn.T @ information @ turn)
    return statistic, float(special.chdtrc(freedom, statistic)) if freedom else float("nan")


def _refuse_other_rows(score: Floats, weight: float) -> None:
    if np.abs(score).max(initial=0.0) > _STATIONARY * weight:
        raise InputError(
            "The model is not the estimate of these rows: the slope of their likelihood at its "
            "parameters is not zero. Pass the X, y and sample_weight that it was fitted to."
        )
