"""The logistic loss of a block of rows, with its gradient and Hessian.

With `z = (x - c, 1)`, scores `f_k = W_k'z` and probabilities `p_k = exp(f_k) / sum_l exp(f_l)`,

    loss       sum_i w_i (log sum_l exp(f_il) - f_iy)
    gradient   G_k  = sum_i w_i (p_ik - 1[k = y_i]) z_i
    Hessian    H_kl = sum_i w_i p_ik (1[k = l] - p_il) z_i z_i'.

Two classes have one score, that of the second against the first: `loss = log(1 + exp(-+f))`. All
three are sums over rows, so they add up over blocks, chunks, files and workers.

K scores have a redundancy: the same vector added to every `W_k` changes nothing. It is removed by
writing `W = Q V` with the orthonormal columns of `Q` (K, K - 1) at right angles to the vector of
ones (`class_basis`). Lengths are kept, `|W| = |V|`, and the optimum under an L2 penalty is among
these `W`, so the problem in `V` is the same one without its flat direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.sums import Additive
from novum.numerics import Floats, Integers, as_argument

# Below this many products a block is summed by NumPy, which needs no compilation.
PLAIN_WORK = 400_000


# --- Sums -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LossSums(Additive):
    """Loss, gradient and Hessian of some rows at one `W`.

    Attributes
    ----------
    value : float
    gradient : array (m, p)
        m is 1 for two classes and K for more; p counts the columns and the intercept.
    mixed : array (m, m)
        The part of the Hessian that belongs to the intercepts.
    hessian : array (m (m + 1) / 2, p, p) or None
        Blocks (k, l), k <= l.
    """

    value: float
    gradient: Floats
    mixed: Floats
    hessian: Floats | None = None


def loss_sums(
    X: Floats, codes: Integers, weight: Floats, W: Floats, center: Floats, *, hessian: bool
) -> LossSums:
    """The sums of dense rows.

    Parameters
    ----------
    X : array (n, d)
    codes : integer array (n,)
        Class of each row.
    weight : array (n,)
    W : array (1, d + 1) for two classes, (K, d + 1) for more
        Intercepts last.
    center : array (d,)
        Taken off every row first.
    hessian : bool
        Whether the second derivatives are wanted.
    """
    m, p = W.shape
    work = X.shape[0] * p * m * (p * (m + 1) / 2 if hessian else 1.0)
    if work <= PLAIN_WORK:
        return _plain_sums(X, codes, weight, W, center, hessian)
    return _compiled_sums(X, codes, weight, W, center, hessian)


def _plain_sums(
    X: Floats, codes: Integers, weight: Floats, W: Floats, center: Floats, hessian: bool
) -> LossSums:
    Z = np.column_stack([X - center, np.ones(len(X))])
    losses, share = links(Z @ W.T, codes)
    residual = share * weight[:, np.newaxis]
    if len(W) == 1:
        residual[:, 0] -= weight * codes
    else:
        residual[np.arange(len(X)), codes] -= weight
    blocks = None
    if hessian:
        parts = [Z.T @ (Z * h[:, np.newaxis]) for h in _curvatures(share, weight)]
        blocks = np.array(parts)
    mixed = mixed_curvature(share, weight)
    return LossSums(float(weight @ losses), residual.T @ Z, mixed, blocks)


def links(scores: Floats, codes: Integers) -> tuple[Floats, Floats]:
    """Loss (n,) and probabilities of every row, (n, K), or (n, 1) of the second of two classes."""
    if scores.shape[1] == 1:
        f = scores[:, 0]
        e = np.exp(-np.abs(f))
        share = np.where(f >= 0, 1.0, e) / (1.0 + e)
        own = np.where(codes == 1, f, -f)
        return np.log1p(e) + np.maximum(-own, 0.0), share[:, np.newaxis]
    top = scores.max(axis=1, keepdims=True)
    e = np.exp(scores - top)
    size = e.sum(axis=1, keepdims=True)
    own = scores[np.arange(len(scores)), codes]
    return (np.log(size) + top)[:, 0] - own, e / size


def mixed_curvature(share: Floats, weight: Floats) -> Floats:
    """`sum_i w_i (diag(p_i) - p_i p_i')`, or `sum_i w_i p_i (1 - p_i)` as (1, 1)."""
    products = share.T @ (share * weight[:, np.newaxis])
    if share.shape[1] == 1:
        return weight @ share - products
    return np.diag(weight @ share) - products


def _curvatures(share: Floats, weight: Floats) -> list[Floats]:
    """Weights of `z z'` in the blocks (k, l), k <= l, of the Hessian."""
    m = share.shape[1]
    if m == 1:
        return [weight * share[:, 0] * (1.0 - share[:, 0])]
    return [
        weight * share[:, k] * (float(k == other) - share[:, other])
        for k in range(m)
        for other in range(k, m)
    ]


def _compiled_sums(
    X: Floats, codes: Integers, weight: Floats, W: Floats, center: Floats, hessian: bool
) -> LossSums:
    from novum.linear.logistic.kernels import binary_pass, softmax_pass

    m, p = W.shape
    p4, m4 = -(-p // 4) * 4, -(-m // 4) * 4
    gradient, mixed = np.zeros((m4, p4)), np.zeros((m4, m4))
    arguments = as_argument(weight), as_argument(W), as_argument(center), int(hessian)
    # Without second derivatives there is no room for them: a wide table has many.
    shape = (m * (m + 1) // 2, p4, p4) if hessian else (1, 1, 1)
    blocks = np.zeros(shape)
    if m == 1:
        sign = 2.0 * codes - 1.0
        value = binary_pass(as_argument(X), sign, *arguments, gradient[0], mixed, blocks[0])
        mixed = mixed[:1, :1]
    else:
        labels = as_argument(codes, np.int64)
        value = softmax_pass(as_argument(X), labels, *arguments, gradient, mixed, blocks)
        mixed = np.diag(mixed[:m, :m].sum(axis=1)) - mixed[:m, :m]
    whole = None
    if hessian:
        upper = blocks[:, :p, :p]
        whole = np.triu(upper) + np.triu(upper, 1).transpose(0, 2, 1)
    return LossSums(float(value), gradient[:m, :p].copy(), mixed, whole)


# --- Without redundancy ---------------------------------------------------------------------------


def class_basis(n_classes: int) -> Floats:
    """Orthonormal columns (K, K - 1) at right angles to ones; for two classes the number 1.

    Examples
    --------
    >>> Q = class_basis(3)
    >>> np.abs(Q.T @ Q - np.eye(2)).max() < 1e-15, np.abs(Q.sum(axis=0)).max() < 1e-15
    (np.True_, np.True_)
    """
    if n_classes == 2:
        return np.ones((1, 1))
    Q = np.zeros((n_classes, n_classes - 1))
    for j in range(n_classes - 1):
        Q[: j + 1, j] = 1.0
        Q[j + 1, j] = -(j + 1.0)
        Q[:, j] /= np.sqrt((j + 1.0) * (j + 2.0))
    return Q


def reduced_hessian(blocks: Floats, basis: Floats) -> Floats:
    """The Hessian by `V`, shape (q p, q p), from the blocks (k, l) by `W = Q V`."""
    m, q = basis.shape
    p = blocks.shape[1]
    if m == 1:
        return blocks[0]
    whole = np.empty((m, m, p, p))
    rows, columns = np.triu_indices(m)
    whole[rows, columns] = blocks
    whole[columns, rows] = blocks
    half = np.tensordot(basis, whole, axes=(0, 0))
    hessian = np.tensordot(basis, half, axes=(0, 1))
    return np.ascontiguousarray(hessian.transpose(1, 2, 0, 3).reshape(q * p, q * p))
