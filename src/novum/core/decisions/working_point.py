"""Working point: where a classifier is used, as opposed to where it was trained.

With priors P(c), the cost of taking action a when c is true, and posteriors P(c | x), the Bayes
action has the least expected cost,

    decide(x) = argmin_a  sum_c  P(c | x) cost[c, a].

Actions are usually the classes, but may be anything (`treat`, `wait`), and rejecting is one more
action of constant cost. Only differences of costs within a row matter, so a negative cost is
allowed: it is a gain. Posteriors of a model trained under other priors are moved first,

    P_new(c | x)  ~  P_old(c | x) P_new(c) / P_old(c).

In the binary case all this is one number: accept the positive class when its log-likelihood ratio
exceeds `threshold = -log(odds)` of the effective prior p C_fn / (p C_fn + (1 - p) C_fp).

Reference: Duda, Hart & Stork, Pattern Classification, 2nd ed., equations 2.13 and 2.17; Brümmer &
du Preez (2006) for the effective prior.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.decisions.cost_table import read_cost_table
from novum.core.errors import InputError
from novum.core.text import listed
from novum.display import Table, aligned, notebook
from novum.numerics import Array, Floats, Positions

REJECT = "reject"
# Priors are typed in by people with few digits, posteriors come from sums of up to thousands of
# terms and from float32 models.
PRIOR_TOLERANCE = 1e-9
POSTERIOR_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class WorkingPoint:
    """Priors, costs, extra actions and a reject cost as one immutable value.

    Parameters
    ----------
    classes : sequence of K labels
        The positive class of a binary point is the last one.
    priors : array of shape (K,)
        Probability of each class where the model is used; sums to 1 within 1e-9.
    cost : array of shape (K, A)
        `cost[true, action]`, finite. Negative costs are gains.
    reject_cost : float, optional
        Cost of the further action `"reject"`, whatever the true class is.
    actions : sequence of A names, optional
        Names of the columns of `cost`. Default: the classes.

    Notes
    -----
    Ties go to the action that stands first, and rejecting stands last.

    Examples
    --------
    >>> point = WorkingPoint(["ill", "well"], [0.1, 0.9], [[0, 20], [1, 0]], reject_cost=0.4)
    >>> point.decide([[0.9, 0.1], [0.03, 0.97], [0.01, 0.99]]).tolist()
    ['ill', 'reject', 'well']
    """

    classes: tuple[Any, ...]
    priors: Floats
    cost: Floats
    reject_cost: float | None = None
    actions: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        classes = _labels(self.classes, "classes")
        cost = _checked_cost(self.cost, len(classes))
        actions = _checked_actions(self.actions, classes, cost.shape[1], self.reject_cost)
        if self.reject_cost is not None:
            reject_cost = float(_numbers(self.reject_cost, "reject_cost"))
            if not np.isfinite(reject_cost):
                raise InputError(f"reject_cost is a finite number or None, got {reject_cost}.")
            object.__setattr__(self, "reject_cost", reject_cost)
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "priors", _checked_priors(self.priors, classes))
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "actions", actions)

    # Ways to make one

    @classmethod
    def binary(
        cls, *, prior: float, cost_fn: float, cost_fp: float, classes: Sequence[Any] = (0, 1)
    ) -> WorkingPoint:
        """Two classes, of which the last is positive with probability `prior`.

        `cost_fn` is the cost of missing a positive, `cost_fp` that of a false alarm.

        Examples
        --------
        >>> round(WorkingPoint.binary(prior=0.01, cost_fn=10, cost_fp=1).effective_prior, 4)
        0.0917
        """
        if len(tuple(classes)) != 2:
            raise InputError(f"A binary point has two classes, got {tuple(classes)!r}.")
        if not 0 <= prior <= 1:
            raise InputError(f"prior is a probability between 0 and 1, got {prior!r}.")
        for name, cost in (("cost_fn", cost_fn), ("cost_fp", cost_fp)):
            if not (np.isfinite(cost) and cost >= 0):
                raise InputError(f"{name} is a finite cost of at least 0, got {cost!r}.")
        return cls(tuple(classes), [1 - prior, prior], [[0, cost_fp], [cost_fn, 0]])  # type: ignore[arg-type]

    @classmethod
    def uniform(cls, classes: Sequence[Any]) -> WorkingPoint:
        """Equal priors, and each error costs 1.

        Examples
        --------
        >>> WorkingPoint.uniform("abc").decide([[0.2, 0.5, 0.3]]).tolist()
        ['b']
        """
        n_classes = len(list(classes))
        if n_classes == 0:
            raise InputError("A working point needs at least one class.")
        priors = np.full(n_classes, 1 / n_classes)
        return cls(tuple(classes), priors, 1.0 - np.eye(n_classes))

    @classmethod
    def from_csv(
        cls,
        source: str | os.PathLike[str],
        *,
        priors: ArrayLike | None = None,
        classes: Sequence[Any] | None = None,
        reject_cost: float | None = None,
    ) -> WorkingPoint:
        """Read the costs from a table with labels on both sides.

        Parameters
        ----------
        source : path or text
            First line: any word, then the actions. Further lines: a class, then its costs. Text is
            told from a path by its line breaks.
        priors : array of shape (K,), optional
            In the order of `classes`, else of the table. Default: equal.
        classes : sequence of K labels, optional
            The labels the model uses, matched with the table's by their text; they also give the
            order. Default: the table's labels as text.
        reject_cost : float, optional

        Examples
        --------
        >>> table = "true,ill,well,test\\nill,0,20,2\\nwell,1,0,2\\n"
        >>> WorkingPoint.from_csv(table, priors=[0.1, 0.9]).decide([[0.05, 0.95]]).tolist()
        ['ill']
        """
        table = read_cost_table(source)
        labels = table.classes if classes is None else _labels(classes, "classes")
        rows, actions = _matched_labels(table.classes, table.actions, labels)
        shares = np.full(len(labels), 1 / len(labels)) if priors is None else priors
        return cls(labels, shares, table.cost[rows], reject_cost, actions)  # type: ignore[arg-type]

    # Facts

    @property
    def action_names(self) -> tuple[Any, ...]:
        """All actions, `"reject"` last if there is one."""
        names = self.actions or self.classes
        return names if self.reject_cost is None else (*names, REJECT)

    @property
    def action_costs(self) -> Floats:
        """`cost[true, action]` for all of `action_names`, of shape (K, n_actions)."""
        if self.reject_cost is None:
            return self.cost
        reject = np.full((len(self.classes), 1), self.reject_cost)
        return np.hstack([self.cost, reject])

    @property
    def has_threshold(self) -> bool:
        """Whether a threshold decides: two classes, which are the actions, and no reject.

        Examples
        --------
        >>> WorkingPoint.uniform("ab").has_threshold, WorkingPoint.uniform("abc").has_threshold
        (True, False)
        """
        try:
            self._binary_risks()
        except InputError:
            return False
        return self.reject_cost is None

    @property
    def effective_prior(self) -> float:
        """The prior of the positive class that, with equal costs, leads to the same decisions."""
        false_negative, false_positive = self._binary_risks()
        return float(false_negative / (false_negative + false_positive))

    @property
    def threshold(self) -> float:
        """Accept the positive class when its log-likelihood ratio is larger than this."""
        false_negative, false_positive = self._binary_risks()
        # A risk of zero makes one of the decisions right at any score: the threshold is infinite.
        with np.errstate(divide="ignore"):
            return float(np.log(false_positive) - np.log(false_negative))

    def ordered(self, classes: Sequence[Any]) -> WorkingPoint:
        """The same point with its classes in another order."""
        labels = _labels(classes, "classes")
        if set(labels) != set(self.classes):
            raise InputError(
                f"The point is for the classes {listed(self.classes)}, the model for "
                f"{listed(labels)}; make a point for the model's classes."
            )
        order = [self.classes.index(label) for label in labels]
        cost, names = self.cost[order], self.actions
        if names == self.classes:
            cost, names = cost[:, order], labels
        return WorkingPoint(labels, self.priors[order], cost, self.reject_cost, names)

    # Decisions

    def expected_costs(self, posteriors: ArrayLike) -> Floats:
        """Expected cost of each action, of shape (n, n_actions)."""
        return self._checked_posteriors(posteriors) @ self.action_costs

    def actions_for(self, posteriors: ArrayLike) -> Positions:
        """Index into `action_names` of the Bayes action of each row; ties to the lowest."""
        return self.expected_costs(posteriors).argmin(axis=1)

    def decide(self, posteriors: ArrayLike) -> Array:
        """The Bayes action of each row, by name."""
        return label_array(self.action_names)[self.actions_for(posteriors)]

    def classes_for(self, posteriors: ArrayLike) -> Positions:
        """Index into `classes` of the class to predict for each row; ties to the lowest.

        The class whose action is cheapest, without rejecting and other actions. Where some class
        is no action, costs say nothing about naming classes, and the likeliest class is taken.
        """
        checked = self._checked_posteriors(posteriors)
        names = self.actions or self.classes
        if not set(self.classes) <= set(names):
            return checked.argmax(axis=1)
        columns = [names.index(label) for label in self.classes]
        return (checked @ self.cost[:, columns]).argmin(axis=1)

    def retarget(self, posteriors: ArrayLike, training_priors: ArrayLike) -> Floats:
        """Posteriors under this point's priors, from those of a model trained under others.

        Parameters
        ----------
        posteriors : array of shape (n, K)
        training_priors : array of shape (K,)
            A class of training prior 0 has no likelihood; a point that expects it is refused.

        Examples
        --------
        >>> WorkingPoint.uniform([0, 1]).retarget([[0.9, 0.1]], [0.9, 0.1]).tolist()
        [[0.5, 0.5]]
        """
        checked = self._checked_posteriors(posteriors)
        trained = _checked_priors(training_priors, self.classes, "training_priors")
        self._check_known(checked, trained)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(trained > 0, np.log(self.priors) - np.log(trained), -np.inf)
            logs = np.log(checked) + ratio
        top = logs.max(axis=1, keepdims=True)
        if np.isneginf(top).any():
            row = int(np.flatnonzero(np.isneginf(top))[0])
            raise InputError(
                f"Row {row} is impossible at this working point: all its probability is on classes "
                f"of prior 0, its posteriors are {checked[row].tolist()}. Give every class that "
                "occurs a positive prior."
            )
        moved = np.exp(logs - top)
        return moved / moved.sum(axis=1, keepdims=True)

    # Python

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkingPoint) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        names = "" if self.actions == self.classes else f", actions={list(self.actions or ())!r}"
        reject = "" if self.reject_cost is None else f", reject_cost={self.reject_cost!r}"
        return (
            f"WorkingPoint({list(self.classes)!r}, priors={self.priors.tolist()!r}, "
            f"cost={self.cost.tolist()!r}{reject}{names})"
        )

    def __str__(self) -> str:
        rows = self._table()
        lines = aligned(rows, [True] * len(rows[0]))
        return "\n".join(["Working point, cost of each action:", *lines])

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        return notebook(Table.of_numbers("Working point", head, rows))

    # Parts of the above

    def _table(self) -> list[list[str]]:
        head = ["true class", "prior", *map(str, self.action_names)]
        body = [
            [str(label), f"{prior:.6g}", *(f"{cost:.6g}" for cost in costs)]
            for label, prior, costs in zip(
                self.classes, self.priors, self.action_costs, strict=True
            )
        ]
        return [head, *body]

    def _key(self) -> tuple[Hashable, ...]:
        # Adding 0.0 turns -0.0 into 0.0, whose bytes differ though they are equal.
        numbers = ((self.priors + 0.0).tobytes(), (self.cost + 0.0).tobytes())
        return (self.classes, self.actions, self.reject_cost, *numbers)

    def _binary_risks(self) -> tuple[np.float64, np.float64]:
        """Prior times excess cost of a missed positive and of a false alarm."""
        if len(self.classes) != 2 or self.actions != self.classes:
            raise InputError(
                "Effective prior and threshold belong to two classes whose actions are the "
                f"classes; this point has the classes {listed(self.classes)} and the actions "
                f"{listed(self.actions or ())}."
            )
        false_negative = self.priors[1] * (self.cost[1, 0] - self.cost[1, 1])
        false_positive = self.priors[0] * (self.cost[0, 1] - self.cost[0, 0])
        if min(false_negative, false_positive) < 0 or max(false_negative, false_positive) <= 0:
            raise InputError(
                "No threshold exists: an error must cost at least as much as the right decision, "
                f"and one of the two errors more; the costs are {self.cost.tolist()}."
            )
        return false_negative, false_positive

    def _checked_posteriors(self, posteriors: ArrayLike) -> Floats:
        checked = _numbers(posteriors, "posteriors")
        if checked.ndim != 2 or checked.shape[1] != len(self.classes):
            raise InputError(
                f"Posteriors have one row per case and one column for each of the "
                f"{len(self.classes)} classes, got an array of shape {checked.shape}."
            )
        sums = checked.sum(axis=1)
        # Written so that NaN is bad.
        good = (checked >= 0).all(axis=1) & (np.abs(sums - 1) <= POSTERIOR_TOLERANCE)
        if not good.all():
            row = int(np.flatnonzero(~good)[0])
            raise InputError(
                f"Each row of posteriors is at least 0 and sums to 1; {np.sum(~good)} of "
                f"{len(good)} rows do not, the first is row {row}: {checked[row].tolist()}."
            )
        return checked

    def _check_known(self, posteriors: Floats, trained: Floats) -> None:
        unknown = trained == 0
        expected = np.flatnonzero(unknown & (self.priors > 0))
        if expected.size:
            raise InputError(
                f"Class {self.classes[expected[0]]!r} has training prior 0 but prior "
                f"{self.priors[expected[0]]:.6g} at this point: the model knows nothing about it. "
                "Train on a sample that has this class, or set its prior to 0."
            )
        rows, columns = np.nonzero(posteriors[:, unknown])
        if rows.size:
            label = self.classes[np.flatnonzero(unknown)[columns[0]]]
            raise InputError(
                f"Row {rows[0]} has a positive posterior for class {label!r}, whose training prior "
                "is 0; the training priors are not those of the model."
            )


# --- Checks ---------------------------------------------------------------------------------------


def label_array(labels: Sequence[Any]) -> Array:
    """Labels as a vector; of objects if they are of several kinds, such as 0, 1 and "reject"."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(labels)
    objects = np.empty(len(labels), dtype=object)
    objects[:] = list(labels)
    return objects


def _labels(labels: Sequence[Any], what: str) -> tuple[Any, ...]:
    """Labels as plain Python values, so that 1 and numpy.int64(1) print and store alike."""
    plain = tuple(x.item() if isinstance(x, np.generic) else x for x in labels)
    if not plain:
        raise InputError(f"A working point needs at least one of {what}.")
    if len(set(plain)) != len(plain):
        twice = next(label for label in plain if plain.count(label) > 1)
        raise InputError(f"{what} must differ; {twice!r} occurs {plain.count(twice)} times.")
    return plain


def _numbers(values: Any, what: str) -> Floats:
    """A copy as float64, so that nobody else can change it."""
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers in an even shape, got {values!r}.") from None


def _checked_cost(cost: ArrayLike, n_classes: int) -> Floats:
    checked = _numbers(cost, "cost")
    if checked.ndim != 2 or checked.shape[0] != n_classes or checked.shape[1] == 0:
        raise InputError(
            f"cost[true, action] has one row for each of the {n_classes} classes and one column "
            f"per action, got an array of shape {checked.shape}."
        )
    if not np.isfinite(checked).all():
        row, column = np.argwhere(~np.isfinite(checked))[0]
        raise InputError(
            f"cost[{row}, {column}] is {checked[row, column]}; costs are finite. Forbid an action "
            "by a cost far above the others."
        )
    checked.flags.writeable = False
    return checked


def _checked_actions(
    actions: Sequence[Any] | None,
    classes: tuple[Any, ...],
    n_actions: int,
    reject_cost: float | None,
) -> tuple[Any, ...]:
    names = classes if actions is None else _labels(actions, "actions")
    if len(names) != n_actions:
        raise InputError(
            f"cost has {n_actions} columns, but there are {len(names)} names of actions; give "
            "actions=[...] with one name per column."
        )
    if reject_cost is not None and REJECT in names:
        raise InputError(f"An action named {REJECT!r} and a reject_cost exclude each other.")
    return names


def _checked_priors(priors: ArrayLike, classes: tuple[Any, ...], what: str = "priors") -> Floats:
    checked = _numbers(priors, what)
    if checked.shape != (len(classes),):
        raise InputError(
            f"{what} has one probability for each of the {len(classes)} classes, got an array of "
            f"shape {checked.shape}."
        )
    bad = np.flatnonzero(~((checked >= 0) & (checked <= 1 + PRIOR_TOLERANCE)))
    if bad.size:
        raise InputError(
            f"{what} are probabilities; that of class {classes[bad[0]]!r} is {checked[bad[0]]}."
        )
    if abs(checked.sum() - 1) > PRIOR_TOLERANCE:
        raise InputError(
            f"{what} sum to {checked.sum():.12g}, not to 1; divide them by their sum if they are "
            "meant as proportions."
        )
    checked.flags.writeable = False
    return checked


def _matched_labels(
    rows: tuple[str, ...], columns: tuple[str, ...], labels: tuple[Any, ...]
) -> tuple[list[int], tuple[Any, ...]]:
    """Row of each label in a table of texts, and the table's actions as labels."""
    by_text = {str(label): label for label in labels}
    if set(by_text) != set(rows) or len(by_text) != len(labels):
        raise InputError(
            f"The table has rows for {listed(rows)}, the classes are {listed(labels)}; each "
            "class needs one row."
        )
    order = [rows.index(str(label)) for label in labels]
    return order, tuple(by_text.get(name, name) for name in columns)
