"""TextFeatures: scikit-learn's tf-idf, mixed tables, odd input, files and the contracts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError
from novum.core.files import load, save
from novum.core.learners import Case, Check, Pipeline
from novum.core.learners.contracts import (
    check_failed_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.data import DateFeatures, TextFeatures
from novum.data.filling import FillMissing
from novum.data.scaling import StandardScaler
from novum.linear import LogisticRegression

TEXTS = [
    "the cat sat on the mat",
    "the cat ran after the dog",
    "a dog ran, and a cat ran too",
    "Money for nothing: call now",
    "call now for free money",
    "",
]


@parametrize_with_checks([TextFeatures()], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


CONTRACT = [check for check in estimator_checks() if check is not check_failed_fit_changes_nothing]


@pytest.mark.parametrize("check", CONTRACT, ids=check_name)
def test_contract(check: Check) -> None:
    frame = pd.DataFrame({"text": TEXTS * 4, "x": np.arange(24.0)})
    check(Case(TextFeatures(["text"]), frame))


# --- Weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "analyzer", "span"),
    [
        ({"characters": None}, "word", (1, 1)),
        ({"characters": None, "words": (1, 2)}, "word", (1, 2)),
        ({"words": None}, "char_wb", (2, 4)),
    ],
)
def test_weights_are_those_of_scikit_learn(
    settings: dict[str, Any], analyzer: str, span: tuple[int, int]
) -> None:
    model = TextFeatures(min_df=1, **settings).fit(TEXTS)
    other = TfidfVectorizer(analyzer=analyzer, ngram_range=span, sublinear_tf=True).fit(TEXTS)
    assert model.vocabulary_.tolist() == other.get_feature_names_out().tolist()
    new = [*TEXTS, "a cat and a new word"]
    found, expected = model.transform(new), other.transform(new)
    assert sparse.issparse(found)
    assert found.format == "csr"
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12, atol=1e-15)


def test_a_vocabulary_has_the_terms_of_most_texts() -> None:
    model = TextFeatures(characters=None, min_df=1, max_features=2).fit(TEXTS)
    # "cat" and "ran"/"the"/"for"... : cat is in three texts, the next ones in two.
    assert "cat" in model.vocabulary_.tolist()
    assert len(model.vocabulary_) == 2
    counted = TextFeatures(characters=None, min_df=3).fit(TEXTS)
    assert counted.vocabulary_.tolist() == ["cat"]


def test_kept_counts_change_nothing() -> None:
    column = pa.array(TEXTS).dictionary_encode()
    table = pa.table({"text": column})
    rows = pa.array([0, 2, 4])
    part = TextFeatures(["text"], min_df=1).fit(table.take(rows))
    alone = TextFeatures(["text"], min_df=1).fit(pa.table({"text": [TEXTS[i] for i in (0, 2, 4)]}))
    assert part.vocabulary_.tolist() == alone.vocabulary_.tolist()
    np.testing.assert_array_equal(part.idf_, alone.idf_)
    assert (part.transform(table) != alone.transform(table)).nnz == 0


def test_long_terms_are_left_out() -> None:
    model = TextFeatures(characters=None, min_df=1).fit(["x" * 41 + " short words here"])
    assert model.vocabulary_.tolist() == ["here", "short", "words"]


# --- Tables ---------------------------------------------------------------------------------------


def mixed() -> pa.Table:
    return pa.table(
        {
            "size": [1.0, None, 3.0, 4.0, 5.0, 6.0],
            "text": [*TEXTS[:5], None],
            "color": ["red", "blue", "red", "blue", None, "red"],
            "day": ["2024-01-01", "2024-02-01", "2024-02-05", "2024-03-01", None, "2024-05-01"],
        }
    )


def test_other_columns_are_prepared_and_coded() -> None:
    others = Pipeline(
        [("dates", DateFeatures(["day"])), ("fill", FillMissing()), ("scale", StandardScaler())]
    )
    model = TextFeatures(["text"], characters=None, others=others).fit(mixed())
    names = model.get_feature_names_out().tolist()
    assert names[0] == "size"
    assert {"color=missing", "color=red", "day_month", "text:cat"} <= set(names)
    cells = model.transform(mixed())
    assert cells.shape == (6, len(names))
    expected = others.fit_transform(mixed().drop_columns(["text"]))
    np.testing.assert_allclose(cells[:, [0]].toarray().ravel(), expected.column("size").to_numpy())
    kinds = {column.name: (column.kind.value, column.n_levels) for column in model.schema_.columns}
    assert kinds == {
        "size": ("numeric", 0),
        "text": ("nominal", 0),
        "color": ("nominal", 2),
        "day": ("nominal", 0),
    }


def test_auto_tells_texts_from_levels() -> None:
    model = TextFeatures(min_df=1).fit(mixed().select(["text", "day"]).slice(0, 4))
    assert model.text_columns_.tolist() == [0]


def test_missing_cells_of_other_columns_are_named() -> None:
    with pytest.raises(MissingValuesError, match=r"'size' .1, first at row 1"):
        TextFeatures(["text"]).fit(mixed())


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series], ids=str)
def test_texts_alone(make: Any) -> None:
    reference = TextFeatures(["text"]).fit_transform(pa.table({"text": TEXTS}))
    found = TextFeatures().fit_transform(make(TEXTS))
    assert (found != reference).nnz == 0


def test_a_missing_text_has_no_terms() -> None:
    model = TextFeatures(min_df=1).fit(TEXTS)
    assert model.transform(pa.table({"text": pa.array([None], pa.string())})).nnz == 0


def test_two_columns_of_text_and_weights() -> None:
    table = pa.table({"a": TEXTS, "b": TEXTS[::-1]})
    model = TextFeatures(["a", "b"], characters=None).fit(table)
    half = len(model.vocabulary_) // 2
    assert model.vocabulary_[:half].tolist() == model.vocabulary_[half:].tolist()
    weighted = TextFeatures(["a"], characters=None).fit(table, sample_weight=[1, 1, 1, 0, 0, 1])
    assert "money" not in weighted.vocabulary_.tolist()


def test_a_pipeline_learns_from_text() -> None:
    labels = ["tale", "tale", "tale", "spam", "spam"] * 4
    model = Pipeline([("text", TextFeatures()), ("learner", LogisticRegression(C=10.0))])
    model.fit(TEXTS[:5] * 4, labels)
    assert model.predict(["free money now", "the dog sat"]).tolist() == ["spam", "tale"]


# --- Odd input and files --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (TextFeatures(["x"]), {"x": [1.0, 2.0]}, "'x' holds double and no text"),
        (TextFeatures(["y"]), {"x": TEXTS}, "`columns` names 'y'"),
        (TextFeatures(["x"], min_df=9), {"x": TEXTS}, "no term in 9 or more of the 6 rows"),
        (TextFeatures(["x"], words=None, characters=None), {"x": TEXTS}, "are both None"),
        (TextFeatures(["x"], words=(2, 1)), {"x": TEXTS}, "no pair of least and largest"),
        (TextFeatures(["x"]), {"x": ["", "."]}, "no term"),
    ],
)
def test_odd_input_says_what_is_wrong(model: Any, X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(pa.table(X))


def test_files_keep_features(tmp_path: Path) -> None:
    others = Pipeline([("dates", DateFeatures(["day"])), ("fill", FillMissing())])
    model = TextFeatures(["text"], others=others).fit(mixed())
    save(model, tmp_path / "text.novum")
    again = load(tmp_path / "text.novum")
    assert (again.transform(mixed()) != model.transform(mixed())).nnz == 0
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
