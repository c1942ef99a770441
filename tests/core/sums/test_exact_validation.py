"""Exact cross-validation against the slow way: a fresh fit to the training rows of every fold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression as SklearnLinearRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)

from novum.bayes import CategoricalNB
from novum.core.errors import InputError, NotAdditiveError, UnseenLevelWarning
from novum.core.sums import (
    Fold,
    StatisticsMixin,
    exact_cross_val_predict,
    fold_statistics,
    sum_blocks,
    whole_sample,
)
from novum.core.tables import Sample, Schema, check_features, check_sample, rows_of
from novum.linear import LinearRegression, Ridge


@pytest.fixture(autouse=True, scope="module")
def merged_sums() -> Any:
    """Small tables too are summed once here, though summing folds anew takes less time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("novum.core.sums.exact_validation._SMALL_CELLS", 0)
        yield


def regression(n: int, p: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + rng.normal(size=n)


def slow(model: Any, X: Any, y: Any, cv: Any, weight: Any = None) -> Any:
    """Refits on every fold, read by the schema of the whole table."""
    y = np.asarray(y)
    schema = whole_sample(model, X, y, weight).schema
    found: Any = np.full(y.shape, np.nan)
    for train, test in cv.split(rows_of(X, np.arange(len(y))), y):
        part = None if weight is None else np.asarray(weight)[train]
        S = model.statistics(rows_of(X, train), y[train], part, schema=schema)
        found[test] = clone(model).fit_statistics(S).predict(rows_of(X, test))
    return found


# --- Equal to the slow way ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LinearRegression(), LinearRegression(fit_intercept=False)])
@pytest.mark.parametrize("cv", [KFold(4), KFold(3, shuffle=True, random_state=1), LeaveOneOut(), 5])
def test_scikit_learn_finds_the_same_the_slow_way(model: LinearRegression, cv: Any) -> None:
    X, y = regression(41)
    theirs = SklearnLinearRegression(fit_intercept=model.fit_intercept)
    expected = cross_val_predict(theirs, X, y, cv=cv)
    found = exact_cross_val_predict(model, X, y, cv)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_five_folds_are_the_default() -> None:
    X, y = regression(23)
    found = exact_cross_val_predict(LinearRegression(), X, y)
    np.testing.assert_array_equal(
        found, exact_cross_val_predict(LinearRegression(), X, y, KFold(5))
    )


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()])
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=2.0)])
def test_several_targets_and_weights(model: Any, cv: Any) -> None:
    X, y = regression(25)
    targets = np.column_stack([y, y**2])
    weight = np.random.default_rng(1).integers(0, 4, 25).astype(float)
    for chosen in (y, targets):
        for w in (None, weight):
            found = exact_cross_val_predict(model, X, chosen, cv, sample_weight=w)
            np.testing.assert_allclose(found, slow(model, X, chosen, cv, w), rtol=1e-10, atol=1e-11)


@settings(deadline=None, max_examples=30)
@given(st.integers(6, 30), st.integers(2, 6), st.integers(0, 99))
def test_random_tables_with_categories(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"c": rng.choice(["a", "b", "c"], n), "x": rng.normal(size=n)})
    y = rng.normal(size=n)
    for cv in (KFold(k), LeaveOneOut()):
        found = exact_cross_val_predict(Ridge(alpha=0.5), frame, y, cv)
        np.testing.assert_allclose(
            found, slow(Ridge(alpha=0.5), frame, y, cv), rtol=1e-9, atol=1e-9
        )


def test_a_weight_of_two_is_the_row_twice_in_the_same_fold() -> None:
    X, y = regression(20)
    weight = np.where(np.arange(20) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(20), weight.astype(int))
    folds = np.arange(20) % 4
    weighted = exact_cross_val_predict(
        LinearRegression(), X, y, PredefinedSplit(folds), sample_weight=weight
    )
    doubled = exact_cross_val_predict(
        LinearRegression(), X[twice], y[twice], PredefinedSplit(folds[twice])
    )
    np.testing.assert_allclose(weighted[twice], doubled, rtol=1e-10, atol=1e-12)


def test_a_number_is_a_weight_for_all_rows() -> None:
    X, y = regression(12)
    found = exact_cross_val_predict(LinearRegression(), X, y, KFold(3), sample_weight=2.0)
    plain = exact_cross_val_predict(LinearRegression(), X, y, KFold(3))
    np.testing.assert_allclose(found, plain, rtol=1e-10, atol=1e-12)


def test_rows_that_alone_decide_a_coefficient_are_left_out_for_real() -> None:
    # Row 0 alone knows column 1: its leverage is 1, and the formula would divide by nothing.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=12), np.eye(12)[0]])
    y = rng.normal(size=12)
    cv = LeaveOneOut()
    found = exact_cross_val_predict(LinearRegression(), X, y, cv)
    np.testing.assert_allclose(found, slow(LinearRegression(), X, y, cv), rtol=1e-10, atol=1e-12)
    assert np.isfinite(found).all()


def test_a_level_met_only_in_rows_of_weight_zero_is_predicted_as_unseen() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": ["a", "b"] * 5 + ["z"], "x": rng.normal(size=11)})
    y, weight = rng.normal(size=11), np.array([1.0] * 10 + [0.0])
    rest = LinearRegression().fit(frame[:10], y[:10])
    with pytest.warns(UnseenLevelWarning):
        expected = rest.predict(frame[10:])[0]
    for cv in (KFold(4), LeaveOneOut()):
        with pytest.warns(UnseenLevelWarning):
            found = exact_cross_val_predict(LinearRegression(), frame, y, cv, sample_weight=weight)
        assert found.shape == (11,)
        if isinstance(cv, LeaveOneOut):
            assert found[10] == pytest.approx(expected, rel=1e-10)


# --- Splitters ------------------------------------------------------------------------------------


def test_a_gap_around_the_tested_row_is_respected() -> None:
    X, y = regression(15)
    splits = [(np.flatnonzero(np.abs(np.arange(15) - i) > 1), np.array([i])) for i in range(15)]
    found = exact_cross_val_predict(LinearRegression(), X, y, splits)
    expected = [LinearRegression().fit(X[a], y[a]).predict(X[b])[0] for a, b in splits]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    left_out = exact_cross_val_predict(LinearRegression(), X, y, LeaveOneOut())
    assert not np.allclose(found, left_out)


def test_masks_groups_and_unordered_folds() -> None:
    X, y = regression(12)
    even = np.arange(12) % 2 == 0
    masks = exact_cross_val_predict(LinearRegression(), X, y, [(~even, even), (even, ~even)])
    halves = [
        (np.arange(1, 12, 2), np.arange(10, -1, -2)),
        (np.arange(0, 12, 2), np.arange(1, 12, 2)),
    ]
    positions = exact_cross_val_predict(LinearRegression(), X, y, halves)
    np.testing.assert_allclose(masks, positions, rtol=1e-12)
    np.testing.assert_allclose(
        masks[even], LinearRegression().fit(X[~even], y[~even]).predict(X[even]), rtol=1e-10
    )
    grouped = exact_cross_val_predict(
        LinearRegression(), X, y, GroupKFold(2), groups=np.arange(12) % 2
    )
    np.testing.assert_allclose(grouped, masks, rtol=1e-10)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (RepeatedKFold(n_splits=3, n_repeats=2), r"cover all 12; these hold 24 rows, 12 different"),
        (ShuffleSplit(3, test_size=4, random_state=0), "these hold 12 rows"),
        (TimeSeriesSplit(3), r"these hold 9 rows, 9 different ones\. Use a k-fold"),
        ([(np.arange(6), np.arange(6, 12))], "these hold 6 rows, 6 different"),
        ([(np.arange(6), np.arange(1, 7)), (np.arange(6), np.arange(7, 13))], "these hold 12 rows"),
    ],
)
def test_splits_that_are_no_partition_are_refused(cv: Any, message: str) -> None:
    X, y = regression(12)
    with pytest.raises(InputError, match=message):
        exact_cross_val_predict(LinearRegression(), X, y, cv)


def test_a_fold_without_training_rows_is_named() -> None:
    X, y = regression(6)
    everything = np.arange(6)
    with pytest.raises(InputError, match="hold no rows") as caught:
        exact_cross_val_predict(LinearRegression(), X, y, [(everything[:0], everything)])
    assert "This happened in fold 0 (counted from 0)." in caught.value.__notes__
    weight = np.array([1.0, 1, 1, 0, 0, 0])
    with pytest.raises(InputError, match="hold no rows") as caught:
        exact_cross_val_predict(LinearRegression(), X, y, KFold(2), sample_weight=weight)
    assert "This happened in fold 0 (counted from 0)." in caught.value.__notes__


# --- Sums of folds --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cv",
    [
        KFold(4),
        ShuffleSplit(4, test_size=3, random_state=0),
        TimeSeriesSplit(3),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ],
)
def test_statistics_of_folds_are_those_of_their_training_rows(cv: Any) -> None:
    X, y = regression(12)
    model = LinearRegression()
    whole = whole_sample(model, X, y, None)
    folds = [Fold(train, test) for train, test in cv.split(X)]
    for fold, found in zip(folds, fold_statistics(model, whole, folds), strict=True):
        assert found.isclose(model.statistics(X[fold.train], y[fold.train]))


def test_every_row_is_summed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = regression(30)
    seen: list[int] = []
    original = LinearRegression._sum

    def counting(self: Any, sample: Sample) -> Any:
        seen.append(sample.n_rows)
        return original(self, sample)

    monkeypatch.setattr(LinearRegression, "_sum", counting)
    exact_cross_val_predict(LinearRegression(), X, y, KFold(6))
    assert sum(seen) == 30


def test_training_rows_of_small_tables_are_summed_fold_by_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = regression(30)
    merged = exact_cross_val_predict(LinearRegression(), X, y, KFold(6))
    monkeypatch.setattr("novum.core.sums.exact_validation._SMALL_CELLS", 90)
    anew = exact_cross_val_predict(LinearRegression(), X, y, KFold(6))
    np.testing.assert_allclose(anew, merged, rtol=1e-12)


def test_no_digits_are_lost_to_subtraction() -> None:
    # One fold is 1e10 times larger: subtracting it from the whole would leave nothing of the rest.
    X, y = regression(20)
    X[:5] *= 1e10
    y[:5] *= 1e10
    cv = KFold(4)
    found = exact_cross_val_predict(LinearRegression(), X, y, cv)
    expected = [LinearRegression().fit(X[a], y[a]).predict(X[b]) for a, b in cv.split(X)]
    np.testing.assert_allclose(found[:5], expected[0], rtol=1e-10)


# --- Containers and learners ----------------------------------------------------------------------


@pytest.mark.parametrize("cv", [KFold(3), LeaveOneOut()])
def test_every_container_gives_the_same(cv: Any) -> None:
    X, y = regression(12)
    X[np.abs(X) < 0.3] = 0.0
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names)
    expected = exact_cross_val_predict(LinearRegression(), X, y, cv)
    tables = [
        X.tolist(),
        np.asfortranarray(X),
        frame,
        pl.DataFrame(X, schema=names),
        pa.table(dict(zip(names, X.T, strict=True))),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        sparse.coo_array(X),
    ]
    for table in tables:
        found = exact_cross_val_predict(LinearRegression(), table, y, cv)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    for target in (pd.Series(y), pl.Series(y), pa.array(y), y.tolist()):
        found = exact_cross_val_predict(LinearRegression(), X, target, cv)
        np.testing.assert_array_equal(found, expected)


def test_rows_of_any_container() -> None:
    X, chosen = np.arange(6.0).reshape(3, 2), np.array([2, 0])
    columns = {"a": X[:, 0], "b": X[:, 1]}
    for table in (X, pd.DataFrame(X, index=[9, 8, 7]), pl.DataFrame(columns), pa.table(columns)):
        np.testing.assert_array_equal(np.asarray(rows_of(table, chosen)), X[chosen])
    assert rows_of(X.tolist(), chosen) == X[chosen].tolist()
    np.testing.assert_array_equal(rows_of(sparse.coo_array(X), chosen).toarray(), X[chosen])
    np.testing.assert_array_equal(rows_of(pa.RecordBatch.from_pydict(columns), chosen)["a"], [4, 0])


def test_a_fit_that_is_no_function_of_sums_is_refused_by_type() -> None:
    X, y = regression(12)
    for model in (LinearRegression(solver="lsqr"), SklearnLinearRegression()):
        with pytest.raises(NotAdditiveError, match=r"Use sklearn\.model_selection\.cross_val"):
            exact_cross_val_predict(model, X, y)


def test_the_model_is_not_touched() -> None:
    X, y = regression(12)
    model = LinearRegression().fit(X, y)
    before = dict(vars(model))
    exact_cross_val_predict(model, X, y, LeaveOneOut())
    exact_cross_val_predict(model, X, y, KFold(3))
    assert vars(model) == before


@dataclass(frozen=True)
class Votes:
    """How often each label occurred."""

    schema: Schema
    counts: dict[str, float]

    @property
    def rows(self) -> float:
        return sum(self.counts.values())

    def __add__(self, other: "Votes") -> "Votes":
        labels = self.counts.keys() | other.counts.keys()
        sums = {k: self.counts.get(k, 0) + other.counts.get(k, 0) for k in labels}
        return Votes(self.schema.unite(other.schema), sums)

    def __sub__(self, other: "Votes") -> "Votes":
        return self + (-1.0) * other

    def __rmul__(self, factor: float) -> "Votes":
        return Votes(self.schema, {k: factor * v for k, v in self.counts.items()})

    def zero(self) -> "Votes":
        return Votes(self.schema, {})

    def isclose(self, other: "Votes", rtol: float = 1e-10) -> bool:  # noqa: ARG002
        return self.counts == other.counts


class Majority(StatisticsMixin, ClassifierMixin, BaseEstimator):
    """Predicts the most frequent label; ties go to the label that sorts first."""

    _parameter_constraints: dict[str, Any] = {}  # noqa: RUF012

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        return check_sample(self, X, y, sample_weight, target="classes", schema=schema)

    def _sum(self, sample: Sample) -> Votes:
        assert sample.classes is not None
        labels = sample.classes[sample.target].tolist()
        return Votes(sample.schema, {label: float(labels.count(label)) for label in set(labels)})

    def _estimate(self, statistics: Votes) -> None:
        self.statistics_, self.schema_ = statistics, statistics.schema
        self.winner_ = min(statistics.counts, key=lambda k: (-statistics.counts[k], k))

    def predict(self, X: Any) -> Any:
        return np.array([self.winner_] * check_features(self, X).n_rows)

    def shares(self, X: Any) -> Any:
        share = self.statistics_.counts[self.winner_] / self.statistics_.rows
        return np.full((check_features(self, X).n_rows, 2), share)


def test_levels_are_those_of_the_whole_table_in_every_fold() -> None:
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"a": rng.choice(list("uvwxyz"), 30), "b": rng.choice(list("pq"), 30)})
    X.loc[:5, "a"], y = "rare", rng.choice(["no", "yes"], 30)
    model, cv = CategoricalNB(), KFold(5)
    schema, expected = whole_sample(CategoricalNB(), X, y, None).schema, np.empty((30, 2))
    for train, test in cv.split(X):
        sums = model.statistics(X.iloc[train], y[train], schema=schema)
        expected[test] = clone(model).fit_statistics(sums).predict_proba(X.iloc[test])
    exact = exact_cross_val_predict(model, X, y, cv, method="predict_proba")
    np.testing.assert_allclose(exact, expected, rtol=1e-12)
    declared = X.astype({name: pd.CategoricalDtype(sorted(set(X[name]))) for name in X})
    plain = cross_val_predict(model, declared, y, cv=cv, method="predict_proba")
    np.testing.assert_allclose(exact, plain, rtol=1e-12)


def test_labels_of_different_length_are_not_cut_short() -> None:
    y = np.array(["extraordinary", "extraordinary", "no", "no", "no", "extraordinary"])
    X = np.arange(6.0).reshape(6, 1)
    found = exact_cross_val_predict(Majority(), X, y, KFold(2))
    assert found.tolist() == ["no"] * 3 + ["extraordinary"] * 3


def test_other_methods_and_stratified_folds_of_classifiers() -> None:
    y = ["a", "a", "a", "b", "b", "b"]
    X = np.arange(6.0).reshape(6, 1)
    found = exact_cross_val_predict(Majority(), X, y, 3, method="shares")
    np.testing.assert_array_equal(found, np.full((6, 2), 0.5))
    explicit = exact_cross_val_predict(Majority(), X, y, StratifiedKFold(3), method="shares")
    np.testing.assert_array_equal(found, explicit)


def test_one_row_at_a_time_without_a_formula_of_its_own() -> None:
    y = ["a", "a", "b"]
    found = exact_cross_val_predict(Majority(), np.ones((3, 1)), y, LeaveOneOut())
    assert found.tolist() == ["a", "a", "a"]
    assert sum_blocks(Majority()._sum, whole_sample(Majority(), np.ones((3, 1)), y, None)).rows == 3


def test_rows_of_sparse_tables_keep_their_format() -> None:
    table = np.arange(6.0).reshape(3, 2)
    for make in (sparse.csr_array, sparse.csc_array, sparse.csc_matrix):
        part = rows_of(make(table), np.array([2, 0]))
        assert part.format == make(table).format
        np.testing.assert_array_equal(part.toarray(), table[[2, 0]])
