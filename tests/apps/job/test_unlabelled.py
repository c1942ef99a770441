"""Rows without a target in a run: learned from where that helps, and told either way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from novum.apps.job.ending import MODEL, SCRIPT
from novum.apps.job.trials import LearningRows
from novum.apps.job.unlabelled import is_worth_asking, learner_of_both, with_unlabelled
from novum.bayes import GaussianClassifier
from novum.core import load
from novum.core.learners import Pipeline
from novum.data.scaling import StandardScaler
from novum.ensemble import SelfTraining
from novum.trees import DecisionTreeClassifier
from tests.apps.job.runs import Columns, run_on

pytestmark = pytest.mark.filterwarnings("ignore::novum.core.sums.unlabelled.UnlabelledWarning")


def few_labels(n: int = 900, labelled: int = 60, apart: float = 4.0, d: int = 16) -> Columns:
    """Two normal classes in correlated columns; most rows have no target."""
    rng = np.random.default_rng(2)
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, d)) + apart * truth[:, None] * (np.arange(d) < 1)
    X = X @ rng.normal(size=(d, d))
    y = [("yes" if t else "no") if i < labelled else None for i, t in enumerate(truth)]
    return {**{f"x{j}": X[:, j].round(4).tolist() for j in range(d)}, "y": y}


def test_a_run_learns_from_rows_without_a_target_where_that_helps(tmp_path: Path) -> None:
    record = run_on(tmp_path, few_labels(), models=("gaussian",))
    said = [one for one in record.verdict if "without a target" in one]
    assert len(said) == 1
    assert said[0].startswith("It has also learned from 840 rows without a target")
    assert any(
        "could not be judged on; 840 of them were learned from" in s for s in record.not_done
    )
    assert record.data.n_without_target == 840
    model = load(tmp_path / "out" / MODEL)
    assert model.certificate_.details["unlabelled_rows"] == 840
    assert model.certificate_.details["labelled_rows"] == 60
    # The program makes the same model again.
    made = subprocess.run(
        [sys.executable, str(tmp_path / "out" / SCRIPT)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    again = load(tmp_path / "model_again.novum")
    table = pa.table({name: few_labels()[name] for name in [f"x{j}" for j in range(16)]})
    np.testing.assert_allclose(again.predict_proba(table), model.predict_proba(table), rtol=1e-9)


def test_where_they_do_not_help_it_says_so(tmp_path: Path) -> None:
    record = run_on(tmp_path, few_labels(120, 80, 6.0, 4), models=("tree",))
    assert not [one for one in record.verdict if "without a target" in one]
    (said,) = (one for one in record.not_done if "without a target" in one)
    assert said.startswith("40 rows without a target took no part in learning: with 40 of them")
    assert "no clear gain" in said


def rows(n: int = 40, **more: object) -> LearningRows:
    table = pa.table({"a": np.arange(n, dtype=float)})
    y = np.array(["p", "q"] * (n // 2))
    return LearningRows("binary", table, y, positions=np.arange(n), **more)  # type: ignore[arg-type]


def test_what_is_not_asked() -> None:
    assert is_worth_asking(rows(), 20)
    assert not is_worth_asking(rows(), 19)
    assert not is_worth_asking(rows(8), 50)
    assert not is_worth_asking(rows(weight=np.ones(40)), 50)
    assert not is_worth_asking(rows(in_time=True), 50)
    assert not is_worth_asking(rows(levels=("p", "q")), 50)
    numbers = LearningRows("regression", rows().X, np.arange(40.0), positions=np.arange(40))
    assert not is_worth_asking(numbers, 50)


def test_likelihoods_take_them_by_em_and_others_label_them() -> None:
    inside = Pipeline([("scale", StandardScaler()), ("learner", GaussianClassifier("tied"))])
    both = learner_of_both(inside)
    assert both.steps[-1][1].unlabelled.weight == "cv"
    assert inside.steps[-1][1].unlabelled is None
    assert isinstance(learner_of_both(DecisionTreeClassifier()), SelfTraining)


def test_labels_of_any_type_are_followed_by_gaps() -> None:
    found = with_unlabelled(rows(4), pa.table({"a": [7.0]}), np.array([9]))
    assert found.y.tolist() == ["p", "q", "p", "q", None]
    assert found.positions.tolist() == [0, 1, 2, 3, 9]
    assert found.X.num_rows == 5
    numbered = LearningRows("binary", rows(4).X, np.array([0, 1, 0, 1]), positions=np.arange(4))
    assert np.isnan(with_unlabelled(numbered, pa.table({"a": [7.0]}), np.array([9])).y[-1])
