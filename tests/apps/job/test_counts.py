"""Counts and rates: how they are asked for, learned with exposures, judged and written."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import novum
from novum.apps.job.job import run
from novum.apps.job.planning import STACK
from novum.apps.job.record import RunRecord
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.reading import read
from novum.core import load
from novum.core.errors import InputError
from novum.linear import PoissonRegressor
from tests.apps.job.runs import quick, read_csv, run_on, write_csv


def counted(n: int = 120, seed: int = 0) -> dict[str, Any]:
    """Counts whose rates follow a number, over exposures of different lengths."""
    rng = np.random.default_rng(seed)
    u, years = rng.normal(size=n), rng.uniform(0.2, 3.0, n)
    counts = rng.poisson(np.exp(0.8 * u) * years)
    return {
        "u": u.round(4).tolist(),
        "c": ["pq"[k] for k in rng.integers(0, 2, n)],
        "years": years.round(3).tolist(),
        "claims": counts.tolist(),
    }


def asked(folder: Path, columns: dict[str, Any], **settings: Any) -> Any:
    path = write_csv(folder / "table.csv", columns)
    return quick(path, **{"target": "claims", **settings})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunRecord, Path]:
    folder = tmp_path_factory.mktemp("counts")
    columns = counted()
    return (
        run_on(folder, columns, target="claims", exposure="years", models=("linear",)),
        folder / "out",
    )


def test_rates_are_learned_by_the_poisson_law_of_the_counts(
    finished: tuple[RunRecord, Path],
) -> None:
    record, folder = finished
    assert record.task.kind == "counts"
    assert record.task.metric == "poisson_deviance"
    assert record.chosen.title == "Poisson regression"
    model = load(folder / "model.novum")
    columns = counted()
    table = read(quick(str(folder.parent / "t.csv"), target="claims")).table
    X = table.select(["u", "c"])
    learner = model.steps[-1][1]
    alpha = learner.alpha
    # The definition: the law of the counts themselves, whose logarithm of the mean is shifted.
    scaled = X
    for _, step in model.steps[:-1]:
        scaled = step.transform(scaled)
    direct = PoissonRegressor(alpha=alpha * np.sum(columns["years"]) / len(columns["years"]))
    direct.fit(scaled, np.array(columns["claims"]), exposure=np.array(columns["years"]))
    np.testing.assert_allclose(model.predict(X), direct.predict(scaled), rtol=1e-5)


def test_the_constant_answer_is_all_counts_over_all_exposures(
    finished: tuple[RunRecord, Path],
) -> None:
    record, _ = finished
    assert record.holdout is not None
    assert record.holdout.saving is not None
    saved = record.holdout.saving
    assert saved.metric == "poisson_deviance"
    assert saved.model.value is not None
    assert saved.constant.value is not None
    assert saved.model.value < saved.constant.value


def test_answers_and_intervals_of_rates_are_not_below_zero(
    finished: tuple[RunRecord, Path],
) -> None:
    _, folder = finished
    lines = read_csv(folder / "predictions.csv")
    assert all(float(line["prediction"]) > 0 for line in lines)
    assert min(float(line["lower"]) for line in lines) == 0.0
    columns = counted()
    rates = np.array(columns["claims"]) / np.array(columns["years"])
    assert sorted(float(line["target"]) for line in lines) == sorted(rates.tolist())


def test_the_program_makes_the_same_model(
    finished: tuple[RunRecord, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = finished
    monkeypatch.chdir(folder)
    runpy.run_path(str(folder / "model.py"))
    ours, again = load(folder / "model.novum"), load(folder / "model_again.novum")
    X = read(quick(str(folder.parent / "t.csv"), target="claims")).table.select(["u", "c"])
    assert np.array_equal(ours.predict(X), again.predict(X))


def test_counts_without_exposure_and_what_is_not_tried(tmp_path: Path) -> None:
    request = asked(tmp_path, counted(), task="counts", models=("gradient_boosting", "tree"))
    record = run(request, tmp_path / "out")
    assert [row.family for row in record.leaderboard if row.family != "constant"] == [
        "gradient_boosting"
    ]
    why = {trial.family: trial.status for trial in record.plan.trials}
    assert why["tree"] == "has no learner for counts"
    assert "below zero" in why[STACK]


def test_whole_numbers_from_zero_are_hinted_at(tmp_path: Path) -> None:
    columns = counted()
    columns["claims"] = [3 * count for count in range(len(columns["u"]))]
    request = asked(tmp_path, columns)
    said = formalize(read(request), request).sentences
    assert any("--task counts" in sentence for sentence in said)
    columns["claims"][0] = 1
    request = asked(tmp_path, columns)
    said = formalize(read(request), request).sentences
    assert not any("--task counts" in sentence for sentence in said)


@pytest.mark.parametrize(
    ("change", "settings", "words"),
    [
        (("claims", -1), {"task": "counts"}, "numbers of at least 0"),
        (("years", 0.0), {"exposure": "years"}, "'years' is 0 in data row 4, 1 such in all"),
        (("years", None), {"exposure": "years"}, "'years' is missing in data row 4"),
        (("years", 1.0), {"exposure": "c"}, "is no column of numbers"),
        (("years", 1.0), {"exposure": "years", "task": "regression"}, "say --task counts"),
        (("years", 1.0), {"exposure": "year"}, "has no column 'year' to be the exposure"),
        (("years", 1.0), {"exposure": "years", "weight": "years"}, "'years'"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, change: tuple[str, Any], settings: dict[str, Any], words: str
) -> None:
    columns = counted()
    columns[change[0]][3] = change[1]
    request = asked(tmp_path, columns, **settings)
    with pytest.raises(InputError, match=words):
        formalize(read(request), request)


def test_exposures_in_python(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(counted())
    found = novum.run(
        frame, "claims", exposure="years", preset="quick", models=["linear"], output=tmp_path / "o"
    )
    assert found.record.task.kind == "counts"
    assert (np.asarray(found.model.predict(frame[["u", "c"]])) > 0).all()
