"""Diagnostics of residuals `e = y - predicted`: what a good fit leaves is noise without a pattern.

    bias                 mean of e is 0: t test
    slope                y rises by 1 for each 1 predicted: t test in the regression of y on it
    heteroscedasticity   e^2 does not depend on the prediction: Breusch & Pagan's test as
                         studentized by Koenker, n R^2 of e^2 on the prediction, chi2(1)
    normality            skewness and kurtosis are a normal law's: D'Agostino & Pearson, chi2(2)
    autocorrelation      neighbors in the order of the rows are unrelated: Ljung & Box's Q over
                         the first lags, chi2(lags); Durbin & Watson's statistic beside it

Each row counts once: weights say how much an error matters, not how it is distributed. A small
p-value means that a pattern is there, a large one that these rows do not show it.

References: Koenker (1981); D'Agostino & Pearson (1973); Ljung & Box (1978).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from novum.numerics import Floats, unit_scale

_LEAST_FOR_NORMALITY = 20
_MOST_LAGS = 10


@dataclass(frozen=True)
class Diagnosis:
    """The outcome of one check.

    Parameters
    ----------
    name, test : str
    statistic, p_value : float
        NaN where the rows allow no test.
    detail : str
        The effect in words and numbers.
    """

    name: str
    test: str
    statistic: float
    p_value: float
    detail: str

    def verdict(self, level: float = 0.95) -> str:
        """In words, at that confidence."""
        if math.isnan(self.p_value):
            return "not tested"
        return "a pattern" if self.p_value < 1 - level else "none seen"


def diagnose(true: Floats, predicted: Floats) -> tuple[Diagnosis, ...]:
    """All checks of the residuals of one target.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(40.0)
    >>> [check.name for check in diagnose(x + 3, x) if check.p_value < 0.05]
    []
    >>> noise = np.random.default_rng(0).normal(size=40)
    >>> [check.name for check in diagnose(x + noise + 3, x) if check.p_value < 0.05]
    ['bias']
    """
    # Near one, squares neither overflow nor vanish; powers of two change no statistic.
    residuals = true - predicted
    unit = unit_scale(np.abs(residuals).max(initial=0.0))
    scale = unit_scale(max(np.abs(true).max(initial=0.0), np.abs(predicted).max(initial=0.0)))
    residuals, true, predicted = unit * residuals, scale * true, scale * predicted
    return (
        _bias(residuals, float(unit)),
        _slope(true, predicted),
        _heteroscedasticity(residuals, predicted),
        _normality(residuals),
        _autocorrelation(residuals),
    )


def _bias(residuals: Floats, unit: float) -> Diagnosis:
    n, mean = residuals.size, float(residuals.mean())
    test, spread, detail = "t", _spread(residuals), f"mean residual {mean / unit:.4g}"
    if n < 2 or spread == 0:
        return Diagnosis("bias", test, math.nan, math.nan, f"{detail}, no spread")
    statistic = mean / (spread / math.sqrt(n))
    p_value = 2 * float(special.stdtr(n - 1, -abs(statistic)))
    return Diagnosis("bias", test, statistic, p_value, detail)


def _slope(true: Floats, predicted: Floats) -> Diagnosis:
    """Regression of y on the predictions: a slope below 1 means they are spread too far."""
    test = "t of slope - 1"
    if true.size < 3 or _spread(predicted) == 0 or _spread(true) == 0:
        return Diagnosis("slope", test, math.nan, math.nan, "too few or constant values")
    line = stats.linregress(predicted, true)
    slope, error = float(line.slope), float(line.stderr)
    if not error > 0:
        return Diagnosis("slope", test, math.nan, math.nan, f"slope {slope:.4g}, no scatter")
    statistic = (slope - 1) / error
    p_value = 2 * float(special.stdtr(true.size - 2, -abs(statistic)))
    return Diagnosis("slope", test, statistic, p_value, f"slope {slope:.4g}, {error:.2g} off")


def _heteroscedasticity(residuals: Floats, predicted: Floats) -> Diagnosis:
    test = "Breusch-Pagan (Koenker)"
    centered = residuals - residuals.mean()
    squares = centered**2
    if residuals.size < 3 or _spread(squares) == 0 or _spread(predicted) == 0:
        text = "too few or constant values"
        return Diagnosis("heteroscedasticity", test, math.nan, math.nan, text)
    relation = float(np.corrcoef(squares, predicted)[0, 1])
    statistic = residuals.size * relation**2
    trend = "grows" if relation > 0 else "falls"
    detail = f"spread {trend} with the prediction, r = {relation:.2f}"
    p_value = float(special.chdtrc(1, statistic))
    return Diagnosis("heteroscedasticity", test, statistic, p_value, detail)


def _normality(residuals: Floats) -> Diagnosis:
    test = "D'Agostino-Pearson"
    if residuals.size < _LEAST_FOR_NORMALITY or _spread(residuals) == 0:
        text = f"needs {_LEAST_FOR_NORMALITY} rows that differ"
        return Diagnosis("normality", test, math.nan, math.nan, text)
    outcome = stats.normaltest(residuals)
    skew, excess = float(stats.skew(residuals)), float(stats.kurtosis(residuals))
    detail = f"skewness {skew:.2f}, excess kurtosis {excess:.2f}"
    return Diagnosis("normality", test, float(outcome.statistic), float(outcome.pvalue), detail)


def _autocorrelation(residuals: Floats) -> Diagnosis:
    test = "Ljung-Box"
    n = residuals.size
    lags = min(_MOST_LAGS, n // 5)
    if lags < 1 or _spread(residuals) == 0:
        return Diagnosis("autocorrelation", test, math.nan, math.nan, "too few or constant values")
    relations = autocorrelations(residuals, lags)
    statistic = float(n * (n + 2) * np.sum(relations**2 / (n - np.arange(1, lags + 1))))
    watson = float(np.sum(np.diff(residuals) ** 2) / np.sum(residuals**2))
    detail = f"lag 1: {relations[0]:.2f}; Durbin-Watson {watson:.2f}; {lags} lags, rows in order"
    return Diagnosis(
        "autocorrelation", test, statistic, float(special.chdtrc(lags, statistic)), detail
    )


def autocorrelations(residuals: Floats, lags: int) -> Floats:
    """Correlations of residuals with those 1, ..., lags rows before, of shape (lags,).

    Examples
    --------
    >>> import numpy as np
    >>> autocorrelations(np.array([1.0, -1.0, 1.0, -1.0]), 2).tolist()
    [-0.75, 0.5]
    """
    centered = residuals - residuals.mean()
    total = float(centered @ centered)
    return np.array([float(centered[lag:] @ centered[:-lag]) / total for lag in range(1, lags + 1)])


def _spread(values: Floats) -> float:
    """Standard deviation; 0 where the values differ by rounding only."""
    if values.size < 2:
        return 0.0
    scale = float(np.abs(values).max())
    deviation = float(values.std(ddof=1))
    return 0.0 if deviation <= 8 * np.finfo(float).eps * scale else deviation
