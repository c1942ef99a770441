"""What reductions share: scikit-learn's checks, the contract, weights, metadata, files, batches."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import CategoricalNB, GaussianNB, LinearDiscriminantAnalysis, NaiveBayes
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, registry, save
from novum.core.learners import Case, ConstantPredictor
from novum.core.learners.contracts import check_name, estimator_checks
from novum.ensemble.one_vs_one import OneVsOneClassifier
from novum.ensemble.one_vs_rest import OneVsRestClassifier
from novum.linear import Ridge
from novum.svm import SVC

RNG = np.random.default_rng(1)
Y = np.arange(90) % 3
X = RNG.normal(size=(90, 3)) + 1.5 * np.eye(3)[Y]
NAMES = np.array(["ant", "bee", "cat"])[Y]
BOTH = [OneVsRestClassifier, OneVsOneClassifier]
CLASSES = (OneVsRestClassifier, OneVsOneClassifier, ConstantPredictor)


@pytest.fixture(autouse=True)
def registered_here() -> Iterator[None]:
    """Model files know these classes, whether the registry lists them already or not."""
    new = {c.__name__: c for c in CLASSES if c.__name__ not in registry.ESTIMATORS}
    with registry.registered(estimators=new):
        yield


def nominal(n: int = 90) -> pd.DataFrame:
    """A frame with a nominal column, an ordinal one and missing cells."""
    frame = pd.DataFrame({"size": X[:n, 0], "color": np.array(["red", "blue", "green"])[Y[:n]]})
    frame.loc[::7, "size"] = np.nan
    frame.loc[::11, "color"] = None
    frame["grade"] = pd.Categorical(
        np.array(["low", "mid", "high"])[(np.arange(n) // 2) % 3],
        ["low", "mid", "high"],
        ordered=True,
    )
    return frame


# --- Contracts ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.bayes.gaussian_covariance.SingularCovarianceWarning")
@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(
    [
        OneVsRestClassifier(GaussianNB()),
        OneVsRestClassifier(Ridge()),
        OneVsRestClassifier(CategoricalNB()),
        OneVsOneClassifier(LinearDiscriminantAnalysis()),
        OneVsOneClassifier(GaussianNB(), coupling="likelihood"),
        OneVsOneClassifier(CategoricalNB()),
    ],
    legacy=True,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize(
    "case",
    [
        Case(OneVsRestClassifier(GaussianNB()), X, NAMES),
        Case(OneVsOneClassifier(GaussianNB()), X, NAMES),
        Case(OneVsRestClassifier(Ridge()), X, Y),
        Case(OneVsRestClassifier(NaiveBayes()), nominal(), NAMES),
        Case(OneVsOneClassifier(NaiveBayes()), nominal(), NAMES),
        Case(OneVsRestClassifier(GaussianNB()), X, np.eye(3, dtype=int)[Y]),
        Case(OneVsOneClassifier(LinearDiscriminantAnalysis()), X, Y % 2 == 0),
    ],
    ids=["rest", "one", "ridge", "rest nominal", "one nominal", "multilabel", "two"],
)
def test_contract(case: Case, check: Any) -> None:
    check(case)


@pytest.mark.parametrize("reduction", BOTH)
def test_an_interrupt_leaves_the_model_alone(reduction: Any) -> None:
    model = reduction(GaussianNB()).fit(X, Y)
    before = model.predict_proba(X)
    slow = reduction(SlowClassifier()).set_params(n_jobs=2)
    vars(slow).update({k: v for k, v in vars(model).items() if k.endswith("_") or k == "_form"})

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGALRM, interrupt)
    started = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            slow.fit(X, Y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, earlier)
    assert time.perf_counter() - started < 3
    np.testing.assert_array_equal(slow.predict_proba(X), before)


class SlowClassifier(ClassifierMixin, BaseEstimator):
    """Takes half a second to learn nothing."""

    def fit(self, X: Any, y: Any) -> SlowClassifier:  # noqa: ARG002
        self.classes_ = np.unique(y)
        for _ in range(50):
            time.sleep(0.01)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.full((len(X), 2), 0.5)


# --- Targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", BOTH)
@pytest.mark.parametrize("labels", [NAMES, NAMES.astype(object), Y, Y.astype(float), Y == 1, Y - 5])
def test_labels_of_every_type(reduction: Any, labels: np.ndarray) -> None:
    model = reduction(GaussianNB()).fit(X, labels)
    assert model.classes_.tolist() == np.unique(labels).tolist()
    assert not model.multilabel_
    assert set(model.predict(X).tolist()) <= set(labels.tolist())
    assert model.score(X, labels) > 0.6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.class_prior_, np.unique(labels, return_counts=True)[1] / 90)


@pytest.mark.parametrize("reduction", BOTH)
def test_one_class_is_refused(reduction: Any) -> None:
    with pytest.raises(InputError, match="only one class is present: every row of y is ant"):
        reduction(GaussianNB()).fit(X, ["ant"] * 90)
    weight = np.where(Y == 0, 1.0, 0.0)
    with pytest.raises(InputError, match="only one class"):
        reduction(GaussianNB()).fit(X, NAMES, weight)


@pytest.mark.parametrize("reduction", BOTH)
def test_a_class_of_one_row(reduction: Any) -> None:
    labels = np.where(np.arange(90) == 7, "rare", NAMES)
    rows = np.where((np.arange(90) == 7)[:, None], 50.0, X)
    model = reduction(GaussianNB()).fit(rows, labels)
    assert model.predict(rows[[7]]).tolist() == ["rare"]
    assert np.isfinite(model.predict_proba(rows)).all()


@pytest.mark.parametrize("reduction", BOTH)
@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (np.eye(3, dtype=int)[Y], np.ndarray),
        (sparse.csr_matrix(np.eye(3, dtype=int)[Y]), sparse.csr_matrix),
        ([{name} for name in NAMES], np.ndarray),
        (pd.DataFrame(np.eye(3, dtype=int)[Y]), np.ndarray),
        (pl.DataFrame(np.eye(3, dtype=int)[Y]), np.ndarray),
    ],
    ids=["array", "sparse", "sets", "pandas", "polars"],
)
def test_many_labels_come_back_as_they_came(reduction: Any, y: Any, kind: type) -> None:
    model = reduction(GaussianNB()).fit(X, y)
    assert model.multilabel_
    assert model.n_classes_ == 3
    assert len(model.estimators_) == 3
    found = model.predict(X)
    assert isinstance(found, kind)
    assert model.score(X, y) > 0.5
    assert model.predict_proba(X).shape == (90, 3)
    # Labels are predicted one by one: what is predicted is what has more than half.
    hits = model.predict_proba(X) > 0.5
    dense = (
        np.array([[c in row for c in model.classes_] for row in found])
        if isinstance(y, list)
        else np.asarray(found.todense() if sparse.issparse(found) else found) == 1
    )
    np.testing.assert_array_equal(dense, hits)
    with pytest.raises(InputError, match="class_prior_"):
        model.at(WorkingPoint([0, 1, 2], priors=[0.2, 0.3, 0.5], cost=1 - np.eye(3)))


def test_both_reductions_are_the_same_for_many_labels() -> None:
    y = RNG.integers(0, 2, (90, 4))
    rest, one = (r(GaussianNB()).fit(X, y) for r in BOTH)
    np.testing.assert_array_equal(rest.predict_proba(X), one.predict_proba(X))


# --- Weights and metadata -------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", BOTH)
def test_weights_are_repetitions(reduction: Any) -> None:
    weight = RNG.integers(0, 4, 90)
    times = np.repeat(np.arange(90), weight)
    a = reduction(GaussianNB()).fit(X, NAMES, weight.astype(float))
    b = reduction(GaussianNB()).fit(X[times], NAMES[times])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.class_count_, b.class_count_)


@pytest.mark.parametrize("reduction", BOTH)
def test_a_learner_without_weights_is_named(reduction: Any) -> None:
    with pytest.raises(InputError, match=r"KNeighborsClassifier does not support sample weights"):
        reduction(KNeighborsClassifier()).fit(X, Y, np.ones(90))


@pytest.mark.parametrize("reduction", BOTH)
def test_weights_are_routed_as_requested(reduction: Any) -> None:
    weight = RNG.integers(0, 3, 90).astype(float)
    plain = reduction(GaussianNB()).fit(X, Y, weight).predict_proba(X)
    with config_context(enable_metadata_routing=True):
        asked = GaussianNB().set_fit_request(sample_weight=True)
        found = reduction(asked).fit(X, Y, sample_weight=weight).predict_proba(X)
        np.testing.assert_array_equal(found, plain)
        named = GaussianNB().set_fit_request(sample_weight="importance")
        found = reduction(named).fit(X, Y, importance=weight).predict_proba(X)
        np.testing.assert_array_equal(found, plain)
        piped = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
        assert reduction(piped).fit(X, Y, sample_weight=weight).n_classes_ == 3
        refused = GaussianNB().set_fit_request(sample_weight=False)
        with pytest.raises(TypeError, match="not routed to any object"):
            reduction(refused).fit(X, Y, sample_weight=weight)
    with pytest.raises(ValueError, match="importance"):
        reduction(GaussianNB()).fit(X, Y, importance=weight)


@pytest.mark.parametrize("reduction", BOTH)
def test_it_works_in_searches_and_pipelines(reduction: Any) -> None:
    search = GridSearchCV(
        make_pipeline(StandardScaler(), reduction(LogisticRegression())),
        {f"{reduction.__name__.lower()}__estimator__C": [0.1, 1.0]},
        cv=3,
    ).fit(X, NAMES)
    assert search.best_score_ > 0.6


# --- Tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", BOTH)
@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas], ids=["pandas", "polars"])
def test_frames_reach_the_learner_as_they_are(reduction: Any, make: Any) -> None:
    frame = make(nominal())
    model = reduction(NaiveBayes()).fit(frame, NAMES)
    assert model.feature_names_in_.tolist() == ["size", "color", "grade"]
    assert model.n_features_in_ == 3
    kinds = [column.kind.value for column in model.estimators_[0].schema_.columns]
    # polars turns the ordered categories of pandas into unordered ones.
    assert kinds == [
        "numeric",
        "nominal",
        "nominal" if isinstance(frame, pl.DataFrame) else "ordinal",
    ]
    assert model.score(frame, NAMES) > 0.8
    refitted = model.fit(X, NAMES)
    assert not hasattr(refitted, "feature_names_in_")


@pytest.mark.parametrize("reduction", BOTH)
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_matrix])
def test_sparse_tables_agree_with_dense_ones(reduction: Any, make: Any) -> None:
    dense, thin = (reduction(Ridge()).fit(t, Y) for t in (X, make(X)))
    np.testing.assert_array_equal(thin.predict(make(X)), dense.predict(X))


# --- Re-targeting, certificates, files ------------------------------------------------------------


@pytest.mark.parametrize("reduction", BOTH)
def test_another_working_point(reduction: Any) -> None:
    model = reduction(GaussianNB()).fit(X, NAMES)
    same = WorkingPoint(["ant", "bee", "cat"], priors=[1 / 3] * 3, cost=1 - np.eye(3))
    np.testing.assert_allclose(model.at(same).predict_proba(X), model.predict_proba(X), rtol=1e-9)
    rare = WorkingPoint(["ant", "bee", "cat"], priors=[0.98, 0.01, 0.01], cost=1 - np.eye(3))
    assert (model.at(rare).predict(X) == "ant").sum() > (model.predict(X) == "ant").sum()


def test_the_certificate_is_the_weakest_of_the_members() -> None:
    proved = OneVsRestClassifier(GaussianNB()).fit(X, Y).certificate_
    assert str(proved.verdict) == "proved"
    assert proved.details["members"] == 3
    unknown = OneVsRestClassifier(LogisticRegression()).fit(X, Y).certificate_
    assert str(unknown.verdict) == "local"
    assert "3 without certificate" in unknown.details["verdicts"]


@pytest.mark.parametrize("reduction", BOTH)
def test_files_refuse_parts_that_do_not_fit(reduction: Any, tmp_path: Any) -> None:
    model = reduction(GaussianNB()).fit(X, NAMES)
    model.estimators_ = model.estimators_[:2]
    save(model, tmp_path / "cut.novum")
    with pytest.raises(ModelFileError, match="has 2 members, but 3 classes need 3"):
        load(tmp_path / "cut.novum")
    model = reduction(GaussianNB()).fit(X, NAMES)
    model.class_count_ = model.class_count_[:2]
    save(model, tmp_path / "counts.novum")
    with pytest.raises(ModelFileError, match="counts"):
        load(tmp_path / "counts.novum")
    outside = reduction(LogisticRegression()).fit(X, NAMES)
    with pytest.raises(ModelFileError, match="LogisticRegression"):
        save(outside, tmp_path / "other.novum")


@pytest.mark.parametrize("reduction", BOTH)
def test_constant_members_are_kept_in_files(reduction: Any, tmp_path: Any) -> None:
    y = np.column_stack((Y == 0, np.zeros(90), np.ones(90))).astype(int)
    with pytest.warns(UserWarning, match="Label"):
        model = reduction(GaussianNB()).fit(X, y)
    save(model, tmp_path / "model.novum")
    again = load(tmp_path / "model.novum")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (again.predict(X)[:, 1:] == [0, 1]).all()
    assert (again.predict_proba(X)[:, 1:] == [0.0, 1.0]).all()


# --- Batches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", BOTH)
def test_batches_add_up_to_the_fit(reduction: Any) -> None:
    whole = reduction(GaussianNB()).fit(X, NAMES)
    order = np.argsort(NAMES, kind="stable")
    model = reduction(GaussianNB())
    for part in (order[:50], order[50:]):
        model.partial_fit(X[part], NAMES[part], classes=["ant", "bee", "cat"])
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(model.class_prior_, whole.class_prior_)


@pytest.mark.parametrize("reduction", BOTH)
def test_batches_of_many_labels(reduction: Any) -> None:
    y = RNG.integers(0, 2, (90, 3))
    whole = reduction(GaussianNB()).fit(X, y)
    model = reduction(GaussianNB()).partial_fit(X[:40], y[:40], classes=[0, 1, 2])
    model.partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    topics = [{"a", "b"} if row[0] else {"b"} if row[1] else set() for row in y]
    sets = reduction(GaussianNB()).partial_fit(X[:40], topics[:40], classes=["a", "b", "c"])
    assert sets.partial_fit(X[40:], topics[40:]).class_count_.tolist()[2] == 0


@pytest.mark.parametrize("reduction", BOTH)
def test_batches_that_do_not_fit_are_refused(reduction: Any) -> None:
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        reduction(GaussianNB()).partial_fit(X, NAMES)
    model = reduction(GaussianNB()).partial_fit(X, NAMES, classes=["ant", "bee", "cat"])
    before = model.predict_proba(X)
    with pytest.raises(InputError, match=r"contains \['dog'\]"):
        model.partial_fit(X[:3], ["ant", "dog", "cat"])
    with pytest.raises(InputError, match="classes are"):
        model.partial_fit(X, NAMES, classes=["ant", "bee"])
    with pytest.raises(
        InputError, match=r"Earlier rows had classes as y, but these have indicator"
    ):
        model.partial_fit(X, np.eye(3, dtype=int)[Y])
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(np.full((3, 3), np.inf), NAMES[:3])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert not hasattr(reduction(KNeighborsClassifier()), "partial_fit")


@pytest.mark.parametrize("reduction", BOTH)
def test_clones_are_unfitted(reduction: Any) -> None:
    model = reduction(GaussianNB(), n_jobs=2).fit(X, Y)
    assert not hasattr(clone(model), "estimators_")
    assert clone(model).get_params(deep=False)["n_jobs"] == 2


@pytest.mark.parametrize("learner", [OneVsOneClassifier, OneVsRestClassifier])
def test_given_similarities_have_as_many_columns_as_rows(learner: type) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    y = np.arange(30) % 3
    model = learner(SVC(kernel="precomputed")).fit(X @ X.T, y)
    assert model.n_features_in_ == 30
    assert learner(SVC(kernel="precomputed")).fit((X @ X.T).tolist(), y).n_features_in_ == 30
    assert learner(SVC()).fit(X, y).n_features_in_ == 2
