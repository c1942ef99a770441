"""Rows without a label in streams, files and clusters: the fit in memory, bad chunks, rows kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from novum.bayes import GaussianClassifier, MultinomialNB, NaiveBayes
from novum.core import UnlabelledRows
from novum.core.errors import InputError
from novum.core.sums import ChunkPasses, PartlyLabelledRows, labelled_rows

GIVEN = UnlabelledRows(weight=0.5, folds=0, tol=1e-9, max_iter=2000)
CUTS = [slice(0, 40), slice(40, 41), slice(41, 110), slice(110, 150)]


def table(n: int = 150) -> tuple[pd.DataFrame, Any]:
    """Two classes; the labels stand at the beginning, so that later chunks have none."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    frame = pd.DataFrame(rng.normal(size=(n, 2)) + 2.5 * truth[:, None], columns=["a", "b"])
    frame["c"] = np.where(rng.random(n) < 0.7, truth, 2)
    frame["c"] = frame["c"].map({0: "p", 1: "q", 2: "r"})
    y = np.array(["no", "yes"], object)[truth]
    y[34:] = None
    return frame, y


def chunks_of(X: Any, y: Any) -> list[Any]:
    rows = [X.iloc[cut] if hasattr(X, "iloc") else X[cut] for cut in CUTS]
    return [(part, y[cut]) for part, cut in zip(rows, CUTS, strict=True)]


LEARNERS = {
    "naive Bayes": NaiveBayes(unlabelled="em"),
    "gaps tell": NaiveBayes(missing="level", unlabelled=GIVEN),
    "full": GaussianClassifier("full", unlabelled=GIVEN),
    "diagonal": GaussianClassifier("diagonal", unlabelled="em"),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_streams_give_the_fit_in_memory(name: str) -> None:
    learner = LEARNERS[name]
    X, y = table()
    X = X[["a", "b"]].to_numpy() if "Gaussian" in type(learner).__name__ else X
    whole = clone(learner).fit(X, y)
    streamed = clone(learner).fit_stream(chunks_of(X, y))
    np.testing.assert_allclose(streamed.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    assert streamed.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-12)
    assert streamed.unlabelled_weight_ == whole.unlabelled_weight_
    assert streamed.certificate_.details["unlabelled_rows"] == 116
    assert streamed.n_features_in_ == whole.n_features_in_
    again = clone(learner).fit_stream(lambda: iter(chunks_of(X, y)))
    assert (again.predict_proba(X) == streamed.predict_proba(X)).all()


def test_missing_cells_and_labels_together_in_streams() -> None:
    X, y = table()
    cells = X[["a", "b"]].to_numpy().copy()
    cells[3::9, 0] = np.nan
    for order in (slice(None), slice(None, None, -1)):
        learner = GaussianClassifier("tied", unlabelled=GIVEN)
        whole = clone(learner).fit(cells[order], y[order])
        streamed = clone(learner).fit_stream(chunks_of(cells[order], y[order]))
        np.testing.assert_allclose(
            streamed.predict_proba(cells), whole.predict_proba(cells), atol=1e-9
        )


def test_files_and_clusters(tmp_path: Path) -> None:
    dask = pytest.importorskip("dask")
    X, y = table()
    learner = NaiveBayes(unlabelled=GIVEN)
    whole = clone(learner).fit(X, y).predict_proba(X)
    X.assign(label=y).to_csv(tmp_path / "t.csv", index=False)
    read = clone(learner).fit_file(tmp_path / "t.csv", target="label", chunk_rows=64)
    np.testing.assert_allclose(read.predict_proba(X), whole, atol=1e-9)
    delayed = [dask.delayed(chunk) for chunk in chunks_of(X, y)]
    spread = clone(learner).fit_stream(delayed)
    np.testing.assert_allclose(spread.predict_proba(X), whole, atol=1e-9)


def test_sparse_chunks_with_weights() -> None:
    rng = np.random.default_rng(1)
    truth = np.arange(150) % 2
    X = sparse.csr_matrix(rng.poisson(np.where(truth[:, None], [3.0, 1, 1], [1.0, 1, 3])))
    y = truth.astype(float)
    y[30:] = np.nan
    weight = np.where(np.arange(150) % 5 == 0, 0.0, 1.5)
    weight[110:] = np.where(np.isnan(y[110:]), 2.0, 0.0)
    learner = MultinomialNB(unlabelled=UnlabelledRows(folds=2))
    whole = clone(learner).fit(X, y, weight)
    parts = [(X[cut], y[cut], weight[cut]) for cut in CUTS]
    streamed = clone(learner).fit_stream(parts)
    np.testing.assert_allclose(streamed.feature_log_prob_, whole.feature_log_prob_, rtol=1e-9)
    assert streamed.unlabelled_weight_ == whole.unlabelled_weight_


def test_the_weight_is_judged_by_rows_that_stand_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = table()
    monkeypatch.setattr(labelled_rows, "JUDGED_ROWS", 20)
    learner = NaiveBayes(unlabelled="em")
    kept = []
    for cuts in (CUTS, [slice(0, 150)]):
        parts = [(X.iloc[cut], y[cut]) for cut in cuts]
        rows = PartlyLabelledRows.in_passes(ChunkPasses.over(parts, learner))
        labelled = rows.judged.target >= 0
        assert (labelled.sum(), (~labelled).sum()) == (20, 20)
        assert rows.judged.weights[labelled].sum() == pytest.approx(34)
        assert rows.judged.weights[~labelled].sum() == pytest.approx(116)
        kept.append(sorted(rows.judged.numeric[:, 0].tolist()))
    assert kept[0] == kept[1]
    model = clone(learner).fit_stream(chunks_of(X, y))
    assert model.certificate_.details["unlabelled_rows"] == 116


def test_chunks_that_cannot_be() -> None:
    X, y = table()
    model = NaiveBayes(unlabelled="em")
    with pytest.raises(InputError, match="Labels are missing: NaiveBayes reads the chunks several"):
        model.fit_stream(iter(chunks_of(X, y)))
    with pytest.raises(InputError, match="None of the 150 rows has a label"):
        model.fit_stream(chunks_of(X, np.full(150, None)))
    with pytest.raises(InputError, match="No row has the label 'maybe' of `classes`"):
        model.fit_stream(chunks_of(X, y), classes=["no", "yes", "maybe"])
    calls: list[int] = []

    def changing() -> Any:
        calls.append(1)
        other = np.where(y == "yes", "late", y) if len(calls) > 4 else y
        return iter(chunks_of(X, other))

    with pytest.raises(InputError, match="'late' did not occur in the first pass"):
        NaiveBayes(unlabelled=GIVEN).fit_stream(changing)
    # Complete labels are one pass, also of an iterator.
    full = np.where(np.arange(150) % 2, "yes", "no")
    assert model.fit_stream(iter(chunks_of(X, full))).statistics_.rows == 150
