"""Our pipeline: scikit-learn's answers, weights, files, decisions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import pipeline as theirs
from sklearn.base import clone

from novum.core import WorkingPoint, load, save
from novum.core.errors import ModelFileError
from novum.core.pipeline import Pipeline
from novum.data.scaling import StandardScaler
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
    assert clone(ours).get_params(deep=False).keys() == {"steps", "transform_input", "verbose"}
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


def test_a_memory_is_neither_taken_nor_loaded(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="memory"):
        Pipeline(steps(), memory=str(tmp_path))  # type: ignore[call-arg]
    model = Pipeline(steps()).fit(X, LABELS)
    model.memory = str(tmp_path)
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="no memory"):
        load(tmp_path / "model.novum")
