"""Distances against their definitions, cell by cell, on rows with missing cells and levels."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import haversine_distances

from novum.core.errors import InputError, NotAdditiveError
from novum.core.tables import Column, Kind, Schema
from novum.distances import (
    Chebyshev,
    Cosine,
    Distance,
    Euclidean,
    FromFunction,
    FromKernel,
    Gower,
    Haversine,
    Mahalanobis,
    Manhattan,
    Minkowski,
    Overlap,
    Precomputed,
    ValueDifference,
    as_distance,
    check_metric,
    distance_named,
)
from novum.kernels import Gaussian, Linear
from tests.oracles import distance_definitions as defined

POWERS = {1.0: Manhattan, 2.0: Euclidean, math.inf: Chebyshev}
cells = st.one_of(st.just(math.nan), st.integers(-4, 4).map(float))


def made(power: float, missing: Any = "expected") -> Distance:
    return POWERS[power](missing) if power in POWERS else Minkowski(power, missing)


@given(
    st.integers(1, 3).flatmap(
        lambda p: st.tuples(
            st.lists(st.lists(cells, min_size=p, max_size=p), min_size=2, max_size=7),
            st.lists(st.lists(cells, min_size=p, max_size=p), min_size=1, max_size=3),
        )
    ),
    st.sampled_from([1.0, 2.0, 3.0, math.inf]),
    st.sampled_from(["expected", "partial"]),
)
def test_minkowski_distances_are_their_definition(rows: Any, power: float, missing: str) -> None:
    train, new = rows
    distance = made(power, missing)
    prepared = distance.prepare(np.array(train))
    asked = distance.prepare(np.array(new), prepared)
    expected = [[defined.minkowski(x, z, train, power, missing) for z in train] for x in new]
    np.testing.assert_allclose(asked.cross(prepared), expected, rtol=1e-12, atol=1e-12)
    both = prepared.cross(prepared)
    assert np.array_equal(both, both.T)


@pytest.mark.parametrize("missing", ["expected", "partial"])
def test_gower_is_its_definition(missing: Any) -> None:
    rng = np.random.default_rng(0)
    n, sizes = 12, ["small", "medium", "large"]
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(2),
            "b": rng.choice(list("xyz"), n),
            "c": pd.Categorical(rng.choice(sizes, n), categories=sizes, ordered=True),
        }
    )
    frame.loc[2, "a"] = None
    frame.loc[3, "b"] = None
    frame.loc[[3, 5], "c"] = None
    rows = [
        [None if pd.isna(cell) else cell for cell in row]
        for row in frame.itertuples(index=False, name=None)
    ]
    found = Gower(missing=missing).pairwise(frame)
    kinds = ["numeric", "nominal", sizes]
    expected = [[defined.gower(x, z, rows, kinds, missing) for z in rows] for x in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_weights_of_columns_and_what_is_wrong_with_them() -> None:
    rows = [[0.0, "a"], [1.0, "b"]]
    assert Gower({"x0": 3.0}).pairwise([[0.0, "a"], [1.0, "a"]])[0, 1] == 0.75
    assert Gower({"x1": 0.0}).pairwise(rows)[0, 1] == 1.0
    with pytest.raises(InputError, match="'z', which the table does not have"):
        Gower({"z": 1.0}).pairwise(rows)
    with pytest.raises(InputError, match="of at least 0, got -1"):
        Gower({"x0": -1.0})
    with pytest.raises(InputError, match="weights of all columns are 0"):
        Gower({"x0": 0.0, "x1": 0.0}).pairwise(rows)


def test_a_schema_gives_an_order_to_levels() -> None:
    rows = [["low"], ["high"], ["middle"]]
    assert Gower().pairwise(rows)[0].tolist() == [0.0, 1.0, 1.0]
    order = Schema((Column("x0", Kind.ORDINAL, ("low", "middle", "high")),), named=False)
    assert Gower(schema=order).pairwise(rows)[0].tolist() == [0.0, 1.0, 0.5]


def test_levels_that_training_never_met_differ_from_all() -> None:
    distance = Gower()
    rows = distance.prepare([[0.0, "a"], [1.0, "b"]])
    new = distance.prepare([[0.0, "c"]], rows)
    assert new.cross(rows).tolist() == [[0.5, 1.0]]
    overlap = Overlap()
    rows = overlap.prepare([["a", 1.0], ["b", 2.0]])
    new = overlap.prepare([["a", 7.0], ["c", 2.0]], rows)
    assert new.cross(rows).tolist() == [[0.5, 1.0], [1.0, 0.5]]


def test_value_difference_follows_the_classes() -> None:
    X, y = [["a"], ["a"], ["b"], ["b"], ["c"], ["c"]], np.array([0, 0, 0, 1, 1, 1])
    rows = ValueDifference().prepare(X, target=y)
    D = rows.cross(rows)
    # P(0 | a) = 1, P(0 | b) = 1/2, P(0 | c) = 0.
    np.testing.assert_allclose(D[0, [0, 2, 4]], [0.0, math.sqrt(0.5), math.sqrt(2.0)])
    new = ValueDifference().prepare([["d"]], rows)
    np.testing.assert_allclose(new.cross(rows)[0, [0, 2, 4]], [math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    with pytest.raises(InputError, match="is learned from classes"):
        ValueDifference().pairwise(X)


def test_vectors_are_scipys() -> None:
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(20, 4)), rng.normal(size=(7, 4))
    S = np.cov(X.T, ddof=0)
    for distance, theirs in (
        (Cosine(), cdist(X, Z, "cosine")),
        (Mahalanobis(S), cdist(X, Z, "mahalanobis", VI=np.linalg.inv(S))),
        (Minkowski(3), cdist(X, Z, "minkowski", p=3)),
        (FromKernel(Linear()), cdist(X, Z)),
    ):
        np.testing.assert_allclose(distance.pairwise(X, Z), theirs, rtol=1e-9, atol=1e-12)
    places = rng.uniform([-1.5, -3], [1.5, 3], size=(30, 2))
    np.testing.assert_allclose(
        Haversine().pairwise(places), haversine_distances(places), rtol=1e-9, atol=1e-12
    )
    learned = Mahalanobis().pairwise(X)
    np.testing.assert_allclose(learned, Mahalanobis(S).pairwise(X), rtol=1e-9, atol=1e-12)
    # It does not depend on units.
    units = np.array([1.0, 1e3, 1e-3, 7.0])
    np.testing.assert_allclose(Mahalanobis().pairwise(X * units), learned, rtol=1e-7)


def test_rows_nearly_alike_keep_their_small_distance() -> None:
    X = np.array([[1e8, 1.0], [1e8, 1.0 + 1e-9]])
    assert Euclidean().pairwise(X)[0, 1] == pytest.approx(1e-9, rel=1e-6)
    assert Cosine().pairwise(np.array([[1.0, 0.0], [1.0, 1e-9]]))[0, 1] == pytest.approx(5e-19)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda: Minkowski(0.5), "at least 1, got 0.5"),
        (lambda: Euclidean(missing="zero"), "'expected' or 'partial', got 'zero'"),
        (lambda: Euclidean().pairwise([[1.0, "a"]]), "column 'x1' is nominal"),
        (lambda: Cosine().pairwise([[1.0, 0.0], [0.0, 0.0]]), "Row 1 is all zeros"),
        (lambda: Cosine().pairwise([[1.0, math.nan]]), "row 0 misses column 1"),
        (lambda: Mahalanobis([[1.0, 2.0]]), "finite square matrix"),
        (lambda: Mahalanobis([[1.0, 2.0], [0.0, 1.0]]), "is symmetric"),
        (lambda: Mahalanobis([[1.0, 2.0], [2.0, 1.0]]).pairwise([[0.0, 1.0]]), "eigenvalue -1"),
        (lambda: Mahalanobis([[1.0]]).pairwise([[0.0, 1.0]]), "of 1 columns, but rows have 2"),
        (lambda: Mahalanobis().pairwise([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]), "positive definite"),
        (lambda: distance_named("levenshtein"), "'levenshtein' is no distance"),
        (lambda: Haversine().pairwise([[1.0, 2.0, 3.0]]), "got 3 columns"),
        (lambda: distance_named("manhattan", q=3), "does not take the parameters q"),
        (lambda: as_distance(3), "or a function of two rows, got 3"),
        (
            lambda: FromFunction(lambda x, z: x[0] - z[0]).pairwise([[1.0], [2.0]]),
            "at least 0, but the function",
        ),
        (lambda: FromFunction(max).pairwise([[1.0, math.nan]]), "row 0 misses column 1"),
        (lambda: Precomputed().prepare([[0.0, 1.0]]), "square; got shape"),
        (lambda: Precomputed().prepare([[0.0, -1.0], [-1.0, 0.0]]), "row 0 and column 1 is -1"),
        (lambda: Precomputed().prepare([[0.0, 1.0], [2.0, 0.0]]), "is symmetric, but rows 0 and 1"),
        (
            lambda: Precomputed().prepare(sparse.csr_matrix([[0.0, 3.0], [-2.0, 0.0]])),
            "row 1 and column 0 is -2",
        ),
        (lambda: Euclidean().pairwise([[1e150, 0.0]]), "squares leave the range"),
        (lambda: Euclidean().pairwise(sparse.csr_matrix([[-1e150, 0.0]])), "as 1e.150, whose"),
        (lambda: Minkowski(5).pairwise([[1e60]]), "powers of 5 leave the range"),
        (lambda: Euclidean().pairwise([[1e-150], [0.0]]), "squares are too small for double"),
        (lambda: Minkowski(5).pairwise([[1e-60], [0.0]]), "powers of 5 are too small"),
        (lambda: Gower().pairwise([[1e-310, 1.0], [0.0, 2.0]]), "'x0' spreads over 1e-310 only"),
        (lambda: Mahalanobis().pairwise([[1e190], [2.0]]), "squares leave the range"),
        (lambda: Gower().pairwise([[1.7e308], [-1.7e308]]), "sums leave the range"),
        (lambda: as_distance("sqeuclidean").pairwise([[1e190], [0.0]]), "squares leave the range"),
        (lambda: as_distance("correlation").pairwise([[1.0, 1.0], [1.0, 2.0]]), "returned nan"),
        (lambda: Mahalanobis().pairwise(sparse.eye(3, format="csr")), "takes dense rows"),
        (lambda: Gower().pairwise(sparse.eye(3, format="csr")), "not for sparse rows"),
        (lambda: Cosine().pairwise(sparse.csr_matrix([[1.0], [0.0]])), "Row 1 is all zeros"),
        (
            lambda: Euclidean().pairwise(sparse.csr_matrix([[1.0], [math.nan]])),
            "Row 1 of the sparse table misses a cell",
        ),
    ],
)
def test_what_is_wrong_is_said(step: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        step()


# --- Statistics that add --------------------------------------------------------------------------


def _mixed_table(n: int) -> tuple[list[list[Any]], list[str]]:
    rng = np.random.default_rng(8)
    rows = [
        [float(x), str(level), float(z)]
        for x, level, z in zip(
            rng.normal(size=n).round(2),
            rng.choice(list("abcd"), n),
            rng.integers(0, 9, n),
            strict=True,
        )
    ]
    rows[3][1], rows[5][0] = None, math.nan  # type: ignore[list-item]
    return rows, rng.choice(["no", "yes", "maybe"], n).tolist()


@pytest.mark.parametrize("distance", [Gower(), Gower({"x1": 2.0}), ValueDifference(alpha=0.5)])
def test_ranges_and_frequencies_add_up_to_those_of_the_whole_table(distance: Any) -> None:
    rows, labels = _mixed_table(40)
    whole = distance.statistics(rows, labels)
    parts = [distance.statistics(rows[a:b], labels[a:b]) for a, b in ((0, 4), (4, 25), (25, 40))]
    assert (parts[0] + parts[1] + parts[2]).isclose(whole)
    assert not (parts[0] + parts[1]).isclose(whole)
    assert (whole + whole.zero()).isclose(whole)
    assert (2.0 * whole).isclose(whole + whole)
    assert whole.rows == 40
    chunks = [(rows[a:b], labels[a:b]) for a, b in ((0, 4), (4, 25), (25, 40))]
    streamed = distance.fit_stream(chunks)
    codes = np.unique(labels, return_inverse=True)[1]
    own = distance.prepare(rows, target=codes)
    given = streamed.prepare(rows)
    np.testing.assert_allclose(given.cross(given), own.cross(own), rtol=1e-12, atol=1e-14)
    # Weight 2 is the row twice, weight 0 the row absent.
    weight = np.array([2.0, 0.0] * 20)
    twice = [row for row in rows[::2] for _ in range(2)]
    assert distance.statistics(rows, labels, weight).isclose(
        distance.statistics(twice, [label for label in labels[::2] for _ in range(2)])
    )


def test_frequencies_are_taken_away_and_ranges_are_not() -> None:
    rows, labels = _mixed_table(30)
    value = ValueDifference()
    whole, first = value.statistics(rows, labels), value.statistics(rows[:10], labels[:10])
    assert (whole - first).isclose(value.statistics(rows[10:], labels[10:]))
    with pytest.raises(NotAdditiveError, match="does not tell which row made it"):
        Gower().statistics(rows) - Gower().statistics(rows[:10])
    with pytest.raises(InputError, match="learned from classes: pass y"):
        value.statistics(rows)


def test_a_distance_that_has_learned_measures_few_rows_as_all() -> None:
    rows, labels = _mixed_table(40)
    D = Gower().pairwise(rows)
    learned = Gower().fit_statistics(Gower().statistics(rows))
    few = [rows[i] for i in (0, 7, 12)]
    np.testing.assert_allclose(learned.pairwise(few), D[np.ix_([0, 7, 12], [0, 7, 12])])
    assert Gower().pairwise(few).max() > learned.pairwise(few).max()
    # A level that was not learned differs from all, as one of the rows or as a new one.
    stranger = [[*few[0][:1], "new", few[0][2]]]
    assert learned.pairwise([*few, *stranger])[0, 3] == pytest.approx(1 / 3)
    prepared = learned.prepare(few)
    assert learned.prepare(stranger, prepared).cross(prepared)[0, 0] == pytest.approx(1 / 3)
    # Once learned, the value difference needs no classes; and it is a value.
    value = ValueDifference().fit_stream([(rows, labels)])
    assert value.pairwise(few).shape == (3, 3)
    again = pickle.loads(pickle.dumps(value))
    assert again == value
    assert value != ValueDifference()


# --- From elsewhere -------------------------------------------------------------------------------


@given(
    st.integers(0, 10_000),
    st.sampled_from([Euclidean(), Manhattan(), Chebyshev(), Minkowski(3.0), Cosine()]),
)
def test_sparse_rows_have_the_bits_of_dense_ones(seed: int, distance: Any) -> None:
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((9, 6)) < 0.4, rng.normal(size=(9, 6)), 0.0)
    X[:, 0] = 1.0
    dense, thin = distance.pairwise(X), distance.pairwise(sparse.csr_matrix(X))
    if isinstance(distance, Cosine):
        np.testing.assert_allclose(thin, dense, atol=1e-15)
    else:
        assert np.array_equal(thin, dense)
        assert (np.diagonal(thin) == 0).all()


def test_names_functions_and_matrices() -> None:
    rng = np.random.default_rng(5)
    X = rng.random((8, 3))
    for name in ("canberra", "braycurtis", "sqeuclidean", "correlation"):
        np.testing.assert_allclose(as_distance(name).pairwise(X), cdist(X, X, name), atol=1e-12)
    VI = np.diag([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        as_distance("mahalanobis", {"VI": VI}).pairwise(X),
        cdist(X, X, "mahalanobis", VI=VI),
        atol=1e-12,
    )
    own = FromFunction(lambda x, z, power: float((np.abs(x - z) ** power).sum()), {"power": 1})
    np.testing.assert_allclose(own.pairwise(X), Manhattan().pairwise(X))
    D = cdist(X, X)
    rows = Precomputed().prepare(D)
    assert np.array_equal(rows.take(slice(2, 5)).cross(rows), D[2:5])
    assert np.array_equal(rows.cross(rows.take(np.array([7, 1]))), D[:, [7, 1]])
    thin = np.where(D > 0.8, np.inf, D)
    graph = sparse.coo_array(np.where(np.isinf(thin), 0.0, thin))
    for given_rows in (Precomputed().prepare(thin), Precomputed().prepare(graph)):
        assert np.array_equal(given_rows.cross(given_rows), thin)
        new = Precomputed().prepare(sparse.csr_array([[0.0, 2.0] + 6 * [0.0]]), given_rows)
        assert new.cross(given_rows.take([1, 0])).tolist() == [[2.0, np.inf]]


def test_huge_numbers_are_far_where_nothing_is_squared() -> None:
    X = np.array([[1e200, 0.0], [3e200, 0.0], [0.0, 1e200]])
    assert Manhattan().pairwise(X)[0].tolist() == [0.0, 2e200, 2e200]
    assert Chebyshev().pairwise(X)[0].tolist() == [0.0, 2e200, 1e200]
    np.testing.assert_allclose(Cosine().pairwise(X)[0], [0.0, 0.0, 1.0], atol=1e-15)
    assert Gower().pairwise(X)[0, 1] == pytest.approx(1 / 3)
    np.testing.assert_allclose(Manhattan().pairwise(X[:, :1] / 1e300 / 1e180)[0, 1], 2e-280)
    assert Euclidean().pairwise(np.zeros((2, 1))).tolist() == [[0.0, 0.0]] * 2


# --- Axioms ---------------------------------------------------------------------------------------


def test_metrics_keep_the_axioms_and_others_are_told_where_they_break() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(25, 3))
    for distance in (Euclidean(), Manhattan(), Chebyshev(), Minkowski(3), Mahalanobis()):
        assert check_metric(distance, X) == ()
    assert check_metric(FromKernel(Gaussian(1.0)), X) == ()
    mixed = [[float(a), b] for a, b in zip(rng.normal(size=10), "abcabcabca", strict=True)]
    assert check_metric(Gower(), mixed) == ()
    (broken,) = check_metric(lambda x, z: float(abs(x - z) ** 2), [0.0, 1.0, 2.0])
    assert (broken.axiom, broken.rows) == ("triangle", (0, 1, 2))
    broken, *_ = check_metric(lambda x, z: float(x - z), [0.0, 1.0])
    assert (broken.axiom, broken.rows) == ("positivity", (0, 1))
    assert {one.axiom for one in check_metric(lambda x, z: 1.0 + x + 0 * z, [0.0, 1.0])} >= {
        "identity",
        "symmetry",
    }
    (twins,) = check_metric(Euclidean(), [[1.0], [1.0]])
    assert twins.rows == (0, 1)


@pytest.mark.parametrize("distance", [Euclidean(), Mahalanobis(np.eye(2)), Gower(), Cosine()])
def test_distances_are_values(distance: Any) -> None:
    again = pickle.loads(pickle.dumps(distance))
    assert again == distance
    assert hash(again) == hash(distance)
    assert repr(again) == repr(distance)
