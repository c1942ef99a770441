"""Rows of tables as numbers of states."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError, UnseenLevelWarning
from novum.core.tables import frame_column
from novum.distributions import joint_table_counts
from novum.graphical import BayesianNetwork, NetworkWarning
from novum.graphical.models import row_codes
from novum.graphical.models.row_codes import frame_of_codes, read_rows

HALF = [0.5, 0.5]


def network() -> BayesianNetwork:
    return (
        BayesianNetwork()
        .add("text", table=HALF)
        .add("number", table=HALF, states=[1, 0])
        .add("truth", table=HALF, states=[False, True])
        .add("digit", table=HALF, states=["1", "0"])
    )


@pytest.mark.parametrize(
    ("name", "cells", "codes"),
    [
        ("text", ["false", None, "true"], [1, -1, 0]),
        ("text", [True, False, None], [0, 1, -1]),
        ("number", [0, 1, 1.0], [1, 0, 0]),
        ("number", ["0", "1", None], [1, 0, -1]),
        ("truth", [True, None, False], [1, -1, 0]),
        ("truth", ["true", "False", None], [1, 0, -1]),
        ("digit", [0, 1, 1], [1, 0, 0]),
        # A column of whole numbers with a missing cell becomes one of floats in pandas.
        ("digit", [0.0, np.nan, 1.0], [1, -1, 0]),
    ],
)
def test_cells_match_states_by_value_and_by_writing(
    name: str, cells: list[Any], codes: list[int]
) -> None:
    model = network()
    place = model.places[name]
    for rows in ({name: cells}, pd.DataFrame({name: cells}), [{name: cell} for cell in cells]):
        found = read_rows(model, rows)
        assert found[:, place].tolist() == codes
        assert (np.delete(found, place, axis=1) == -1).all()


def test_missing_cells_of_every_kind_are_unknown() -> None:
    model = network()
    frames = [
        pd.DataFrame({"text": pd.array(["true", pd.NA], "string")}),
        pd.DataFrame({"text": pd.Categorical(["true", None])}),
        pl.DataFrame({"text": ["true", None]}),
        pa.table({"text": ["true", None]}),
        pd.DataFrame({"text": ["true", np.nan]}),
    ]
    for frame in frames:
        assert read_rows(model, frame)[:, 0].tolist() == [0, -1]
    assert read_rows(model, {"text": [None, None]})[:, 0].tolist() == [-1, -1]
    assert read_rows(model, pd.DataFrame({"text": []})).shape == (0, 4)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"text": ["true", "maybe"]}, "'text' has 'maybe' in row 1, which is no state"),
        ({"text": ["ture"]}, "did you mean 'true'"),
        ({"number": [True]}, "has True in row 0"),
        ({"other": [1]}, "No column is a node"),
        ({"text": ["true"], "number": [1, 0]}, "has 2 rows and others have 1"),
        ([1, 2], "Rows are a data frame"),
        (None, "got NoneType"),
        (np.zeros((2, 2)), "got ndarray"),
        (pd.DataFrame([["true", "true"]], columns=["text", "text"]), "'text' occurs twice"),
        (pd.DataFrame({"text": pd.to_datetime(["2020-01-01"])}), "dates or times"),
    ],
)
def test_wrong_rows_are_refused_in_words(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_rows(network(), rows)


def test_cells_that_are_no_state_may_be_unknown_with_a_warning() -> None:
    with pytest.warns(UnseenLevelWarning, match="'maybe' in row 1.*2 such cells are taken as"):
        found = read_rows(network(), {"text": ["true", "maybe", "no"]}, strict=False)
    assert found[:, 0].tolist() == [0, -1, -1]


def test_codes_become_frames_and_come_back() -> None:
    model = network()
    codes = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    for frame in ("arrow", "pandas", "polars"):
        made = frame_of_codes(model.variables, codes, frame)
        assert np.array_equal(read_rows(model, made), codes)
    mixed = BayesianNetwork().add("m", table=[0.3, 0.3, 0.4], states=["a", 2, True])
    made = frame_of_codes(mixed.variables, np.array([[0], [1], [2]]))
    assert made.column("m").to_pylist() == ["a", "2", "True"]
    assert read_rows(mixed, made).ravel().tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="'arrow', 'pandas' or 'polars', got 'dask'"):
        frame_of_codes(model.variables, codes, "dask")


SMALL = (
    BayesianNetwork()
    .add("c", table=[0.2, 0.8])
    .add("delta", parents=["c"], table=[[0.9, 0.1], [0.2, 0.8]])
)


def test_columns_that_are_no_nodes_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def counted(frame: Any, position: int) -> Any:
        taken.append(position)
        return frame_column(frame, position)

    # Taking one column of a frame costs as much as the frame is wide.
    monkeypatch.setattr(joint_table_counts, "frame_column", counted)
    cells = np.full((2, 3000), "q", dtype=object)
    frame = pd.DataFrame(cells, columns=[f"z{place}" for place in range(3000)])
    # Cells that no column could be made of.
    frame["z1"] = [object(), {}]
    frame["c"] = ["true", None]
    expected = [[0.9, 0.1], [0.34, 0.66]]
    for rows in (frame, frame.to_dict("list"), frame.to_dict("records")):
        np.testing.assert_allclose(SMALL.posteriors(rows, "delta")["delta"], expected)
    assert taken == [0]


def test_a_column_with_nearly_the_name_of_a_node_is_named() -> None:
    rows = {"C": ["true"], "delta": ["true"], "z": [1]}
    with pytest.warns(NetworkWarning, match=r"near to one: 'C' \(is it 'c'\?\)\. Rename") as caught:
        read_rows(SMALL, rows)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The node has its own column.
        read_rows(SMALL, {"c": ["true"], "C": [1], "delta": ["true"], "Delta": [3]})
    many = BayesianNetwork()
    for letter in "abcdefghijk":
        many = many.add(letter, table=[0.5, 0.5])
    with pytest.warns(NetworkWarning, match=r"'H' \(is it 'h'\?\) and 2 more\."):
        read_rows(many, {letter.upper(): ["true"] for letter in "abcdefghij"} | {"k": ["true"]})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"c": 0}, r"Column 'c' is 0; a column is a list .* such as \[0\]"),
        ({"c": "true"}, r"Column 'c' is 'true'; a column is a list .* such as \['true'\]"),
        ({"c": {"true"}}, "The cells of column 'c' are a list"),
        (pl.DataFrame({"c": ["true"]}).lazy(), r"got a lazy one. Give rows.collect\(\)"),
        ([{"c": "true"}, 3], "got a list of 2 items"),
        (3, "got int"),
    ],
)
def test_rows_of_a_wrong_kind_are_refused_in_words(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SMALL.posteriors(rows, "delta")


@pytest.mark.parametrize(
    "rows", [[], {"c": []}, pd.DataFrame({"c": []}), (), pl.DataFrame({"c": []})]
)
def test_no_rows_have_no_posteriors(rows: Any) -> None:
    assert SMALL.posteriors(rows, "delta")["delta"].shape == (0, 2)
    assert {name: found.shape for name, found in SMALL.posteriors(rows).items()} == {
        "c": (0, 2),
        "delta": (0, 2),
    }
    assert SMALL.log_probabilities(rows).shape == (0,)


def test_a_row_without_entries_is_a_row() -> None:
    np.testing.assert_allclose(SMALL.posteriors([{}], "delta")["delta"], [[0.34, 0.66]])


def test_without_names_all_nodes_are_asked_given_all_cells() -> None:
    rows = [{"c": "true"}, {}, {"delta": "true"}]
    found = SMALL.posteriors(rows)
    assert [*found] == ["c", "delta"]
    for number, row in enumerate(rows):
        for name, table in SMALL.marginals(row).items():
            np.testing.assert_allclose(found[name][number], table.values, rtol=1e-12)


def test_states_beyond_64_bits_are_sampled_as_text() -> None:
    network = BayesianNetwork().add("x", table=[0.5, 0.5], states=[10**20, 1])
    rows = network.sample(20, random_state=0)
    assert set(rows["x"].to_pylist()) == {str(10**20), "1"}
    assert network.log_probabilities(rows) == pytest.approx([math.log(0.5)] * 20)


CELLS = st.sampled_from(
    ["true", "false", "1", "0", "maybe", 1, 0, 1.0, 2, True, False, None, math.nan, np.str_("true")]
)
TABLES = st.lists(
    st.dictionaries(st.sampled_from(["text", "number", "truth", "digit", "other"]), CELLS),
    max_size=5,
)


def codes_or_words(rows: Any, strict: bool) -> tuple[Any, list[str]]:
    """What is read, or why not, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: Any = read_rows(network(), rows, strict=strict).tolist()
        except InputError as error:
            found = str(error)
    return found, [str(warning.message) for warning in caught]


@given(TABLES, st.booleans())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_dictionaries_are_read_as_columns_are(
    monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]], strict: bool
) -> None:
    found = codes_or_words(rows, strict)
    with monkeypatch.context() as patched:
        patched.setattr(row_codes, "_plain_codes", lambda *_: None)
        assert codes_or_words(rows, strict) == found


@pytest.mark.parametrize(
    ("rows", "codes"),
    [
        (
            [{"text": "false", "number": 0}, {}, {"digit": "0", "text": None}],
            [[1, 1, -1, -1], [-1] * 4, [-1, -1, -1, 1]],
        ),
        (({"truth": True, "digit": "1"}, {"truth": None}), [[-1, -1, 1, 0], [-1] * 4]),
        # Columns know what these are: True is no number, and text may be written like one.
        ([{"number": 1, "truth": True}], None),
        ([{"number": "1"}], None),
        ([{"text": "maybe"}], None),
        ([{"other": "true"}], None),
        ([{"text": ["true"]}], None),
        ([], None),
        ([pd.Series({"text": "true"})], None),
    ],
)
def test_plain_dictionaries_are_read_at_once(rows: Any, codes: list[list[int]] | None) -> None:
    found = row_codes._plain_codes(network(), rows)
    assert (found if found is None else found.tolist()) == codes
