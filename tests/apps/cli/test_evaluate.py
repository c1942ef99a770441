"""`novum evaluate`: the numbers of `novum.evaluation`, as text, JSON and a page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from novum.core import load
from novum.data import load as load_table
from novum.evaluation import ClassificationReport, RegressionReport
from tests.apps.cli.commands import invoke, last_line


def test_classes_are_judged_as_the_library_does(iris_run: Path, tmp_path: Path) -> None:
    model = iris_run / "model.novum"
    done = invoke("evaluate", model, "iris", "--json", "--html", tmp_path / "e.html")
    assert done.exit_code == 0, done.output
    table, target = load_table("iris")
    fitted = load(model)
    report = ClassificationReport(
        table.column(target).to_pylist(),
        probabilities=fitted.predict_proba(table.drop_columns([target])),
        classes=list(fitted.classes_),
        training_priors=fitted.class_prior_,
    )
    told = json.loads(done.stdout)
    assert told["overall"]["accuracy"]["estimate"] == report["accuracy"].estimate
    assert told["confusion"] == report.confusion.counts.tolist()
    assert "<svg" in (tmp_path / "e.html").read_text()


def test_numbers_are_judged_as_the_library_does(cars_run: Path) -> None:
    done = invoke("evaluate", cars_run / "model.novum", "auto_mpg", "-q")
    assert done.exit_code == 0, done.output
    assert last_line(done.stderr).startswith(
        "398 of the 398 rows are in all columns like rows that"
    )
    table, target = load_table("auto_mpg")
    predicted = load(cars_run / "model.novum").predict(table.drop_columns([target]))
    assert done.stdout == f"{RegressionReport(table.column(target).to_numpy(), predicted)}\n"


def test_a_model_at_a_working_point_is_judged_there(costly_run: Path) -> None:
    model = costly_run / "model.novum"
    done = invoke("evaluate", model, "hepatitis", "--json", "--positive", "DIE")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    (dies_dies, dies_lives), (lives_dies, _) = told["confusion"]
    assert dies_dies + dies_lives == 32
    # Priors are the shares of the training rows, which are nearly those of all rows.
    risk = (10 * dies_lives + lives_dies) / 155
    assert told["costs"]["bayes_risk"]["estimate"] == pytest.approx(risk, rel=0.05)
    assert told["positive"] == "DIE"


def test_what_does_not_fit_is_said(iris_run: Path, tmp_path: Path) -> None:
    model = iris_run / "model.novum"
    (tmp_path / "t.csv").write_text("sepal_length,sepal_width,petal_length,petal_width\n1,2,3,4\n")
    done = invoke("evaluate", model, tmp_path / "t.csv", "--target", "species")
    assert (done.exit_code, "lacks the column 'species'" in done.stderr) == (1, True)
    alone = tmp_path / "alone.novum"
    alone.write_bytes(model.read_bytes())
    done = invoke("evaluate", alone, tmp_path / "t.csv")
    assert (done.exit_code, "Name it with --target" in done.stderr) == (1, True)
    done = invoke("evaluate", model, "iris", "--positive", "rose")
    assert done.exit_code == 1
    assert "none of the classes 'setosa', 'versicolor', 'virginica'" in last_line(done.stderr)


def test_a_model_knows_its_target_and_the_rows_it_has_seen(iris_run: Path, tmp_path: Path) -> None:
    model, (table, target) = iris_run / "model.novum", load_table("iris")
    # Ten rows of the table, of which the model for use has seen all, and two that nobody has.
    lines = [",".join(table.column_names)]
    lines += [",".join(str(cell) for cell in row.values()) for row in table.to_pylist()[:10]]
    lines += ["9.9,1.1,0.5,3.3,setosa", "0.1,9.1,7.5,0.3,virginica"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    done = invoke("evaluate", model, tmp_path / "t.csv", "--json")
    assert done.exit_code == 0, done.stderr
    assert target == "species"
    assert json.loads(done.stdout)["rows_seen_in_training"] == 10
    assert "10 of the 12 rows" in done.stderr
    (tmp_path / "t.csv").write_text("\n".join([lines[0], *lines[-2:]]) + "\n")
    fresh = invoke("evaluate", model, tmp_path / "t.csv", "-q")
    assert (fresh.exit_code, fresh.stderr) == (0, "")


def test_a_cut_list_of_seen_rows_is_said(iris_run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(iris_run, tmp_path / "run"))
    content = (folder / "seen_rows.bin").read_bytes()
    (folder / "seen_rows.bin").write_bytes(content[:-3])
    done = invoke("evaluate", folder / "model.novum", "iris", "-q")
    assert done.exit_code == 1
    assert "seen_rows.bin is cut" in " ".join(done.stderr.split())


def test_a_model_alone_is_judged_as_before(iris_run: Path, tmp_path: Path) -> None:
    alone = tmp_path / "model.novum"
    alone.write_bytes((iris_run / "model.novum").read_bytes())
    done = invoke("evaluate", alone, "iris", "--json")
    assert json.loads(done.stdout)["rows_seen_in_training"] is None


@pytest.mark.parametrize(
    "record",
    ["[" * 100_000, '{"record": [7]}', '{"format": 1, "record": {"task": "species"}}', "\xff"],
)
def test_a_record_that_no_run_wrote_says_nothing(
    iris_run: Path, tmp_path: Path, record: str
) -> None:
    model = tmp_path / "model.novum"
    model.write_bytes((iris_run / "model.novum").read_bytes())
    (tmp_path / "run.json").write_text(record, encoding="latin-1")
    judged = invoke("evaluate", model, "iris", "--json")
    assert json.loads(judged.stdout)["rows_seen_in_training"] is None
