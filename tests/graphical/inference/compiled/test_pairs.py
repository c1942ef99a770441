"""Pairs: products of three tables against broadcasting, for runs of equal and other lengths."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical.inference.compiled.blocks_kernels import dot, triple_dot
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.models.arrays import NO_HEAD, Evidence, ModelArrays

START = np.uint64(0)


@pytest.mark.parametrize("run", [1, 2, 3, 7, 40])
def test_sums_of_products(run: int) -> None:
    values = np.random.default_rng(run).random(2 * run)
    block = np.random.default_rng(1).random(run)
    size = np.uint64(run)
    found = dot(values, START, size, size)
    assert found == pytest.approx(values[:run] @ values[run:], rel=1e-14)
    found = triple_dot(block, START, values, START, size, size)
    assert found == pytest.approx((block * values[:run] * values[run:]).sum(), rel=1e-14)


@pytest.mark.parametrize("shapes", [
    [(0, 1, 2), (0, 1, 2)],
    [(0, 2), (1, 2)],
    [(0, 1, 2), (2,), (1, 2)],
    [(0,), (0, 1, 2), (1, 2), (2,)],
    [(0, 1), (0, 2), (1, 2), (0, 1, 2)],
])  # fmt: skip
def test_cliques_of_several_tables(
    shapes: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One clique of up to four tables, whose last runs share the last axis.
    from novum.graphical.inference import junction

    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    cards = np.array([3, 4, 5])
    rng = np.random.default_rng(len(shapes))
    tables = [rng.random(np.prod(cards[list(shape)])) for shape in shapes]
    # Zeros make derivatives zero in whole rows.
    tables[0][:-1][rng.random(len(tables[0]) - 1) < 0.4] = 0.0
    model = ModelArrays(
        cards,
        np.cumsum([0, *map(len, shapes)]),
        np.concatenate([np.array(shape) for shape in shapes]),
        np.cumsum([0, *map(len, tables)]),
        np.concatenate(tables),
        np.full(len(shapes), NO_HEAD),
        np.arange(3),
    )
    nothing = Evidence.none(3)
    assert question_of(model, nothing).log == 0.0
    found, wanted = (
        JunctionTree().marginals(model, nothing),
        Enumeration().marginals(model, nothing),
    )
    assert found.log_evidence == pytest.approx(wanted.log_evidence, abs=1e-12)
    for mine, theirs in zip(found.tables, wanted.tables, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
