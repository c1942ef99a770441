"""The fast route to the triangular factor of a large table in memory.

One pass computes `G = [1  Z]'W[1  Z]` by BLAS and Cholesky gives its factor. That squares the
condition number `kappa`: the factor's relative error is about `eps kappa^2`. The route is therefore
taken only when `kappa` of the scaled, centered design is seen to be small, so that at least ten
digits are certain; a correction from the rows (`linear.refinement`) gives the solution the rest.
Every other table goes through QR.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from novum.core.coding import Coding
from novum.core.validation import Sample
from novum.linear.statistics import LeastSquaresStatistics
from novum.numerics.triangular import Floats, TriangularFactor, factor_of_gram

# kappa^2 eps stays below 1e-11, so that the factor agrees with that of QR to ten digits.
LARGEST_CONDITION = 200.0
SMALLEST_CELLS = 2**18
_BLOCK_ROWS = 2048


def gram_statistics(sample: Sample) -> LeastSquaresStatistics | None:
    """The statistics by way of cross-products, or None where QR must be used."""
    coding = Coding(sample.schema)
    targets = sample.targets
    width = coding.full_width + targets.shape[1]
    if sample.n_rows * width < SMALLEST_CELLS or sample.n_rows < 4 * width:
        return None
    if not sample.schema.is_numeric or sample.is_sparse:
        return None
    center = _center(sample.numeric, targets)
    with np.errstate(over="ignore", invalid="ignore"):
        if not center.any() and sample.weight is None and sample.numeric.flags.c_contiguous:
            gram = _plain_gram(sample.numeric, targets)
        else:
            gram = _centered_gram(sample, targets, center)
    factor = _trusted_factor(gram, center, sample, targets.shape[1])
    if factor is None:
        return None
    return LeastSquaresStatistics(sample.schema, factor, targets.shape[1], sample.target.ndim == 1)


def _center(X: Floats, targets: Floats) -> Floats:
    """Zero where the offset is no larger than a few standard deviations, else the offset."""
    head = np.column_stack([X[:_BLOCK_ROWS], targets[:_BLOCK_ROWS]])
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = head.mean(axis=0), head.std(axis=0)
    return np.zeros_like(mean) if (np.abs(mean) <= 8 * spread).all() else mean


def _plain_gram(X: Floats, targets: Floats) -> Floats:
    n, p = X.shape
    width = 1 + p + targets.shape[1]
    gram, inner = np.zeros((width, width)), np.zeros((p, p), order="F")
    for start in range(0, n, _BLOCK_ROWS):
        rows = X[start : start + _BLOCK_ROWS]
        others = np.column_stack([np.ones(len(rows)), targets[start : start + _BLOCK_ROWS]])
        inner = blas.dsyrk(1.0, rows.T, beta=1.0, c=inner, overwrite_c=1)
        cross, corner = others.T @ rows, others.T @ others
        gram[0, 1 : 1 + p] += cross[0]
        gram[1 : 1 + p, 1 + p :] += cross[1:].T
        gram[0, 0] += corner[0, 0]
        gram[0, 1 + p :] += corner[0, 1:]
        gram[1 + p :, 1 + p :] += corner[1:, 1:]
    gram[1 : 1 + p, 1 : 1 + p] = inner
    return np.triu(gram) + np.triu(gram, 1).T


def _centered_gram(sample: Sample, targets: Floats, center: Floats) -> Floats:
    n, p = sample.numeric.shape
    scratch = np.empty((_BLOCK_ROWS, 1 + center.size))
    gram = np.zeros((1 + center.size, 1 + center.size), order="F")
    for start in range(0, n, _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, n)
        rows = scratch[: stop - start]
        rows[:, 0] = 1.0
        np.subtract(sample.numeric[start:stop], center[:p], out=rows[:, 1 : 1 + p])
        np.subtract(targets[start:stop], center[p:], out=rows[:, 1 + p :])
        if sample.weight is not None:
            rows *= np.sqrt(sample.weight[start:stop])[:, np.newaxis]
        gram = blas.dsyrk(1.0, rows.T, beta=1.0, c=gram, overwrite_c=1)
    return np.triu(gram) + np.triu(gram, 1).T


def _trusted_factor(
    gram: Floats, center: Floats, sample: Sample, n_targets: int
) -> TriangularFactor | None:
    diagonal = np.diagonal(gram)
    if not (np.isfinite(gram).all() and (diagonal > 0).all()):
        return None
    # Scaling to a unit diagonal decides nothing but keeps Cholesky's pivots comparable.
    size = np.sqrt(diagonal)
    if not (np.isfinite(size).all() and (size > 0).all()):
        return None
    weight = sample.weight
    total = float(sample.n_rows) if weight is None else float(weight.sum())
    rows = float(sample.n_rows) if weight is None else float(np.count_nonzero(weight))
    try:
        unit = factor_of_gram(gram / np.outer(size, size), center, total, rows)
    except linalg.LinAlgError:
        return None
    # Columns, offset included, lose kappa^2 of the whole; the targets only follow.
    design = unit.factor[: gram.shape[0] - n_targets, : gram.shape[0] - n_targets]
    s = linalg.svdvals(design)
    if not s[0] <= LARGEST_CONDITION * s[-1]:
        return None
    return TriangularFactor(unit.factor * size, center, total, rows)
