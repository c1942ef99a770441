"""Tables grown in memory and from chunks, with the same bins, to be compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.core.runtime import stream
from novum.numerics import Array
from novum.trees.growth.conversion import coded_table, tree_of
from novum.trees.growth.growing import GrowthRules, grow
from novum.trees.scale.chunks import Passes
from novum.trees.scale.frontier import ChunkCoding
from novum.trees.scale.level_growing import GrownTrees, GrowthTask, grow_trees
from novum.trees.scale.pass_plan import PassBudget
from novum.trees.scale.survey import Survey
from novum.trees.training import CellRows
from novum.trees.tree import Tree
from tests.trees.definitions import TrainingTable


def as_it_is(rows: CellRows) -> CellRows:
    """A reader of chunks that are rows already."""
    return rows


def rows_of(table: TrainingTable) -> CellRows:
    return CellRows(table.schema, table.cells, table.targets, table.weight, table.classes)


def parted(rows: CellRows, n_parts: int) -> list[CellRows]:
    """Consecutive chunks, some of which may be of one row."""
    pieces = np.array_split(np.arange(rows.n_rows), min(n_parts, rows.n_rows))
    return [rows.rows(piece) for piece in pieces]


def survey_of(chunks: list[CellRows]) -> Survey:
    found = Survey.of(chunks[0])
    for chunk in chunks[1:]:
        found = found + Survey.of(chunk)
    return found


def coding_of(chunks: list[CellRows], max_bins: int | None = 255) -> ChunkCoding:
    survey = survey_of(chunks)
    reader: Any = as_it_is
    return ChunkCoding(reader, survey.coding(max_bins), survey.classes, None, survey.scale(), None)


def in_memory(rows: CellRows, rules: GrowthRules, max_bins: int | None = 255) -> Tree:
    """The tree of the engine in memory."""
    table, scale = coded_table(rows, max_bins)
    if scale is not None:
        rules = rules.scaled(scale.unit**-2)
    grown = grow(table, rules, rows.weight)
    return tree_of(grown, table, rows.schema, rows.classes, scale)


def task_of(
    rows: CellRows,
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


def mixed_rows(n: int, seed: int = 0, *, classes: int = 3, missing: float = 0.1) -> CellRows:
    """A larger table: numbers, an ordinal and a nominal column, missing cells, whole weights."""
    from novum.core.tables import Column, Kind, Schema

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
        targets: Array = np.searchsorted(edges, score)[:, np.newaxis].astype(np.int64)
        return CellRows(schema, cells, targets, weight, (np.arange(classes),))
    return CellRows(schema, cells, score.round(2)[:, np.newaxis], weight, None)
