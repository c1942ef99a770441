"""What tells each group of rows from the rest: in words and in numbers.

For every group a small tree of its own asks at most a few questions, group or rest; its best rule
is told with how many rows of the group it finds and how many of those it finds are right. For every
column the group is compared with the rest:

    numbers   d = (mean of the group - mean of the rest) / pooled standard deviation; Welch's t test
    levels    the level whose share differs most, with the difference of both shares by Cohen's h,
              2 asin sqrt(p) - 2 asin sqrt(q); chi-square test of all levels

p-values of all columns and groups are corrected together (Benjamini and Yekutieli), so that the
share of false differences among those named stays below the level whatever the dependence.

The tests take the groups as given. Groups that were found in the same columns differ in them by
construction: the effects say by how much, and p-values of columns that took no part are honest.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import stats

from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.tables import Column as TableColumn
from novum.core.tables import Kind, Sample, check_sample
from novum.display import Column, Paragraph, Table, counted, notebook, number, percent, probability
from novum.numerics import Array, Floats, Mask
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.reading.rules import rules

_LEVEL = 0.05
# Differences of a group that its sentence tells.
_TOLD = 3


@dataclass(frozen=True)
class Difference:
    """How a column of a group differs from that of the rest.

    Attributes
    ----------
    column : str
    effect : float
        Cohen's d of numbers, h of levels; positive where the group has more.
    inside, outside : float
        Means, or shares of the level.
    level : str or None
        Of a column of levels: the one whose share differs most.
    p_value : float
        Corrected for all columns and groups.
    """

    column: str
    effect: float
    inside: float
    outside: float
    level: str | None
    p_value: float

    @property
    def text(self) -> str:
        """The difference in words."""
        if self.level is not None:
            return (
                f"{self.column} is {self.level} in {percent(self.inside)} of its rows, "
                f"{percent(self.outside)} of the others"
            )
        more = "larger" if self.effect > 0 else "smaller"
        return (
            f"{self.column} is {more}, {number(self.inside)} against {number(self.outside)} on "
            "average"
        )


@dataclass(frozen=True)
class GroupDescription:
    """What tells one group from the rest.

    Attributes
    ----------
    label : label of the group
    size : int
    share : float
    rule : str
        The best rule of a small tree; empty where none is better than chance.
    found, right : float
        Shares of the group that the rule finds, and of the found rows that are of the group.
    differences : tuple of Difference
        By falling size of their effects.
    """

    label: Any
    size: int
    share: float
    rule: str
    found: float
    right: float
    differences: tuple[Difference, ...]

    @property
    def sentence(self) -> str:
        """The group in words."""
        text = f"Group {self.label} ({counted(self.size, 'row')}, {percent(self.share)})"
        if self.rule:
            text += (
                f": {self.rule} finds {percent(self.found)} of it, and {percent(self.right)} of "
                "what it finds is right"
            )
        told = [d.text for d in self.differences if d.p_value <= _LEVEL][:_TOLD]
        if told:
            text += f". Against the rest, {'; '.join(told)}"
        elif not self.rule:
            text += ": nothing tells it from the rest"
        return f"{text}."


@dataclass(frozen=True, eq=False)
class GroupDescriptions:
    """The descriptions of all groups; shows itself as sentences and a table.

    Attributes
    ----------
    groups : tuple of GroupDescription
    """

    groups: tuple[GroupDescription, ...] = field(default=())

    def __iter__(self) -> Any:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, place: int) -> GroupDescription:
        return self.groups[place]

    def table(self, most: int = 6) -> Table:
        """The largest differences of every group."""
        heads = ("effect", "group", "rest", "p")
        columns = [Column("group"), Column("column"), *(Column(head, True) for head in heads)]
        lines = [
            [
                str(group.label),
                d.column if d.level is None else f"{d.column} = {d.level}",
                f"{d.effect:+.2f}",
                number(d.inside) if d.level is None else percent(d.inside),
                number(d.outside) if d.level is None else percent(d.outside),
                probability(d.p_value),
            ]
            for group in self.groups
            for d in group.differences[:most]
        ]
        return Table(
            "What tells groups from the rest",
            columns,
            lines,
            "Effects are standardized differences; p is corrected for all columns and groups.",
        )

    def __repr__(self) -> str:
        return "\n".join([*(group.sentence for group in self.groups), self.table().as_text()])

    def _repr_html_(self) -> str:
        return notebook(*(Paragraph(group.sentence) for group in self.groups), self.table())


class _GroupReader(Learner):
    """What `core.tables` wants to know of a learner."""

    categorical_features: Any = parameter(default="auto")


def describe_groups(labels: Any, X: Any, *, max_depth: int = 2) -> GroupDescriptions:
    """What tells each group from the rest.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Of clusters, or of any other groups.
    X : table
        Columns of any kind; cells may be missing.
    max_depth : int
        Questions of a rule at most.

    Examples
    --------
    >>> X = [[1.0, "a"], [1.2, "b"], [0.9, "a"], [7.0, "b"], [7.7, "a"], [7.2, "b"]]
    >>> found = describe_groups([0, 0, 0, 1, 1, 1], X)
    >>> found[1].rule, found[1].found, found[1].right
    ('x0 > 4.1', 1.0, 1.0)
    >>> found[1].differences[0].text
    'x0 is larger, 7.3 against 1.033 on average'
    """
    if not isinstance(max_depth, int) or max_depth < 1:
        raise InputError(f"A rule asks at least one question, got max_depth={max_depth!r}.")
    reader = type("describe_groups", (_GroupReader,), {})()
    sample = check_sample(reader, X, target="none", allow_missing=True)
    given = np.asarray(labels)
    if given.shape != (sample.n_rows,):
        raise InputError(
            f"{sample.n_rows} rows need a label each, got labels of shape {given.shape}."
        )
    names = np.unique(given)
    if len(names) < 2:
        raise InputError("There is one group only, and nothing to tell it from.")
    descriptions = [_described(sample, X, given == name, name, max_depth) for name in names]
    return GroupDescriptions(_corrected(descriptions))


def _described(sample: Sample, X: Any, inside: Mask, label: Any, depth: int) -> GroupDescription:
    rule, reached, right = _best_rule(X, inside, depth)
    columns = enumerate(sample.schema.columns)
    differences = [d for i, column in columns if (d := _difference(sample, i, column, inside))]
    differences.sort(key=lambda d: -abs(d.effect))
    size = int(inside.sum())
    return GroupDescription(
        label.item() if isinstance(label, np.generic) else label,
        size,
        size / len(inside),
        rule,
        reached,
        right,
        tuple(differences),
    )


def _best_rule(X: Any, inside: Mask, depth: int) -> tuple[str, float, float]:
    """The rule of largest F1 for the group, of a small tree in which both sides weigh the same."""
    y = np.where(inside, "group", "rest")
    tree = DecisionTreeClassifier(max_depth=depth, class_weight="balanced").fit(X, y)
    best, text, reached, right = 0.0, "", 0.0, 0.0
    size, others = float(inside.sum()), float((~inside).sum())
    for rule in rules(tree.tree_).of("group"):
        if not rule.words:
            continue
        # Weights of both sides are equal in the tree; here rows are counted again.
        total = sum(rule.counts)
        shares = np.array(rule.counts) / (rule.weight / rule.coverage / 2) if total else (0.0, 0.0)
        hits, misses = float(shares[0]) * size, float(shares[1]) * others
        score = 2 * hits / (hits + misses + size)
        if score > best:
            best, text = score, rule.text
            reached, right = hits / size, hits / (hits + misses)
    return text, reached, right


def _difference(sample: Sample, place: int, column: TableColumn, inside: Mask) -> Difference | None:
    schema = sample.schema
    if column.kind is Kind.NUMERIC:
        cells = np.asarray(sample.numeric)[:, list(schema.numeric).index(place)]
        return _of_numbers(column.name, cells, inside)
    codes = sample.codes[:, list(schema.categorical).index(place)]
    return _of_levels(column, codes, inside)


def _of_numbers(name: str, cells: Floats, inside: Mask) -> Difference | None:
    known = ~np.isnan(cells)
    a, b = cells[known & inside], cells[known & ~inside]
    if len(a) < 1 or len(b) < 1:
        return None
    mean_a, mean_b = float(a.mean()), float(b.mean())
    spread = np.sqrt((a.var() * len(a) + b.var() * len(b)) / max(len(a) + len(b) - 2, 1))
    effect = (mean_a - mean_b) / spread if spread > 0 else 0.0
    if mean_a == mean_b or len(a) < 2 or len(b) < 2:
        return Difference(name, float(effect), mean_a, mean_b, None, 1.0)
    if a.var() + b.var() == 0:
        # Two values that never vary: as different as columns can be.
        p_value = float(stats.fisher_exact([[len(a), 0], [0, len(b)]])[1])
        effect = np.inf if mean_a > mean_b else -np.inf
        return Difference(name, float(effect), mean_a, mean_b, None, p_value)
    with warnings.catch_warnings():
        # Cells that hardly vary leave few digits, which the effect shows as well.
        warnings.simplefilter("ignore", RuntimeWarning)
        p_value = float(stats.ttest_ind(a, b, equal_var=False).pvalue)
    return Difference(name, float(effect), mean_a, mean_b, None, p_value)


def _of_levels(column: TableColumn, codes: Array, inside: Mask) -> Difference | None:
    known = codes >= 0
    k = max(column.n_levels, 1)
    counts = np.array(
        [np.bincount(codes[known & side], minlength=k) for side in (inside, ~inside)], float
    )
    totals = counts.sum(axis=1)
    if not totals.all():
        return None
    shares = counts / totals[:, np.newaxis]
    angles = 2.0 * np.arcsin(np.sqrt(shares))
    effects = angles[0] - angles[1]
    level = int(np.argmax(np.abs(effects)))
    met = counts[:, counts.sum(axis=0) > 0]
    p_value = float(stats.chi2_contingency(met).pvalue) if met.shape[1] > 1 else 1.0
    inside_share, outside_share = (float(s) for s in shares[:, level])
    name = str(column.levels[level])
    return Difference(
        column.name, float(effects[level]), inside_share, outside_share, name, p_value
    )


def _corrected(groups: list[GroupDescription]) -> tuple[GroupDescription, ...]:
    """With p-values that are corrected for all of them together."""
    p_values = [d.p_value for group in groups for d in group.differences]
    if not p_values:
        return tuple(groups)
    adjusted = iter(stats.false_discovery_control(p_values, method="by").tolist())
    return tuple(
        replace(
            group, differences=tuple(replace(d, p_value=next(adjusted)) for d in group.differences)
        )
        for group in groups
    )
