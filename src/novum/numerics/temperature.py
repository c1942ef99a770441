"""Temperature: one number that makes posteriors of scores neither too sure nor too unsure.

    minimize over beta = 1 / temperature    - sum_i w_i log softmax(beta z_i)_{y_i}

The loss is convex in beta with slope  sum_i w_i (E_p[z_i] - z_iy)  and curvature the weighted
variance of the scores under their own posteriors, so its minimum is a root of a rising function:
bracketed, then found to the last digits. Classes keep their order in every row.

If every row's own class has its largest score, a lower temperature is always better; if the scores
are no better than none, a higher one is. The search then ends at the bounds `exp(-10)` and
`exp(10)`, in units of the inverse spread of the scores, and says so.

Reference: Guo, Pleiss, Sun & Weinberger, ICML 2017, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

Floats = NDArray[np.float64]

_LOG_BOUND = 10.0


@dataclass(frozen=True, eq=False)
class TemperatureMap:
    """`softmax(inverse_temperature z)`, and how well it was fitted.

    Attributes
    ----------
    inverse_temperature : float
    loss, residual : float
        Mean log loss of the fit, and its slope there, in units of the spread of the scores.
    bound : {"", "low", "high"}
        Which end of the search the result is at.

    Examples
    --------
    >>> TemperatureMap(1.0).predict([[0.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """

    inverse_temperature: float
    loss: float = 0.0
    residual: float = 0.0
    bound: str = ""

    @property
    def temperature(self) -> float:
        return 1 / self.inverse_temperature

    def predict(self, scores: ArrayLike) -> Floats:
        """Posteriors of scores of shape (n, K)."""
        scaled = self.inverse_temperature * np.asarray(scores, float)
        return np.asarray(special.softmax(scaled, axis=1))


def fit_temperature(
    scores: ArrayLike, codes: ArrayLike, weight: ArrayLike | None = None
) -> TemperatureMap:
    """The temperature of least log loss.

    Parameters
    ----------
    scores : array of shape (n, K)
        Finite, such as logarithms of probabilities.
    codes : int array of shape (n,)
        The class of each row.
    weight : array of shape (n,), optional
        Not negative, at least one positive.

    Examples
    --------
    Three of four rows agree with the score, so its odds should be three to one.

    >>> z = [[0.0, 5.0]] * 4
    >>> fit_temperature(z, [1, 1, 1, 0]).predict(z[:1]).round(6).tolist()
    [[0.25, 0.75]]
    """
    z, y, w = _checked(scores, codes, weight)
    z = z - z[np.arange(len(z)), y][:, np.newaxis]
    spread = float(np.abs(z).max())
    if spread == 0:
        return TemperatureMap(1.0, float(np.log(z.shape[1])))
    z = z / spread

    def loss(beta: float) -> float:
        return float(w @ special.logsumexp(beta * z, axis=1))

    def slope(beta: float) -> float:
        return float(w @ np.einsum("ik,ik->i", special.softmax(beta * z, axis=1), z))

    low, high = np.exp(-_LOG_BOUND), np.exp(_LOG_BOUND)
    if slope(low) >= 0:
        beta, bound = low, "low"
    elif slope(high) <= 0:
        beta, bound = high, "high"
    else:
        beta, bound = optimize.brentq(slope, low, high, xtol=1e-300, rtol=1e-14), ""
    return TemperatureMap(float(beta / spread), loss(beta), abs(slope(beta)), bound)


def _checked(
    scores: ArrayLike, codes: ArrayLike, weight: ArrayLike | None
) -> tuple[Floats, NDArray[np.intp], Floats]:
    z, y = np.asarray(scores, np.float64), np.asarray(codes)
    w = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    if z.ndim != 2 or y.shape != (len(z),) or w.shape != y.shape or y.dtype.kind not in "iu":
        raise ValueError(
            f"Scores have shape (n, K), codes and weights (n,); got {z.shape}, {y.shape} of "
            f"{y.dtype}, and {w.shape}."
        )
    if len(z) == 0 or y.min() < 0 or y.max() >= z.shape[1]:
        raise ValueError(f"Codes of classes are 0 to {z.shape[1] - 1}, one for each row.")
    if not np.isfinite(z).all():
        row = int(np.flatnonzero(~np.isfinite(z).all(axis=1))[0])
        raise ValueError(f"Row {row} has the scores {z[row].tolist()}; all must be finite.")
    if not (np.isfinite(w) & (w >= 0)).all() or not w.any():
        raise ValueError("Weights are finite, not negative, and at least one is positive.")
    kept = w > 0
    return z[kept], y[kept].astype(np.intp), w[kept] / w.sum()
