"""Naive Bayes for tables of any columns: numbers, categories, counts, with missing cells.

    P(k | x)  is proportional to  P(k) prod_j p_j(x_j | k)

Each column has the law that its kind asks for, or the one it is given. Factors of different kinds
multiply as they are: probabilities for categories and counts, densities for numbers. The unit of a
numeric column multiplies its density by the same constant in all classes, and so does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from novum.bayes.column_models import (
    PARAMETRIC_MODELS,
    CategoricalColumn,
    CountsBlock,
    GaussianColumn,
    StudentTColumn,
    level_prior,
)
from novum.bayes.missing_cells import missing_block
from novum.bayes.naive_bayes_engine import NaiveBayesModel
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.bayes.value_columns import BinnedColumn, KernelColumn, MixtureColumn
from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.core.tables import Column, Kind, Schema
from novum.distributions import CategoricalBlock

# Models of numeric columns, in the order of their blocks.
NUMERIC_MODELS = (*PARAMETRIC_MODELS, KernelColumn, MixtureColumn, BinnedColumn)
# What a column by itself may be; counts go by their block.
_SINGLE_MODELS = tuple(model for model in NUMERIC_MODELS if model is not CountsBlock)


class NaiveBayes(NaiveBayesModel):
    """Naive Bayes with one law for each column, chosen by its kind.

    Numbers are normal within a class, categories categorical; every column can be given another
    law. Estimated in closed form from counts and moments.

    Parameters
    ----------
    columns : mapping, optional
        Laws of single columns by name, `{"age": StudentTColumn(), "color": CategoricalColumn(2)}`.
        A `CountsBlock` names its columns itself, and its key is the name of the block.
    numeric : GaussianColumn, StudentTColumn, BernoulliColumn, LawColumn, KernelColumn, \
MixtureColumn or BinnedColumn, optional
        Law of the other numeric columns; `GaussianColumn()` by default.
    categorical : CategoricalColumn, optional
        Law of the other nominal and ordinal columns; `CategoricalColumn()` by default.
    priors : array-like of shape (n_classes,), optional
        Of the classes; learned by default.
    missing : {"ignore", "level"}, default="ignore"
        What a missing cell says: nothing, or, as a level of its own, how often cells of the
        column are missing in each class.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Which columns are categories.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays of shape (n_classes,)
    certificate_, statistics_, schema_
        As everywhere.

    Notes
    -----
    Costs `O(n d)`. Missing cells are skipped in fitting and integrated out in prediction, exactly;
    with `missing="level"` each column that had some in training has the factor
    `P(missing | k)` or `P(present | k)` besides (`novum.bayes.missing_cells`). A category that
    training did not have gets its predictive probability. A true/false column has both levels, met
    or not. `sample` draws complete rows. Columns of an array are named `x0, x1, ...`. Weights count
    repetitions. Exact cross-validation knows the levels of all rows in every fold.

    References
    ----------
    Mitchell, Machine Learning, 1997, section 6.9 (m-estimate: equation 6.22).

    Examples
    --------
    >>> from novum.bayes import NaiveBayes
    >>> X = [["sun", 25.0], ["sun", 29.0], ["rain", 21.0], ["rain", None]]
    >>> model = NaiveBayes().fit(X, ["out", "out", "in", "in"])
    >>> model.predict([["rain", None], [None, 27.0]]).tolist()
    ['in', 'out']
    >>> print(model.explain(["rain", None]))
    in against out: log-odds +1.099
      (prior)       +0.000
      x0 = rain     +1.099
      x1 = missing  +0.000
    >>> told = NaiveBayes(missing="level").fit(X, ["out", "out", "in", "in"])
    >>> told.predict_proba([[None, None]]).round(3).tolist()
    [[0.667, 0.333]]
    """

    columns: Any = parameter(Mapping, None, default=None)
    numeric: Any = parameter(*_SINGLE_MODELS, None, default=None)
    categorical: Any = parameter(CategoricalColumn, None, default=None)
    priors: Any = parameter("array-like", None, default=None)
    missing: str = parameter({"ignore", "level"}, default="ignore")
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    @property
    def invariances(self) -> tuple[str, ...]:
        """Counts, thresholds and given priors are in the units of their columns."""
        laws = [self.numeric, *(self.columns or {}).values()]
        if any(getattr(law, "has_units", False) for law in laws):
            return ("row_order", "duplication")
        return ("shift", "column_scale", "row_order", "duplication")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        return tags

    def _given_priors(self) -> Any:
        return self.priors

    def _refused_with_em(self) -> str:
        laws = {type(law) for law in (self.numeric, *(self.columns or {}).values())}
        others = [
            law.__name__
            for law in (StudentTColumn, KernelColumn, MixtureColumn, BinnedColumn)
            if law in laws
        ]
        return f"the laws of {others[0]} do not maximize one" if others else ""

    def _leaves_quickly(self) -> bool:
        # The prior of Student's t stands at the mean and variance of all rows, and whether a
        # column has missing cells at all is asked of all classes.
        if self.missing == "level":
            return False
        laws = [self.numeric, *(self.columns or {}).values()]
        kinds = [law.block_type for law in laws if hasattr(law, "block_type")]
        return all(hasattr(kind, "leave_one_out") for kind in kinds)

    def _complete_schema(self, schema: Schema) -> Schema:
        if schema.is_numeric:
            return schema
        return Schema(tuple(_with_both(column) for column in schema.columns), schema.named)

    def _reading(self, schema: Schema) -> Reading:
        laws = self._numeric_laws(schema)
        counted = tuple(j for j, law in enumerate(laws) if law.sums == "totals")
        thresholds = tuple(getattr(laws[j], "threshold", None) for j in counted)
        own = tuple((j, law) for j, law in enumerate(laws) if law.sums == "law")
        return Reading(counted, thresholds or (None,), own)

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        schema = statistics.schema
        laws = self._numeric_laws(schema)
        blocks = []
        for kind in NUMERIC_MODELS:
            # Columns of one kind are one block; counts are multinomial within theirs only.
            groups: dict[Any, list[int]] = {}
            for j, law in enumerate(laws):
                if isinstance(law, kind):
                    groups.setdefault(law if kind is CountsBlock else kind, []).append(j)
            blocks += [
                kind.block([laws[j] for j in columns], np.array(columns), statistics)
                for columns in groups.values()
            ]
        if not schema.is_numeric:
            given, columns = self._laws(schema), schema.categorical_columns
            priors = [level_prior(given[column.name].smoothing, column) for column in columns]
            blocks.append(CategoricalBlock.estimate(statistics, priors))
        if self.missing == "level":
            blocks.append(missing_block(statistics))
        return tuple(blocks)

    def _numeric_laws(self, schema: Schema) -> list[Any]:
        laws = self._laws(schema)
        return [laws[schema.columns[i].name] for i in schema.numeric]

    def _laws(self, schema: Schema) -> dict[str, Any]:
        """The law of every column by name."""
        numeric = GaussianColumn() if self.numeric is None else self.numeric
        categorical = CategoricalColumn() if self.categorical is None else self.categorical
        laws: dict[str, Any] = {
            column.name: numeric if column.kind is Kind.NUMERIC else categorical
            for column in schema.columns
        }
        kinds = {column.name: column.kind for column in schema.columns}
        for name, law in (self.columns or {}).items():
            for column in law.columns if isinstance(law, CountsBlock) else (name,):
                _check_law(column, law, kinds)
                if isinstance(laws[column], CountsBlock):
                    raise InputError(
                        f"Column {column!r} is in two blocks of counts. Name each column once."
                    )
                laws[column] = law
        return laws


def _with_both(column: Column) -> Column:
    """A true/false column has both levels, though all rows may have the same."""
    truths = column.n_levels > 0 and all(isinstance(level, bool) for level in column.levels)
    if column.kind is Kind.NOMINAL and truths:
        return Column(column.name, Kind.NOMINAL, (False, True))
    return column


def _check_law(column: str, law: Any, kinds: Mapping[str, Kind]) -> None:
    if column not in kinds:
        names = ", ".join(list(kinds)[:10])
        raise InputError(
            f"`columns` names {column!r}, but X has no such column; it has {names}"
            f"{', ...' if len(kinds) > 10 else ''}. Give names of its columns."
        )
    numeric = kinds[column] is Kind.NUMERIC
    wanted = (*_SINGLE_MODELS, CountsBlock) if numeric else (CategoricalColumn,)
    if not isinstance(law, wanted):
        choice = ", ".join(kind.__name__ for kind in wanted)
        raise InputError(
            f"Column {column!r} is {kinds[column].value} and cannot have the law {law!r}. Give it "
            f"one of {choice}, or change its kind by `categorical_features`."
        )
