"""Sums of a kernel over many rows, by a tree of boxes and to a stated relative error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from novum.numerics.jit import as_argument
from novum.numerics.shared_state import cached_property
from novum.numerics.spatial.kd_tree import KDTree
from novum.numerics.types import Floats, Integers

# In the order of the codes of the kernels.
PROFILES = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
# Rows of a leaf: bounds of a node cost as much as the kernel at some dozen rows.
_LEAF = 256
# Cells that one call looks at, at most.
_CELLS = 40_000_000


@dataclass(frozen=True, eq=False)
class KernelSums:
    """Weighted rows in a tree, with what bounds of kernels need of its nodes.

    Attributes
    ----------
    tree : KDTree
    moments : tuple of arrays
        Weights, centers and spreads of nodes; weights of rows in the order of the leaves.
    """

    tree: KDTree
    moments: tuple[Floats, Floats, Floats, Floats]

    @classmethod
    def of(cls, rows: Floats, weights: Floats | None = None) -> Self:
        """The tree of some rows, of positive weights."""
        from novum.numerics.spatial import kernel_sums_kernels as kernels

        tree = KDTree.of(rows, _LEAF)
        n_nodes = len(tree.low)
        of_rows = np.ones(len(rows)) if weights is None else weights[tree.order]
        moments = np.empty(n_nodes), np.empty_like(tree.low), np.empty(n_nodes), of_rows
        kernels.node_moments(tree._arrays, tree.n_levels, moments)
        return cls(tree, moments)

    @cached_property
    def _positions(self) -> Integers:
        """Where each row is in the order of the leaves."""
        positions = np.empty_like(self.tree.order)
        positions[self.tree.order] = np.arange(len(positions))
        return positions

    def log_sums(
        self,
        queries: Floats,
        profile: str,
        bandwidth: float,
        rtol: float = 0.0,
        atol: float = 0.0,
        own: Integers | None = None,
    ) -> Floats:
        """Logarithms of `sum_i w_i K(|q - x_i| / bandwidth)` with `K(0) = 1`, for every query.

        Parameters
        ----------
        queries : array (m, p)
        profile : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}
        bandwidth : float
        rtol, atol : float
            The sum differs from the direct one by at most `rtol` times itself, plus `atol`; both
            zero add up every row.
        own : int array (m,), optional
            The row that a query is itself, which is left out.

        Examples
        --------
        >>> sums = KernelSums.of(np.array([[0.0], [2.0]]))
        >>> np.exp(sums.log_sums(np.array([[0.0]]), "gaussian", 1.0)).round(6)
        array([1.135335])
        """
        from novum.numerics.spatial import kernel_sums_kernels as kernels

        m, n = len(queries), len(self.tree.order)
        code = PROFILES.index(profile)
        bases, scale = np.zeros(m), np.zeros(m)
        if profile in ("gaussian", "exponential"):
            # Over the value at the nearest row, so that rows far away keep a logarithm.
            nearest = self.tree.nearest(queries, 1, 2.0, own)[0][:, 0]
            bases = nearest / bandwidth**2
            scale = -0.5 * bases if profile == "gaussian" else -np.sqrt(bases)
        out = np.empty(m)
        turn = self.tree._in_leaf_order(queries)
        places = np.full(m, -1, np.int64) if own is None else self._positions[own]
        step = max(16, _CELLS // max(1, n * self.tree.n_columns))
        # An absolute error is one of the sum itself, not of that over its value at the base.
        errors = np.zeros(m) if atol == 0.0 else atol * np.exp(np.minimum(-scale, 700.0))
        size, longest = 2 * self.tree.n_levels + 2, int(np.diff(self.tree._leaf_starts).max())
        scratch = np.empty(size, np.int64), np.empty(size), np.empty(size), np.empty(longest)
        for start in range(0, m, step):
            lines = turn[start : start + step]
            sums = np.empty(len(lines))
            kernels.kernel_sums(
                self.tree._arrays,
                self.tree.n_levels,
                self.moments,
                as_argument(queries[lines]),
                places[lines],
                bases[lines],
                code,
                bandwidth,
                rtol,
                errors[lines],
                scratch,
                sums,
            )
            out[lines] = sums
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(out) + scale)
