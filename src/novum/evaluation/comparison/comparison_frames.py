"""A comparison as a table: one row for each pair of models, or for each score."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from novum.core.errors import InputError
from novum.core.schema import Column, Schema
from novum.data.frames import Frame, to_frame
from novum.evaluation.comparison.comparison import Comparison
from novum.evaluation.comparison.dataset_pairs import DatasetPair
from novum.evaluation.comparison.fold_pairs import FoldPair

Row = dict[str, Any]


def comparison_frame(comparison: Comparison, rows: str, frame: Frame) -> Any:
    """The table that `Comparison.to_frame` gives."""
    if rows == "pairs":
        found = [_pair_row(pair) for pair in comparison.pairs]
    elif rows == "scores":
        found = _score_rows(comparison)
    else:
        raise InputError(f"rows are 'pairs' or 'scores', got {rows!r}.")
    table = pa.Table.from_pylist(found)
    return to_frame(table, Schema(tuple(Column(name) for name in table.column_names)), frame)


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
        **{name: None if found is None else found.p_value for name, found in tests.items()},
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
        "higher": pair.higher.wins,
        "lower": pair.higher.losses,
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
