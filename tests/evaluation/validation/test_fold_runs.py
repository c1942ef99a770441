"""Running folds: against a plain loop, for any number of jobs, after a kill; what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.core.runtime import Progress
from novum.evaluation.validation.cross_validation import cross_val_score, cross_validate
from novum.evaluation.validation.fold_runs import UndefinedScoreWarning, run_folds
from novum.evaluation.validation.splits import leave_one_out, plan_splits
from novum.linear import LinearRegression, Ridge
from novum.trees import DecisionTreeClassifier
from tests.evaluation.validation.counting_learner import (
    CountingClassifier,
    killed_in_the_middle,
    n_fits,
    small_table,
)

X, Y = small_table()
SCORING = {"accuracy": get_scorer("accuracy"), "f1": get_scorer("f1_macro")}
SPLITS = plan_splits(X, Y, "2x4", classifier=True)


def scores(runs: Any) -> Any:
    return {name: [dict(run.scores) for run in outcomes] for name, outcomes in runs.items()}


def test_scores_are_those_of_a_plain_loop() -> None:
    model = DecisionTreeClassifier(max_depth=3)
    runs = run_folds({"tree": model}, X, Y, SPLITS, SCORING, train_scores=True)["tree"]
    for (train, test), run in zip(SPLITS.folds, runs, strict=True):
        fitted = clone(model).fit(X[train], Y[train])
        for name, scorer in SCORING.items():
            assert run.scores[name] == scorer(fitted, X[test], Y[test])
            assert run.train_scores[name] == scorer(fitted, X[train], Y[train])
        assert (run.n_train, run.n_test) == (len(train), len(test))
        assert run.fit_seconds > 0
    assert not hasattr(model, "classes_")


def test_the_number_of_jobs_does_not_change_a_bit() -> None:
    models = {
        "tree": DecisionTreeClassifier(max_depth=2),
        "nb": GaussianNB(),
        "near": CountingClassifier(),
    }
    one = run_folds(models, X, Y, SPLITS, SCORING, keep="predict")
    many = run_folds(models, X, Y, SPLITS, SCORING, keep="predict", n_jobs=4)
    assert scores(one) == scores(many)
    assert [run.exact for run in one["nb"]] == [True] * 8
    for name in models:
        for a, b in zip(one[name], many[name], strict=True):
            assert a.output.tolist() == b.output.tolist()


def test_weights_count_rows_in_training_and_in_scores() -> None:
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    model = DecisionTreeClassifier(max_depth=2)
    scoring = {"accuracy": get_scorer("accuracy")}
    runs = run_folds({"m": model}, X, Y, SPLITS, scoring, sample_weight=weight)["m"]
    for (train, test), run in zip(SPLITS.folds, runs, strict=True):
        kept = train[weight[train] > 0]
        fitted = clone(model).fit(X[kept], Y[kept], sample_weight=weight[kept])
        hits = fitted.predict(X[test]) == Y[test]
        assert run.scores["accuracy"] == pytest.approx(np.average(hits, weights=weight[test]))


def test_models_are_returned_when_asked_for() -> None:
    runs = run_folds({"m": GaussianNB()}, X, Y, SPLITS, {}, return_estimator=True)["m"]
    assert runs[0].estimator.class_count_.sum() == len(SPLITS.train(0))
    facts = run_folds(
        {"m": CountingClassifier()}, X, Y, SPLITS, {}, describe=lambda m: {"k": len(m.classes_)}
    )["m"]
    assert [run.facts for run in facts] == [{"k": 2}] * 8


def test_progress_counts_every_fold_once() -> None:
    class Count(Progress):
        n = 0

        def advance(self, n: int = 1, note: str = "", **_: Any) -> bool:
            del note
            self.n += n
            return False

    count = Count()
    models = {"near": CountingClassifier(), "nb": GaussianNB()}
    run_folds(models, X, Y, SPLITS, SCORING, progress=count, n_jobs=2)
    assert count.n == 16


# --- Journals -------------------------------------------------------------------------------------


def test_a_second_run_fits_nothing_and_gives_the_same(tmp_path: Path) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"
    models = {"near": CountingClassifier(str(trace)), "nb": GaussianNB()}
    first = run_folds(models, X, Y, SPLITS, SCORING, journal=journal, keep="predict")
    assert n_fits(trace) == 8
    again = run_folds(models, X, Y, SPLITS, SCORING, journal=journal, keep="predict")
    assert n_fits(trace) == 8
    assert scores(first) == scores(again)
    for name in models:
        for a, b in zip(first[name], again[name], strict=True):
            assert a.output.tolist() == b.output.tolist()
            assert (a.exact, a.fit_seconds) == (b.exact, b.fit_seconds)


def test_learners_may_be_added_and_others_are_never_served(tmp_path: Path) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"
    one, other = CountingClassifier(str(trace)), CountingClassifier(str(trace), shrink=0.9)
    run_folds({"a": one}, X, Y, SPLITS, SCORING, journal=journal)
    both = run_folds({"a": other, "b": one}, X, Y, SPLITS, SCORING, journal=journal)
    # The name does not matter, the parameters do.
    assert n_fits(trace) == 16
    fresh = run_folds({"a": other}, X, Y, SPLITS, SCORING)
    assert scores(both)["a"] == scores(fresh)["a"]


@pytest.mark.parametrize("part", ["data", "splits", "scores", "arguments"])
def test_another_experiment_is_refused_by_name(tmp_path: Path, part: str) -> None:
    journal = tmp_path / "journal"
    run_folds({"m": GaussianNB()}, X, Y, SPLITS, SCORING, journal=journal)
    changed = {
        "data": lambda: run_folds({"m": GaussianNB()}, X + 1, Y, SPLITS, SCORING, journal=journal),
        "splits": lambda: run_folds(
            {"m": GaussianNB()}, X, Y, plan_splits(X, Y, 3), SCORING, journal=journal
        ),
        "scores": lambda: run_folds({"m": GaussianNB()}, X, Y, SPLITS, {}, journal=journal),
        "arguments": lambda: run_folds(
            {"m": GaussianNB()}, X, Y, SPLITS, SCORING, journal=journal, sample_weight=np.ones(80)
        ),
    }
    with pytest.raises(InputError, match=f"belongs to another experiment: .*{part} was"):
        changed[part]()


def test_a_torn_line_costs_one_fold(tmp_path: Path) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"
    model = {"m": CountingClassifier(str(trace))}
    whole = run_folds(model, X, Y, SPLITS, SCORING, journal=journal)
    journal.write_bytes(journal.read_bytes()[:-10])
    again = run_folds(model, X, Y, SPLITS, SCORING, journal=journal)
    assert n_fits(trace) == 9
    assert scores(whole) == scores(again)


def test_folds_that_failed_are_tried_again(tmp_path: Path) -> None:
    holes = X.copy()
    holes[0, 0] = np.nan
    good, bad = (np.arange(1, 40), np.arange(40, 80)), (np.arange(20), np.arange(20, 80))
    splits = plan_splits(X, None, [good, bad])
    for _ in range(2):
        with pytest.warns(FitFailedWarning, match="1 fits failed out of a total of 2"):
            run_folds(
                {"m": Ridge()},
                holes,
                X[:, 1],
                splits,
                {"r2": get_scorer("r2")},
                journal=tmp_path / "journal",
                error_score=np.nan,
            )
    assert (tmp_path / "journal").read_bytes().count(b"\n") == 2


KILLED = """
from sklearn.metrics import get_scorer
from novum.evaluation.validation.fold_runs import run_folds
from novum.evaluation.validation.splits import plan_splits
from tests.evaluation.validation.counting_learner import CountingClassifier, small_table
X, Y = small_table()
splits = plan_splits(X, Y, "2x4", classifier=True)
model, scoring = CountingClassifier({trace!r}), {{"accuracy": get_scorer("accuracy")}}
run_folds({{"m": model}}, X, Y, splits, scoring, journal={journal!r}, n_jobs={n_jobs})
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_kill_loses_no_finished_fold(tmp_path: Path, n_jobs: int) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"
    code = KILLED.format(trace=str(trace), journal=str(journal), n_jobs=n_jobs)
    stored = killed_in_the_middle(code, trace, journal, 4)
    assert 4 <= stored < 8
    scoring = {"accuracy": get_scorer("accuracy")}
    model = {"m": CountingClassifier(str(trace))}
    resumed = run_folds(model, X, Y, SPLITS, scoring, journal=journal)
    assert n_fits(trace) == 8
    fresh = run_folds({"m": CountingClassifier()}, X, Y, SPLITS, scoring)
    assert scores(resumed) == scores(fresh)


def test_an_interrupt_keeps_what_is_finished_and_lets_go_of_the_journal(tmp_path: Path) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"

    class Interrupting(CountingClassifier):
        def fit(self, X: Any, y: Any) -> Any:
            if n_fits(trace) == 3 and not (tmp_path / "done").exists():
                (tmp_path / "done").touch()
                raise KeyboardInterrupt
            return super().fit(X, y)

    model = {"m": Interrupting(str(trace))}
    with pytest.raises(KeyboardInterrupt):
        run_folds(model, X, Y, SPLITS, SCORING, journal=journal)
    assert n_fits(trace) == 3
    runs = run_folds(model, X, Y, SPLITS, SCORING, journal=journal)
    assert n_fits(trace) == 8
    assert (
        scores(runs)["m"]
        == scores(run_folds({"m": CountingClassifier()}, X, Y, SPLITS, SCORING))["m"]
    )


# --- What is refused ------------------------------------------------------------------------------


def test_errors_name_fold_and_learner() -> None:
    holes = X.copy()
    holes[SPLITS.test(2)[0], 0] = np.nan
    models = {"line": LinearRegression(), "ridge": Ridge()}
    with pytest.raises(InputError) as raised:
        run_folds(models, holes, X[:, 0], plan_splits(X, None, 3), {"r2": get_scorer("r2")})
    notes = " ".join(raised.value.__notes__)
    assert "in fold" in notes
    assert "The learner was" in notes


def test_scores_that_are_no_numbers_are_refused_or_warned_of() -> None:
    splits = plan_splits(X, X[:, 0], leave_one_out())
    scoring = {"r2": lambda *_: float("nan")}
    with pytest.raises(
        InputError,
        match=r"score 'r2' of fold 0 .* is NaN on its test rows, of which there is only 1",
    ):
        run_folds({"m": Ridge()}, X, X[:, 0], splits, scoring)
    with pytest.warns(UndefinedScoreWarning, match="'r2' is NaN in 80 of 80 folds"):
        run_folds({"m": Ridge()}, X, X[:, 0], splits, scoring, error_score=0.0)
    one = plan_splits(X, None, [(np.flatnonzero(Y == "no")[1:], np.flatnonzero(Y == "yes"))])
    with pytest.raises(InputError, match="which all have the target 'yes'"):
        run_folds({"m": CountingClassifier()}, X, Y, one, scoring)
    with pytest.raises(InputError, match="scoring must return a number, got 'high'"):
        run_folds({"m": CountingClassifier()}, X, Y, SPLITS, {"s": lambda *_: "high"})


def test_failed_folds_are_counted() -> None:
    holes = X.copy()
    holes[0, 0] = np.nan
    splits = plan_splits(
        X, None, [(np.arange(1, 40), np.arange(40, 80)), (np.arange(20), np.arange(20, 80))]
    )
    scoring = {"r2": get_scorer("r2")}
    with pytest.warns(FitFailedWarning, match=r"1 fits failed out of a total of 2.* set to -9"):
        runs = run_folds({"m": Ridge()}, holes, X[:, 1], splits, scoring, error_score=-9)["m"]
    assert runs[1].scores == {"r2": -9.0}
    assert runs[1].error is not None
    assert "MissingValuesError" in runs[1].error
    holes[:] = np.nan
    with pytest.raises(InputError, match=r"All the 2 fits failed.* error: MissingValuesError"):
        run_folds({"m": Ridge()}, holes, X[:, 1], splits, scoring, error_score=0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": Y[:5]}, "X has 80 rows, but y has 5"),
        ({"y": None}, "GaussianNB requires y to be passed"),
        ({"splits": plan_splits(X[:9], None, 3)}, "drawn for 9 rows, but X has 80"),
        ({"keep": "transform"}, "GaussianNB has no method transform"),
        ({"error_score": "ignore"}, "error_score is 'raise' or a number, got 'ignore'"),
        ({"sample_weight": [1.0]}, r"sample_weight has shape \(1,\)"),
        ({"journal": "x", "return_estimator": True}, "stores scores, not fitted models"),
    ],
)
def test_requests_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    given = {"X": X, "y": Y, "splits": SPLITS, "scoring": SCORING, **change}
    with pytest.raises(InputError, match=message):
        run_folds({"m": GaussianNB()}, **given)


def test_a_score_that_fails_leaves_the_others_alone() -> None:
    def never(*_: Any) -> float:
        raise ValueError("no price for these rows")

    rows = np.random.default_rng(0).normal(size=(30, 2))
    y = (rows[:, 0] > 0).astype(int)
    scoring = {"accuracy": "accuracy", "price": never}
    with pytest.warns(UserWarning, match=r"Scoring failed.*'price' in 3 of 3.*no price for these"):
        result = cross_validate(
            GaussianNB(), rows, y, cv=3, scoring=scoring, return_train_score=True
        )
    np.testing.assert_array_equal(
        result["test_accuracy"], cross_val_score(GaussianNB(), rows, y, cv=3, scoring="accuracy")
    )
    assert np.isnan(result["test_price"]).all()
    with pytest.raises(ValueError, match="no price"):
        cross_validate(GaussianNB(), rows, y, cv=3, scoring=scoring, error_score="raise")
    with pytest.raises(InputError, match=r"All the 3 fits failed.*no price"):
        cross_validate(GaussianNB(), rows, y, cv=3, scoring=never)
