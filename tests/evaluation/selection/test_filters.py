"""Filters: scikit-learn's choices and checks, kinds kept, files, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import feature_selection as theirs
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB
from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation.selection.column_scores import ConstantColumnsWarning
from novum.evaluation.selection.column_tests import (
    AnovaF,
    AssociationTest,
    ChiSquare,
    Correlation,
    KruskalWallis,
    chi2,
    f_classif,
    f_regression,
)
from novum.evaluation.selection.filters import (
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
)
from novum.evaluation.selection.mutual_information import MutualInformation
from novum.evaluation.selection.selector import NothingSelectedWarning
from novum.evaluation.validation.cross_validation import cross_val_score
from tests.evaluation.selection.selection_tables import mixed_frame, two_classes

FILTERS: list[Any] = [
    SelectKBest(k=1),
    SelectKBest(MutualInformation("classes"), k=1),
    SelectPercentile(percentile=50),
    SelectFpr(alpha=0.9),
    SelectFdr(alpha=0.9),
    SelectFwe(AssociationTest(), alpha=0.9),
]
VALUES = {
    cls.__name__: cls
    for cls in (AnovaF, AssociationTest, ChiSquare, Correlation, KruskalWallis, MutualInformation)
}


@parametrize_with_checks(FILTERS, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    import warnings

    with warnings.catch_warnings():
        # Tables of one row, of one value, and level filters on noise are among the checks.
        warnings.simplefilter("ignore", ConstantColumnsWarning)
        warnings.simplefilter("ignore", NothingSelectedWarning)
        check(estimator)


@pytest.mark.parametrize("model", FILTERS, ids=lambda m: repr(m)[:40])
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(model: Any, check: Check) -> None:
    X, y = two_classes()
    check(Case(model, X, y))


# --- scikit-learn's choices -----------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, 1, 3, "all"])
@pytest.mark.parametrize("percentile", [0, 10, 35, 100])
def test_choices_are_scikit_learns(k: Any, percentile: int) -> None:
    X, y = two_classes(d=9)
    ours = SelectKBest(k=k).fit(X, y)
    other = theirs.SelectKBest(k=k).fit(X, y)
    np.testing.assert_allclose(ours.scores_, other.scores_, rtol=1e-10)
    np.testing.assert_allclose(ours.pvalues_, other.pvalues_, rtol=1e-8)
    assert ours.get_support().tolist() == other.get_support().tolist()
    some = SelectPercentile(percentile=percentile).fit(X, y)
    assert (
        some.get_support().tolist()
        == theirs.SelectPercentile(percentile=percentile).fit(X, y).get_support().tolist()
    )


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.05, 0.3, 1.0])
def test_levels_are_scikit_learns(alpha: float) -> None:
    X, y = two_classes(d=30)
    for ours, other in (
        (SelectFpr(alpha=alpha), theirs.SelectFpr(alpha=alpha)),
        (SelectFdr(alpha=alpha), theirs.SelectFdr(alpha=alpha)),
        (SelectFwe(alpha=alpha, correction="bonferroni"), theirs.SelectFwe(alpha=alpha)),
    ):
        assert ours.fit(X, y).get_support().tolist() == other.fit(X, y).get_support().tolist()


def test_holm_passes_what_bonferroni_passes_and_more() -> None:
    X, y = two_classes(d=30, signal=0.9)
    by = {c: SelectFwe(alpha=0.3, correction=c).fit(X, y) for c in ("holm", "bonferroni")}
    masks = {c: model.get_support() for c, model in by.items()}
    assert (masks["holm"] >= masks["bonferroni"]).all()
    assert (by["holm"].adjusted_pvalues_ <= by["bonferroni"].adjusted_pvalues_).all()


def test_ties_are_broken_as_theirs_are() -> None:
    X = np.array([[0.0, 1, 0, 1, 0], [1, 0, 1, 0, 0], [0, 1, 0, 1, 1], [1, 0, 1, 0, 1]])
    y = [0, 1, 0, 1]
    scores = lambda X, y: np.array([1.0, 2, 2, 2, 0])  # noqa: E731, ARG005
    for k in range(6):
        ours = SelectKBest(scores, k=k).fit(X, y).get_support()
        assert ours.tolist() == theirs.SelectKBest(scores, k=k).fit(X, y).get_support().tolist()
        p = 20 * k
        some = SelectPercentile(scores, percentile=p).fit(X, y).get_support()
        assert some.tolist() == (
            theirs.SelectPercentile(scores, percentile=p).fit(X, y).get_support().tolist()
        )


@pytest.mark.parametrize(
    ("ours", "other"),
    [(f_classif, theirs.f_classif), (chi2, theirs.chi2)],
    ids=["f_classif", "chi2"],
)
def test_sparse_tables(ours: Any, other: Any) -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.4, (60, 7)).astype(float))
    y = rng.integers(0, 3, 60)
    model = SelectKBest(ours, k=3).fit(X, y)
    reference = theirs.SelectKBest(other, k=3).fit(X, y)
    np.testing.assert_allclose(model.scores_, reference.scores_, rtol=1e-10)
    found = model.transform(X)
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), reference.transform(X).toarray())
    np.testing.assert_array_equal(
        model.inverse_transform(found).toarray(), reference.inverse_transform(found).toarray()
    )


def test_functions_from_elsewhere_serve_too() -> None:
    X, y = two_classes(d=6)
    model = SelectKBest(theirs.f_classif, k=2).fit(X, y)
    assert model.get_support().tolist() == SelectKBest(k=2).fit(X, y).get_support().tolist()
    spread = SelectKBest(lambda X, y: X.std(axis=0), k=2).fit(X)  # noqa: ARG005
    assert spread.get_support(indices=True).tolist() == sorted(np.argsort(X.std(axis=0))[-2:])
    assert spread.pvalues_ is None


# --- Kinds and containers -------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("score", [AssociationTest(), MutualInformation()], ids=["test", "bits"])
def test_frames_keep_their_columns(library: str, score: Any) -> None:
    frame, y = mixed_frame()
    X = {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[library](
        frame
    )
    model = SelectKBest(score, k=2).fit(X, y)
    # The informative ones are a nominal and a numeric column, each with missing cells.
    assert model.get_feature_names_out().tolist() == ["size", "color"]
    kept = model.transform(X)
    assert type(kept) is type(X)
    names = kept.column_names if library == "arrow" else list(kept.columns)
    assert names == ["size", "color"]
    if library == "pandas":
        pd.testing.assert_frame_equal(kept, frame[["size", "color"]])
    assert model.n_known_.tolist() == frame.notna().sum().tolist()


def test_other_output_on_demand() -> None:
    frame, y = mixed_frame()
    model = SelectKBest(AssociationTest(), k=2).set_output(transform="polars").fit(frame, y)
    kept = model.transform(frame)
    assert isinstance(kept, pl.DataFrame)
    assert kept.columns == ["size", "color"]
    X, labels = two_classes()
    out = SelectKBest(k=1).set_output(transform="pandas").fit(X, labels).transform(X)
    assert isinstance(out, pd.DataFrame)
    assert out.columns.tolist() == ["x0"]


def test_weak_scores_do_not_know_categories() -> None:
    frame, y = mixed_frame()
    with pytest.raises(InputError, match=r"'shape' is nominal\. Take score_func=AssociationTest"):
        SelectKBest(k=1).fit(frame, y)


def test_numbers_can_be_declared_categories() -> None:
    X = np.array([[0.0, 1], [1, 2], [2, 3], [0, 4], [1, 5], [2, 6]] * 5)
    y = np.array([0, 1, 0, 0, 1, 0] * 5)
    model = SelectKBest(AssociationTest(), k=1, categorical_features=[0]).fit(X, y)
    assert model.get_support().tolist() == [True, False]
    # As a number the column has equal means: levels 0 and 2 go with class 0, and 1 with class 1.
    assert SelectKBest(AssociationTest(), k=1).fit(X, y).scores_[0] < 1e-9


# --- Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", list(VALUES.values()), ids=list(VALUES))
def test_files_hold_scores(score: Any, tmp_path: Any) -> None:
    X, y = two_classes()
    y = X[:, 0] if score is Correlation else y
    X = np.abs(X) if score is ChiSquare else X
    model = SelectKBest(score(), k=1).fit(X, y)
    save(model, tmp_path / "m.novum")
    back = load(tmp_path / "m.novum")
    assert back.score_func == score()
    np.testing.assert_array_equal(back.scores_, model.scores_)
    np.testing.assert_array_equal(back.transform(X), model.transform(X))


def test_damaged_files_are_refused() -> None:
    X, y = two_classes()
    model = SelectKBest(k=1).fit(X, y)
    model.scores_ = model.scores_[:-1]
    with pytest.raises(ModelFileError):
        model._check_state()


# --- Refusals -------------------------------------------------------------------------------------


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="y has one class only, 'yes'"):
        SelectKBest(k=1).fit([[1.0], [2.0]], ["yes", "yes"])


def test_constant_columns_are_named_and_come_last() -> None:
    X, y = two_classes(d=3)
    X[:, 1] = 7.0
    with pytest.warns(ConstantColumnsWarning, match="1 of 3 columns are constant.*'x1'"):
        model = SelectKBest(k=2).fit(X, y)
    assert model.get_support().tolist() == [True, False, True]
    assert model.scores_[1] == 0
    assert model.pvalues_[1] == 1


def test_more_columns_than_there_are() -> None:
    X, y = two_classes(d=3)
    with pytest.warns(UserWarning, match="k=10 is greater than n_features=3"):
        assert SelectKBest().fit(X, y).get_support().all()


def test_undefined_scores_are_refused_by_name() -> None:
    X, y = two_classes(d=3)
    with pytest.raises(InputError, match="gave NaN for 1 of 3 columns: 'x1'"):
        SelectKBest(lambda X, y: np.array([1.0, np.nan, 2]), k=1).fit(X, y)  # noqa: ARG005
    with pytest.raises(InputError, match=r"scores of shape \(2,\) for 3 columns"):
        SelectKBest(lambda X, y: np.array([1.0, 2]), k=1).fit(X, y)  # noqa: ARG005


def test_levels_need_p_values() -> None:
    X, y = two_classes()
    with pytest.raises(InputError, match="SelectFwe needs p-values"):
        SelectFwe(MutualInformation()).fit(X, y)


def test_nothing_selected_says_so() -> None:
    X, y = two_classes()
    model = SelectFwe(alpha=0.0).fit(X, y)
    with pytest.warns(NothingSelectedWarning, match="No features were selected"):
        assert model.transform(X).shape == (len(X), 0)


def test_other_widths_do_not_come_back() -> None:
    X, y = two_classes()
    with pytest.raises(InputError, match="X has 3 columns, but 1 were selected"):
        SelectKBest(k=1).fit(X, y).inverse_transform(np.zeros((2, 3)))


def test_several_targets_are_refused() -> None:
    X, _ = two_classes()
    with pytest.raises(InputError, match="2 targets"):
        SelectKBest(f_regression, k=1).fit(X, np.column_stack([X[:, 0], X[:, 1]]))


# --- The classic mistake --------------------------------------------------------------------------


def scores_on_noise(seed: int) -> tuple[float, float]:
    """Accuracy on pure noise with the selection outside and inside the folds."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 500)), np.arange(60) % 2
    chosen = SelectKBest(k=10).fit_transform(X, y)
    outside = cross_val_score(GaussianNB(), chosen, y, cv=5).mean()
    inside = cross_val_score(make_pipeline(SelectKBest(k=10), GaussianNB()), X, y, cv=5).mean()
    return float(outside), float(inside)


@pytest.mark.slow
def test_noise_predicts_nothing_unless_it_was_selected_with_the_answers_at_hand() -> None:
    outside, inside = np.mean([scores_on_noise(seed) for seed in range(20)], axis=0)
    # 20 tables of 60 rows: the mean accuracy of guessing is 0.5 with an error of about 0.02.
    assert inside == pytest.approx(0.5, abs=0.06)
    assert outside > 0.75
