"""The end of a run against the same steps by hand: judged on rows unseen, fitted again for use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, root_mean_squared_error
from sklearn.model_selection import RepeatedStratifiedKFold

from novum.apps.job.ending import MODEL, PREDICTIONS, SCRIPT
from novum.apps.job.job import run
from novum.apps.job.record import RunRecord
from novum.core import load
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from tests.apps.job.runs import (
    Columns,
    labeled,
    numbered,
    quick,
    read_csv,
    run_on,
    task_and_parts,
    write_csv,
)

TREE = ("tree",)


def features(folder: Path, columns: Columns, rows: Sequence[int], **more: Any) -> pa.Table:
    """Rows of the table as the job reads them."""
    task, _ = task_and_parts(quick(write_csv(folder / "again.csv", columns), **more))
    return task.X.take(pa.array(rows))


def lines(folder: Path, answered: str) -> list[dict[str, str]]:
    found = read_csv(folder / "out" / PREDICTIONS)
    return [line for line in found if line["answered"] == answered]


# --- Judged and used ------------------------------------------------------------------------------


def test_judged_on_the_training_rows_and_refitted_on_all(tmp_path: Path) -> None:
    columns = labeled(90, seed=3)
    record = run_on(tmp_path, columns, models=TREE)
    task, parts = task_and_parts(quick(str(tmp_path / "t.csv")))
    assert record.chosen.family == "tree"
    by_hand = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    by_hand.fit(task.rows(parts.train).X, task.rows(parts.train).y)
    held = task.rows(parts.holdout)
    answer = by_hand.predict(held.X)
    written = lines(tmp_path, "hold-out")
    assert [int(line["row"]) - 1 for line in written] == parts.holdout.tolist()
    assert [line["target"] for line in written] == held.y.tolist()
    assert [line["prediction"] for line in written] == answer.tolist()
    for line, p in zip(written, by_hand.predict_proba(held.X), strict=True):
        assert line["probability a"] == format(p[0], ".6g")
        assert line["probability b"] == format(p[1], ".6g")
    assert record.holdout is not None
    found = dict(record.holdout.measures)["accuracy"].value
    assert found == pytest.approx(accuracy_score(held.y, answer), rel=1e-12)
    assert record.chosen.refitted_on_all
    for_use = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(task.X, task.y)
    loaded = load(tmp_path / "out" / MODEL)
    np.testing.assert_array_equal(loaded.predict_proba(task.X), for_use.predict_proba(task.X))
    assert not np.array_equal(loaded.predict_proba(task.X), by_hand.predict_proba(task.X))


def test_without_a_refit_the_judged_model_is_kept(tmp_path: Path) -> None:
    record = run_on(tmp_path, labeled(90, seed=3), models=TREE, refit=False)
    task, parts = task_and_parts(quick(str(tmp_path / "t.csv")))
    assert not record.chosen.refitted_on_all
    model = load(tmp_path / "out" / MODEL)
    held = task.rows(parts.holdout)
    written = lines(tmp_path, "hold-out")
    assert [line["prediction"] for line in written] == model.predict(held.X).tolist()
    for line, p in zip(written, model.predict_proba(held.X), strict=True):
        assert line["probability a"] == format(p[0], ".6g")


def test_numbers(tmp_path: Path) -> None:
    record = run_on(tmp_path, numbered(90, seed=3), models=TREE)
    task, parts = task_and_parts(quick(str(tmp_path / "t.csv")))
    train, held = task.rows(parts.train), task.rows(parts.holdout)
    by_hand = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(train.X, train.y)
    answer = by_hand.predict(held.X)
    written = lines(tmp_path, "hold-out")
    assert [float(line["prediction"]) for line in written] == answer.tolist()
    assert record.holdout is not None
    found = dict(record.holdout.measures)["root mean squared error"].value
    assert found == pytest.approx(root_mean_squared_error(held.y, answer), rel=1e-12)
    assert [float(line["target"]) for line in written] == held.y.tolist()


def test_rows_without_a_target_get_predictions_of_the_model_for_use(tmp_path: Path) -> None:
    columns = labeled(90, seed=4)
    columns["y"] = [None if i in (0, 7, 50) else label for i, label in enumerate(columns["y"])]
    record = run_on(tmp_path, columns, models=TREE)
    assert record.data.n_without_target == 3
    assert record.data.n_train + record.data.n_holdout == 87
    written = lines(tmp_path, "no target")
    assert [int(line["row"]) for line in written] == [1, 8, 51]
    assert {line["target"] for line in written} == {""}
    model = load(tmp_path / "out" / MODEL)
    X = features(tmp_path, columns, [0, 7, 50])
    assert [line["prediction"] for line in written] == model.predict(X).tolist()
    for line, p in zip(written, model.predict_proba(X), strict=True):
        assert line["probability b"] == format(p[1], ".6g")
    assert any("3 rows without a target" in sentence for sentence in record.not_done)


@pytest.mark.parametrize("where", ["hold-out", "no target"])
def test_cells_missing_only_where_nothing_was_learned(tmp_path: Path, where: str) -> None:
    """Learners that need every cell are filled for, even if no training row lacks one."""
    columns = numbered(90, seed=5)
    _, parts = task_and_parts(quick(write_csv(tmp_path / "t.csv", columns)))
    row = int(parts.holdout[0])
    columns["u"][row] = None
    if where == "no target":
        columns["y"][row] = None
    record = run_on(tmp_path, columns, models=("linear",))
    assert record.chosen.family == "linear"
    written = lines(tmp_path, where)
    assert str(row + 1) in [line["row"] for line in written]


# --- Weights, points, files to judge on -----------------------------------------------------------


def test_weights_count_in_the_last_fits_and_in_the_judgment(tmp_path: Path) -> None:
    columns = labeled(90, seed=6)
    columns["w"] = [3.0 if i % 3 else 0.5 for i in range(90)]
    record = run_on(tmp_path, columns, models=TREE, weight="w")
    task, parts = task_and_parts(quick(str(tmp_path / "t.csv"), weight="w"))
    assert "w" not in record.data.features
    train, held = task.rows(parts.train), task.rows(parts.holdout)
    by_hand = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    by_hand.fit(train.X, train.y, sample_weight=train.weight)
    answer = by_hand.predict(held.X)
    assert [line["prediction"] for line in lines(tmp_path, "hold-out")] == answer.tolist()
    assert record.holdout is not None
    expected = accuracy_score(held.y, answer, sample_weight=held.weight)
    assert dict(record.holdout.measures)["accuracy"].value == pytest.approx(expected, rel=1e-12)
    matrix = confusion_matrix(held.y, answer, sample_weight=held.weight)
    np.testing.assert_allclose(record.holdout.confusion, matrix, rtol=1e-12)


def test_costs_change_decisions(tmp_path: Path) -> None:
    columns = labeled(150, seed=7, spread=0.6)
    plain = tmp_path / "plain"
    plain.mkdir()
    run_on(plain, columns, models=TREE)
    dear = tmp_path / "dear"
    dear.mkdir()
    record = run_on(dear, columns, models=TREE, cost_fn=3.0, cost_fp=1.0)
    assert record.task.metric == "bayes_risk"
    before = [line["prediction"] for line in read_csv(plain / "out" / PREDICTIONS)]
    after = read_csv(dear / "out" / PREDICTIONS)
    for line in after:
        p = np.array([float(line["probability a"]), float(line["probability b"])])
        # Under the point's priors, as written: miss b and it costs 3, else 1.
        assert line["decision"] == ("b" if 3 * p[1] > p[0] else "a")
        assert line["decision"] == line["prediction"]
    assert [line["decision"] for line in after].count("b") > before.count("b")
    assert record.chosen.family == "tree"
    model = load(dear / "out" / MODEL)
    X = features(tmp_path, columns, [int(line["row"]) - 1 for line in after])
    assert set(model.predict(X).tolist()) <= {"a", "b"}


def test_a_cost_table_with_actions_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "cost.csv").write_text("true,leave,treat,test\na,0,5,1\nb,9,0,1\n")
    columns = labeled(150, seed=7, spread=0.6)
    record = run_on(tmp_path, columns, models=TREE, cost=str(tmp_path / "cost.csv"))
    assert record.task.actions == ("leave", "treat", "test")
    cost = np.array([[0, 5, 1], [9, 0, 1]])
    for line in lines(tmp_path, "hold-out"):
        p = np.array([float(line["probability a"]), float(line["probability b"])])
        assert line["decision"] == ("leave", "treat", "test")[int((p @ cost).argmin())]
        assert line["prediction"] in ("a", "b")


def test_a_test_file_takes_the_place_of_the_hold_out(tmp_path: Path) -> None:
    columns = labeled(120, seed=9)
    first = {name: values[:90] for name, values in columns.items()}
    rest = {name: values[90:] for name, values in columns.items()}
    record = run_on(tmp_path, first, models=TREE, test=write_csv(tmp_path / "test.csv", rest))
    task, _ = task_and_parts(quick(str(tmp_path / "t.csv")))
    assert (record.data.n_train, record.data.n_holdout) == (90, 30)
    by_hand = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(task.X, task.y)
    model = load(tmp_path / "out" / MODEL)
    np.testing.assert_array_equal(model.predict_proba(task.X), by_hand.predict_proba(task.X))
    tested, _ = task_and_parts(quick(str(tmp_path / "test.csv")))
    assert record.holdout is not None
    expected = accuracy_score(tested.y, by_hand.predict(tested.X))
    assert dict(record.holdout.measures)["accuracy"].value == pytest.approx(expected)


def test_without_a_hold_out_there_is_no_judgment(tmp_path: Path) -> None:
    record = run_on(tmp_path, labeled(60), models=TREE, holdout=0.0)
    assert record.holdout is None
    assert record.chosen.importances == ()
    assert record.data.n_train == 60
    assert any("No rows were set aside" in sentence for sentence in record.not_done)
    assert load(tmp_path / "out" / MODEL).tree_.n_leaves > 1


# --- Out of fold ----------------------------------------------------------------------------------


def test_every_training_row_has_an_answer_of_a_model_that_had_not_seen_it(tmp_path: Path) -> None:
    run_on(tmp_path, labeled(90, seed=3), models=TREE, repeats=2, folds=3)
    task, parts = task_and_parts(quick(str(tmp_path / "t.csv")))
    train = task.rows(parts.train)
    written = {int(line["row"]) - 1: line for line in lines(tmp_path, "out of fold")}
    assert len(lines(tmp_path, "out of fold")) == len(written)
    assert set(written) == set(parts.train.tolist())
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    for fit, judge in list(folds.split(np.zeros(72), train.y))[:3]:
        model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
        model.fit(train.X.take(pa.array(fit)), train.y[fit])
        X = train.X.take(pa.array(judge))
        for row, label, p in zip(judge, model.predict(X), model.predict_proba(X), strict=True):
            line = written[int(parts.train[row])]
            assert line["target"] == train.y[row]
            assert line["prediction"] == label
            assert line["probability a"] == format(p[0], ".6g")


@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_out_of_fold_are_those_of_the_model_at_the_point(
    tmp_path: Path, weighted: bool
) -> None:
    columns = labeled(150, seed=7, spread=0.6)
    columns["w"] = [2.0 if label == "a" and weighted else 1.0 for label in columns["y"]]
    roles: dict[str, Any] = {"weight": "w", "cost_fn": 3.0, "prior": 0.3}
    run_on(tmp_path, columns, models=TREE, folds=3, **roles)
    task, parts = task_and_parts(quick(str(tmp_path / "t.csv"), **roles))
    train = task.rows(parts.train)
    assert task.point is not None
    assert train.weight is not None
    written = {int(line["row"]) - 1: line for line in lines(tmp_path, "out of fold")}
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    for fit, judge in folds.split(np.zeros(len(train.y)), train.y):
        model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
        model.fit(train.X.take(pa.array(fit)), train.y[fit], sample_weight=train.weight[fit])
        there = model.at(task.point)
        X = train.X.take(pa.array(judge))
        for row, action, p in zip(judge, there.decide(X), there.predict_proba(X), strict=True):
            line = written[int(parts.train[row])]
            assert line["decision"] == action
            # Six digits are written.
            assert float(line["probability b"]) == pytest.approx(p[1], rel=1e-5)


# --- What is shown --------------------------------------------------------------------------------


def test_the_certificate_has_no_clock(tmp_path: Path) -> None:
    record = run_on(tmp_path, numbered(60), models=("linear",))
    assert record.chosen.certificate
    assert not any(line.strip().startswith("seconds") for line in record.chosen.certificate)


def test_settings_are_all_those_of_the_model(tmp_path: Path) -> None:
    """Where the last search takes other settings than most folds did, all of them are shown."""
    columns = labeled(150, seed=1, spread=2.0)
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        record = run_on(
            folder,
            columns,
            preset="standard",
            models=("forest",),
            repeats=1,
            folds=2,
            seed=seed,
        )
        if record.chosen.family != "forest":
            continue
        model = load(folder / "out" / MODEL)
        shown = dict(record.chosen.settings)
        assert shown["max_features"] == str(model.max_features)
        default = type(model)().min_samples_leaf
        assert ("min_samples_leaf" in shown) or model.min_samples_leaf == default, seed


def test_a_learning_curve_rises_to_the_training_rows(tmp_path: Path) -> None:
    record = run_on(tmp_path, labeled(90), models=TREE)
    curve = record.learning_curve
    assert curve is not None
    assert list(curve.x) == sorted(curve.x)
    # The folds leave some of the 72 training rows to judge on.
    assert 0.6 * 72 < curve.x[-1] < 72
    assert curve.label == "accuracy"
    for low, y, high in zip(curve.low, curve.y, curve.high, strict=True):
        assert 0 <= low <= y <= high <= 1


def test_the_program_lies_beside_the_model(tmp_path: Path) -> None:
    run_on(tmp_path, labeled(60), models=TREE)
    script = (tmp_path / "out" / SCRIPT).read_text()
    compile(script, SCRIPT, "exec")
    assert "DecisionTreeClassifier(min_samples_leaf=5" in script


# --- Classes that are not everywhere --------------------------------------------------------------


def test_a_class_that_only_comes_late(tmp_path: Path) -> None:
    """In time order the newest class may be in no training row; the run says so and ends."""
    columns: dict[str, Any] = {**labeled(90), "t": (np.arange(90) + 0.5).tolist()}
    columns["y"] = [("c" if i >= 84 else label) for i, label in enumerate(columns["y"])]
    record: RunRecord = run_on(tmp_path, columns, models=TREE, time="t")
    assert record.task.classes == ("a", "b", "c")
    written = lines(tmp_path, "hold-out")
    assert {line["target"] for line in written} >= {"c"}
    # Columns stand under their own classes, and none is left empty.
    assert {line["probability c"] for line in written} == {"0"}
    assert record.holdout is not None
    assert record.holdout.n_rows == 18


def test_a_hold_out_of_one_class(tmp_path: Path) -> None:
    columns: dict[str, Any] = {**labeled(60), "t": (np.arange(60) + 0.5).tolist()}
    columns["y"] = [("a" if i >= 48 else label) for i, label in enumerate(columns["y"])]
    record = run_on(tmp_path, columns, models=TREE, time="t")
    assert record.holdout is not None
    assert "accuracy" in dict(record.holdout.measures)


def test_a_hold_out_of_one_number(tmp_path: Path) -> None:
    record = run_on(tmp_path, {k: v[:10] for k, v in numbered().items()}, models=TREE, holdout=0.1)
    assert record.data.n_holdout == 1
    assert len(lines(tmp_path, "hold-out")) == 1


def test_no_model_is_fitted_before_the_folder_can_be_written(tmp_path: Path) -> None:
    from novum.core.errors import InputError

    (tmp_path / "file").write_text("")
    table = write_csv(tmp_path / "t.csv", labeled(60))
    with pytest.raises(InputError, match=r"cannot be written to .*file.*--output"):
        run(quick(table), tmp_path / "file" / "out")
