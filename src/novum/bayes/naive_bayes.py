"""Naive Bayes for tables of any columns: numbers, categories, counts, with missing cells.

    P(k | x)  is proportional to  P(k) prod_j p_j(x_j | k)

Each column has the law that its kind asks for, or the one it is given. Factors of different kinds
multiply as they are: probabilities for categories and counts, densities for numbers. The unit of a
numeric column multiplies its density by the same constant in all classes, and so does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from novum.bayes.column_models import (
    BernoulliColumn,
    CategoricalColumn,
    CountsBlock,
    GaussianColumn,
    StudentTColumn,
)
from novum.bayes.discrete_blocks import (
    bernoulli_block,
    categorical_block,
    count_block,
    expected_totals,
)
from novum.bayes.missing_cells import missing_block
from novum.bayes.naive_bayes_engine import NaiveBayesModel
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.bayes.numeric_blocks import gaussian_block, student_block
from novum.core.errors import InputError
from novum.core.schema import Column, Kind, Schema
from novum.numerics.column_moments import ColumnMoments

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

NUMERIC_MODELS = (GaussianColumn, StudentTColumn, BernoulliColumn)


class NaiveBayes(NaiveBayesModel):
    """Naive Bayes with one law for each column, chosen by its kind.

    Numbers are normal within a class, categories categorical; every column can be given another
    law. Estimated in closed form from counts and moments.

    Parameters
    ----------
    columns : mapping, optional
        Laws of single columns by name, `{"age": StudentTColumn(), "color": CategoricalColumn(2)}`.
        A `CountsBlock` names its columns itself, and its key is the name of the block.
    numeric : GaussianColumn, StudentTColumn or BernoulliColumn, optional
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [Mapping, None],
        "numeric": [*NUMERIC_MODELS, None],
        "categorical": [CategoricalColumn, None],
        "priors": ["array-like", None],
        "missing": [StrOptions({"ignore", "level"})],
        "categorical_features": [str, None, "array-like"],
    }

    def __init__(
        self,
        *,
        columns: Any = None,
        numeric: Any = None,
        categorical: Any = None,
        priors: Any = None,
        missing: str = "ignore",
        categorical_features: Any = "auto",
    ) -> None:
        self.columns = columns
        self.numeric = numeric
        self.categorical = categorical
        self.priors = priors
        self.missing = missing
        self.categorical_features = categorical_features

    @property
    def invariances(self) -> tuple[str, ...]:
        """Counts, thresholds and given priors are in the units of their columns."""
        laws = [self.numeric, *(self.columns or {}).values()]
        if any(_has_units(law) for law in laws):
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

    def _leaves_quickly(self) -> bool:
        # The prior of Student's t stands at the mean and variance of all rows, and whether a
        # column has missing cells at all is asked of all classes.
        if self.missing == "level":
            return False
        laws = [self.numeric, *(self.columns or {}).values()]
        return not any(isinstance(law, StudentTColumn) for law in laws)

    def _complete_schema(self, schema: Schema) -> Schema:
        if schema.is_numeric:
            return schema
        return Schema(tuple(_with_both(column) for column in schema.columns), schema.named)

    def _reading(self, schema: Schema) -> Reading:
        laws = self._laws(schema)
        numeric = [laws[schema.columns[i].name] for i in schema.numeric]
        counted = tuple(j for j, law in enumerate(numeric) if not _is_number(law))
        thresholds = tuple(
            law.threshold if isinstance(law, BernoulliColumn) else None
            for law in numeric
            if not _is_number(law)
        )
        return Reading(counted, thresholds or (None,))

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        schema = statistics.schema
        laws = self._laws(schema)
        numeric = [laws[schema.columns[i].name] for i in schema.numeric]
        blocks = [*_number_blocks(statistics, numeric), *_count_blocks(statistics, numeric)]
        if not schema.is_numeric:
            smoothing = [laws[column.name].smoothing for column in schema.categorical_columns]
            blocks.append(categorical_block(statistics, smoothing))
        if self.missing == "level":
            blocks.append(missing_block(statistics))
        return tuple(blocks)

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


# --- Blocks ---------------------------------------------------------------------------------------


def _number_blocks(statistics: NaiveBayesStatistics, laws: list[Any]) -> list[Any]:
    """Normal columns together, and those under Student's t."""
    numbers = statistics.reading.split(len(laws))[0]
    blocks: list[Any] = []
    normal = [j for j, i in enumerate(numbers) if isinstance(laws[i], GaussianColumn)]
    if normal:
        floors = np.array([laws[numbers[j]].variance_floor for j in normal])
        parts = _some(statistics.moments, statistics.n_classes, normal)
        blocks.append(gaussian_block(numbers[normal], parts, statistics.n_classes, floors))
    student = [j for j, i in enumerate(numbers) if isinstance(laws[i], StudentTColumn)]
    if student:
        models = tuple(laws[numbers[j]] for j in student)
        parts = _some(statistics.moments, statistics.n_classes, student)
        blocks.append(student_block(numbers[student], parts, statistics.n_classes, models))
    return blocks


def _count_blocks(statistics: NaiveBayesStatistics, laws: list[Any]) -> list[Any]:
    """Columns of occurrences together, and every block of counts."""
    counted = statistics.reading.split(len(laws))[1]
    weight = statistics.class_count
    totals = expected_totals(statistics.totals, statistics.missing, weight)
    blocks: list[Any] = []
    single = [j for j, i in enumerate(counted) if isinstance(laws[i], BernoulliColumn)]
    if single:
        present = np.repeat(weight[:, np.newaxis], len(single), axis=1)
        if statistics.missing is not None:
            present = np.maximum(present - statistics.missing[:, single], 0.0)
        chosen = [laws[counted[j]] for j in single]
        thresholds = np.array([law.threshold for law in chosen])
        alpha = np.array([law.smoothing for law in chosen])
        ones = statistics.totals[:, single]
        blocks.append(bernoulli_block(counted[single], thresholds, ones, present, alpha))
    named = {id(laws[i]): laws[i] for i in counted if isinstance(laws[i], CountsBlock)}
    for law in named.values():
        own = [j for j, i in enumerate(counted) if laws[i] is law]
        alpha = np.array([law.smoothing])
        blocks.append(count_block(counted[own], totals[:, own], weight, alpha))
    return blocks


def _some(moments: ColumnMoments, n_classes: int, columns: list[int]) -> ColumnMoments:
    names = ("weight", "mean", "scatter")
    parts = (getattr(moments, name).reshape(n_classes, -1)[:, columns] for name in names)
    return ColumnMoments(*(part.ravel() for part in parts))


def _is_number(law: Any) -> bool:
    return isinstance(law, (GaussianColumn, StudentTColumn))


def _has_units(law: Any) -> bool:
    if isinstance(law, StudentTColumn):
        return law.mean is not None or law.variance is not None
    return isinstance(law, (BernoulliColumn, CountsBlock))


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
    wanted = (*NUMERIC_MODELS, CountsBlock) if numeric else (CategoricalColumn,)
    if not isinstance(law, wanted):
        choice = ", ".join(kind.__name__ for kind in wanted)
        raise InputError(
            f"Column {column!r} is {kinds[column].value} and cannot have the law {law!r}. Give it "
            f"one of {choice}, or change its kind by `categorical_features`."
        )
