"""Whole runs: nothing leaks, nothing depends on the clock, and an interruption leaves no trace."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score

from novum.apps.job import job
from novum.apps.job.job import metric_of, resume, run, table_size, versions
from novum.apps.job.planning import STACK
from novum.apps.job.record import PlanRecord
from novum.apps.job.record_json import read_record, to_json
from novum.apps.job.request import Request
from novum.apps.job.table.partition import Parts
from novum.core.errors import InputError
from novum.trees import DecisionTreeClassifier
from tests.apps.job.runs import (
    CHEAP,
    Told,
    held_out,
    labeled,
    numbered,
    quick,
    run_on,
    same_results,
    spy_on_fits,
    task_and_parts,
    timeless_model,
    write_csv,
)

FILES = ("model.novum", "predictions.csv", "model.py")


# --- The whole ------------------------------------------------------------------------------------


def test_a_run_from_table_to_files(tmp_path: Path) -> None:
    told = Told()
    record = run_on(tmp_path, labeled(90, "abc"), told)
    out = tmp_path / "out"
    assert {*FILES, "run.json", "plan.json", "request.json", "trials"} <= set(os.listdir(out))
    assert told.stages == [name for name, _ in record.stage_seconds]
    assert len(told.stages) == 5
    done = [step[1] for step in told.steps]
    assert done == sorted(done)
    assert told.steps[-1][1] == told.steps[-1][2] == 3
    assert read_record(out / "plan.json", PlanRecord) == record.plan
    request = read_record(out / "request.json", Request)
    assert asdict(request) == record.settings
    assert [row.family for row in record.leaderboard if row.family != "stack"].count("tree") == 1
    assert record.data.n_train == 72


@pytest.mark.slow
def test_the_default_is_every_family_that_fits(tmp_path: Path) -> None:
    record = run_on(tmp_path, labeled(60), models=(), preset="standard", repeats=1, folds=2)
    names = {row.family for row in record.leaderboard}
    assert names == {
        "constant", "linear", "naive_bayes", "network", "svm", "neighbors", "tree", "forest",
        "extra_trees", "gradient_boosting", "boosting", "stack",
    }  # fmt: skip
    assert any(sentence.startswith("Gaussian classifier") for sentence in record.not_done)


def test_bundled_tables_know_their_target(tmp_path: Path) -> None:
    record = run(Request("iris", preset="quick", models=CHEAP), tmp_path / "out")
    assert (record.task.target, record.task.kind) == ("species", "multiclass")
    assert record.data.n_rows == 150
    assert "load('iris')" in (tmp_path / "out" / "model.py").read_text()


def test_metrics_by_name(tmp_path: Path) -> None:
    record = run_on(tmp_path, labeled(90), metric="brier_score")
    assert (record.task.metric, record.task.greater_is_better) == ("brier_score", False)
    board = record.leaderboard
    scores = [row.score.value for row in board]
    assert scores == sorted(scores)  # type: ignore[type-var]
    constant = next(row for row in board if row.family == "constant")
    # Two classes of equal share.
    assert constant.score.value == pytest.approx(0.25, abs=1e-3)
    with pytest.raises(InputError, match=r"acuracy is no measure.*accuracy"):
        run(quick(str(tmp_path / "t.csv"), metric="acuracy"), tmp_path / "other")


def test_the_metric_is_about_the_positive_class(tmp_path: Path) -> None:
    columns = labeled(90, spread=1.5)
    table = write_csv(tmp_path / "t.csv", columns)
    for positive in ("a", "b"):
        task, _ = task_and_parts(quick(table, metric="f1", positive=positive))
        model = DecisionTreeClassifier(max_depth=1).fit(task.X, task.y)
        expected = f1_score(task.y, model.predict(task.X), pos_label=positive)
        assert metric_of(task)(model, task.X, task.y) == pytest.approx(expected), positive


def test_chosen_families(tmp_path: Path) -> None:
    record = run_on(tmp_path, numbered(60), models=("linear",))
    assert [row.family for row in record.leaderboard] == ["linear", "constant"]
    with pytest.raises(InputError, match="no family 'lineal'"):
        run(quick(str(tmp_path / "t.csv"), models=("lineal",)), tmp_path / "other")


def test_sizes_for_prices(tmp_path: Path) -> None:
    columns = labeled(60, "abc")
    columns["y"] = ["a" if i < 40 else "b" if i < 55 else "c" for i in range(60)]
    columns["u"][3] = None
    request = quick(write_csv(tmp_path / "t.csv", columns), holdout=0.0)
    task, parts = task_and_parts(request)
    size = table_size(task, parts)
    assert (size.n_rows, size.n_columns, size.n_classes, size.smallest_class) == (60, 4, 3, 15)
    # Folds may lack a rare class where the measure is accuracy, and not elsewhere.
    assert table_size(replace(task, metric="log_loss"), parts).smallest_class == 5
    assert size.has_missing
    assert size.has_nominal
    assert size.n_coded >= 4


def test_versions_are_of_what_numbers_depend_on() -> None:
    assert versions()["numpy"] == np.__version__
    assert versions()["python"] == ".".join(map(str, sys.version_info[:3]))


# --- Nothing leaks --------------------------------------------------------------------------------


def test_rows_set_aside_reach_no_fit_but_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted_rows = spy_on_fits(monkeypatch)
    columns = labeled(90)
    record = run_on(tmp_path, columns, models=("tree",), preset="standard", repeats=1, folds=3)
    _, parts = task_and_parts(quick(str(tmp_path / "t.csv")))
    held = {columns["u"][row] for row in parts.holdout}
    assert record.data.n_holdout == len(held) == 18
    # Four candidates on three inner folds and once on all, in each of three folds, and more.
    assert len(fitted_rows) > 3 * (4 * 3 + 1)
    with_held = [number for number, values in enumerate(fitted_rows) if values & held]
    # Only the fit for use; what comes after it, such as the learning curve, does not see them.
    (last,) = with_held
    assert fitted_rows[last] == {columns["u"][row] for row in range(90)}
    others = fitted_rows[:last] + fitted_rows[last + 1 :]
    assert max(len(values) for values in others) == 72


def test_without_a_refit_no_row_set_aside_reaches_any_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted_rows = spy_on_fits(monkeypatch)
    columns = labeled(90)
    run_on(tmp_path, columns, models=("tree", "forest"), folds=3, refit=False)
    _, parts = task_and_parts(quick(str(tmp_path / "t.csv")))
    held = {columns["u"][row] for row in parts.holdout}
    assert fitted_rows
    assert not any(values & held for values in fitted_rows)


def poisoned(task: Any, parts: Parts) -> Any:
    """The task with the targets of the rows set aside turned round."""
    import copy

    other = copy.copy(task)
    coded = task.coded.copy()
    if task.classes is None:
        coded[parts.holdout] = 1000.0 - coded[parts.holdout]
    else:
        coded[parts.holdout] = coded[parts.holdout][::-1]
    assert not np.array_equal(coded, task.coded)
    object.__setattr__(other, "coded", coded)
    return other


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_targets_set_aside_change_neither_plan_nor_choice_nor_the_judged_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    columns = labeled(90) if kind == "classes" else numbered(90)
    models = CHEAP if kind == "classes" else ("tree", "linear")
    folders = [tmp_path / "clean", tmp_path / "poisoned"]
    records = []
    formalize, set_aside = job.formalize, job.set_aside
    for folder in folders:
        folder.mkdir()
        if folder.name == "poisoned":
            clean: dict[str, Any] = {}

            def turned(loaded: Any, request: Any, _clean: Any = clean) -> Any:
                task = formalize(loaded, request)
                _clean["parts"] = set_aside(task, request, loaded)
                return poisoned(task, _clean["parts"])

            monkeypatch.setattr(job, "formalize", turned)
            monkeypatch.setattr(job, "set_aside", lambda *_, _clean=clean: _clean["parts"])
        records.append(run_on(folder, columns, models=models, refit=False))
    first, second = records
    assert to_json(first.plan) == to_json(second.plan)
    assert [row.fold_scores for row in first.leaderboard] == [
        row.fold_scores for row in second.leaderboard
    ]
    assert first.chosen.family == second.chosen.family
    assert first.chosen.settings == second.chosen.settings
    assert first.learning_curve == second.learning_curve
    one, other = (timeless_model(folder / "out" / "model.novum") for folder in folders)
    assert one == other
    assert first.holdout != second.holdout


def test_a_learning_curve_that_begins_with_too_few_rows(tmp_path: Path) -> None:
    """Four rows may hold one class only; what cannot be known there is no number, and no fault."""
    record = run_on(tmp_path, labeled(90), metric="log_loss")
    assert record.learning_curve is not None
    assert len(record.learning_curve.x) >= 3


def test_late_targets_change_nothing_that_was_before_them(tmp_path: Path) -> None:
    found = []
    for name in ("clean", "poisoned"):
        columns: dict[str, Any] = {**labeled(90), "t": (np.arange(90) + 0.5).tolist()}
        if name == "poisoned":
            columns["y"] = columns["y"][:72] + columns["y"][72:][::-1]
        folder = tmp_path / name
        folder.mkdir()
        found.append(run_on(folder, columns, models=("tree",), time="t", refit=False))
    assert found[0].data.sha256 != found[1].data.sha256
    assert [row.fold_scores for row in found[0].leaderboard] == [
        row.fold_scores for row in found[1].leaderboard
    ]
    assert to_json(found[0].plan) == to_json(found[1].plan)
    models = [
        timeless_model(tmp_path / name / "out" / "model.novum") for name in ("clean", "poisoned")
    ]
    assert models[0] == models[1]


# --- The same bytes -------------------------------------------------------------------------------


def test_the_same_request_gives_the_same_bytes_whatever_the_number_of_jobs(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", labeled(90))
    request = quick(table, models=("tree", "naive_bayes", "forest"), folds=3)
    for name, n_jobs in (("one", 1), ("again", 1), ("three", 3)):
        run(replace(request, n_jobs=n_jobs), tmp_path / name)
    same_results(tmp_path / "one", tmp_path / "again")
    path = tmp_path / "three" / "run.json"
    path.write_text(path.read_text().replace('"n_jobs": 3', '"n_jobs": 1'))
    same_results(tmp_path / "one", tmp_path / "three")


@pytest.mark.parametrize("name", ["naive_bayes", "tree", "forest"])
def test_model_files_hold_nothing_that_the_clock_measured(tmp_path: Path, name: str) -> None:
    table = write_csv(tmp_path / "t.csv", labeled(60))
    for folder in ("one", "other"):
        run(quick(table, models=(name,), folds=2), tmp_path / folder)
    one, other = ((tmp_path / folder / "model.novum").read_bytes() for folder in ("one", "other"))
    assert one == other


def test_seeds_draw_other_rows(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", labeled(90))
    found = []
    for seed in (0, 1):
        run(quick(table, models=("tree",), seed=seed), tmp_path / str(seed))
        found.append([line["row"] for line in held_out(tmp_path / str(seed))])
    assert found[0] != found[1]


def test_a_slower_machine_with_the_same_plan_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_csv(tmp_path / "t.csv", labeled(90))
    request = quick(table, models=("tree",))
    run(request, tmp_path / "fast")
    slow = tmp_path / "slow"
    (slow / "trials").mkdir(parents=True)
    for name in ("plan.json", "request.json"):
        (slow / name).write_bytes((tmp_path / "fast" / name).read_bytes())
    for mark in (tmp_path / "fast").glob("*.table"):
        (slow / mark.name).touch()
    monkeypatch.setattr(job, "speed_probe", lambda: 30.0)
    resume(slow)
    same_results(tmp_path / "fast", slow)


# --- Tiny and odd tables --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("holdout", [0.0, 0.2])
def test_tables_of_a_few_rows_are_refused_in_one_sentence(
    n: int, holdout: float, tmp_path: Path
) -> None:
    columns = {name: values[-n:] for name, values in numbered(30).items()}
    if n == 1:
        # One number cannot be predicted at all, and that is said first.
        columns = {"u": [1.0, 2.0], "y": [0.5, None]}
    with pytest.raises(InputError, match=r"too few|nothing to predict") as said:
        run_on(tmp_path, columns, holdout=holdout)
    assert "\n" not in str(said.value)
    assert not (tmp_path / "out").exists()


def test_ten_rows_are_enough(tmp_path: Path) -> None:
    record = run_on(tmp_path, {name: values[:10] for name, values in numbered(30).items()})
    assert (record.data.n_train, record.data.n_holdout) == (8, 2)
    assert record.plan.folds == 5


def with_rare(n_rare: int, rest: str = "a") -> dict[str, Any]:
    """A hundred rows, so many of them of a class of their own."""
    rng = np.random.default_rng(0)
    labels = [rest[i % len(rest)] for i in range(100 - n_rare)] + ["rare"] * n_rare
    return {"x": rng.normal(size=100).round(6).tolist(), "y": labels}


def test_a_class_of_one_row_cannot_be_judged(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Only the class 'a' has two rows or more to learn from"):
        run_on(tmp_path, with_rare(1))
    # Among others it is kept, and does not cost them their folds.
    record = run_on(tmp_path, with_rare(1, "ab"))
    assert record.plan.folds == 5
    assert "small class" in [finding.kind for finding in record.findings]


def test_a_rare_class_of_many_does_not_cost_the_others_their_folds(tmp_path: Path) -> None:
    """Accuracy is defined on folds that lack a class, and a finding names the class."""
    record = run_on(tmp_path, with_rare(2, "ab"), models=("tree",))
    assert record.plan.folds == 5
    (finding,) = [finding for finding in record.findings if finding.kind == "small class"]
    assert "'rare' (2)" in finding.text


@pytest.mark.parametrize(("rest", "metric"), [("a", None), ("ab", "balanced_accuracy")])
def test_few_folds_are_said_with_their_reason(
    rest: str, metric: str | None, tmp_path: Path
) -> None:
    record = run_on(tmp_path, with_rare(2, rest), metric=metric, preset="standard")
    assert record.plan.folds == 2
    (finding,) = [finding for finding in record.findings if finding.kind == "few folds"]
    assert "2 folds in place of 5, because the class 'rare' has 2 rows" in finding.text
    # With one row of the class left in an outer fold, nothing can be chosen on inner ones.
    stack = next(trial for trial in record.plan.trials if trial.family == STACK)
    assert "too few rows" in stack.status
    assert {trial.n_candidates for trial in record.plan.trials} <= {0, 1}


def test_the_user_may_name_the_folds(tmp_path: Path) -> None:
    record = run_on(tmp_path, with_rare(3, "ab"), folds=4, models=("tree",))
    assert record.plan.folds == 4
    assert "few folds" not in [finding.kind for finding in record.findings]


def test_the_constant_answer_alone_says_nothing_about_the_columns(tmp_path: Path) -> None:
    record = run_on(tmp_path, labeled(60), models=("constant",))
    assert [row.family for row in record.leaderboard] == ["constant"]
    assert record.verdict[0].startswith("Of 1 model, the same answer for every row is chosen")
    assert "the only model that was tried" in record.verdict[2]
    assert not any("columns say" in sentence for sentence in record.verdict)


# --- Missing cells --------------------------------------------------------------------------------


def baskets(n: int = 120) -> dict[str, Any]:
    """Cells are `t` or missing, and which of it goes with the class."""
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 2
    cells = {
        f"item{j}": ["t" if rng.random() < 0.2 + 0.6 * code else None for code in codes]
        for j in range(4)
    }
    numbers = rng.normal(size=n).round(6).tolist()
    return {**cells, "x": numbers, "y": ["no" if code else "yes" for code in codes]}


def test_naive_bayes_is_tried_with_missing_as_a_level(tmp_path: Path) -> None:
    record = run_on(tmp_path, baskets(), models=("naive_bayes",), preset="standard", repeats=1)
    planned = {trial.family: trial for trial in record.plan.trials}
    assert planned["naive_bayes"].n_candidates == 2
    chosen = record.leaderboard[0]
    assert (chosen.family, chosen.settings) == ("naive_bayes", (("missing", "level"),))
    assert chosen.score.value is not None
    assert chosen.score.value > 0.8
    # The program makes the same model.
    assert "NaiveBayes(missing='level')" in (tmp_path / "out" / "model.py").read_text()


def test_without_missing_cells_there_is_nothing_more_to_try(tmp_path: Path) -> None:
    columns = labeled(60)
    record = run_on(tmp_path, columns, models=("naive_bayes",), preset="standard", repeats=1)
    assert [t.n_candidates for t in record.plan.trials if t.family == "naive_bayes"] == [1]
    assert "missing" not in dict(record.chosen.settings)
