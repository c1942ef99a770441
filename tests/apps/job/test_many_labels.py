"""Many labels: sets in one column, or columns of zeros and ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import novum
from novum.apps.job.job import resume, run
from novum.apps.job.record import SeveralRecord
from novum.apps.job.table.labels import labels_of, separator_of
from novum.apps.report import render
from novum.core import load
from novum.core.errors import InputError
from novum.ensemble import LabelModels, TargetModels
from tests.apps.cli.commands import invoke
from tests.apps.job.runs import Told, quick, read_csv, write_csv

LABELS = ("art", "law", "rare", "sport")


def tagged(n: int = 90, seed: int = 0) -> tuple[dict[str, Any], list[list[str] | None]]:
    """Three labels that hang on two columns, one that two rows have, and some missing sets."""
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(2, n)).round(4)
    sets: list[list[str] | None] = []
    for i in range(n):
        has_labels = (u[i] > 0, v[i] > 0.3, i in (3, 50), u[i] > v[i] + 0.8)
        found = [label for label, has in zip(LABELS, has_labels, strict=True) if has]
        sets.append(None if i % 30 == 29 else found)
    texts = [None if one is None else ";".join(one) or ";" for one in sets]
    return {"u": u.tolist(), "v": v.tolist(), "topics": texts}, sets


def asked(table: str, **more: Any) -> Any:
    given: dict[str, Any] = {"task": "labels", "models": ("tree",), **more}
    return quick(table, given.pop("target", "topics"), **given)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[SeveralRecord, Path]:
    folder = tmp_path_factory.mktemp("labels")
    record = run(asked(write_csv(folder / "t.csv", tagged()[0])), folder / "out")
    assert isinstance(record, SeveralRecord)
    return record, folder / "out"


def indicator(lines: list[dict[str, str]], column: str) -> np.ndarray:
    sets = [set(labels_of(line[column], ";")) for line in lines]
    return np.array([[label in one for label in LABELS] for one in sets])


def test_predictions_are_sets_with_a_probability_of_each_label(
    finished: tuple[SeveralRecord, Path],
) -> None:
    _, folder = finished
    lines = read_csv(folder / "predictions.csv")
    assert [int(line["row"]) for line in lines] == list(range(1, 91))
    for line, known in zip(lines, tagged()[1], strict=True):
        assert (line["answered"] == "no target") == (known is None)
        if known is not None:
            assert labels_of(line["target"], ";") == known
        likely = [label for label in LABELS if float(line[f"probability {label}"]) > 0.5]
        assert labels_of(line["prediction"], ";") == likely


def test_the_measures_are_those_of_the_new_rows(finished: tuple[SeveralRecord, Path]) -> None:
    record, folder = finished
    lines = [x for x in read_csv(folder / "predictions.csv") if x["answered"] == "hold-out"]
    y, p = indicator(lines, "target"), indicator(lines, "prediction")
    found = {name: estimate.value for name, estimate in record.measures}
    assert found == pytest.approx(
        {
            "Hamming loss": metrics.hamming_loss(y, p),
            "micro F1": metrics.f1_score(y, p, average="micro"),
            "macro F1": metrics.f1_score(y, p, average="macro", zero_division=0.0),
            "exact match": metrics.accuracy_score(y, p),
        }
    )
    assert all(one.low is not None for _, one in record.measures)
    assert record.labels is not None
    same = dict(record.labels.constant)["Hamming loss"].value
    train = [x for x in read_csv(folder / "predictions.csv") if x["answered"] == "out of fold"]
    always = indicator(train, "target").mean(axis=0) > 0.5
    assert same == pytest.approx(np.mean(y != always))
    assert "decisions are wrong (Hamming loss" in record.verdict[1]


def test_a_rare_label_is_said_and_gets_its_share(finished: tuple[SeveralRecord, Path]) -> None:
    record, folder = finished
    assert record.labels is not None
    assert record.labels.rare == (("topics=rare", 2),)
    assert any("'topics=rare' has 2 rows" in said for said in record.not_done)
    model = load(folder / "model.novum")
    share = model.predict_proba(pd.DataFrame({"u": [0.0], "v": [0.0]}))[0, LABELS.index("rare")]
    assert share == pytest.approx(2 / 87)


def test_the_model_answers_with_sets(finished: tuple[SeveralRecord, Path]) -> None:
    _, folder = finished
    model = load(folder / "model.novum")
    assert isinstance(model, LabelModels)
    rows = pd.DataFrame({"u": [2.0, -2.0, 2.0], "v": [-2.0, -2.5, 2.5]})
    assert model.predict(rows).tolist() == ["art;sport", ";", "art;law"]


def test_the_page_shows_all_labels(finished: tuple[SeveralRecord, Path]) -> None:
    record, _ = finished
    page = render(record)
    assert "could not be made" not in page
    assert "Hamming loss" in page
    for name in ("topics=art", "topics=law", "topics=sport"):
        assert name in page


def test_the_command_line_predicts_and_judges_sets(finished: tuple[SeveralRecord, Path]) -> None:
    _, folder = finished
    table, answers = folder.parent / "t.csv", folder.parent / "p.csv"
    done = invoke("predict", folder / "model.novum", table, "--output", answers)
    assert done.exit_code == 0, done.stderr
    lines = read_csv(answers)
    assert set(labels_of(";".join(line["prediction"] for line in lines), ";")) <= set(LABELS)
    assert "probability sport" in lines[0]
    asked = invoke("predict", folder / "model.novum", table, "--why", "--output", answers)
    assert asked.exit_code == 1
    assert "--why explains one answer" in asked.stderr
    judged = invoke("evaluate", folder / "model.novum", table, "--json")
    assert judged.exit_code == 0, judged.stderr
    found = json.loads(judged.stdout)
    assert found["n_rows"] == 87
    assert set(found["overall"]) == {"hamming_loss", "f1_micro", "f1_macro", "exact_match"}
    assert found["per_label"]["rare"]["rows"] == 2.0


def test_columns_of_zeros_and_ones_are_labels_too(tmp_path: Path) -> None:
    columns, sets = tagged()
    del columns["topics"]
    both = ("art", "law")
    for label in both:
        columns[label] = [None if one is None else int(label in one) for one in sets]
    table = write_csv(tmp_path / "t.csv", columns)
    record = run(asked(table, target=None, targets=both), tmp_path / "out")
    assert isinstance(record, SeveralRecord)
    assert isinstance(load(tmp_path / "out" / "model.novum"), TargetModels)
    lines = read_csv(tmp_path / "out" / "predictions.csv")
    judged = [x for x in lines if x["answered art"] == "hold-out"]
    wrong = [
        x[f"target {name}"] != x[f"prediction {name}"] for x in judged for name in ("art", "law")
    ]
    assert dict(record.measures)["Hamming loss"].value == pytest.approx(np.mean(wrong))


def test_lists_in_a_frame_are_sets() -> None:
    columns, sets = tagged(60)
    frame = pd.DataFrame({**columns, "topics": sets})
    found = novum.run(frame, "topics", task="labels", preset="quick", models=["tree"], cv=2)
    assert isinstance(found.model, LabelModels)
    assert found.model.separator == ";"
    assert "labels of topics" in repr(found)
    assert found.explain(row=0, target="topics=law")["column"][0] == "start"
    assert set(found.leaderboard["target"]) >= {"topics=art", "topics=law"}


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    class Stops(Told):
        def stage(self, title: str) -> None:
            if title == "topics=law: trying models":
                raise KeyboardInterrupt

    request = asked(write_csv(tmp_path / "t.csv", tagged(60)[0]), folds=2)
    with pytest.raises(KeyboardInterrupt):
        run(request, tmp_path / "a", Stops())
    record = resume(tmp_path / "a")
    assert isinstance(record, SeveralRecord)
    # Two rows are enough for two folds.
    assert [one.task.target for one in record.runs] == [f"topics={label}" for label in LABELS]


@pytest.mark.parametrize(
    ("texts", "mark"),
    [
        (["a;b", "b"], ";"),
        (["a|b", "b", "a"], "|"),
        (["new york, paris", "paris"], ","),
        (["x y", "y z", "x"], " "),
    ],
)
def test_separators_are_found(texts: list[str], mark: str) -> None:
    assert separator_of(texts, "y") == mark


@pytest.mark.parametrize(
    ("cells", "more", "message"),
    [
        (["a", "b", "c"], {}, "No cell of 'topics' holds two labels"),
        (["a;", ";a", "a"], {}, "one label only, 'a'"),
        ([1, 2, 3], {}, "holds numbers, and --task labels predicts sets"),
        (["a;b", "b", "a"], {"cost_fn": 2.0}, "--cost-fn is for one target"),
        (["a;b", "b", "a"], {"test": "other.csv"}, "--test does not go with sets of labels"),
        (["a;b", "b", ";"], {"folds": 20}, "No label has 20 rows"),
    ],
)
def test_misuse_gets_one_sentence(
    tmp_path: Path, cells: list[Any], more: Any, message: str
) -> None:
    columns = {"u": [0.5 * i % 7 for i in range(30)], "topics": (cells * 10)[:30]}
    with pytest.raises(InputError, match=message):
        run(asked(write_csv(tmp_path / "t.csv", columns), **more), tmp_path / "out")
