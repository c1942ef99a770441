"""`novum predict`: the answers of the model itself, in a file that is safe to open."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from novum.apps.job.building import build
from novum.apps.job.families import family
from novum.apps.job.table.task import SpecialColumns
from novum.bayes import GaussianNB
from novum.core import load, save
from novum.core.learners import Pipeline
from novum.data import load as load_table
from novum.data.scaling import StandardScaler
from novum.evaluation import ConformalClassifier, ConformalRegressor
from novum.linear import LogisticRegression, Ridge
from novum.trees import DecisionTreeClassifier
from tests.apps.cli.commands import invoke, last_line


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_file_holds_what_the_model_answers(iris_run: Path, tmp_path: Path) -> None:
    done = invoke("predict", iris_run / "model.novum", "iris", "--output", tmp_path / "p.csv")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"150 rows predicted: {tmp_path / 'p.csv'}\n"
    table, target = load_table("iris")
    model, X = load(iris_run / "model.novum"), table.drop_columns([target])
    rows = rows_of(tmp_path / "p.csv")
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    told = np.array([[float(row[f"probability {c}"]) for c in model.classes_] for row in rows])
    # Six digits are written.
    np.testing.assert_allclose(told, model.predict_proba(X), atol=5e-6)


def test_columns_are_read_as_the_model_learned_them(cars_run: Path, tmp_path: Path) -> None:
    # Another order, a column more, and a text column whose cells look like numbers here.
    path = tmp_path / "cars.csv"
    names = "weight,horsepower,displacement,cylinders,acceleration,model_year,origin,extra"
    path.write_text(f"{names}\n3000,?,200,6,15,75,usa,1\n2000,60,100,4,18,80,japan,2\n")
    done = invoke("predict", cars_run / "model.novum", path, "--output", tmp_path / "p.csv", "-q")
    assert done.exit_code == 0, done.output
    assert not done.stderr
    first, second = (float(row["prediction"]) for row in rows_of(tmp_path / "p.csv"))
    assert 10 < first < second < 50


def test_a_model_at_a_working_point_decides(costly_run: Path, tmp_path: Path) -> None:
    done = invoke(
        "predict", costly_run / "model.novum", "hepatitis", "--output", tmp_path / "p.csv"
    )
    assert done.exit_code == 0, done.output
    rows = rows_of(tmp_path / "p.csv")
    table, target = load_table("hepatitis")
    model = load(costly_run / "model.novum")
    decided = model.decide(table.drop_columns([target]))
    assert [row["decision"] for row in rows] == decided.tolist()
    # Missing a death costs ten times more, so eleven percent are enough.
    dies = [float(row["probability DIE"]) > 1 / 11 for row in rows]
    assert [row["decision"] == "DIE" for row in rows] == dies


def test_labels_are_inert_in_a_spreadsheet(tmp_path: Path) -> None:
    model = DecisionTreeClassifier().fit(pa.table({"a": [1.0, 4.0]}), ["=1+1", "@x"])
    save(model, tmp_path / "m.novum")
    (tmp_path / "t.csv").write_text("a\n1\n4\n")
    done = invoke(
        "predict", tmp_path / "m.novum", tmp_path / "t.csv", "--output", tmp_path / "p.csv"
    )
    assert done.exit_code == 0, done.output
    assert [row["prediction"] for row in rows_of(tmp_path / "p.csv")] == ["'=1+1", "'@x"]


def test_without_output_the_file_is_named_after_the_table(
    iris_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("predict", iris_run / "model.novum", "iris").exit_code == 0
    assert len(rows_of(tmp_path / "iris-predictions.csv")) == 150


def test_what_does_not_fit_is_said(iris_run: Path, tmp_path: Path) -> None:
    model = iris_run / "model.novum"
    (tmp_path / "t.csv").write_text("sepal_length,sepal_width,petal_lenght,petal_width\n1,2,3,4\n")
    lacking = invoke("predict", model, tmp_path / "t.csv")
    assert lacking.exit_code == 1
    assert "lacks the column 'petal_length'" in last_line(lacking.stderr)
    assert "Did you mean 'petal_lenght'" in last_line(lacking.stderr)
    other = invoke("predict", model, "titanic")
    assert (other.exit_code, "titanic lacks the column" in other.stderr) == (1, True)
    (tmp_path / "m.novum").write_bytes(b"no model")
    assert "m.novum" in last_line(invoke("predict", tmp_path / "m.novum", "iris").stderr)
    assert "There is no" in last_line(invoke("predict", tmp_path / "x.novum", "iris").stderr)
    nowhere = invoke("predict", model, "iris", "--output", tmp_path / "no" / "p.csv")
    assert nowhere.exit_code == 1
    assert "does not exist" in nowhere.stderr


# --- Rows without an answer -----------------------------------------------------------------------


def complete(n: int = 30) -> pa.Table:
    rng = np.random.default_rng(4)
    return pa.table({"a": rng.normal(size=n) / 10, "b": 3.0 + rng.normal(size=n)})


def write(path: Path, X: pa.Table, cells: dict[tuple[int, str], str]) -> Path:
    """The table as CSV with other texts in some cells."""
    lines = [",".join(X.column_names)]
    for row, values in enumerate(X.to_pylist()):
        lines.append(",".join(cells.get((row, name), repr(x)) for name, x in values.items()))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_rows_that_cannot_be_answered_cost_no_other_row_its_answer(tmp_path: Path) -> None:
    X = complete()
    model = Pipeline([("scale", StandardScaler()), ("learner", Ridge())])
    model.fit(X, X["a"].to_numpy() - 2 * X["b"].to_numpy())
    save(model, tmp_path / "m.novum")
    strange = {(2, "a"): "", (7, "b"): "inf", (11, "a"): "1e308", (12, "a"): "-1e308"}
    strange |= {(20, "a"): "", (20, "b"): ""}
    path = write(tmp_path / "t.csv", X, strange)
    done = invoke("predict", tmp_path / "m.novum", path, "-q", "-o", tmp_path / "p.csv")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("25 rows predicted")
    assert " ".join(done.stderr.split()) == (
        "5 of the 30 rows have no answer: numbers are too large to compute with (2, the first is "
        "row 12); a number is infinite (1, the first is row 8); a cell that the model needs is "
        "missing (1, the first is row 3); no cell is known (1, the first is row 21)."
    )
    rows = rows_of(tmp_path / "p.csv")
    assert [row["row"] for row in rows] == [str(row + 1) for row in range(30)]
    lost = [2, 7, 11, 12, 20]
    assert [k for k, row in enumerate(rows) if row["prediction"] == ""] == lost
    kept = np.setdiff1d(np.arange(30), lost)
    told = [float(rows[k]["prediction"]) for k in kept]
    np.testing.assert_array_equal(told, model.predict(X.take(kept)))


def test_classes_without_an_answer_have_empty_probabilities(tmp_path: Path) -> None:
    X = complete()
    model = LogisticRegression().fit(X, np.where(X["a"].to_numpy() > 0, "up", "down"))
    save(model, tmp_path / "m.novum")
    path = write(tmp_path / "t.csv", X.slice(0, 2), {(0, "b"): ""})
    for X_less, n_rows in (
        (path, 1),
        (write(tmp_path / "one.csv", X.slice(0, 1), {(0, "a"): ""}), 0),
    ):
        done = invoke("predict", tmp_path / "m.novum", X_less, "-q", "-o", tmp_path / "p.csv")
        assert done.stdout.startswith(f"{n_rows} row")
        first = rows_of(tmp_path / "p.csv")[0]
        assert (first["prediction"], first["probability down"], first["probability up"]) == (
            "",
        ) * 3


def test_models_of_a_run_fill_what_training_knew_and_cells_that_are_no_numbers(
    tmp_path: Path,
) -> None:
    X = complete()
    model = build(family("linear"), "regression", seed=0)
    save(model.fit(X, X["a"].to_numpy()), tmp_path / "m.novum")
    path = write(tmp_path / "t.csv", X, {(3, "b"): "", (5, "a"): "n/k", (9, "a"): "n/k"})
    done = invoke("predict", tmp_path / "m.novum", path, "-q", "-o", tmp_path / "p.csv")
    assert done.stdout.startswith("30 rows predicted")
    assert " ".join(done.stderr.split()) == (
        "'a' has 2 cells that are no numbers, the first in row 6: 'n/k'. They count as missing. "
        "3 cells of 'a', 'b' are missing, the first in row 4, though training knew all of them: "
        "its mean or most frequent level stands there."
    )
    means = {name: float(np.mean(X[name].to_numpy())) for name in ("a", "b")}
    cells = {"a": X["a"].to_numpy().copy(), "b": X["b"].to_numpy().copy()}
    cells["b"][3], cells["a"][[5, 9]] = means["b"], means["a"]
    told = [float(row["prediction"]) for row in rows_of(tmp_path / "p.csv")]
    np.testing.assert_allclose(told, model.predict(pa.table(cells)), rtol=1e-12)
    # What only a reader of the whole file can tell is no missing cell.
    path = write(tmp_path / "t.csv", X, {(3, "b"): "1.234,5", (5, "b"): "x"})
    done = invoke("predict", tmp_path / "m.novum", path, "-q", "-o", tmp_path / "p.csv")
    assert done.exit_code == 1
    assert "line 5" in done.stderr


def test_a_cell_that_is_no_date_costs_no_other_row_its_answer(tmp_path: Path) -> None:
    n = 60
    days = np.datetime64("2020-01-01") + np.arange(n) * 9
    X = pa.table({"a": np.arange(n) % 7.0, "day": [str(day) for day in days]})
    model = build(family("tree"), "regression", seed=0, columns=SpecialColumns(dates=("day",)))
    save(model.fit(X, np.arange(n) / n), tmp_path / "m.novum")
    path = write(
        tmp_path / "t.csv", X, {(4, "day"): "", (8, "day"): "soon", (11, "day"): "2020-02-30"}
    )
    done = invoke("predict", tmp_path / "m.novum", path, "-q", "-o", tmp_path / "p.csv")
    assert done.stdout.startswith(f"{n} rows predicted")
    assert " ".join(done.stderr.split()) == (
        "'day' has 2 cells that are no dates, the first in row 9: 'soon'. They count as missing."
    )
    cells = [None if row in (4, 8, 11) else day for row, day in enumerate(X["day"].to_pylist())]
    expected = model.predict(pa.table({"a": X["a"], "day": pa.array(cells)}))
    told = [float(row["prediction"]) for row in rows_of(tmp_path / "p.csv")]
    np.testing.assert_allclose(told, expected, rtol=1e-12)


def test_the_columns_that_moved_each_row(iris_run: Path, tmp_path: Path) -> None:
    table, target = load_table("iris")
    rows = table.drop_columns([target]).to_pylist()
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows[::30])]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "p.csv"
    done = invoke("predict", iris_run / "model.novum", tmp_path / "t.csv", "--why", "--output", out)
    assert done.exit_code == 0, done.stderr
    answers = rows_of(out)
    assert len(answers) == 5
    for answer in answers:
        # Petals tell the kinds apart, and each reason has its cell and its sign.
        first = answer["why"].split(", ")[0]
        assert re.fullmatch(r"petal_\w+ = [\d.]+ \([+−][\d.]+\)", first), first
    (tmp_path / "t.csv").write_text("\n".join(lines[:2]) + "\n")
    done = invoke("predict", iris_run / "model.novum", tmp_path / "t.csv", "--why", "--output", out)
    assert (done.exit_code, "table of several rows" in done.stderr) == (1, True)


def test_rounding_is_no_reason(iris_run: Path, tmp_path: Path) -> None:
    """Two rows that are alike: no cell of one moves the answer of the other."""
    (tmp_path / "t.csv").write_text(
        "sepal_length,sepal_width,petal_length,petal_width\n" + "5.1,3.5,1.4,0.2\n" * 2
    )
    out = tmp_path / "p.csv"
    done = invoke("predict", iris_run / "model.novum", tmp_path / "t.csv", "--why", "--output", out)
    assert done.exit_code == 0, done.stderr
    assert [row["why"] for row in rows_of(out)] == ["no column moves it"] * 2


# --- Coverage -------------------------------------------------------------------------------------


def test_answers_have_intervals_of_the_coverage_asked_for(cars_run: Path, tmp_path: Path) -> None:
    widths = []
    for more in ((), ("--coverage", "0.5")):
        path = tmp_path / "p.csv"
        done = invoke("predict", cars_run / "model.novum", "auto_mpg", "--output", path, *more)
        assert done.exit_code == 0, done.output
        first = rows_of(path)[0]
        assert float(first["lower"]) < float(first["prediction"]) < float(first["upper"])
        widths.append(float(first["upper"]) - float(first["lower"]))
    assert widths[1] < widths[0]


def test_a_model_alone_has_no_intervals(cars_run: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.novum"
    alone.write_bytes((cars_run / "model.novum").read_bytes())
    path = tmp_path / "p.csv"
    assert invoke("predict", alone, "auto_mpg", "--output", path).exit_code == 0
    assert "lower" not in rows_of(path)[0]
    refused = invoke("predict", alone, "auto_mpg", "--output", path, "--coverage", "0.9")
    assert refused.exit_code == 1
    assert "--coverage needs the errors that a run keeps beside its model" in refused.stderr


def test_a_conformal_model_has_its_own(tmp_path: Path) -> None:
    table, target = load_table("iris")
    X, y = table.drop_columns([target]), table.column(target).to_numpy(zero_copy_only=False)
    number = X.column(0).to_numpy()
    sets = ConformalClassifier(GaussianNB()).fit(X, y)
    intervals = ConformalRegressor(Ridge()).fit(X, number)
    for model in (sets, intervals):
        save(model, tmp_path / "m.novum")
        given = ("predict", tmp_path / "m.novum", "iris", "--output", tmp_path / "p.csv")
        done = invoke(*given, "--coverage", "0.8")
        assert done.exit_code == 0, done.output
        rows = rows_of(tmp_path / "p.csv")
        if model is sets:
            found = [row["set"].split("; ") for row in rows]
            inside = sets.predict_set(X, 0.8)
            assert found == [[*sets.classes_[row]] or [""] for row in inside]
        else:
            limits = intervals.predict_interval(X, 0.8)
            told = [[float(row["lower"]), float(row["upper"])] for row in rows]
            np.testing.assert_allclose(told, limits)


@pytest.mark.parametrize("command", [("run", "iris"), ("predict", "model.novum", "iris")])
def test_a_coverage_is_a_share(command: tuple[str, ...], tmp_path: Path) -> None:
    done = invoke(*command, "--coverage", "90", "--output", tmp_path / "out")
    assert done.exit_code == 2
    assert "coverage lies between 0 and 1" in " ".join(done.stderr.split())
