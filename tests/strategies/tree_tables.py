"""Small tables that trees are grown from: few distinct values, so that ties and pure nodes occur.

Targets of a regression and real weights have few digits on purpose: sums of them in any order
differ by far less than the gains do, so that two exact growers can only differ at stated ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.numerics import Array, Floats
from novum.trees.tree import Question, Tree
from tests.trees.definitions import TrainingTable

MOST_LEVELS = 4


@st.composite
def training_tables(
    draw: st.DrawFn,
    *,
    target: str = "classes",
    kinds: tuple[Kind, ...] = (Kind.NUMERIC, Kind.NOMINAL, Kind.ORDINAL),
    missing: bool = True,
    max_targets: int = 1,
    min_rows: int = 3,
    max_rows: int = 14,
) -> TrainingTable:
    """Tables of 1-4 columns with integer or real weights.

    Parameters
    ----------
    target : {"classes", "numbers"}
        2-4 classes, or numbers.
    kinds : tuple of Kind
        What columns may be.
    missing : bool
        Whether cells may be missing; no row is ever missing in whole columns by intent, but it
        happens.
    max_targets, min_rows, max_rows : int
    """
    n = draw(st.integers(min_rows, max_rows))
    columns = [_column(draw, j, kinds) for j in range(draw(st.integers(1, 4)))]
    cells = np.column_stack([_cells(draw, column, n, missing) for column in columns])
    n_targets = draw(st.integers(1, max_targets))
    classes: tuple[Array, ...] | None = None
    if target == "classes":
        classes = tuple(np.arange(draw(st.integers(2, 4))) for _ in range(n_targets))
        codes = [draw(_list(st.integers(0, len(c) - 1), n)) for c in classes]
        targets = np.array(codes, np.int64).T
    else:
        numbers = [draw(_list(st.integers(-20, 20), n)) for _ in range(n_targets)]
        targets = np.array(numbers, float).T / 4
    return TrainingTable(
        Schema(tuple(columns)), cells, targets.reshape(n, n_targets), _weights(draw, n), classes
    )


def _column(draw: st.DrawFn, position: int, kinds: tuple[Kind, ...]) -> Column:
    kind = draw(st.sampled_from(kinds))
    if kind is Kind.NUMERIC:
        return Column(f"x{position}")
    return Column(f"x{position}", kind, tuple("abcd"[: draw(st.integers(2, MOST_LEVELS))]))


def _cells(draw: st.DrawFn, column: Column, n: int, missing: bool) -> Floats:
    if column.kind is Kind.NUMERIC:
        values = st.integers(-4, 4).map(lambda k: k / 2)
    else:
        values = st.integers(0, column.n_levels - 1).map(float)
    if missing and draw(st.booleans()):
        values = st.one_of(values, values, values, st.just(float("nan")))
    return np.array(draw(_list(values, n)))


def _weights(draw: st.DrawFn, n: int) -> Floats:
    kind = draw(st.sampled_from(("one", "integer", "real")))
    if kind == "one":
        return np.ones(n)
    if kind == "integer":
        return np.array(draw(_list(st.integers(1, 3), n)), float)
    return np.array(draw(_list(st.integers(5, 40), n))) / 16


def _list(elements: st.SearchStrategy[Any], n: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(elements, min_size=n, max_size=n)


# --- Comparing trees ------------------------------------------------------------------------------


def assert_same_tree(
    tree: Tree, other: Tree, rtol: float = 1e-9, *, or_equal_sets: bool = False
) -> None:
    """Both ask the same questions and hold the same numbers, however their nodes are numbered.

    With `or_equal_sets` two nodes may divide the levels of a column into different sets of equal
    gain; what is below them is not compared.

    The default tolerance leaves room for sums in another order, far below any difference between
    two trees of these tables.
    """
    pending = [(0, 0)]
    while pending:
        a, b = pending.pop()
        where = f"node {a} of the first tree, {b} of the second"
        if or_equal_sets and _equal_sets(tree, a, other, b, rtol):
            continue
        assert _asked(tree, a) == _asked(other, b), where
        for name in ("threshold", "share", "value", "weight", "rows"):
            pair = getattr(tree, name)[a], getattr(other, name)[b]
            np.testing.assert_allclose(*pair, rtol=rtol, atol=1e-12, err_msg=f"{name}, {where}")
        total = tree.weight[0] * tree.impurity[0]
        for name in ("impurity", "gain"):
            pair = getattr(tree, name)[a], getattr(other, name)[b]
            atol = rtol * max(total, tree.impurity[0])
            np.testing.assert_allclose(*pair, rtol=rtol, atol=atol, err_msg=f"{name}, {where}")
        pending.extend(zip(tree.children(a), other.children(b), strict=True))


def _equal_sets(tree: Tree, a: int, other: Tree, b: int, rtol: float) -> bool:
    """Whether both nodes divide the same levels, differently and equally well."""
    first, second = _asked(tree, a), _asked(other, b)
    if first == second or first[0] != Question.SUBSET or first[:3] != second[:3]:
        return False
    return bool(np.isclose(tree.gain[a], other.gain[b], rtol=rtol, atol=rtol * tree.weight[0]))


def _asked(tree: Tree, node: int) -> tuple[int, int, int, int, tuple[int, ...]]:
    question = int(tree.question[node])
    nominal = question in (Question.SUBSET, Question.MULTIWAY)
    return (
        question,
        int(tree.column[node]),
        int(tree.n_children[node]),
        int(tree.missing_branch[node]),
        tuple(int(branch) for branch in tree.branches(node)) if nominal else (),
    )
