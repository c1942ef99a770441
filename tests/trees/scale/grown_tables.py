"""Tables grown in memory and from chunks, with the same bins, to be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.randomness import stream
from novum.trees.definitions import TrainingTable
from novum.trees.growth.coded_rows import coded_table
from novum.trees.growth.growing import GrowthRules, grow
from novum.trees.growth.grown import tree_of
from novum.trees.scale.frontier import ChunkCoding
from novum.trees.scale.level_growing import GrownTrees, GrowthTask, grow_trees
from novum.trees.scale.pass_plan import PassBudget
from novum.trees.scale.passes import Passes
from novum.trees.scale.survey import Survey
from novum.trees.training import TrainingRows
from novum.trees.tree import Tree


def as_it_is(rows: TrainingRows) -> TrainingRows:
    """A reader of chunks that are rows already."""
    return rows


def rows_of(table: TrainingTable) -> TrainingRows:
    return TrainingRows(table.schema, table.cells, table.targets, table.weight, table.classes)


def parted(rows: TrainingRows, n_parts: int) -> list[TrainingRows]:
    """Consecutive chunks, some of which may be of one row."""
    pieces = np.array_split(np.arange(rows.n_rows), min(n_parts, rows.n_rows))
    return [rows.rows(piece) for piece in pieces]


def survey_of(chunks: list[TrainingRows]) -> Survey:
    found = Survey.of(chunks[0])
    for chunk in chunks[1:]:
        found = found + Survey.of(chunk)
    return found


def coding_of(chunks: list[TrainingRows], max_bins: int | None = 255) -> ChunkCoding:
    survey = survey_of(chunks)
    reader: Any = as_it_is
    return ChunkCoding(reader, survey.coding(max_bins), survey.classes, None, survey.scale(), None)


def in_memory(rows: TrainingRows, rules: GrowthRules, max_bins: int | None = 255) -> Tree:
    """The tree of the engine in memory."""
    table, scale = coded_table(rows, max_bins)
    if scale is not None:
        rules = rules.scaled(scale.unit**-2)
    grown = grow(table, rules, rows.weight)
    return tree_of(grown, table, rows.schema, rows.classes, scale)


def task_of(
    rows: TrainingRows,
    rules: GrowthRules,
    *,
    n_parts: int = 3,
    nodes: int = 2,
    fetched: int = 0,
    max_bins: int | None = 255,
    **options: Any,
) -> GrowthTask:
    """Growing from chunks.

    A pass holds the sums of `nodes` nodes; nodes of up to `fetched` rows ask for these, and a table
    of up to eight times as many is fetched as a whole.
    """
    chunks = parted(rows, n_parts)
    coding = coding_of(chunks, max_bins)
    if coding.scale is not None:
        rules = rules.scaled(coding.scale.unit**-2)
    row_bytes = 10**9 if not fetched else 8 * 10**6 // fetched
    budget = PassBudget(max(nodes, 64 if fetched else 0) * 10**6, 10**6, row_bytes)
    return GrowthTask(
        Passes(chunks),
        coding,
        lambda _: rules,
        lambda tree, path: stream(0, tree, path),
        rows.n_rows,
        budget,
        **options,
    )


def trees_of(task: GrowthTask, grown: GrownTrees | None = None) -> list[Tree]:
    """The trees of a task."""
    grown = grow_trees(task) if grown is None else grown
    coding = task.coding
    about = (coding.coding.schema, coding.classes, coding.scale)
    return [tree_of(nodes, grown.table, *about) for nodes in grown.trees]


def mixed_rows(n: int, seed: int = 0, *, classes: int = 3, missing: float = 0.1) -> TrainingRows:
    """A larger table: numbers, an ordinal and a nominal column, missing cells, whole weights."""
    from novum.core.schema import Column, Kind, Schema

    rng = np.random.default_rng(seed)
    schema = Schema(
        (
            Column("a"),
            Column("b"),
            Column("size", Kind.ORDINAL, ("s", "m", "l", "xl")),
            Column("color", Kind.NOMINAL, tuple("abcdefghij")),
        )
    )
    cells = np.column_stack(
        [
            rng.integers(0, 60, n) / 4,
            rng.integers(-30, 30, n),
            rng.integers(0, 4, n),
            rng.integers(0, 10, n),
        ]
    ).astype(float)
    score = cells[:, 0] / 5 + (cells[:, 1] > 3) + (cells[:, 3] % 3 == 1) + rng.normal(size=n)
    cells[rng.random(cells.shape) < missing] = np.nan
    weight = rng.integers(1, 4, n).astype(float)
    if classes:
        edges = np.quantile(score, np.arange(1, classes) / classes)
        targets: NDArray[Any] = np.searchsorted(edges, score)[:, np.newaxis].astype(np.int64)
        return TrainingRows(schema, cells, targets, weight, (np.arange(classes),))
    return TrainingRows(schema, cells, score.round(2)[:, np.newaxis], weight, None)
