"""Labels that spread over a graph of rows: near rows have like labels.

    propagation   f_i = y_i for labelled rows,   f_i = sum_j w_ij f_j / sum_j w_ij  for the others
    spreading     F = a S F + (1 - a) Y,         S = D^-1/2 W D^-1/2

`W` is the symmetric graph of nearest rows, or a similarity of all pairs; `D` its row sums. Both are
linear systems of one kind, for all classes at once,

    (D_uu - W_uu) F_u = W_ul Y_l,                (D - a W) D^-1/2 F = (1 - a) D^1/2 Y,

which are eliminated without subtraction, or where the graph is large and sparse solved by steps
that prove their error (`propagation_systems`). Spreading with small `a` goes by its own equation,
step by step from nothing: a row h steps from a label has a value of about `a^h`, far below the
rounding of the largest, and only sums of what has come along paths are right to their own size.
Eigenvalues of `I - a S` are at least `1 - a`, so that the distance of `F` to the solution is at
most that of the residual over `1 - a`.

References: Zhu and Ghahramani, "Learning from labeled and unlabeled data with label propagation",
2002; Zhou, Bousquet, Lal, Weston and Schoelkopf, "Learning with local and global consistency",
2004.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Verdict, fitted, parameter, warn_if_stopped
from novum.core.runtime import check_memory, fit_context, fitting
from novum.core.tables import check_features, check_partial_classes, plain_target
from novum.neighbors.nearest import KNeighborsMixin, rows_to_keep
from novum.neighbors.propagation_systems import Solution, reached_rows, solve
from novum.numerics import Array, Floats, Mask, Positions

# Rows whose similarities to all training rows are held at a time.
_ROWS = 1_000

# Beyond this `alpha` steps are too many.
_BY_STEPS = 0.9


class UnreachedRowsWarning(UserWarning):
    """No path of the graph leads from a labelled row to some rows; they get the classes' shares."""


class GraphLabels(DecisionMixin, ClassifierMixin, KNeighborsMixin):
    """What both ways of spreading labels share: the graph, the rows, answers for new rows."""

    invariances = ("shift",)  # `gamma` has the unit of the columns, and rows may tie.

    kernel: Any = parameter({"rbf", "knn"}, callable, default="rbf", kw_only=False)
    gamma: float = parameter(default=20.0, at_least=0)
    n_neighbors: int = parameter(default=7, at_least=1)
    max_iter: int = parameter(default=1000, at_least=1)
    tol: float = parameter(default=1e-8, at_least=0)

    classes_: Array = fitted()
    class_prior_: Floats = fitted()
    label_distributions_: Floats = fitted()
    transduction_: Array = fitted()
    n_iter_: int = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Spreads the labels over all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            Labels; missing for rows without one. -1 is such a row too where `y` has no missing cell
            and no other label makes it a class (see `docs/guides/few_labels.md`).
        """
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        with fitting(self) as watch:
            sample = rows_to_keep(self, X, None, "none")
            classes, codes = check_partial_classes(
                without_minus_one(y, type(self).__name__), type(self).__name__
            )
            if len(codes) != sample.n_rows:
                raise InputError(
                    f"X has {sample.n_rows} rows, but y has {len(codes)}: found input variables "
                    "with inconsistent numbers of samples. Pass one target for each row."
                )
            self._keep(sample)
            self.classes_ = classes
            given = np.zeros((len(codes), len(classes)))
            labelled = np.flatnonzero(codes >= 0)
            given[labelled, codes[labelled]] = 1.0
            self.class_prior_ = given.sum(axis=0) / len(labelled)
            values, certificate = self._spread(self._graph(), given, codes >= 0)
            self.label_distributions_ = self._shares_of(values)
            self.transduction_ = classes[self.label_distributions_.argmax(axis=1)]
            self.n_iter_ = max(1, int(certificate.iterations or 0))
            self.certificate_ = replace(certificate, seconds=watch.seconds)
            warn_if_stopped(certificate, type(self).__name__)
        return self

    def _spread(self, graph: Any, given: Floats, labelled: Mask) -> tuple[Floats, Certificate]:
        """Weights of the classes of every row, and how far they are from the solution."""
        raise NotImplementedError

    # The graph

    def _graph(self) -> Any:
        """Symmetric weights of pairs of rows, without those of rows with themselves."""
        n = self.n_samples_fit_
        if callable(self.kernel):
            if not self.schema_.is_numeric:
                raise InputError(
                    "A function as kernel is given rows of numbers, but the table has columns of "
                    "levels. Encode them, or use kernel='knn'."
                )
            rows = self.numbers_
            graph = self.kernel(rows, rows)
            if np.shape(graph) != (n, n):
                raise InputError(f"kernel(X, X) has shape {np.shape(graph)}; it must be {(n, n)}.")
        elif self.kernel == "knn":
            if n == 1:
                return sparse.csr_matrix((1, 1))
            graph = self.kneighbors_graph(None, min(self.n_neighbors, n - 1))
            # A row is not among its own neighbors.
            return ((graph + graph.T) * 0.5).tocsr()
        else:
            self._check_room()
            apart = self._index.rows.cross(self._index.rows)
            # Rows infinitely far apart share nothing, unless distances do not count.
            with np.errstate(over="ignore"):
                graph = np.exp(-self.gamma * apart**2 if self.gamma else np.zeros(apart.shape))
        if sparse.issparse(graph):
            graph = ((graph + graph.T) * 0.5).tolil()
            graph.setdiag(0.0)
            return graph.tocsr()
        graph = (np.asarray(graph, np.float64) + np.asarray(graph, np.float64).T) * 0.5
        np.fill_diagonal(graph, 0.0)
        if not (np.isfinite(graph).all() and (graph >= 0).all()):
            raise InputError("Similarities of the kernel must be finite and at least 0.")
        return graph

    def _check_room(self) -> None:
        n = self.n_samples_fit_
        check_memory(
            3 * 8 * n * n,
            f"Similarities of all pairs of {n} rows",
            "Use kernel='knn', whose graph has a few neighbors of each row only.",
        )

    # Answers

    def _shares_of(self, values: Floats) -> Floats:
        """Rows that sum to one; the shares of the classes where no label has come."""
        values = np.maximum(values, 0.0)
        total = values.sum(axis=1, keepdims=True)
        reached = total[:, 0] > 0
        if not reached.all():
            warnings.warn(
                f"{type(self).__name__}: no path leads from a label to {int((~reached).sum())} of "
                f"{len(values)} rows, the first is row {int(np.argmin(reached))}; they get the "
                "shares of the classes among labels. Take more neighbors, or label such rows.",
                UnreachedRowsWarning,
                stacklevel=4,
            )
        return np.where(
            reached[:, None], values / np.where(total > 0, total, 1.0), self.class_prior_
        )

    def predict_proba(self, X: Any) -> Floats:
        """Shares of the classes among the labels of the training rows near to each row."""
        self._check_fitted()
        if not callable(self.kernel) and self.kernel == "knn":
            _, near = self._nearest(X, min(self.n_neighbors, self.n_samples_fit_))
            return np.asarray(self.label_distributions_[near].mean(axis=1))
        rows = self._asked(X)[0]
        if callable(self.kernel):
            cells = check_features(self, X, allow_missing=True, accept_sparse=True).numeric
            weights = np.asarray(self.kernel(self.numbers_, cells), np.float64).T
            return self._shares_of(weights @ self.label_distributions_)
        out = np.empty((len(rows), len(self.classes_)))
        for start in range(0, len(rows), _ROWS):
            block = rows.take(np.arange(start, min(start + _ROWS, len(rows))))
            distances = block.cross(self._index.rows)
            if not np.isfinite(distances).all():
                raise InputError(
                    "Distances of some rows overflow. Divide the columns by a larger unit."
                )
            # Relative to the nearest row, so that far rows still have an answer.
            nearest = distances.min(axis=1, keepdims=True)
            with np.errstate(over="ignore"):
                gaps = (distances - nearest) * (distances + nearest)
            weights = np.exp(-self.gamma * gaps)
            shares = weights @ self.label_distributions_
            out[start : start + len(shares)] = shares / shares.sum(axis=1, keepdims=True)
        return out

    def predict(self, X: Any) -> Array:
        """The most probable class of every row; of equal ones the first."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def _check_state(self) -> None:
        super()._check_state()
        if self.label_distributions_.shape != (self.n_samples_fit_, len(self.classes_)):
            raise ModelFileError("The model's label distributions do not fit its rows and classes.")


class LabelPropagation(GraphLabels):
    """Labels that spread to the others and stay as they are: the harmonic function of a graph.

    Minimizes `sum_ij w_ij |f_i - f_j|^2` with `f` fixed at the labelled rows.

    Parameters
    ----------
    kernel : {"rbf", "knn"} or callable
        Weights of pairs: `exp(-gamma |x - z|^2)`, 1 for the nearest rows (0.5 where only one has
        the other among its nearest), or what `kernel(X, X)` gives.
    gamma : float
        Of "rbf".
    n_neighbors : int
        Of "knn": other rows that are near to each.
    max_iter : int
        Steps at most, where steps are taken: see Notes.
    tol : float
        Error of a share at which they end, as far as it is proved; of spreading with `alpha` up to
        0.9 the largest change of a row relative to its value.
    algorithm, leaf_size, p, metric, metric_params, n_jobs, categorical_features
        As for `NearestNeighbors`: any columns, any distance, missing cells.

    Attributes
    ----------
    classes_, class_prior_ : arrays (n_classes,)
        Labels, and their shares of the labelled rows.
    label_distributions_ : array (n_rows, n_classes)
    transduction_ : array (n_rows,)
        The likeliest label of every training row.
    n_iter_, certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere; the certificate bounds the distance to the solution.

    Notes
    -----
    Rows without a label are eliminated one by one without subtraction, so that every share is right
    to nearly all digits, in O(n^2) memory and O(n^3) time. Of a sparse graph with more than 1,000
    such rows conjugate gradients are tried first, O(n k) a step for k neighbors; where they cannot
    prove an error of at most `tol`, its components are eliminated if the memory is there. Rows that
    no path connects with a label get the shares of the classes, with a warning. A new row takes the
    mean of the training rows near to it.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = LabelPropagation("rbf", gamma=1.0).fit(X, ["a", None, None, "b"])
    >>> model.transduction_.tolist(), model.label_distributions_[1].round(3).tolist()
    (['a', 'a', 'b', 'b'], [0.656, 0.344])
    """

    def _spread(self, graph: Any, given: Floats, labelled: Mask) -> tuple[Floats, Certificate]:
        known, asked = np.flatnonzero(labelled), np.flatnonzero(~labelled)
        values = given.copy()
        rows = graph[asked]
        target, inner = np.asarray(rows[:, known] @ given[known]), rows[:, asked]
        ends = target.sum(axis=1)
        reached = reached_rows(inner, ends > 0)
        if not reached.all():
            inner, target, ends = inner[reached][:, reached], target[reached], ends[reached]
        solution = solve(inner, ends, target, self.tol, self.max_iter)
        values[asked[reached]] = solution.values
        return values, _certificate("harmonic labels of a graph", solution, self.tol, labelled)


class LabelSpreading(GraphLabels):
    """Labels that spread and may change: noisy labels give way to their neighbors.

    Minimizes `sum_ij w_ij |f_i / sqrt(d_i) - f_j / sqrt(d_j)|^2 / 2 + (1 - a) / a |F - Y|^2`.

    Parameters
    ----------
    alpha : float
        How much a row takes from its neighbors against its own label, between 0 and 1.
    kernel, gamma, n_neighbors, max_iter, tol
        As for `LabelPropagation`.
    algorithm, leaf_size, p, metric, metric_params, n_jobs, categorical_features
        As for `NearestNeighbors`.

    Attributes
    ----------
    classes_, class_prior_, label_distributions_, transduction_, n_iter_, certificate_, schema_, \
n_features_in_, feature_names_in_
        As for `LabelPropagation`; the certificate also bounds the distance to the solution.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = LabelSpreading("rbf", gamma=1.0).fit(X, ["a", None, None, "b"])
    >>> model.transduction_.tolist(), model.certificate_.verdict.value
    (['a', 'a', 'b', 'b'], 'within tolerance')
    """

    alpha: float = parameter(default=0.2, above=0, below=1)

    def _spread(self, graph: Any, given: Floats, labelled: Mask) -> tuple[Floats, Certificate]:
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        degrees = np.where(degrees > 0, degrees, 1.0)
        reached = np.flatnonzero(reached_rows(graph, labelled))
        spread = self._solved if self.alpha > _BY_STEPS else self._stepped
        solution = spread(graph, degrees, given, reached)
        return solution.values, _certificate(
            "smooth labels of a graph", solution, self.tol, labelled
        )

    def _solved(self, graph: Any, degrees: Floats, given: Floats, reached: Positions) -> Solution:
        """`F = D^1/2 H` with `(D - a W) H = (1 - a) D^1/2 Y`."""
        values, root = np.zeros_like(given), np.sqrt(degrees)[:, None]
        ends = (1.0 - self.alpha) * degrees[reached]
        target = (1.0 - self.alpha) * root[reached] * given[reached]
        inner = self.alpha * graph[reached][:, reached]
        solution = solve(inner, ends, target, self.tol, self.max_iter)
        values[reached] = root[reached] * solution.values
        distance = solution.distance * float(root.max())
        return solution._replace(values=values, distance=distance)

    def _stepped(self, graph: Any, degrees: Floats, given: Floats, reached: Positions) -> Solution:
        """`F <- a S F + (1 - a) Y` from nothing: every step adds what comes along longer paths."""
        root, target = 1.0 / np.sqrt(degrees), (1.0 - self.alpha) * given
        if sparse.issparse(graph):
            links = sparse.diags_array(self.alpha * root) @ graph @ sparse.diags_array(root)
            links = links.tocsr()
        else:
            links = (self.alpha * root)[:, None] * graph * root
        F, residual, steps = target.copy(), np.inf, 0
        while steps < self.max_iter:
            steps += 1
            new = links @ F + target
            total, before = new.sum(axis=1)[reached], F.sum(axis=1)[reached]
            F = new
            if before.all():
                residual = float(((total - before) / total).max())
                if residual <= self.tol:
                    break
        rest = float(np.linalg.norm(target + links @ F - F))
        return Solution(F, residual, rest / (1.0 - self.alpha), steps)


# --- Labels ---------------------------------------------------------------------------------------


def without_minus_one(y: Any, learner: str) -> Any:
    """`y` whose cells of -1 are missing, where -1 can only mean a row without a label.

    scikit-learn's classes of this name take every -1 so. Here it is so where `y` holds whole
    numbers without a missing cell; with the other label 1 alone it might be a class as well, which
    is refused.

    Examples
    --------
    >>> without_minus_one([0, -1, 2], "LabelSpreading").tolist()
    [0, None, 2]
    >>> without_minus_one([0.0, -1.0, float("nan")], "LabelSpreading")
    [0.0, -1.0, nan]
    """
    values = plain_target(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or not values.size:
        return y
    if values.dtype.kind == "O":
        if not all(isinstance(cell, (Integral, np.integer)) for cell in values.tolist()):
            return y
        values = values.astype(np.int64)
    if values.dtype.kind not in "if" or not (values == np.rint(values)).all():
        return y
    absent = values == -1
    if not absent.any():
        return y
    others = np.unique(values[~absent])
    if others.tolist() == [1]:
        raise InputError(
            f"y holds -1 and 1 only, so {learner} cannot tell whether -1 is a class or, as in "
            "scikit-learn, a row without a label. Mark rows without a label by None or NaN."
        )
    if values.dtype.kind == "f":
        return np.where(absent, np.nan, values)
    # Whole numbers stay what they are.
    labels = values.astype(object)
    labels[absent] = None
    return labels


# --- Certificates ---------------------------------------------------------------------------------


def _certificate(objective: str, solution: Solution, tol: float, labelled: Mask) -> Certificate:
    """What is proved of a solution; where steps were taken, whether they came within `tol`."""
    is_eliminated = solution.steps == 0
    met = solution.error <= tol
    verdict = Verdict.WITHIN_TOLERANCE if met else Verdict.STOPPED_EARLY
    n_labelled = int(labelled.sum())
    return Certificate(
        objective=objective,
        verdict=Verdict.PROVED if is_eliminated else verdict,
        residual=None if is_eliminated else solution.error,
        distance_bound=solution.distance,
        iterations=solution.steps,
        details={
            "stopped_by": "elimination" if is_eliminated else "tol" if met else "max_iter",
            "tol": tol,
            "labelled_rows": n_labelled,
            "unlabelled_rows": len(labelled) - n_labelled,
        },
    )
