"""ClassScatter: parts that unite by label, come off, scale; pooled and by class."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.core.tables import Sample, Schema
from novum.data.scaling.class_scatter import ClassScatter
from novum.numerics import Floats
from tests.data.scaling.tables import normal_table, small_tables


def scatter(X: Floats, y: Any, weight: Floats | None = None, by_class: bool = False) -> Any:
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    table = Sample(
        Schema.of_array(X.shape[1]),
        X,
        np.empty((len(X), 0), np.int32),
        codes.astype(np.int64),
        classes,
        weight,
    )
    return ClassScatter.of(table, by_class=by_class)


@given(small_tables(missing=False), small_tables(missing=False), st.booleans(), st.data())
def test_parts_make_the_whole_and_come_off(
    A: Floats, B: Floats, by_class: bool, data: st.DataObject
) -> None:
    labels = st.sampled_from(["a", "b", "c"])
    y, z = (data.draw(st.lists(labels, min_size=len(X), max_size=len(X))) for X in (A, B))
    a, b = scatter(A, y, by_class=by_class), scatter(B, z, by_class=by_class)
    both = scatter(np.concatenate([A, B]), [*y, *z], by_class=by_class)
    assert (a + b).isclose(both)
    assert (b + a).isclose(both)
    left = both - b
    np.testing.assert_allclose(left.weight, a.weight)
    assert left.classes.tolist() == sorted(set(y))
    assert left.rows == len(y)
    np.testing.assert_allclose(left.mean, a.mean, atol=1e-12)
    np.testing.assert_allclose(left.within, a.within, atol=1e-10)
    assert (both - both).rows == 0


@pytest.mark.parametrize("by_class", [True, False])
def test_weights_are_repetitions_and_factors(by_class: bool) -> None:
    X, y = normal_table()
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = scatter(X, y, weight.astype(float), by_class)
    repeated = scatter(np.repeat(X, weight, 0), np.repeat(y, weight), None, by_class)
    assert weighted.isclose(repeated)
    assert (2.0 * weighted).isclose(weighted + weighted)
    assert weighted.zero().rows == 0
    assert (weighted + weighted.zero()).isclose(weighted)


def test_coming_and_going_costs_no_digits() -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 2)) * 1024) / 1024
    y = np.arange(60) % 3
    base = scatter(X + 1e8, y)
    visitors = [scatter(rng.normal(size=(30, 2)) * 1e5, np.arange(30) % 3) for _ in range(20)]
    total = base
    for visitor in visitors:
        total = total + visitor
    for visitor in visitors[::-1]:
        total = total - visitor
    np.testing.assert_allclose(total.within, scatter(X, y).within, rtol=1e-9)
    np.testing.assert_array_equal(total.mean, base.mean)


def test_declared_classes_stay_and_emptied_ones_go() -> None:
    sums = scatter(np.ones((2, 1)), ["a", "b"]).with_classes(["a", "b", "z"])
    assert sums.weight.tolist() == [1.0, 1.0, 0.0]
    left = sums - scatter(np.ones((1, 1)), ["b"])
    assert left.classes.tolist() == ["a", "z"]
    with pytest.raises(InputError, match="but the rows have b too"):
        sums.with_classes(["a", "z"])


def test_without_a_target_all_rows_are_one_class() -> None:
    X = np.array([[1.0], [3.0]])
    found = ClassScatter.of(Sample(Schema.of_array(1), X, np.empty((2, 0), np.int32)))
    assert (found.total_weight, found.mean.tolist(), found.within.tolist()) == (
        2.0,
        [[2.0]],
        [[2.0]],
    )
    assert pickle.loads(pickle.dumps(found)).isclose(found)


def test_what_does_not_fit_is_refused() -> None:
    X, y = normal_table()
    sums = scatter(X, y)
    with pytest.raises(InputError, match="class 2 has weight 1, and 44 is to be removed"):
        scatter(X[:5], y[:5]) - sums
    with pytest.raises(InputError, match="never added: class 9"):
        sums - scatter(X[:1], [9])
    with pytest.raises(InputError, match="the scatter of column 0 would fall"):
        sums - scatter(X[:40] * 1e6, y[:40])
    with pytest.raises(InputError, match="different parameters"):
        sums + scatter(X, y, by_class=True)
    with pytest.raises(InputError, match="of different types"):
        sums + scatter(X, np.array(["a"] * len(X)))
    with pytest.raises(InputError, match="do not combine with a int"):
        sums + 1
    with pytest.raises(InputError, match="finite factor"):
        -1.0 * sums
    with pytest.raises(InputError, match="has shape"):
        ClassScatter(sums.schema, sums.classes, 1.0, sums.weight, sums.mean[:, :2], sums.scatter)


def test_memory_is_asked_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1KB")
    with pytest.raises(MemoryLimitError, match="scatter of 20 columns in each of 3 classes"):
        scatter(np.ones((3, 20)), [0, 1, 2], by_class=True)
