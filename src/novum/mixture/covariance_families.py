"""Families of covariances of mixtures, and the likeliest member of each.

With `C_k = lambda_k U_k A_k U_k'` (volume, shape, orientation) a family says what components share.
Given expected weights N_k and scatters W_k of components the likeliest covariances are

    full      VVV   W_k / N_k                    spherical  VII   trace(W_k) / (d N_k)
    tied      EEE   sum W_k / N                  EII              sum trace(W_k) / (d N)
    diag      VVI   diag(W_k) / N_k              EEI              diag(sum W_k) / N
    EEV             U_k diag(sum_k e_k) U_k' / N, where W_k = U_k diag(e_k) U_k', e_k falling
    EVI, EVV        v diag(W_k) / |diag(W_k)|^(1/d), v W_k / |W_k|^(1/d): one volume, the rest own,
                    where v = sum_k |.|^(1/d) / N
    fixed           as given

Among covariances of which no direction has less than `floor` of the variance of its columns the
likeliest has the eigenvalues below it raised to it (Theobald 1975), in each of these families but
those of one volume, whose other eigenvalues then move too (`_of_one_volume`); so the floor keeps
components from collapsing and the likelihood from falling.

Reference: Celeux and Govaert (1995). Gaussian parsimonious clustering models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.numerics import Floats

NAMES = (
    *("full", "tied", "diag", "spherical"),
    *("EII", "VII", "EEI", "EVI", "VVI", "EEE", "EEV", "EVV", "VVV"),
)

_ALIASES = {"VVV": "full", "EEE": "tied", "VVI": "diag", "VII": "spherical"}
_BY_COLUMN = ("diag", "spherical", "EII", "EEI", "EVI")


@dataclass(frozen=True)
class Family:
    """A family of covariances; `floor` in units of the columns' variances.

    Examples
    --------
    >>> family = Family.named("spherical", 1e-6)
    >>> family.likeliest(np.array([4.0]), np.array([[4.0, 12.0]]), np.ones((1, 2))).tolist()
    [[2.0, 2.0]]
    """

    name: str
    floor: float = 0.0

    @classmethod
    def named(cls, name: str, floor: float) -> Family:
        return cls(_ALIASES.get(name, name), floor)

    @property
    def is_by_column(self) -> bool:
        """Whether columns are uncorrelated within components."""
        return self.name in _BY_COLUMN

    @property
    def has_one_unit(self) -> bool:
        """Whether columns must keep the ratio of their units."""
        return self.name in ("spherical", "EII")

    @property
    def is_extrapolated(self) -> bool:
        """Whether a step beyond the likeliest member stays in the family."""
        return self.name not in ("EEV", "EVI", "EVV", "fixed")

    def likeliest(self, weight: Floats, scatter: Floats, before: Floats) -> Floats:
        """The covariances, in the form of `before`; those without weight stay as they were."""
        total = float(weight.sum())
        there = weight > 0
        counts = np.where(there, weight, 1.0)
        if len(scatter) == len(weight):
            scatter = np.where(there.reshape(-1, *[1] * (scatter.ndim - 1)), scatter, 0.0)
        if self.name == "fixed":
            return before
        if self.name == "tied":
            return self.raised(scatter.sum(axis=0)[None] / total)
        if self.name == "EEI":
            return self.raised(np.tile(scatter.sum(axis=0) / total, (len(weight), 1)))
        if self.name == "EII":
            return self.raised(np.full_like(before, scatter.sum() / total / scatter.shape[1]))
        if self.name == "EEV":
            values, axes = np.linalg.eigh(scatter)
            shape = np.maximum(values.sum(axis=0) / total, self.floor)
            covariances = (axes * shape) @ axes.transpose(0, 2, 1)
            return np.where(there[:, None, None], covariances, before)
        if self.name in ("EVI", "EVV"):
            alive = np.flatnonzero(there)
            covariances = before.copy()
            if self.name == "EVI":
                covariances[alive] = _of_one_volume(scatter[alive], total, self.floor)
                return covariances
            values, axes = np.linalg.eigh(scatter[alive])
            shape = _of_one_volume(np.maximum(values, 0.0), total, self.floor)
            covariances[alive] = (axes * shape[:, None, :]) @ axes.transpose(0, 2, 1)
            return covariances
        if self.name == "spherical":
            covariances = np.repeat(
                scatter.mean(axis=1)[:, None] / counts[:, None], before.shape[1], 1
            )
        elif self.name == "diag":
            covariances = scatter / counts[:, None]
        else:
            covariances = scatter / counts[:, None, None]
        there = there.reshape(-1, *[1] * (covariances.ndim - 1))
        return np.where(there, self.raised(np.where(there, covariances, before)), before)

    def raised(self, covariances: Floats) -> Floats:
        """No direction below the floor."""
        if covariances.ndim == 2:
            return np.maximum(covariances, self.floor)
        return np.array([_raised(matrix, self.floor) for matrix in covariances])

    def n_collapsed(self, weights: Floats, covariances: Floats) -> int:
        """Components with a direction at the floor: a few rows, or rows that agree in a column.

        What they add to the likelihood is only as large as the floor lets it be.
        """
        if self.floor == 0 or self.name in ("fixed", "tied", "EEI", "EII", "EEV"):
            return 0
        if covariances.ndim == 2:
            least = covariances.min(axis=1)
        else:
            least = np.linalg.eigvalsh(covariances)[:, 0]
        return int(((least <= 1.001 * self.floor) & (weights > 0)).sum())

    def shown(self, covariances: Floats) -> Floats:
        """In scikit-learn's shape: (K, d, d), (d, d) tied, (K, d) diag, (K,) spherical."""
        if self.has_one_unit:
            return np.array(covariances[:, 0])
        return np.array(covariances[0] if self.name == "tied" else covariances)

    def n_free(self, n_components: int, n_columns: int) -> int:
        """Free numbers of the covariances."""
        K, d = n_components, n_columns
        whole = d * (d + 1) // 2
        return {
            "full": K * whole,
            "tied": whole,
            "diag": K * d,
            "EEI": d,
            "spherical": K,
            "EII": 1,
            "EEV": d + K * (whole - d),
            "EVI": 1 + K * (d - 1),
            "EVV": 1 + K * (whole - 1),
            "fixed": 0,
        }[self.name]


def _of_one_volume(spectra: Floats, total: float, floor: float) -> Floats:
    """The likeliest eigenvalues (K, d) of equal product, none below the floor.

    Solves min sum_kj N_k s_kj + e_kj exp(-s_kj) over logarithms s subject to sum_j s_kj = t for all
    k, s_kj >= log floor, given the spectra e of the scatters and N = sum_k N_k. For a volume t the
    logarithms of a component are those of `e_k / m_k`, raised to the floor, and m_k follows from
    their sum; the best volume has `sum_k m_k = N`, and the sum falls as t grows: halving finds it.
    """
    d = spectra.shape[1]
    if not (floor > 0 or (spectra > 0).all()):
        return np.zeros_like(spectra)
    logs = np.log(np.maximum(spectra, 1e-300))
    middle = logs.mean(axis=1, keepdims=True)
    volume = np.log(np.exp(middle).sum() / total)
    low = np.log(floor) if floor > 0 else -np.inf
    if (logs - middle + volume).min() >= low:
        return np.exp(logs - middle + volume)
    falling = -np.sort(-logs, axis=1)
    sums, free = np.cumsum(falling, axis=1), np.arange(1, d + 1)

    def multipliers(t: float) -> Floats:
        """`log m_k` for the volume t: as many eigenvalues are free as stay above the floor."""
        each = (sums - (t - (d - free) * low)) / free
        fits = falling - each >= low
        count = np.where(fits.any(axis=1), d - 1 - fits[:, ::-1].argmax(axis=1), 0)
        return np.asarray(each[np.arange(len(each)), count])

    # All at the floor, and a volume at which a single component would have too small a share.
    a, b = d * low, d * low + 1.0
    while np.exp(multipliers(b)).sum() > total:
        b = d * low + 2.0 * (b - d * low)
    for _ in range(200):
        t = 0.5 * (a + b)
        if not a < t < b:
            break
        a, b = (t, b) if np.exp(multipliers(t)).sum() > total else (a, t)
    return np.exp(np.maximum(logs - multipliers(b)[:, None], low))


def _raised(matrix: Floats, floor: float) -> Floats:
    """A covariance whose eigenvalues below the floor are raised to it."""
    if not floor > 0:
        return matrix
    try:
        # The root exists exactly when every eigenvalue is above the floor.
        np.linalg.cholesky(matrix - floor * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        values, axes = np.linalg.eigh(matrix)
        lifted = (axes * np.maximum(values, floor)) @ axes.T
        return np.asarray((lifted + lifted.T) / 2)
    return matrix
