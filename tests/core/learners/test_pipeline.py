"""Our pipeline: scikit-learn's answers, weights, files, decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Memory
from sklearn import pipeline as theirs
from sklearn.base import clone

from novum.core import WorkingPoint, load, save
from novum.core.errors import ModelFileError
from novum.core.files.state_coding import StateEncoder
from novum.core.files.state_decoding import StateDecoder
from novum.core.learners import Pipeline
from novum.data.scaling import StandardScaler
from novum.evaluation import GridSearchCV
from novum.linear import LogisticRegression, Ridge

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.1]
LABELS = np.where(X[:, 0] + X[:, 1] / 10 + rng.normal(size=60) > 0, "yes", "no")
WEIGHT = rng.integers(0, 4, 60)


def steps() -> list[tuple[str, object]]:
    return [("scale", StandardScaler()), ("learner", LogisticRegression())]


def test_answers_are_scikit_learns() -> None:
    ours, other = Pipeline(steps()).fit(X, LABELS), theirs.Pipeline(steps()).fit(X, LABELS)
    np.testing.assert_array_equal(ours.predict_proba(X), other.predict_proba(X))
    assert clone(ours).get_params(deep=False).keys() == {
        "steps",
        "transform_input",
        "memory",
        "verbose",
    }
    assert ours.set_params(learner__C=0.5)["learner"].C == 0.5


def test_a_weight_counts_rows_in_every_step() -> None:
    rows = np.repeat(np.arange(60), WEIGHT)
    weighted = Pipeline(steps()).fit(X, LABELS, WEIGHT)
    repeated = Pipeline(steps()).fit(X[rows], LABELS[rows])
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-7, atol=1e-9
    )


def test_decisions_and_certificates() -> None:
    model = Pipeline(steps()).fit(X, LABELS)
    assert model.certificate_.converged
    point = WorkingPoint.binary(prior=0.9, cost_fn=9, cost_fp=1, classes=("no", "yes"))
    assert (model.at(point).predict(X) == "yes").sum() > (model.predict(X) == "yes").sum()
    assert not hasattr(Pipeline([("learner", Ridge())]), "at")


def test_files_hold_pipelines(tmp_path: Path) -> None:
    path = tmp_path / "model.novum"
    model = Pipeline(steps()).fit(X, LABELS)
    point = WorkingPoint.binary(prior=0.9, cost_fn=9, cost_fp=1, classes=("no", "yes"))
    for saved in (model, model.at(point)):
        save(saved, path)
        np.testing.assert_array_equal(load(path).predict_proba(X), saved.predict_proba(X))


def test_a_memory_keeps_fitted_transformers(tmp_path: Path) -> None:
    plain = Pipeline(steps()).fit(X, LABELS)
    given = steps()
    for memory in (str(tmp_path / "a"), Memory(tmp_path / "b", verbose=0)):
        first = Pipeline(given, memory=memory).fit(X, LABELS)
        again = Pipeline(given, memory=memory).set_params(learner__C=0.5).fit(X, LABELS)
        assert not hasattr(given[0][1], "mean_")
        np.testing.assert_array_equal(first[0].transform(X), plain[0].transform(X))
        assert again[0].certificate_.seconds == first[0].certificate_.seconds
    assert (tmp_path / "a" / "joblib").is_dir()
    searched = GridSearchCV(Pipeline(given, memory=str(tmp_path)), {"learner__C": [0.1, 1.0]}, cv=3)
    other = GridSearchCV(Pipeline(steps()), {"learner__C": [0.1, 1.0]}, cv=3)
    np.testing.assert_array_equal(
        searched.fit(X, LABELS).cv_results_["mean_test_score"],
        other.fit(X, LABELS).cv_results_["mean_test_score"],
    )


def test_a_memory_is_neither_saved_nor_set_by_a_file(tmp_path: Path) -> None:
    model = Pipeline(steps(), memory=str(tmp_path)).fit(X, LABELS)
    save(model, tmp_path / "model.novum")
    loaded = load(tmp_path / "model.novum")
    assert loaded.memory is None
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    node = StateEncoder().encode(model, "model", 0)
    node["params"]["memory"] = str(tmp_path)
    with pytest.raises(ModelFileError, match="sets 'memory'"):
        StateDecoder(lambda _: np.empty(0), 0, 0).decode(node, "model", 0)


@pytest.mark.parametrize("wrong", [[], None, "text", [3]])
def test_pipelines_without_steps_can_be_looked_at(wrong: Any) -> None:
    model = Pipeline(wrong)
    assert not hasattr(model, "at")
    with pytest.raises((ValueError, TypeError)):
        model.fit(X, LABELS)
    if isinstance(wrong, list) and not wrong:
        assert "fit" in dir(model)
        assert not hasattr(model, "certificate_")
