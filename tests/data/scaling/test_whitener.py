"""Whitener: covariance identity, closest columns, classes, singular tables, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import linalg, stats

from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.data.scaling import SingularScatterWarning, Whitener
from novum.data.scaling.whitener import roots
from novum.numerics import Floats
from tests.data.scaling.tables import mixed_frame, normal_table, small_tables


def within(X: Floats, y: Floats) -> Floats:
    """Covariance about class means, divided by the number of rows."""
    parts = [(y == k).sum() * np.cov(X[y == k].T, ddof=0) for k in np.unique(y)]
    return np.asarray(np.sum(parts, axis=0) / len(y))


def test_covariance_becomes_the_identity() -> None:
    X, y = normal_table()
    Z = Whitener().fit_transform(X)
    np.testing.assert_allclose(np.cov(Z.T, ddof=0), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    inside = Whitener("within").fit(X, y).transform(X)
    np.testing.assert_allclose(within(inside, y), np.eye(3), atol=1e-12)


def test_it_is_the_symmetric_root_of_the_correlations() -> None:
    X, _ = normal_table()
    expected = linalg.inv(linalg.sqrtm(np.corrcoef(X.T)))
    found = ((X - X.mean(axis=0)) / X.std(axis=0)) @ expected
    np.testing.assert_allclose(Whitener().fit_transform(X), found, rtol=1e-9, atol=1e-10)


def test_no_other_whitening_stays_closer_to_the_columns() -> None:
    X, _ = normal_table()
    Z = Whitener().fit_transform(X)

    def closeness(table: Floats) -> float:
        return float(sum(np.corrcoef(table[:, j], X[:, j])[0, 1] for j in range(3)))

    best = closeness(Z)
    for seed in range(20):
        turn = stats.ortho_group.rvs(3, random_state=seed)
        assert closeness(Z @ turn) <= best + 1e-12


def test_mahalanobis_distance_becomes_euclidean() -> None:
    X, y = normal_table()
    model = Whitener("within").fit(X, y)
    a, b = model.transform(X[:2])
    inverse = np.linalg.inv(within(X, y))
    delta = X[0] - X[1]
    assert np.linalg.norm(a - b) ** 2 == pytest.approx(delta @ inverse @ delta, rel=1e-10)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=1e-10)
    np.testing.assert_allclose(model.coloring_ @ model.whitening_, np.eye(3), atol=1e-10)
    assert model.certificate_.residual is not None
    assert model.certificate_.residual < 1e-12


@pytest.mark.filterwarnings("ignore::novum.data.scaling.SingularScatterWarning")
@given(small_tables(missing=False, columns=3))
def test_going_back_works_for_singular_tables_too(X: Floats) -> None:
    model = Whitener().fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(model.inverse_transform(Z), X, atol=1e-9)
    # On the directions that vary the covariance is a projection: eigenvalues 0 and 1.
    values = np.linalg.eigvalsh(np.cov(Z.T, ddof=0))
    expected = np.r_[np.zeros(3 - model.rank_), np.ones(model.rank_)]
    np.testing.assert_allclose(values, expected, atol=1e-9)
    assert model.rank_ == np.linalg.matrix_rank(X - X.mean(axis=0), tol=1e-8)


def test_directions_without_spread_are_reported() -> None:
    X, _ = normal_table()
    singular = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(len(X), 3.0)])
    with pytest.warns(SingularScatterWarning, match=r"5 numeric columns vary in 3 .*spread are x4"):
        model = Whitener().fit(singular)
    assert model.rank_ == 3
    assert model.certificate_.details["rank"] == 3
    assert (model.transform(singular)[:, 4] == 0).all()
    with pytest.warns(SingularScatterWarning, match="vary in 0 directions"):
        one = Whitener().fit(X[:1])
    assert one.transform(X[:1]).tolist() == [[0.0, 0.0, 0.0]]


def test_offsets_do_not_fake_spread() -> None:
    X, _ = normal_table()
    far = np.column_stack([X, X[:, 0] + X[:, 1]]) + 1e8
    with pytest.warns(SingularScatterWarning, match="vary in 3"):
        assert Whitener().fit(far).rank_ == 3


def test_missing_numbers_are_refused_but_missing_categories_are_not() -> None:
    frame = mixed_frame()
    frame["color"] = frame["color"].where(frame["color"] != "red", None)
    model = Whitener().fit(frame)
    assert model.transform(frame)["color"].isna().any()
    frame.iloc[2, 0] = np.nan
    with pytest.raises(MissingValuesError, match=r"'width' \(1, first at row 2\). Whitener needs"):
        Whitener().fit(frame)
    with pytest.raises(MissingValuesError, match="'width'"):
        model.transform(frame)


def test_within_needs_classes_and_files_have_them(tmp_path: object) -> None:
    X, y = normal_table()
    with pytest.raises(InputError, match="requires y"):
        Whitener("within").fit(X)
    path = f"{tmp_path}/table.parquet"
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y).to_parquet(path)
    model = Whitener("within").fit_file(path, target="y", chunk_rows=17)
    np.testing.assert_allclose(model.covariance_, within(X, y), rtol=1e-12)


def test_no_numeric_column_at_all() -> None:
    X = np.array([["a"], ["b"]], object)
    assert Whitener().fit(X).transform(X).tolist() == [["a"], ["b"]]
    assert roots(np.empty((0, 0)), np.empty(0))[2] == 0


def test_damage_is_found() -> None:
    model = Whitener().fit(normal_table()[0])
    model.whitening_ = model.whitening_[:2]
    with pytest.raises(ModelFileError, match="whitening_"):
        model._check_state()


def test_sizes_that_no_square_holds_are_refused() -> None:
    with pytest.raises(InputError, match="squares of column 0 overflow"):
        Whitener().fit([[1e200, 1.0], [-1e200, 2.0]])


def test_the_warning_points_to_the_line_that_fits() -> None:
    with pytest.warns(SingularScatterWarning, match="vary in 0 directions only") as seen:
        Whitener().fit(np.ones((4, 2)))
    assert {warning.filename for warning in seen} == {__file__}
