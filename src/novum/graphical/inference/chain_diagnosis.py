"""Whether Markov chains have mixed, and how exact their averages are.

Draws have the shape (n_chains, n_draws, ...); each trailing cell is judged on its own. Chains are
cut in halves, so that a drift within a chain shows like a difference between chains.

    R-hat           sqrt(((n - 1) W / n + B / n) / W)       W, B: variances within, between chains
    effective size  m n / (1 + 2 sum of autocorrelations)   summed while pairs of them are positive
                                                            and falling (Geyer 1992)
    error           sqrt(variance / effective size), a little more where few draws make the variance

Rank-normalized R-hat puts normal scores in place of the draws, of their size and of their distance
to the median, and takes the larger: it also notices chains of equal means and unequal spread
(Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.numerics import Floats

# What a half chain needs for a variance.
LEAST_DRAWS = 4
# Half chains up to this length are correlated lag by lag, which stops where nothing is left.
SHORT = 128


def split_r_hat(draws: ArrayLike) -> Floats:
    """Spread between half chains over the spread within; near 1 where they agree.

    Constant draws have 1; chains that each stand still at different places have infinity.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> mixed = rng.normal(size=(4, 500))
    >>> bool(split_r_hat(mixed) < 1.01), bool(split_r_hat(mixed + np.arange(4)[:, None]) > 1.4)
    (True, True)
    """
    return _r_hat(_spread(draws))


def rank_r_hat(draws: ArrayLike) -> Floats:
    """R-hat of normal scores, of the draws or of their distances to the median, if larger.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> unequal = rng.normal(size=(4, 500)) * np.array([1, 1, 1, 4])[:, None]
    >>> bool(split_r_hat(unequal) < 1.05), bool(rank_r_hat(unequal) > 1.1)
    (True, True)
    """
    array = _checked(draws)
    folded = np.abs(array - np.median(array, axis=(0, 1)))
    return np.maximum(split_r_hat(_normal_scores(array)), split_r_hat(_normal_scores(folded)))


def effective_size(draws: ArrayLike) -> Floats:
    """Independent draws whose mean is as exact as that of these.

    Constant draws count in full: their mean is exact.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(3000 < effective_size(rng.normal(size=(4, 1000))) < 5000)
    True
    """
    return _variance_and_size(_spread(draws))[1]


def monte_carlo_error(draws: ArrayLike) -> Floats:
    """Standard error of the mean of all draws."""
    return _error(_spread(draws))


def judged(draws: ArrayLike) -> tuple[Floats, Floats]:
    """`monte_carlo_error` and `split_r_hat` at once."""
    spread = _spread(draws)
    return _error(spread), _r_hat(spread)


@dataclass(frozen=True, eq=False)
class _Spread:
    """Half chains around their means, and variances within and between them, 0 where rounding."""

    centered: Floats
    within: Floats
    between: Floats
    tiny: Floats


def _spread(draws: ArrayLike) -> _Spread:
    halves = _halves(draws)
    m, n = halves.shape[:2]
    means = halves.mean(axis=1)
    centered = halves - means[:, np.newaxis]
    within = np.einsum("mn...,mn...->...", centered, centered) / (m * (n - 1))
    # Rounding in a mean of equal numbers is no spread.
    tiny = (np.abs(halves).max(axis=(0, 1)) * 1e-14) ** 2
    return _Spread(centered, within, means.var(axis=0, ddof=1), tiny)


def _r_hat(spread: _Spread) -> Floats:
    n = spread.centered.shape[1]
    within = np.where(spread.within > spread.tiny, spread.within, 0.0)
    between = np.where(spread.between > spread.tiny, spread.between, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((n - 1) / n + between / within)
    return np.where((within == 0) & (between == 0), 1.0, ratio)


def _error(spread: _Spread) -> Floats:
    variance, size = _variance_and_size(spread)
    squares = spread.centered**2
    total = squares.sum(axis=(0, 1))
    # The largest deviation counts once more: of rare events the next may be missing.
    share = squares.max(axis=(0, 1)) / np.where(total > 0, total, 1.0)
    return np.sqrt(variance * (1 + share) / size)


def _variance_and_size(spread: _Spread) -> tuple[Floats, Floats]:
    """Variance of the draws, from within and between chains, and the effective size."""
    m, n = spread.centered.shape[:2]
    variance = spread.within * (n - 1) / n + spread.between
    moving = variance > spread.tiny
    safe = np.where(moving, variance, 1.0)
    time = _correlation_time(spread.centered, spread.within, safe)
    # Chains that alternate can beat independent draws, but no estimate of it is good beyond this.
    time = np.maximum(time, 1 / np.log10(max(m * n, 10)))
    return np.where(moving, variance, 0.0), np.where(moving, m * n / time, float(m * n))


def _correlation_time(centered: Floats, within: Floats, variance: Floats) -> Floats:
    """`1 + 2 * sum` of autocorrelations; of few draws lag by lag, of many by Fourier transform."""
    if centered.shape[1] > SHORT:
        covariances = _autocovariances(centered).mean(axis=1)
        return _monotone_sum(1 - (within - covariances) / variance)
    from novum.graphical.inference.chain_diagnosis_kernels import correlation_times

    by_cell = np.ascontiguousarray(np.moveaxis(centered, (0, 1), (-2, -1)))
    time = np.empty(within.shape)
    correlation_times(
        by_cell.reshape(-1, *centered.shape[:2]), np.ravel(within), np.ravel(variance), time.ravel()
    )
    return time


def _monotone_sum(correlations: Floats) -> Floats:
    """`1 + 2 * sum` of autocorrelations, by sums of neighbors that are positive and falling."""
    n_pairs = len(correlations) // 2
    head = correlations.copy()
    head[0] = 1.0
    pairs = head[: 2 * n_pairs : 2] + head[1 : 2 * n_pairs : 2]
    alive = np.logical_and.accumulate(pairs > 0, axis=0)
    falling = np.minimum.accumulate(pairs, axis=0)
    return -1 + 2 * np.where(alive, falling, 0.0).sum(axis=0)


def _autocovariances(centered: Floats) -> Floats:
    """Of shape (n_draws, n_chains, ...), by lag, by the fast Fourier transform."""
    n = centered.shape[1]
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(np.moveaxis(centered, 1, 0), length, axis=0)
    return np.fft.irfft(np.abs(spectrum) ** 2, length, axis=0)[:n] / n


def _normal_scores(values: Floats) -> Floats:
    """Ranks (means of ties) of all draws of a cell as normal quantiles (Blom 1958)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    flat = values.reshape(values.shape[0] * values.shape[1], -1)
    ranks = rankdata(flat, axis=0)
    scores: Floats = ndtri((ranks - 0.375) / (len(flat) + 0.25))
    return scores.reshape(values.shape)


def _checked(draws: ArrayLike) -> Floats:
    array = np.asarray(draws, dtype=np.float64)
    if array.ndim < 2 or array.shape[0] < 1 or array.shape[1] < LEAST_DRAWS:
        raise InputError(
            "Draws have the shape (chains, draws, ...) with at least one chain of "
            f"{LEAST_DRAWS} draws, got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise InputError("Draws must be finite; some are NaN or infinite.")
    return array


def _halves(draws: ArrayLike) -> Floats:
    """First and second halves as chains of their own; a draw in the middle is left out."""
    array = _checked(draws)
    n = array.shape[1] // 2
    return np.concatenate([array[:, :n], array[:, array.shape[1] - n :]])
