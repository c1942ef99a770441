"""Learning laws of classes from rows of which only some have a label: EM over the labels.

    L = sum over labelled rows    w_i log p(y_i) p(x_i | y_i)
      + a  sum over unlabelled    w_i log sum_k p(k) p(x_i | k)   +   log prior of the laws

A row without a label is a row whose label is a missing cell. The E-step gives it to every class in
proportion to `p(k | x)`, the M-step is the learner's own fit to rows with those weights. Since an
M-step is a function of sums, nothing else is needed than the sums that the learner has anyway, and
`L` never falls, which the driver in `core.sums.expectation` checks.

The weight `a` says how much an unlabelled row counts against a labelled one. If the laws are right
`a = 1` is best; if they are not, many unlabelled rows draw the classes to whatever groups fit the
laws, and fewer is better, or nothing. `a` is therefore chosen by what it does for labels that were
held out, `a = 0` among the choices, and a loss is told with its numbers.

References: Nigam, McCallum, Thrun and Mitchell, "Text classification from labeled and unlabeled
documents using EM", Machine Learning 39, 2000; Cozman and Cohen, "Unlabeled data can degrade
classification performance of generative classifiers", 2002.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol

import numpy as np

from novum.core.errors import InputError, caller_level
from novum.core.learners import warn_if_stopped
from novum.core.sums.additive import Additive
from novum.core.sums.expectation import Fitted, fit_sums
from novum.core.sums.labelled_rows import PartlyLabelledRows
from novum.core.sums.sum_problem import P, S, StopRule, SumProblem
from novum.core.tables import Sample
from novum.core.text import label_text
from novum.numerics import Floats, Integers, log_sum_exp

# A held-out label cannot be less likely than this: one row must not outweigh all others.
_LEAST_LOG_PROBABILITY = float(np.log(np.finfo(np.float64).eps))

# Differences of held-out log-probabilities below this, in nats a label, are of no account.
NO_ACCOUNT = 0.01
# A smaller share of a row moves no digit of a sum, and its square would be below all doubles.
_LEAST_SHARE = 1e-30


class UnlabelledWarning(UserWarning):
    """Rows without a label do harm, or cannot be judged."""


@dataclass(frozen=True)
class UnlabelledRows:
    """How rows without a label take part in a fit; `unlabelled="em"` is the default of all this.

    Parameters
    ----------
    weight : float or "cv"
        How much a row without a label counts against a labelled one, from 0 to 1; "cv" takes the
        one of `weights` (or 0) under which labels that were held out are most probable, the largest
        of those within 0.01 nats a label.
    weights : tuple of float
        What "cv" compares, 0 besides.
    folds : int
        Parts in which labelled rows are held out; 0 judges nothing and needs a given weight.
    tol : float
        EM ends when a step raises the log-likelihood per row by less.
    max_iter : int
        Steps of EM.

    Examples
    --------
    >>> UnlabelledRows(weight=0.1).weight
    0.1
    """

    weight: float | str = "cv"
    weights: tuple[float, ...] = (0.01, 0.1, 0.3, 1.0)
    folds: int = 5
    tol: float = 1e-6
    max_iter: int = 500

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(sorted(float(a) for a in self.weights)))
        given = () if isinstance(self.weight, str) else (self.weight,)
        if isinstance(self.weight, str) and self.weight != "cv":
            raise InputError(f"weight is a number from 0 to 1 or 'cv', got {self.weight!r}.")
        for a in (*given, *self.weights):
            if not 0 <= a <= 1:
                raise InputError(f"Weights of unlabelled rows are from 0 to 1, got {a!r}.")
        if self.folds not in range(2, 1001) and self.folds != 0:
            raise InputError(f"folds is 0, or at least 2, got {self.folds!r}.")
        if self.weight == "cv" and (self.folds == 0 or not any(self.weights)):
            raise InputError("weight='cv' needs folds and weights above 0. Or give the weight.")
        if not self.tol >= 0 or self.max_iter < 1:
            raise InputError("tol is at least 0 and max_iter at least 1.")

    @classmethod
    def of(cls, given: Any) -> UnlabelledRows:
        """The rule that a learner's parameter `unlabelled` stands for."""
        return cls() if isinstance(given, str) else given


class ClassLaws(Protocol[P, S]):
    """What a family of classifiers says: laws of classes under some parameters, and their fit."""

    def start(self) -> P:
        """First parameters, from the labelled rows."""

    def log_joint(self, params: P, sample: Sample) -> Floats:
        """`log p(k) p(x | k)` of the present cells, (n, K)."""

    def class_prior(self, params: P) -> Floats:
        """Priors of the classes (K,)."""

    def sums(self, params: P, sample: Sample) -> S:
        """Sums over rows that all have labels; they add up."""

    def estimate(self, sums: S, class_weight: Floats, params: P) -> P:
        """The best parameters for these sums; `params` are those under which they were made."""

    def log_prior(self, params: P) -> float:
        """Log prior density of the parameters, up to a constant."""


@dataclass(frozen=True, eq=False)
class LabelSums(Additive):
    """Expected sums over rows of which some have no label.

    Attributes
    ----------
    expected : sums of the learner
    class_weight : array (K,)
        Expected weight of every class.
    log_likelihood : float
        Of labels and cells of labelled rows, of cells of the others.
    """

    expected: Any
    class_weight: Floats
    log_likelihood: float


class PartlyLabelled(SumProblem[P, LabelSums], Generic[P]):
    """EM over missing labels.

    Parameters
    ----------
    laws : ClassLaws
    weight : float
        Of a row without a label, above 0.
    """

    objective_name = "log-likelihood of labelled and unlabelled rows"
    direction = "maximize"

    def __init__(self, laws: ClassLaws[P, Any], weight: float) -> None:
        self.laws, self.weight = laws, weight

    def start(self, rng: np.random.Generator, /) -> P:  # noqa: ARG002
        return self.laws.start()

    def step(self, params: P, chunk: Sample, /) -> LabelSums:
        weights, value = self.memberships(params, chunk)
        expected: Any = None
        for k, part in members_of(chunk, weights):
            own = self.laws.sums(params, replace(part, target=np.full(part.n_rows, k, np.int64)))
            expected = own if expected is None else expected + own
        return LabelSums(expected, weights.sum(axis=0), value)

    def memberships(self, params: P, chunk: Sample) -> tuple[Floats, float]:
        """The weight that every row has in every class (n, K), and the log-likelihood."""
        codes, joint = chunk.target, self.laws.log_joint(params, chunk)
        labelled = codes >= 0
        weight = chunk.weights * np.where(labelled, 1.0, self.weight)
        evidence, shares = posterior(joint, self.laws.class_prior(params))
        rows = np.flatnonzero(labelled)
        shares[rows] = 0.0
        shares[rows, codes[rows]] = 1.0
        evidence[rows] = joint[rows, codes[rows]]
        return shares * weight[:, np.newaxis], float(weight @ evidence)

    def objective(self, params: P, statistics: LabelSums, /) -> float:
        return statistics.log_likelihood + self.laws.log_prior(params)

    def rounding(self, params: P, /) -> float:
        own = getattr(self.laws, "rounding", None)
        return 0.0 if own is None else float(own(params))

    def scale(self, params: P, statistics: LabelSums, /) -> float:  # noqa: ARG002
        return float(statistics.class_weight.sum())

    def update(self, params: P, statistics: LabelSums, /) -> P:
        return self.laws.estimate(statistics.expected, statistics.class_weight, params)


def members_of(sample: Sample, weights: Floats) -> Iterator[tuple[int, Sample]]:
    """The classes that have rows by these weights (n, K), each with its rows, so weighted."""
    for k, own in enumerate(weights.T):
        rows = np.flatnonzero(own)
        if rows.size:
            yield k, replace(sample.rows(rows), weight=own[rows])


def posterior(joint: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Log evidence (n,) and posterior (n, K); where all classes are impossible, the prior."""
    evidence = log_sum_exp(joint, axis=1)
    impossible = np.isneginf(evidence)
    shares = np.exp(joint - np.where(impossible, 0.0, evidence)[:, np.newaxis])
    shares[impossible] = prior
    shares[shares < _LEAST_SHARE] = 0.0
    return evidence, shares


# --- A fit ----------------------------------------------------------------------------------------

# Laws of some rows: of those that count, where unlabelled ones have the given weight.
LawsOf = Callable[[PartlyLabelledRows, float], ClassLaws[Any, Any]]


@dataclass(frozen=True, eq=False)
class LabelFit(Generic[P]):
    """A fit to rows of which some have no label.

    Attributes
    ----------
    laws : ClassLaws
    fitted : Fitted
        Its certificate tells numbers of rows, the weight and how it was chosen.
    weight : float
        Of a row without a label.
    """

    laws: Any
    fitted: Fitted[P, LabelSums]
    weight: float


def fit_partly_labelled(
    laws_of: LawsOf,
    rows: PartlyLabelledRows,
    rule: UnlabelledRows,
    learner: str,
    *,
    judging_tol: float = 0.0,
) -> LabelFit[Any]:
    """Fits laws of classes to rows of which some have no label, and weighs those.

    Parameters
    ----------
    laws_of : callable
        The laws of rows in which every class has a labelled one, and unlabelled ones the given
        weight.
    rows : PartlyLabelledRows
        In memory, or in passes over chunks.
    rule : UnlabelledRows
    learner : str
        For messages.
    judging_tol : float
        The least `tol` of the fits by which weights are compared, for laws whose steps are dear.
    """
    rough = replace(rule, tol=max(rule.tol, judging_tol))
    weight, judged = _weighed(laws_of, rows.judged, rough, learner)
    laws, fitted = _fitted(laws_of, rows, weight, rule)
    warn_if_stopped(fitted.certificate, learner, stacklevel=caller_level() + 1)
    details = {
        **fitted.certificate.details,
        "labelled_rows": rows.n_labelled,
        "unlabelled_rows": rows.n_unlabelled,
        "unlabelled_weight": weight,
    }
    if judged:
        details["held_out_log_probability"] = tuple(judged.items())
    certificate = replace(fitted.certificate, details=details)
    return LabelFit(laws, replace(fitted, certificate=certificate), weight)


def _fitted(
    laws_of: LawsOf, rows: PartlyLabelledRows, weight: float, rule: UnlabelledRows
) -> tuple[ClassLaws[Any, Any], Fitted[Any, LabelSums]]:
    used = rows if weight > 0 else rows.without_unlabelled()
    laws = laws_of(used, weight)
    problem = PartlyLabelled(laws, weight or 1.0)
    stop = StopRule(tol=rule.tol, max_iter=rule.max_iter)
    return laws, fit_sums(problem, used, stop=stop)


def _weighed(
    laws_of: LawsOf, sample: Sample, rule: UnlabelledRows, learner: str
) -> tuple[float, dict[float, float]]:
    """The weight of unlabelled rows, and the held-out log-probability of labels under each."""
    assert sample.classes is not None
    if len(sample.classes) == 1:
        _tell(
            f"Only class {label_text(sample.classes[0])} has labelled rows, so {learner} cannot "
            "tell from which other class an unlabelled row may be: unlabelled rows are left out. "
            "Label rows of every class."
        )
        return 0.0, {}
    folds = label_folds(sample.target, rule.folds)
    given = None if isinstance(rule.weight, str) else float(rule.weight)
    if folds.max() < 1:
        if given is None:
            _tell(
                f"No class has two labelled rows, so {learner} cannot judge by held-out labels "
                "what unlabelled rows are worth: they count as much as labelled ones. Give "
                "unlabelled=UnlabelledRows(weight=...) to say otherwise."
            )
        return 1.0 if given is None else given, {}
    if given == 0:
        return 0.0, {}
    candidates = (0.0, *(a for a in rule.weights if a > 0)) if given is None else (0.0, given)
    judged = {a: _held_out(laws_of, sample, folds, a, rule) for a in candidates}
    best = max(candidates[1:], key=lambda a: judged[a])
    if judged[best] < judged[0.0] - NO_ACCOUNT:
        outcome = "they are left out" if given is None else f"they keep their weight {given:g}"
        _tell(
            f"Rows without a label make held-out labels less likely for {learner}: their mean "
            f"log-probability is {judged[best]:.4g} at weight {best:g} against {judged[0.0]:.4g} "
            f"without them ({int((folds >= 0).sum())} labels held out in turn), so {outcome}. The "
            "laws of the classes do not fit these rows; try others."
        )
    # If the laws are right the full weight is best: of equals the largest.
    enough = max(judged.values()) - NO_ACCOUNT
    return max(a for a in candidates if judged[a] >= enough) if given is None else given, judged


def label_folds(codes: Integers, n_folds: int) -> Integers:
    """The fold in which each labelled row is held out; -1 for rows that never are.

    Rows of a class are dealt to the folds in turn. A class of one labelled row is never held out,
    because nothing would be known of it.

    Examples
    --------
    >>> label_folds(np.array([0, 0, 1, -1, 0, 1, 2]), 2).tolist()
    [0, 1, 1, -1, 0, 0, -1]
    """
    folds = np.full(len(codes), -1, np.int64)
    if n_folds == 0:
        return folds
    counts = np.bincount(codes[codes >= 0])
    n_folds, turn = min(n_folds, int(counts.max())), 0
    for k in np.flatnonzero(counts >= 2):
        rows = np.flatnonzero(codes == k)
        folds[rows] = (turn + np.arange(len(rows))) % n_folds
        turn += len(rows)
    return folds


def _held_out(
    laws_of: LawsOf, sample: Sample, folds: Integers, weight: float, rule: UnlabelledRows
) -> float:
    """Mean log-probability of labels by models that have not seen their rows."""
    total = amount = 0.0
    for fold in range(int(folds.max()) + 1):
        held = sample.rows(np.flatnonzero(folds == fold))
        rest = sample.rows(np.flatnonzero(folds != fold))
        laws, fitted = _fitted(laws_of, PartlyLabelledRows.of(rest), weight, rule)
        joint = laws.log_joint(fitted.params, held)
        evidence, _ = posterior(joint, laws.class_prior(fitted.params))
        own = joint[np.arange(held.n_rows), held.target]
        with np.errstate(invalid="ignore"):
            logs = np.nan_to_num(own - evidence, nan=-np.inf)
        total += float(held.weights @ np.maximum(logs, _LEAST_LOG_PROBABILITY))
        amount += float(held.weights.sum())
    return total / amount


def _tell(sentence: str) -> None:
    warnings.warn(sentence, UnlabelledWarning, stacklevel=caller_level())
