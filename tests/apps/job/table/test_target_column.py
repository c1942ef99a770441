"""Targets: classes in stable order, numbers, and refusals that say what a column looks like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.apps.job.table.column_cells import cells_of
from novum.apps.job.table.target_column import Target, read_target
from novum.core.errors import InputError
from novum.core.tables import check_classes
from tests.apps.job.table.tables import loaded


def target(
    values: Any, choice: Any = "auto", task: Any = None, metric: str | None = None
) -> Target:
    table = loaded("y", task, y=values)
    cells = cells_of(table.table.column("y"), table.column("y"))
    return read_target(cells, table, choice, metric)


def test_a_measure_says_what_numbers_are() -> None:
    few, many = [1, 2, 3] * 10, [*range(20)] * 5
    assert target(few).kind == "multiclass"
    found = target(few, metric="mae")
    assert (found.kind, found.classes) == ("regression", None)
    assert found.sentences == (
        "'y' is predicted as a number, because --metric mae is a measure of numbers.",
    )
    assert target([0, 1] * 20, metric="rmse").kind == "regression"
    assert target(many).kind == "regression"
    found = target(many, metric="log_loss")
    assert (found.kind, len(found.classes)) == ("multiclass", 20)  # type: ignore[arg-type]
    assert target(many, metric="quadratic_kappa").kind == "ordinal"
    assert target([*range(20)] * 4, metric="log_loss").kind == "regression"
    # Somebody chose, words are no numbers, and fractions no classes.
    assert target(few, "multiclass", metric="rmse").kind == "multiclass"
    assert target(["a", "b"] * 9, metric="rmse").kind == "binary"
    assert target([0.5, 1.5, 2.5] * 9, metric="accuracy").kind == "regression"


@pytest.mark.parametrize(
    "values",
    [["b", "a", "b", "c"], [True, False, True], [3, -1, 3, -1], ["10", "9", "a"]],
    ids=["text", "truth", "numbers", "numbers as text"],
)
def test_classes_and_codes_are_those_of_classifiers(values: list[Any]) -> None:
    found = target(values)
    classes, codes = check_classes(np.array(values), "Learner")
    assert found.classes is not None
    assert found.classes.tolist() == classes.tolist()
    assert found.coded.tolist() == codes.tolist()


def test_kinds_and_missing_targets() -> None:
    assert target(["a", "b", None]).kind == "binary"
    assert target(["a", "b", None]).coded.tolist() == [0, 1, -1]
    assert target(["a", "b", "c"]).kind == "multiclass"
    assert target(["a", "b"], "multiclass").kind == "binary"
    numbers = target([0.5, 1.25, None])
    assert numbers.kind == "regression"
    np.testing.assert_array_equal(numbers.coded, [0.5, 1.25, np.nan])


def test_few_whole_numbers_ask_for_a_look() -> None:
    values = [1, 2, 3] * 5
    said = target(values).sentences[-1]
    assert "Please look" in said
    assert "--task regression" in said
    assert "--task multiclass" in target([1, 2, 3] * 3).sentences[-1]
    assert target(values, "regression").kind == "regression"
    assert target(values, "multiclass").sentences == (
        "'y' is predicted as one of 3 classes, because --task multiclass says so.",
    )
    assert target(values, task="regression").kind == "regression"


def test_fractions_as_classes_are_named_by_their_text() -> None:
    found = target([0.5, 1.5, 0.5], "binary")
    assert found.classes is not None
    assert found.classes.tolist() == ["0.5", "1.5"]
    assert found.coded.tolist() == [0, 1, 0]
    signed = target([-1.5, -2.5, 10.5], "multiclass")
    assert signed.classes is not None
    assert signed.classes[signed.coded].tolist() == ["-1.5", "-2.5", "10.5"]
    assert signed.classes.tolist() == sorted(signed.classes.tolist())


@pytest.mark.parametrize(
    ("values", "choice", "message"),
    [
        ([None, None], "auto", "'y' is missing in all 2 rows of t.csv"),
        (["a", "a", None], "auto", "one class only, 'a', in 2 rows with a target"),
        ([4.5, 4.5], "auto", "is 4.5 in every row that has it"),
        (["a", "b", "c"], "binary", "needs two classes, but the target 'y' has 3: 'a', 'b', 'c'"),
        (["a", "b"], "regression", "predicts numbers, but the target 'y' holds 'a', 'b'"),
        ([1.5, np.inf, 2.0], "auto", "infinite in 1 row, the first is data row 2"),
        (range(5000), "multiclass", "5,000 different values.*numbers: use --task regression"),
        ([f"K{i}x" for i in range(9999)], "auto", "9,999 different.*an identifier"),
        ([f"K{i}x" for i in range(10_000)] * 2, "auto", "10,000 different.*Join rare values"),
        (
            [str(i) for i in range(2000)] + ["n.a."],
            "auto",
            r"numbers read as text because of cells such as 'n\.a\.'",
        ),
        ([f"1,{i:03d}" for i in range(999)], "auto", "numbers written as text, such as '1,000'"),
        ([f"2024-01-{1 + i % 28}T10:{i // 28:02d}" for i in range(900)], "auto", "like dates"),
        ([f"seen by doctor {i}" for i in range(900)], "auto", "like free text"),
    ],
)
def test_refusals(values: Any, choice: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        target(values, choice)
