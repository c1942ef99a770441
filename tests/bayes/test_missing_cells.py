"""Missing cells as an outcome of their own: by hand, by definition, added, removed and stored."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import LeaveOneOut

from novum.bayes import BernoulliColumn, NaiveBayes
from novum.bayes.missing_cells import MissingBlock
from novum.core import load, save
from novum.core.errors import ModelFileError
from novum.core.tables import Schema
from novum.evaluation import cross_val_predict


def informative(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Cells that say nothing, and gaps that say nearly all."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    gap = rng.random(n) < np.where(y == 1, 0.9, 0.05)
    frame = pd.DataFrame(
        {
            "number": np.where(gap, np.nan, rng.normal(size=n)),
            "level": np.where(rng.random(n) < 0.2 + 0.4 * y, None, rng.choice(["a", "b"], n)),
            "whole": rng.normal(size=n),
            "flag": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 2, n)),
        }
    )
    return frame, y


def model(**more: object) -> NaiveBayes:
    return NaiveBayes(columns={"flag": BernoulliColumn()}, missing="level", **more)


def test_by_hand() -> None:
    X = [[1.0, "a"], [None, "b"], [None, None], [3.0, "a"], [2.0, "b"]]
    y = [0, 0, 0, 1, 1]
    told = NaiveBayes(missing="level").fit(X, y).predict_proba([[None, "a"], [None, None]])
    plain = NaiveBayes().fit(X, y).predict_proba([[None, "a"], [None, None]])
    # Missing numbers: 2 of 3 and 0 of 2; missing levels: 1 of 3 and 0 of 2.
    number = np.array([3 / 5, 1 / 4])
    for found, before, level in zip(
        told, plain, (np.array([3 / 5, 3 / 4]), np.array([2 / 5, 1 / 4])), strict=True
    ):
        joint = before * number * level
        np.testing.assert_allclose(found, joint / joint.sum(), rtol=1e-12)


def test_a_column_that_was_always_there_has_no_factor() -> None:
    X, y = informative()
    fitted, plain = model().fit(X, y), model().set_params(missing="ignore").fit(X, y)
    block = fitted._blocks[-1]
    assert isinstance(block, MissingBlock)
    assert not block.log_missing[2].any()
    assert not block.log_present[2].any()
    whole = X[["whole"]]
    alone = NaiveBayes(missing="level").fit(whole, y).predict_proba(whole)
    np.testing.assert_array_equal(alone, NaiveBayes().fit(whole, y).predict_proba(whole))
    assert (fitted.predict(X) == y).mean() > 0.85 > (plain.predict(X) == y).mean()


def test_parts_add_and_come_off_again() -> None:
    X, y = informative()
    whole = model().fit(X, y)
    parts = [(X[:50], y[:50]), (X[50:], y[50:])]
    np.testing.assert_allclose(
        model().fit_stream(parts).predict_proba(X), whole.predict_proba(X), rtol=1e-10
    )
    rest = model().fit(X, y).forget(X[50:], y[50:])
    np.testing.assert_allclose(
        rest.predict_proba(X), model().fit(X[:50], y[:50]).predict_proba(X), rtol=1e-9
    )


def test_weights_count_repetitions() -> None:
    X, y = informative(40)
    weight = np.tile([1.0, 2.0, 0.0, 3.0], 10)
    rows = np.repeat(np.arange(40), weight.astype(int))
    weighted = model().fit(X, y, weight).predict_proba(X)
    repeated = model().fit(X.iloc[rows], y[rows]).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_explanations_add_up_to_the_odds() -> None:
    X, y = informative()
    fitted = model().fit(X, y)
    for row in (0, 1, 2, 3):
        found = fitted.explain(X.iloc[[row]])
        logs = fitted.predict_log_proba(X.iloc[[row]])[0]
        assert abs(sum(found.contributions) + found.prior) == pytest.approx(
            abs(logs[0] - logs[1]), rel=1e-9
        )


def test_leaving_one_out_is_a_refit() -> None:
    X, y = informative(30)
    found = cross_val_predict(model(), X, y, cv=LeaveOneOut())
    for i in (0, 7, 29):
        rest = np.arange(30) != i
        assert found[i] == model().fit(X[rest], y[rest]).predict(X.iloc[[i]])[0]


def test_model_files(tmp_path: Path) -> None:
    X, y = informative()
    fitted = model().fit(X, y)
    save(fitted, tmp_path / "m.novum")
    np.testing.assert_array_equal(
        load(tmp_path / "m.novum").predict_proba(X), fitted.predict_proba(X)
    )
    block = fitted._blocks[-1]
    for wrong in (
        replace(block, log_missing=block.log_missing[:, :1]),
        replace(block, log_present=block.log_present + 1),
    ):
        with pytest.raises(ModelFileError, match="chances of missing cells"):
            wrong.check(fitted.schema_, 2)
    block.check(Schema(fitted.schema_.columns), 2)


def test_samples_are_complete() -> None:
    X, y = informative()
    rows, _ = model().fit(X, y).sample(50, random_state=0)
    assert rows.to_pandas().notna().all().all()
