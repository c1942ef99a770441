"""Log-likelihood of rows that were left out, for every number of components at once.

Under k components with variances `l_j` along the axes `u_j` and noise v (probabilistic PCA) a row
at distance `x` from the mean has

    -2 log p(x) = d log(2 pi) + sum_(j<=k) log l_j + (d - k) log v
                  + sum_(j<=k) z_j^2 / l_j + (|x|^2 - z_1^2 - ... - z_k^2) / v,     z_j = u_j'x,

so the sums of `z_j^2` over the rows of a fold are all that is needed, and running sums over j give
every k. Variances and noise are the most likely ones of the other rows. Where these lie exactly in
a subspace although they are enough to leave it, there is no noise for `k = rank`: rows in the
subspace have an infinite likelihood, others none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import stream
from novum.core.tables import Sample
from novum.decomposition.centered_rows import dense_blocks
from novum.decomposition.component_choice import ByLikelihood
from novum.decomposition.spectrum import Spectrum, rounding
from novum.numerics import Floats, Positions


def held_out_scores(
    rule: ByLikelihood, sample: Sample, solve: Callable[[Sample], Spectrum]
) -> Floats:
    """Mean log-likelihood of a held-out row under 0, 1, ..., r components.

    Parameters
    ----------
    rule : ByLikelihood
    sample : Sample
    solve : callable
        The whole spectrum of a sample.
    """
    fold = _folds(rule, sample)
    scores_of_folds = []
    for number in range(rule.folds):
        spectrum = solve(sample.rows(fold != number))
        scores_of_folds.append(_fold_scores(spectrum, sample.rows(fold == number)))
    shortest = min(map(len, scores_of_folds))
    cut = np.array([scores[:shortest] for scores in scores_of_folds])
    # A row that is impossible is not made up for by others of infinite density.
    impossible = np.isneginf(cut).any(axis=0)
    total = np.where(impossible, 0.0, cut).sum(axis=0)
    return np.where(impossible, -np.inf, total / float(sample.weights.sum()))


def _folds(rule: ByLikelihood, sample: Sample) -> Positions:
    """The fold of every row, by a hash of its cells."""
    d = sample.numeric.shape[1]
    factors = stream(rule.random_state, "folds").integers(0, 2**63, d, np.uint64) * 2 + 1
    hashes = np.empty(sample.n_rows, np.uint64)
    for start, stop, rows in dense_blocks(sample.numeric):
        # Adding zero makes -0.0 and 0.0 the same cell; products and sums wrap around.
        cells = np.ascontiguousarray(rows + 0.0).view(np.uint64)
        mixed = (cells ^ (cells >> np.uint64(29))) * factors
        hashes[start:stop] = mixed.sum(axis=1, dtype=np.uint64)
    hashes ^= hashes >> np.uint64(32)
    distinct, place = np.unique(hashes * np.uint64(0x9E3779B97F4A7C15), return_inverse=True)
    if len(distinct) < 2 * rule.folds:
        raise InputError(
            f"{rule!r} needs at least {2 * rule.folds} different rows, two for each fold, got "
            f"{len(distinct)} (n_samples={sample.n_rows}). Use fewer folds, or ByEvidence()."
        )
    return np.asarray(place.reshape(-1) % rule.folds)


def _fold_scores(spectrum: Spectrum, part: Sample) -> Floats:
    """Log-likelihood of a fold, summed over its rows, for 0, ..., r components."""
    d, most = spectrum.n_columns, max(spectrum.rank - 1, 0)
    axes, weights = spectrum.axes[:most], part.weights
    along, away, outside_all = np.zeros(most), 0.0, 0.0
    for start, stop, rows in dense_blocks(part.numeric):
        about = rows - spectrum.mean
        along += weights[start:stop] @ (about @ axes.T) ** 2
        away += float(weights[start:stop] @ np.einsum("ij,ij->i", about, about))
        if spectrum.has_no_noise:
            axes_of_all = spectrum.axes[: spectrum.rank]
            beyond = about - (about @ axes_of_all.T) @ axes_of_all
            outside_all += float(weights[start:stop] @ np.einsum("ij,ij->i", beyond, beyond))
    variances = spectrum.squares[:most] / spectrum.weight
    k = np.arange(most + 1)
    outside = spectrum.total - np.append(0.0, np.cumsum(spectrum.squares[:most]))
    noise = np.maximum(outside, np.finfo(float).tiny) / spectrum.weight / (d - k)
    logs = np.append(0.0, np.cumsum(np.log(variances))) + (d - k) * np.log(noise)
    inside = np.append(0.0, np.cumsum(along / variances))
    rest = np.maximum(away - np.append(0.0, np.cumsum(along)), 0.0) / noise
    scores = -0.5 * (float(weights.sum()) * (d * np.log(2 * np.pi) + logs) + inside + rest)
    if spectrum.has_no_noise:
        # What rounding leaves of a row in the subspace, by the test that found the rank.
        lies_inside = outside_all <= rounding(d) * max(away, spectrum.total)
        scores = np.append(scores, np.inf if lies_inside else -np.inf)
    return np.asarray(scores)
