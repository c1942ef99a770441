"""Isolation forest: rows that random cuts soon leave alone are unlike the others.

A tree cuts few rows by columns and thresholds drawn at random, until each is alone or the depth is
that of a balanced tree. A row that differs is alone early. With h(x) the depth at which a tree
leaves the row, and the mean depth of a search that fails among n rows,

    c(n) = 2 H(n - 1) - 2 (n - 1) / n,        H(i) = 1 + 1/2 + ... + 1/i,

added where several training rows are left together, the score is

    score(x) = -2^(-mean h(x) / c(max_samples)),

-1 for rows that stand out, about -0.5 for ordinary ones.

References
----------
F. T. Liu, K. M. Ting, Z.-H. Zhou (2008). Isolation Forest. IEEE Conference on Data Mining.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, NoveltyMixin, Verdict, fitted, parameter
from novum.core.runtime import fit_context, fitting, run_tasks, seed_sequence, stream
from novum.core.tables import Schema, check_features, check_sample
from novum.numerics import Floats
from novum.trees.contributions import ContributingTrees
from novum.trees.forests.forest_routing import forest_answers
from novum.trees.forests.forest_value import Forest, check_forest
from novum.trees.growth.conversion import coded_rows, table_coding, tree_of
from novum.trees.growth.growing import growth_of
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.settings import growth_rules
from novum.trees.training import CellRows, cells_of

_AUTO_SAMPLES = 256


class IsolationForest(NoveltyMixin, ContributingTrees, Learner):
    """Novelty by how soon random cuts isolate a row.

    Parameters
    ----------
    n_estimators : int, default=100
    max_samples : "auto", int or float, default="auto"
        Rows of each tree; "auto" is 256, or all if there are fewer.
    contamination : "auto" or float, default="auto"
        Share of the training rows that `predict` calls novel; "auto" calls those with scores
        below -0.5.
    max_features : int or float, default=1.0
        Columns of each tree, drawn at random.
    bootstrap : bool, default=False
        Whether rows of a tree are drawn with replacement.
    n_jobs, random_state, warm_start
        As for `ExtraTreesRegressor`.
    verbose : int
        Kept for scikit-learn's signature, without effect.
    missing : {"fractional", "direction"}, default="fractional"
        A row without a cell goes down all branches with their shares; or with missing rows, where
        the training has such.
    categorical_features : as for trees

    Attributes
    ----------
    forest_ : Forest
        Its leaves hold depths.
    max_samples_ : int
    offset_ : float
    n_features_in_, feature_names_in_, schema_, certificate_

    Notes
    -----
    Nominal columns are cut into random sets of levels. `contributions` tells what every column does
    to the mean depth of a row: the most negative ones are why it stands out.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.1], [0.3], [9.0]]
    >>> model = IsolationForest(random_state=0).fit(X)
    >>> model.predict([[0.15], [8.0]]).tolist()
    [1, -1]
    """

    invariances = ("shift", "column_scale", "common_scale")

    n_estimators: int = parameter(default=100, at_least=1)
    max_samples: Any = parameter({"auto"}, int, float, default="auto", above=0)
    contamination: float | str = parameter({"auto"}, default="auto", above=0, at_most=0.5)
    max_features: Any = parameter(int, float, default=1.0, above=0)
    bootstrap: bool = parameter(default=False)
    n_jobs: int | None = parameter(default=None)
    random_state: Any = parameter("random_state", default=None)
    verbose: int = parameter("verbose", default=0)
    warm_start: bool = parameter(default=False)
    missing: str = parameter({"fractional", "direction"}, default="fractional")
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    forest_: Forest = fitted()
    max_samples_: int = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grows the trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers and levels; cells may be missing.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            Rows are drawn in proportion to it, with replacement: weight 2 is the row twice in law.
        """
        del y
        with fitting(self) as watch:
            sample = check_sample(
                self, X, None, sample_weight, target="none", allow_missing=True, accept_sparse=True
            )
            cells, weight = cells_of(sample), sample.weight
            size = self._sample_size(len(cells))
            earlier = [self.forest_] if self.warm_start and hasattr(self, "forest_") else []
            made = earlier[0].n_trees if earlier else 0
            if self.n_estimators < made:
                raise InputError(
                    f"n_estimators={self.n_estimators} must be larger or equal to {made}, the "
                    "trees that are there, when warm_start=True."
                )
            if not math.isclose(size, getattr(self, "max_samples_", size)) and earlier:
                raise InputError("warm_start adds trees of the same number of rows.")
            root = seed_sequence(self.random_state)
            chances = None if weight is None else weight / weight.sum()

            def tree(number: int) -> Forest:
                return self._tree(sample.schema, cells, chances, size, stream(root, number))

            trees = run_tasks(tree, range(made, self.n_estimators), self.n_jobs)
            self.forest_ = Forest.joined([*earlier, *trees])
            self.schema_, self.max_samples_ = sample.schema, size
            self.offset_ = -0.5
            if not isinstance(self.contamination, str):
                scores = self._scores(cells)
                self.offset_ = float(np.percentile(scores, 100.0 * self.contamination))
            self.certificate_ = Certificate(
                objective="depth of random trees",
                verdict=Verdict.PROVED,
                details={"trees": self.forest_.n_trees, "rows of a tree": size},
                seconds=watch.seconds,
            )
        return self

    def score_samples(self, X: Any) -> Floats:
        """-2^(-mean depth / c), from -1 (stands out) to 0; (n_rows,)."""
        return self._scores(self._cells(X))

    # Steps

    def _sample_size(self, n: int) -> int:
        wanted = self.max_samples
        if isinstance(wanted, str):
            return min(_AUTO_SAMPLES, n)
        if isinstance(wanted, Integral):
            if int(wanted) > n:
                warnings.warn(
                    f"max_samples ({wanted}) is greater than the total number of samples ({n}). "
                    "max_samples will be set to n_samples for estimation.",
                    stacklevel=4,
                )
            return min(int(wanted), n)
        return max(1, int(wanted * n)) if wanted <= 1 else n

    def _tree(
        self, schema: Schema, cells: Floats, chances: Any, size: int, rng: np.random.Generator
    ) -> Forest:
        again = self.bootstrap or chances is not None
        chosen = np.sort(rng.choice(len(cells), size, replace=again, p=chances))
        own = cells[chosen]
        n_columns = own.shape[1]
        kept = self.max_features
        kept = int(kept) if isinstance(kept, Integral) else max(1, int(kept * n_columns))
        if kept < n_columns:
            own = own.copy()
            # A column that does not change is never cut.
            own[:, rng.permutation(n_columns)[kept:]] = 0.0
        # Cuts are drawn whatever the targets are, if these differ.
        rows = CellRows(schema, own, rng.random((size, 1)), np.ones(size), None)
        member = DecisionTreeRegressor(
            splitter="random", max_features=1, max_bins=None, missing=self.missing,
            max_depth=max(1, math.ceil(math.log2(max(size, 2)))),
        )  # fmt: skip
        table, scale = coded_rows(rows, table_coding(rows, None))
        growth = growth_of(table, growth_rules(member, rows, "squared_error"))
        grown = growth.planted(rows.weight, rng, None).run()
        forest = Forest.of_tree(tree_of(grown, table, schema, None, scale))
        return replace(forest, value=_depths(forest)[:, np.newaxis])

    def _cells(self, X: Any) -> Floats:
        check_is_fitted(self, "forest_")
        return cells_of(check_features(self, X, allow_missing=True, accept_sparse=True))

    def _scores(self, cells: Floats) -> Floats:
        mean = forest_answers(self.forest_, cells, self.n_jobs)[:, 0]
        usual = float(failed_search(np.array([self.max_samples_]))[0])
        return np.asarray(-(2.0 ** (-mean / usual))) if usual > 0 else np.full(len(mean), -0.5)

    def _summands(self) -> tuple[list[Forest], list[float], Any]:
        return [self.forest_], [1.0 / self.forest_.n_trees], 0.0

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        check_forest(self.forest_)
        if self.forest_.schema != self.schema_ or self.forest_.n_values != 1:
            raise ModelFileError("The forest of the model is of other columns.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = self.categorical_features is not None
        return tags


def _depths(forest: Forest) -> Floats:
    """Depth of every node of one tree, and how much deeper its rows would be told apart."""
    depth = np.zeros(forest.n_nodes)
    first, number = forest.first_child, forest.n_children
    for node in np.flatnonzero(~forest.is_leaf):
        depth[first[node] : first[node] + number[node]] = depth[node] + 1.0
    return np.asarray(depth + failed_search(forest.weight))


def failed_search(n: Floats) -> Floats:
    """Mean depth of a failed search in a binary tree of n rows: 0 for one, 1 for two.

    Examples
    --------
    >>> failed_search(np.array([1.0, 2.0, 3.0])).round(6).tolist()
    [0.0, 1.0, 1.666667]
    """
    from scipy.special import digamma

    count = np.maximum(np.asarray(n, np.float64), 1.0)
    harmonic = digamma(count) + np.euler_gamma
    return np.asarray(2.0 * harmonic - 2.0 * (count - 1.0) / count)
