"""Runs on tables of all sorts: tiny, wide, long, with holes, groups, times and rare classes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job import planning
from novum.apps.job.job import trial_rows
from novum.core import load
from novum.core.errors import InputError
from tests.apps.job.runs import (
    held_out,
    labeled,
    numbered,
    plan_of,
    quick,
    read_csv,
    run_on,
    spy_on_fits,
    task_and_parts,
    write_csv,
)
from tests.apps.small_runs import small_runs


@pytest.fixture(scope="module", autouse=True)
def _small_runs() -> Iterator[None]:
    with small_runs():
        yield


def test_twenty_rows(tmp_path: Path) -> None:
    for name, columns in (("classes", labeled(20)), ("numbers", numbered(20))):
        folder = tmp_path / name
        folder.mkdir()
        record = run_on(folder, columns, models=())
        assert (record.data.n_train, record.data.n_holdout) == (16, 4)
        assert record.learning_curve is None
        assert len(held_out(folder / "out")) == 4


def test_a_class_of_two_rows(tmp_path: Path) -> None:
    columns = labeled(90)
    columns["y"] = ["rare" if i in (5, 50) else label for i, label in enumerate(columns["y"])]
    record = run_on(tmp_path, columns, models=("tree", "naive_bayes", "linear", "forest"))
    assert record.task.classes == ("a", "b", "rare")
    assert load(tmp_path / "out" / "model.novum").classes_.tolist() == ["a", "b", "rare"]
    head = list(read_csv(tmp_path / "out" / "predictions.csv")[0])
    assert head[-3:] == ["probability a", "probability b", "probability rare"]


def test_a_class_of_two_rows_with_costs(tmp_path: Path) -> None:
    columns = labeled(90)
    columns["y"] = ["rare" if i in (5, 50) else label for i, label in enumerate(columns["y"])]
    (tmp_path / "cost.csv").write_text("true,a,b,rare\na,0,1,1\nb,2,0,1\nrare,5,5,0\n")
    record = run_on(tmp_path, columns, cost=str(tmp_path / "cost.csv"))
    assert record.task.metric == "bayes_risk"
    assert all(row.score.value is not None for row in record.leaderboard)


def test_a_constant_target_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'y' has one class only, 'a'"):
        run_on(tmp_path, {**labeled(60), "y": ["a"] * 60})
    (tmp_path / "numbers").mkdir()
    with pytest.raises(InputError, match="'y'"):
        run_on(tmp_path / "numbers", {**labeled(60), "y": [2.5] * 60}, task="regression")


def test_the_alphabet(tmp_path: Path) -> None:
    record = run_on(tmp_path, labeled(260, "abcdefghijklmnopqrstuvwxyz", spread=0.3))
    assert len(record.task.classes) == 26
    assert record.chosen.family != "constant"
    assert record.holdout is not None
    assert len(record.holdout.confusion) == 26


def test_columns_without_values_are_left_out_and_holes_are_taken(tmp_path: Path) -> None:
    columns: dict[str, Any] = {**labeled(90), "empty": [None] * 90}
    columns["half"] = [None if i % 2 else (i * 7) % 11 + 0.5 for i in range(90)]
    record = run_on(tmp_path, columns, models=("tree", "naive_bayes", "forest"))
    assert "empty" in [name for name, _ in record.data.left_out]
    assert "half" in record.data.features


def test_numbers_as_classes_and_truth_values(tmp_path: Path) -> None:
    for name, labels in (("whole", (0, 1)), ("truth", ("false", "true"))):
        folder = tmp_path / name
        folder.mkdir()
        columns = labeled(90)
        columns["y"] = [labels[label == "b"] for label in columns["y"]]
        record = run_on(folder, columns, models=("tree",))
        assert record.task.kind == "binary"
        found = {line["prediction"] for line in read_csv(folder / "out" / "predictions.csv")}
        assert found <= set(record.task.classes)


def test_few_groups_have_few_folds(tmp_path: Path) -> None:
    columns = {**labeled(90), "g": ["wxyz"[i % 4] for i in range(90)]}
    record = run_on(tmp_path, columns, models=("tree",), group="g")
    assert record.plan.folds <= 3
    assert len(record.leaderboard[0].fold_scores) == record.plan.folds


@pytest.mark.parametrize("role", ["group", "time"])
def test_the_plan_counts_the_folds_that_are_run(tmp_path: Path, role: str) -> None:
    cells = {"group": [f"g{i % 15}" for i in range(90)], "time": (np.arange(90) + 0.5).tolist()}
    columns = {**labeled(90), "r": cells[role]}
    named: dict[str, Any] = {role: "r"}
    record = run_on(tmp_path, columns, models=("tree",), preset="standard", **named)
    for row in record.leaderboard:
        assert len(row.fold_scores) == record.plan.repeats * record.plan.folds


def test_no_group_is_learned_from_and_judged_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted_rows = spy_on_fits(monkeypatch)
    columns = {**labeled(90), "g": [f"g{i % 15}" for i in range(90)]}
    run_on(tmp_path, columns, models=("tree",), group="g", refit=False)
    _, parts = task_and_parts(quick(str(tmp_path / "t.csv"), group="g"))
    groups = np.array(columns["g"])
    assert not set(groups[parts.train]) & set(groups[parts.holdout])
    by_value = dict(zip(columns["u"], columns["g"], strict=True))
    sizes = {name: columns["g"].count(name) for name in set(columns["g"])}
    assert fitted_rows
    for values in fitted_rows:
        met = [by_value[value] for value in values]
        assert all(met.count(name) == sizes[name] for name in set(met))


def test_the_latest_rows_are_set_aside(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    times = rng.permutation(90) + 0.5
    run_on(tmp_path, {**labeled(90), "t": times.tolist()}, models=("tree",), time="t")
    rows = [int(line["row"]) - 1 for line in held_out(tmp_path / "out")]
    assert set(rows) == set(np.flatnonzero(times > 72))


def test_one_model_alone_is_compared_with_none(tmp_path: Path) -> None:
    record = run_on(tmp_path, numbered(60), models=("constant",))
    assert [row.family for row in record.leaderboard] == ["constant"]
    assert record.comparison is None or record.comparison.pairs == ()
    assert record.chosen.family == "constant"


def wide(columns: dict[str, Any]) -> dict[str, Any]:
    """The table with columns of noise, 5,000 in all."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(5000 - len(columns), len(columns["y"]))).round(3)
    return {**{f"n{i}": cells.tolist() for i, cells in enumerate(noise)}, **columns}


@pytest.mark.slow
def test_five_thousand_columns(tmp_path: Path) -> None:
    record = run_on(tmp_path, wide(numbered(40)), models=("linear",), folds=2)
    assert len(record.data.features) == 4999
    # Nothing hangs on any column where the same answer is given for every row.
    assert not record.chosen.importances
    assert [row.family for row in record.leaderboard] == ["constant"]
    (found,) = [text for text in record.not_done if text.startswith("Ridge regression")]
    assert "columns, more than its 3000" in found


@pytest.mark.slow
def test_every_family_on_five_thousand_columns(tmp_path: Path) -> None:
    record = run_on(tmp_path, wide(labeled(60, spread=0.2)), models=())
    assert len(record.data.features) == 4999
    assert record.chosen.family != "constant"
    assert {"tree", "forest", "naive_bayes"} <= {row.family for row in record.leaderboard}


def test_a_budget_too_small_for_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "ENOUGH_ROWS", 200)
    monkeypatch.setattr(planning, "FEWEST_ROWS", 100)
    record = run_on(tmp_path, labeled(600), models=("tree",), budget_seconds=0.01)
    planned = [trial for trial in record.plan.trials if trial.status == "planned"]
    assert {trial.n_rows for trial in planned} == {100}
    assert any("100 of the 480 training rows" in sentence for sentence in record.not_done)


@pytest.mark.slow
def test_a_hundred_thousand_rows_in_a_small_budget(tmp_path: Path) -> None:
    columns = labeled(100_000, spread=1.5)
    record = run_on(tmp_path, columns, models=("tree", "naive_bayes"), budget_seconds=0.5)
    planned = [trial for trial in record.plan.trials if trial.status == "planned"]
    (n_rows,) = {trial.n_rows for trial in planned}
    assert n_rows < record.data.n_train == 80_000
    found = [s for s in record.not_done if f"{n_rows:,} of the 80,000 training rows" in s]
    assert len(found) == 1
    assert sum(trial.forecast_seconds for trial in planned) <= 0.6 * 0.5
    assert len(held_out(tmp_path / "out")) == 20_000


def test_a_sample_of_rows_keeps_rare_classes(tmp_path: Path) -> None:
    """A class of four rows in six hundred is still learned where a hundred rows are tried."""
    columns = labeled(600)
    columns["y"] = ["rare" if i % 150 == 7 else label for i, label in enumerate(columns["y"])]
    request = quick(write_csv(tmp_path / "t.csv", columns))
    task, parts = task_and_parts(request)
    for seed in range(8):
        rows = trial_rows(task, parts, plan_of("tree", n_rows=100, seed=seed))
        assert rows.X.num_rows == 100
        assert set(rows.y) == {"a", "b", "rare"}
