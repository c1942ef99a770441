"""A comparison: the scores of an experiment together with everything that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from novum.core.errors import InputError
from novum.core.tables import Frame, to_frame
from novum.core.text import printable
from novum.evaluation.comparison.dataset_pairs import DatasetPair, RankReport, rank_report
from novum.evaluation.comparison.fold_pairs import FoldPair, Question, fold_pairs
from novum.evaluation.comparison.pairs.t_tests import corrected_t_test
from novum.evaluation.comparison.score_table import ScoreTable, table_of_scores
from novum.evaluation.comparison.verdicts import (
    fold_sentence,
    friedman_sentence,
    headline,
    rank_sentence,
)
from novum.evaluation.measures.intervals import Interval
from novum.numerics import Floats, cached_property


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Models compared on shared folds; the result of `compare` and `compare_scores`.

    Attributes
    ----------
    table : ScoreTable
        All scores.
    question : Question
        Measure, region of equivalence, level, effect, baseline.
    notes : tuple of str
        What was not done, and why.
    """

    table: ScoreTable
    question: Question
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        plain = self.question.measure.removeprefix("neg_")
        if self.question.measure not in self.table.measures and plain in self.table.losses:
            # The name of a scorer that turns the loss round; here losses are as they are.
            object.__setattr__(self, "question", replace(self.question, measure=plain))
        if self.question.measure not in self.table.measures:
            known = ", ".join(printable(name, 60) for name in self.table.measures)
            raise InputError(
                f"{self.question.measure!r} was not measured. Known are {known}; to add another, "
                "name it in scoring."
            )
        object.__setattr__(self, "question", self.question.checked(self.table.models))

    # Scores

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return self.table.models

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return tuple(self.table.datasets)

    @property
    def measure(self) -> str:
        """Name of the measure that decides."""
        return self.question.measure

    @property
    def greater_is_better(self) -> bool:
        """Which way the measure is better; scores are as they are, losses not turned round."""
        return self.table.greater_is_better(self.measure)

    @property
    def scores(self) -> dict[str, dict[str, Floats]]:
        """Scores on the folds, `{data set: {model: array}}`."""
        return {
            name: dict(zip(self.models, entry.scores[self.measure], strict=True))
            for name, entry in self.table.datasets.items()
        }

    def mean(self, model: str, dataset: str | None = None) -> Interval:
        """Mean score of a model with an interval that allows for the overlap of folds."""
        name = self._dataset(dataset)
        entry = self.table.datasets[name]
        values = entry.scores[self.measure][self._model(model)]
        ratio = entry.plan.test_train_ratio
        interval = corrected_t_test(values, ratio, level=self.question.level).interval
        assert interval is not None
        return interval

    # Judgement

    @cached_property
    def ranks(self) -> RankReport | None:
        """Friedman, critical differences and pairs over data sets; None for one data set."""
        return rank_report(self.table, self.question) if len(self.datasets) > 1 else None

    @cached_property
    def pairs(self) -> tuple[FoldPair, ...] | tuple[DatasetPair, ...]:
        """Every pair of models: on the folds of one data set, or over several data sets."""
        if self.ranks is not None:
            return self.ranks.pairs
        return fold_pairs(self.table, self.datasets[0], self.question)

    def pair(self, first: str, second: str, dataset: str | None = None) -> FoldPair | DatasetPair:
        """The pair of two models, over all data sets or on the folds of one.

        Its `first` and `second` say which way the difference is taken.
        """
        wanted = {self.models[self._model(first)], self.models[self._model(second)]}
        pairs = self.pairs
        if dataset is not None:
            pairs = fold_pairs(self.table, self._dataset(dataset), self.question)
        for pair in pairs:
            if {pair.first, pair.second} == wanted:
                return pair
        raise InputError(
            f"{first!r} and {second!r} are no pair of this comparison, which is against the "
            f"baseline {self.question.baseline!r}. Use judged(baseline=None) for all pairs."
        )

    @cached_property
    def verdict(self) -> str:
        """The result in words, a sentence for each line."""
        return "\n".join(self._sentences())

    def _sentences(self) -> list[str]:
        name, n_models = printable(self.measure, 60), len(self.models)
        if self.ranks is None:
            pairs = [pair for pair in self.pairs if isinstance(pair, FoldPair)]
            means = self.table.means(self.measure)[0]
            best = self.models[int(means.argmax() if self.greater_is_better else means.argmin())]
            extreme = "Highest" if self.greater_is_better else "Lowest"
            start, figure = f"{extreme} {name} of {n_models} models", repr(self.mean(best))
            rows = [fold_sentence(pair, self.question, len(pairs)) for pair in pairs]
        else:
            mean_ranks, over = self.ranks.friedman.mean_ranks, self.ranks.pairs
            place = int(np.argmin(mean_ranks))
            best, figure = self.models[place], f"{mean_ranks[place]:.2f}"
            start = f"Best mean rank by {name} of {n_models} models"
            rows = [rank_sentence(pair, self.question, len(over)) for pair in over]
            rows = [friedman_sentence(self.ranks), *rows]
        opening = f"{start}: {printable(best, 60)}, {figure}"
        return [headline(opening, best, self.pairs), *rows, *self.notes]

    def judged(self, **changes: Any) -> Comparison:
        """The same scores judged anew; nothing is fitted.

        Parameters
        ----------
        **changes
            Any of `measure`, `rope`, `level`, `effect`, `baseline`.
        """
        known = ("measure", "rope", "level", "effect", "baseline")
        unknown = sorted(set(changes) - set(known))
        if unknown:
            raise InputError(f"judged changes {', '.join(known)}, not {', '.join(unknown)}.")
        if "rope" in changes and "effect" not in changes and self._effect_is_rope:
            changes["effect"] = None
        return replace(self, question=replace(self.question, **changes))

    @property
    def _effect_is_rope(self) -> bool:
        return self.question.effect == (self.question.rope or None)

    # Output

    def to_frame(
        self, rows: Literal["pairs", "scores"] = "pairs", *, frame: Frame = "arrow"
    ) -> Any:
        """Pairs with all their numbers, or scores fold by fold, as a table.

        Parameters
        ----------
        rows : {"pairs", "scores"}
        frame : {"arrow", "pandas", "polars"}
        """
        return comparison_frame(self, rows, frame)

    def plot(
        self, kind: Literal["differences", "ranks", "scores"] | None = None, ax: Any = None
    ) -> Any:
        """Differences with intervals and the region of equivalence, ranks, or scores.

        Parameters
        ----------
        kind : {"differences", "ranks", "scores"}, optional
            Differences on one data set, the critical-difference diagram on several.
        ax : matplotlib Axes, optional
        """
        from novum.evaluation.comparison.comparison_views import plot_comparison

        return plot_comparison(self, kind, ax)

    def __repr__(self) -> str:
        from novum.evaluation.comparison.comparison_views import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from novum.evaluation.comparison.comparison_views import comparison_html

        return comparison_html(self)

    # Names

    def _model(self, name: str) -> int:
        if name not in self.models:
            known = ", ".join(printable(known, 60) for known in self.models)
            raise InputError(f"{name!r} is none of the models: {known}.")
        return self.models.index(name)

    def _dataset(self, name: str | None) -> str:
        if name is None and len(self.datasets) == 1:
            return self.datasets[0]
        if name not in self.datasets:
            known = ", ".join(printable(known, 60) for known in self.datasets)
            raise InputError(f"{name!r} is none of the data sets: {known}. Name one of them.")
        return str(name)


def compare_scores(
    scores: Mapping[str, Any],
    test_train_ratio: float,
    *,
    measure: str = "score",
    greater_is_better: bool = True,
    n_repeats: int = 1,
    rope: float = 0.01,
    level: float = 0.95,
    effect: float | None = None,
    baseline: str | None = None,
) -> Comparison:
    """Compares models by scores that were computed elsewhere.

    Parameters
    ----------
    scores : mapping
        `{model: scores on the folds}`, or `{data set: {model: scores on the folds}}`. Models of a
        data set share its folds.
    test_train_ratio : float
        Rows of a test part over rows of its training part: `1 / (k - 1)` for k folds.
    measure : str
        What the scores are called.
    greater_is_better : bool
        False for losses, which are given as they are.
    n_repeats : int
        How often the rows were divided into folds.
    rope, level, effect, baseline
        As for `compare`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> found = compare_scores(
    ...     {"forest": [0.91, 0.93, 0.92, 0.94], "stump": [0.70, 0.71, 0.69, 0.72]}, 1 / 3
    ... )
    >>> print(found.verdict.splitlines()[0])
    Highest score of 2 models: forest, 0.93 [0.89, 0.96]; it is better than stump.
    """
    nested = all(isinstance(value, Mapping) for value in scores.values()) and len(scores) > 0
    table = table_of_scores(
        scores if nested else {"data": scores},
        measure,
        test_train_ratio,
        n_repeats,
        greater_is_better=greater_is_better,
    )
    return Comparison(table, Question(measure, rope, level, effect, baseline))


# --- As data frames -------------------------------------------------------------------------------
# A comparison as a table: one row for each pair of models, or for each score.


Row = dict[str, Any]


def comparison_frame(comparison: Comparison, rows: str, frame: Frame) -> Any:
    """The table that `Comparison.to_frame` gives."""
    if rows == "pairs":
        pair_rows = [_pair_row(pair) for pair in comparison.pairs]
    elif rows == "scores":
        pair_rows = _score_rows(comparison)
    else:
        raise InputError(f"rows are 'pairs' or 'scores', got {rows!r}.")
    table = pa.Table.from_pylist(pair_rows)
    return to_frame(table, frame)


def _pair_row(pair: FoldPair | DatasetPair) -> Row:
    common = {
        "first": pair.first,
        "second": pair.second,
        "difference": pair.difference.estimate,
        "low": pair.difference.low,
        "high": pair.difference.high,
        "adjusted_p_value": pair.adjusted_p_value,
    }
    numbers = _fold_numbers(pair) if isinstance(pair, FoldPair) else _rank_numbers(pair)
    return {**common, **numbers, "decision": str(pair.decision), "winner": pair.winner}


def _fold_numbers(pair: FoldPair) -> Row:
    tests = {
        "corrected_p_value": pair.corrected,
        "paired_p_value": pair.paired,
        "five_by_two_t_p_value": pair.five_by_two_t,
        "five_by_two_f_p_value": pair.five_by_two_f,
        "mcnemar_p_value": pair.mcnemar,
    }
    below, inside, above = pair.posterior.probabilities
    first, second = (above, below) if pair.greater_is_better else (below, above)
    return {
        "dataset": pair.dataset,
        "first_mean": pair.means[0],
        "second_mean": pair.means[1],
        "joint_low": pair.joint_interval.low,
        "joint_high": pair.joint_interval.high,
        **{name: None if test is None else test.p_value for name, test in tests.items()},
        "probability_second": second,
        "probability_equal": inside,
        "probability_first": first,
        "detectable": pair.detectable,
        "power": pair.power,
        "repeats_needed": None if pair.repeats is None else pair.repeats.repeats,
    }


def _rank_numbers(pair: DatasetPair) -> Row:
    return {
        "first_mean_rank": pair.mean_ranks[0],
        "second_mean_rank": pair.mean_ranks[1],
        "signed_rank_p_value": pair.signed_rank.p_value,
        "rank_p_value": pair.rank_p_value,
        "wins": pair.counts.wins,
        "ties": pair.counts.ties,
        "losses": pair.counts.losses,
        "higher": pair.counts_by_estimate.wins,
        "lower": pair.counts_by_estimate.losses,
    }


def _score_rows(comparison: Comparison) -> list[Row]:
    rows = []
    for dataset, entry in comparison.table.datasets.items():
        for model, values in zip(comparison.models, entry.scores[comparison.measure], strict=True):
            for position, value in enumerate(values.tolist()):
                repeat, fold = divmod(position, entry.plan.n_folds)
                place = {"dataset": dataset, "model": model, "repeat": repeat, "fold": fold}
                rows.append({**place, comparison.measure: value})
    return rows
