"""What a fitted tree tells its reader: rules, text, pictures, reasons and the trace of its growth.

Thin doors to `rules`, `text`, `drawing`, `explanation` and `trace`, for models with a
`tree_`.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.trees.settings import least_weights, rule_for_missing
from novum.trees.training import CellRows, replaced_cells
from novum.trees.tree import Tree

if TYPE_CHECKING:
    from novum.core.svg_text import SvgText
    from novum.trees.reading.explanation import Explanation
    from novum.trees.reading.rules import RuleSet
    from novum.trees.reading.trace import Trace


class ReadableTree:
    """Readings of a fitted tree."""

    tree_: Tree

    def rules(self, *, min_coverage: float = 0.0, simplify: bool = True) -> RuleSet:
        """The tree as a disjunction of conjunctions, with coverage and confidence of each."""
        from novum.trees.reading.rules import rules

        check_is_fitted(self, "tree_")
        criterion = str(getattr(self, "criterion", "squared_error"))
        return rules(self.tree_, min_coverage=min_coverage, simplify=simplify, criterion=criterion)

    def text(self, *, max_depth: int | None = None) -> str:
        """The tree as indented text."""
        from novum.trees.reading.text import tree_text

        check_is_fitted(self, "tree_")
        return tree_text(self.tree_, max_depth=max_depth)

    def svg(self, *, max_depth: int | None = None) -> SvgText:
        """The tree as an SVG picture, a string that notebooks show."""
        from novum.trees.reading.drawing import tree_svg

        check_is_fitted(self, "tree_")
        return tree_svg(self.tree_, max_depth=max_depth)

    def plot(self, ax: Any = None, *, max_depth: int | None = None) -> Any:
        """Draws the tree into matplotlib axes, which are returned."""
        from novum.trees.reading.drawing import plot_tree

        check_is_fitted(self, "tree_")
        return plot_tree(self.tree_, ax, max_depth=max_depth)

    def explain(self, X: Any) -> Explanation:
        """Why the tree says what it says of one row: the questions on its way, in words.

        Parameters
        ----------
        X : array-like or data frame with one row
        """
        from novum.trees.reading.explanation import explain

        cells = self._cells(X)  # type: ignore[attr-defined]
        if len(cells) != 1:
            raise InputError(f"A reason is for one row, got {len(cells)}. Pass X[i : i + 1].")
        return explain(self.tree_, cells[0])

    def trace(
        self, X: Any, y: Any, sample_weight: Any = None, *, limit: int | None = None
    ) -> Trace:
        """For each node the splits that the rows of `X` had there, with their gains.

        Parameters
        ----------
        X, y, sample_weight
            The training rows.
        limit : int, optional
            Splits that are listed for each node.
        """
        from novum.trees.reading.trace import trace

        check_is_fitted(self, "tree_")
        # Reading rows learns their columns, which are not those of this model yet.
        rows = copy(self)._training_rows(X, y, sample_weight)  # type: ignore[attr-defined]
        _refuse_other_rows(self.tree_, rows)
        common = getattr(self, "common_values_", np.empty(0))
        if common.size:
            by_class = self.missing == "most_common_of_class"  # type: ignore[attr-defined]
            rows, _ = replaced_cells(rows, common, by_class=by_class)
        return trace(
            self.tree_,
            rows.cells,
            rows.targets,
            rows.weight,
            criterion=self._criterion(),  # type: ignore[attr-defined]
            nominal=self.nominal,  # type: ignore[attr-defined]
            missing=rule_for_missing(self),
            min_samples_leaf=least_weights(self, rows.weight)[1],
            limit=limit,
        )


def _refuse_other_rows(tree: Tree, rows: CellRows) -> None:
    """Codes of other levels or classes would say something else."""
    given, known = rows.classes or (), tree.classes or ()
    same = len(given) == len(known) and all(map(np.array_equal, given, known))
    if rows.schema != tree.schema or not same:
        raise InputError(
            "These rows have other columns, levels or classes than the tree. A trace is of the "
            "rows that the tree was grown from: pass all of them."
        )
