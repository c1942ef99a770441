"""compare: shared folds, the same for any n_jobs, resumed after a real kill, bad input."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import make_scorer, root_mean_squared_error
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier

from novum.bayes import GaussianNB
from novum.evaluation.comparison.experiment import compare
from novum.evaluation.comparison.fold_pairs import FoldPair
from novum.evaluation.comparison.pairs.mcnemar import mcnemar_test
from novum.evaluation.comparison.pairs.t_tests import corrected_t_test, five_by_two_f_test
from novum.evaluation.measures.scorers import scorer
from novum.linear import LinearRegression

IRIS = load_iris(return_X_y=True)
NEGATED = "neg_root_mean_squared_error"
MODELS = {"bayes": GaussianNB(), "neighbors": KNeighborsClassifier(3), "guess": DummyClassifier()}


def fold_pair(found: object) -> FoldPair:
    assert isinstance(found, FoldPair)
    return found


def test_scores_are_scikit_learns_on_the_same_folds() -> None:
    found = compare(MODELS, *IRIS, cv="2x5")
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    halves = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    expected = {name: cross_val_score(model, *IRIS, cv=folds) for name, model in MODELS.items()}
    for name, scores in found.scores["data"].items():
        np.testing.assert_allclose(scores, expected[name], atol=1e-12)
    pair = fold_pair(found.pair("bayes", "neighbors"))
    d = expected["bayes"] - expected["neighbors"]
    assert pair.corrected.p_value == pytest.approx(corrected_t_test(d, 1 / 4).p_value)
    first, second = (cross_val_score(MODELS[n], *IRIS, cv=halves) for n in ("bayes", "neighbors"))
    assert pair.five_by_two_f is not None
    assert pair.five_by_two_f.p_value == pytest.approx(five_by_two_f_test(first - second).p_value)


def test_mcnemar_is_of_out_of_fold_predictions() -> None:
    from novum.evaluation.validation.splits import plan_splits

    found = compare(MODELS, *IRIS, cv="2x5", five_by_two=False)
    first_repeat = plan_splits(*IRIS, "2x5", classifier=True).folds[:5]
    a, b = (cross_val_predict(MODELS[n], *IRIS, cv=first_repeat) for n in ("neighbors", "guess"))
    pair = fold_pair(found.pair("neighbors", "guess"))
    assert pair.mcnemar == mcnemar_test(IRIS[1], a, b)


def test_the_same_for_any_number_of_jobs() -> None:
    one = compare(MODELS, *IRIS, cv="2x5", n_jobs=1)
    two = compare(MODELS, *IRIS, cv="2x5", n_jobs=2)
    assert repr(one) == repr(two)
    for name, scores in one.scores["data"].items():
        assert scores.tobytes() == two.scores["data"][name].tobytes()


def test_several_data_sets_and_measures() -> None:
    datasets = {"iris": IRIS, "wine": load_wine(return_X_y=True)}
    found = compare(MODELS, datasets=datasets, cv="2x3", scoring=["balanced_accuracy", "accuracy"])
    assert found.measure == "balanced_accuracy"
    assert found.ranks is not None
    assert found.ranks.friedman.n_datasets == 2
    other = found.judged(measure="accuracy")
    scores = cross_val_score(
        MODELS["neighbors"],
        *datasets["wine"],
        cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    )
    np.testing.assert_allclose(other.scores["wine"]["neighbors"], scores, atol=1e-12)


def test_regressors_are_judged_by_r2_and_have_no_mcnemar() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60)})
    y = 2 * X["x"] + rng.normal(size=60)
    found = compare([LinearRegression(), DummyRegressor()], X, y, cv="3x4")
    assert found.measure == "r2"
    pair = fold_pair(found.pairs[0])
    assert pair.mcnemar is None
    assert pair.winner == "LinearRegression"
    assert found.notes == ()


def test_weights_count_rows() -> None:
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    found = compare(
        {"bayes": GaussianNB(), "guess": DummyClassifier()}, *IRIS, cv="1x3", sample_weight=weight
    )
    assert fold_pair(found.pairs[0]).mcnemar is None
    assert any("McNemar" in note for note in found.notes)


@pytest.mark.parametrize(
    ("cv", "halves", "mcnemar"),
    [
        (5, True, True),
        (ShuffleSplit(6, test_size=0.2, random_state=0), True, False),
        (TimeSeriesSplit(4), False, True),
        (LeaveOneOut(), False, True),
        ([(np.arange(0, 40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))], False, True),
    ],
)
def test_plans_that_can_and_cannot_be_repeated(cv: object, halves: bool, mcnemar: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int)
    found = compare({"bayes": GaussianNB(), "guess": DummyClassifier()}, X, y, cv=cv)
    pair = fold_pair(found.pairs[0])
    assert (pair.five_by_two_t is not None) == halves
    assert (pair.repeats is not None) == halves
    assert (pair.mcnemar is not None) == mcnemar
    assert any("5x2cv" in note for note in found.notes) == (not halves)


def test_groups_are_never_divided() -> None:
    groups = np.repeat(np.arange(30), 5)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), rng.integers(0, 2, 150)
    models = {"bayes": GaussianNB(), "guess": DummyClassifier()}
    found = compare(models, X, y, cv=GroupKFold(5), groups=groups)
    expected = cross_val_score(models["bayes"], X, y, cv=GroupKFold(5), groups=groups)
    np.testing.assert_allclose(found.scores["data"]["bayes"], expected, atol=1e-12)
    assert fold_pair(found.pairs[0]).five_by_two_t is None


def test_equal_models_say_so() -> None:
    twins = {"one": KNeighborsClassifier(3), "two": KNeighborsClassifier(3)}
    with np.errstate(divide="raise"):
        found = compare(twins, *IRIS, cv="2x5")
    assert "equal for practical purposes" in found.verdict
    assert "nothing to test" in found.verdict


# --- Journals -------------------------------------------------------------------------------------

SCRIPT = '''
import json, sys, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from novum.evaluation.comparison.experiment import compare

class Slow(ClassifierMixin, BaseEstimator):
    """Predicts by a threshold; takes its time and counts its fits."""
    def __init__(self, column=0):
        self.column = column
    def fit(self, X, y):
        with open(sys.argv[2], "a") as log:
            log.write("fit\\n")
        time.sleep(0.01)
        self.classes_ = np.unique(y)
        self.threshold_ = X[:, self.column].mean()
        return self
    def predict(self, X):
        return self.classes_[(X[:, self.column] > self.threshold_).astype(int)]

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
found = compare({"first": Slow(0), "second": Slow(1)}, X, y, cv="5x5", journal=sys.argv[1],
                n_jobs=int(sys.argv[4]))
with open(sys.argv[3], "w") as file:
    json.dump([repr(found), {k: v.tolist() for k, v in found.scores["data"].items()}], file)
'''
FITS = 2 * (25 + 10)


class Runs:
    """Runs of the script in processes of their own, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = folder / "run.py"
        self.script.write_text(SCRIPT)

    def started(self, name: str, journal: Path, n_jobs: int) -> subprocess.Popen[bytes]:
        paths = [journal, journal.with_suffix(".fits"), self.folder / f"{name}.json"]
        paths[1].touch()
        return subprocess.Popen([sys.executable, str(self.script), *map(str, paths), str(n_jobs)])

    def result(self, name: str) -> object:
        return json.loads((self.folder / f"{name}.json").read_text())


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """With the result of a run that nobody killed."""
    found = Runs(tmp_path_factory.mktemp("runs"))
    assert found.started("whole", found.folder / "whole.jsonl", 1).wait() == 0
    return found


def killed_and_resumed(runs: Runs, stop_after: int, n_jobs: int) -> None:
    """Kills a run once so many folds are stored, starts it again, and counts the fits."""
    name = f"{stop_after}-{n_jobs}"
    journal = runs.folder / f"{name}.jsonl"
    process = runs.started(name, journal, n_jobs)
    limit = time.monotonic() + 120
    while not journal.exists() or journal.read_bytes().count(b"\n") < stop_after + 1:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < limit
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    fits = journal.with_suffix(".fits")
    finished = journal.read_bytes().count(b"\n") - 1
    fits_before = len(fits.read_text().splitlines())
    # A fold that was under way is all that can be lost, one for each job.
    assert stop_after <= finished < FITS
    assert fits_before - finished <= n_jobs
    assert runs.started(name, journal, n_jobs).wait() == 0
    again = len(fits.read_text().splitlines()) - fits_before
    assert again == FITS - finished
    assert runs.result(name) == runs.result("whole")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop_after", "n_jobs"), [(4, 1), pytest.param(40, 2, marks=pytest.mark.slow)]
)
def test_a_killed_run_loses_no_finished_fold(runs: Runs, stop_after: int, n_jobs: int) -> None:
    killed_and_resumed(runs, stop_after, n_jobs)


@pytest.mark.slow
@pytest.mark.parametrize("stop_after", range(0, 66, 4))
def test_killed_at_many_points(runs: Runs, stop_after: int) -> None:
    killed_and_resumed(runs, stop_after, n_jobs=1 + stop_after % 8 // 4)


class Counted(ClassifierMixin, BaseEstimator):
    """Says the most common class, and counts how often it is fitted."""

    fits = 0

    def fit(self, X: object, y: np.ndarray) -> Counted:  # noqa: ARG002
        type(self).fits += 1
        self.classes_, counts = np.unique(y, return_counts=True)
        self.label_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.label_)


def test_a_finished_journal_needs_no_fits_and_takes_new_models(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    models = {"counted": Counted(), "neighbors": KNeighborsClassifier(3)}
    Counted.fits = 0
    first = compare(models, *IRIS, cv="2x3", journal=path)
    assert Counted.fits == 6 + 10
    more = compare({**models, "guess": DummyClassifier()}, *IRIS, cv="2x3", journal=path)
    assert Counted.fits == 6 + 10
    np.testing.assert_array_equal(first.scores["data"]["counted"], more.scores["data"]["counted"])


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"cv": "3x3"}, "splits was"),
        ({"scoring": "balanced_accuracy"}, "scores was accuracy and is balanced_accuracy"),
    ],
)
def test_the_journal_of_another_experiment_is_refused(
    tmp_path: Path, changes: dict[str, str], part: str
) -> None:
    path = tmp_path / "run.jsonl"
    models = {"counted": Counted(), "guess": DummyClassifier()}
    compare(models, *IRIS, cv="2x3", journal=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=part):
        compare(models, *IRIS, **{"cv": "2x3", **changes}, journal=path)
    with pytest.raises(ValueError, match="data was"):
        compare(models, IRIS[0] + 1, IRIS[1], cv="2x3", journal=path)
    assert path.read_bytes() == before


# --- Bad input ------------------------------------------------------------------------------------


def undefined(model: object, X: object, y: object) -> float:  # noqa: ARG001
    return float("nan")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": {"a": GaussianNB()}}, "at least 2 models, got only 'a'"),
        ({"models": [("a", GaussianNB()), ("a", DummyClassifier())]}, "'a' is used more than once"),
        ({"models": {"a": GaussianNB(), "b": DummyRegressor()}}, "'b' is a regressor"),
        ({"rope": -0.01}, "rope is the largest difference"),
        ({"level": 95}, "between 0 and 1"),
        ({"baseline": "z"}, "baseline='z' is none of the models"),
        ({"scoring": "acuracy"}, "There is no scorer 'acuracy'"),
        ({"scoring": undefined}, "is NaN"),
        ({"cv": "ten"}, "REPEATSxFOLDS"),
        ({"cv": [(np.arange(0, 150, 2), np.arange(1, 150, 2))]}, "at least 2 folds"),
        ({"X": None, "y": None}, "needs a table"),
        ({"datasets": {"a": IRIS}}, "not both"),
    ],
)
def test_bad_input_is_named(options: dict[str, object], message: str) -> None:
    arguments = {"models": MODELS, "X": IRIS[0], "y": IRIS[1], "cv": "1x3", **options}
    with pytest.raises(ValueError, match=message):
        compare(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scoring", "name"),
    [
        (NEGATED, "root_mean_squared_error"),
        ("rmse", "rmse"),
        (make_scorer(root_mean_squared_error, greater_is_better=False), "score"),
        ({"my error": "rmse"}, "my error"),
        ({"my error": scorer("rmse")}, "my error"),
    ],
    ids=str,
)
def test_losses_are_shown_as_they_are_whatever_their_scorer_does(scoring: Any, name: str) -> None:
    X = np.arange(40.0)[:, None]
    y = X[:, 0] + np.random.default_rng(0).normal(size=40)
    models = {"line": LinearRegression(), "mean": DummyRegressor()}
    found = compare(models, X, y, cv="2x5", scoring=scoring)
    (measure,) = found.table.measures
    assert name in ("score", measure)
    assert not found.greater_is_better
    assert found.pair("line", "mean").winner == "line"
    folds = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
    for model, scores in found.scores["data"].items():
        theirs = cross_val_score(
            models[model], X, y, cv=folds, scoring="neg_root_mean_squared_error"
        )
        np.testing.assert_allclose(scores, -theirs, rtol=1e-9)
    assert found.verdict.startswith(f"Lowest {measure} of 2 models: line, 0.8 [")
    if isinstance(scoring, str):
        assert found.judged(measure=scoring).measure == measure


def test_a_loss_under_both_of_its_names_is_the_same_loss() -> None:
    X, y = load_iris(return_X_y=True)
    models = {"nb": GaussianNB(), "constant": DummyClassifier(strategy="prior")}
    found = compare(models, X, y, cv=3, scoring=["neg_log_loss", "log_loss"])
    names = found.table.measures
    assert set(names) == {"log_loss", "log_loss (neg_log_loss)"}
    np.testing.assert_allclose(found.table.means(names[0]), found.table.means(names[1]))
    assert (found.table.means("log_loss") > 0).all()
