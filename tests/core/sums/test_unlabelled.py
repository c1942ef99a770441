"""EM over missing labels: folds of labelled rows, shares of impossible rows, refusals."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from novum.bayes import GaussianNB, MultinomialNB
from novum.core import UnlabelledRows, UnlabelledWarning
from novum.core.errors import InputError, MissingValuesError, NotAdditiveError
from novum.core.sums import label_folds, posterior
from novum.core.tables import check_partial_classes


def test_every_label_of_a_class_of_two_rows_is_held_out_once() -> None:
    codes = np.array([2, 0, 0, -1, 1, 1, 1, 0, 1, -1, 1])
    folds = label_folds(codes, 5)
    assert (folds[codes < 0] == -1).all()
    # Class 2 has one row, which must stay where it is learned from.
    assert folds[0] == -1
    for k in (0, 1):
        sizes = np.bincount(folds[codes == k], minlength=5)
        assert sizes.max() - sizes.min() <= 1
        # A class never loses all its labels.
        assert sizes.max() < (codes == k).sum()
    assert label_folds(codes, 0).max() == -1


def test_a_row_that_no_class_can_have_takes_the_priors() -> None:
    joint = np.array([[-np.inf, -np.inf], [-1000.0, -1001.0]])
    evidence, shares = posterior(joint, np.array([0.25, 0.75]))
    assert evidence[0] == -np.inf
    assert shares[0].tolist() == [0.25, 0.75]
    assert shares[1].sum() == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"weight": 2.0}, "from 0 to 1"),
        ({"weight": "auto"}, "'cv'"),
        ({"folds": 1}, "at least 2"),
        ({"folds": 0}, "give the weight"),
        ({"weights": (0.0,)}, "above 0"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_rules_that_cannot_be(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        UnlabelledRows(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("gap", [np.nan, None])
def test_without_the_option_a_missing_label_is_an_error_that_names_it(gap: object) -> None:
    y = np.array([0, 1, gap], object)
    with pytest.raises(MissingValuesError, match=r"unlabelled='em'.*SelfTraining"):
        GaussianNB().fit([[0.0], [1.0], [2.0]], y)


def test_rows_without_a_label_have_no_sums() -> None:
    X, y = [[0.0], [1.0], [4.0], [5.0], [4.5]], ["a", "a", "b", "b", None]
    model = GaussianNB(unlabelled=UnlabelledRows(weight=1.0, folds=0))
    with pytest.raises(NotAdditiveError, match="1 of 5 rows have no label"):
        model.statistics(X, y)
    model.fit(X, y)
    with pytest.raises(NotAdditiveError, match="rows without a label"):
        model.partial_fit([[1.0]], ["a"])
    # A fit to labels only is one of sums again.
    model.fit(X[:4], y[:4]).partial_fit([[1.0]], ["a"])
    assert not hasattr(model, "unlabelled_weight_")


def test_no_label_at_all() -> None:
    with pytest.raises(InputError, match="None of the 2 rows has a label"):
        GaussianNB(unlabelled="em").fit([[0.0], [1.0]], [np.nan, np.nan])
    with pytest.raises(InputError, match="No row of positive weight has a label"):
        GaussianNB(unlabelled="em").fit([[0.0], [1.0]], ["a", None], [0.0, 1.0])


def test_one_class_with_labels_leaves_the_others_out() -> None:
    X = [[0.0], [1.0], [9.0]]
    with pytest.warns(UnlabelledWarning, match="Only class 'a' has labelled rows"):
        model = GaussianNB(unlabelled="em").fit(X, ["a", "a", None])
    assert model.unlabelled_weight_ == 0
    np.testing.assert_allclose(model.theta_, [[0.5]])


def test_classes_of_one_labelled_row_each() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 40), rng.normal(8, 1, 40)])[:, None]
    y = np.full(80, None, object)
    y[0], y[79] = "low", "high"
    with pytest.warns(UnlabelledWarning, match="No class has two labelled rows"):
        model = GaussianNB(unlabelled="em").fit(X, y)
    assert model.unlabelled_weight_ == 1
    assert (model.predict(X) == np.repeat(["low", "high"], 40)).all()


def test_harm_is_told_with_its_numbers() -> None:
    # Two groups along the first column, but labels tell the second apart: EM follows the groups.
    rng = np.random.default_rng(3)
    X = np.c_[np.repeat([-6.0, 6.0], 300) + rng.normal(size=600), rng.normal(size=600)]
    truth = X[:, 1] > 0
    y = truth.astype(object)
    y[rng.permutation(600)[60:]] = None
    with pytest.warns(UnlabelledWarning, match=r"less likely.*at weight .* against .*left out"):
        model = GaussianNB(unlabelled=UnlabelledRows(weights=(0.3, 1.0))).fit(X, y)
    assert model.unlabelled_weight_ == 0
    known = np.array([label is not None for label in y])
    plain = GaussianNB().fit(X[known], y[known].astype(bool))
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-12)
    with pytest.warns(UnlabelledWarning, match="keep their weight 1"):
        given = GaussianNB(unlabelled=UnlabelledRows(weight=1.0)).fit(X, y)
    assert given.unlabelled_weight_ == 1
    assert (given.predict(X) == truth).mean() < (plain.predict(X) == truth).mean()


def test_sparse_counts_learn_from_all_documents() -> None:
    from scipy import sparse

    rng = np.random.default_rng(1)
    rates = rng.gamma(2.0, size=60) / 4 * np.exp(0.4 * rng.normal(size=(2, 60)))
    truth = np.arange(400) % 2
    X = rng.poisson(rates[truth])
    y = truth.astype(float)
    y[12:] = np.nan
    model = MultinomialNB(unlabelled="em").fit(sparse.csr_matrix(X), y)
    dense = MultinomialNB(unlabelled="em").fit(X, y)
    np.testing.assert_allclose(model.feature_log_prob_, dense.feature_log_prob_, rtol=1e-12)
    few = MultinomialNB().fit(X[:12], truth[:12])
    assert (model.predict(X) == truth).mean() > (few.predict(X) == truth).mean()


@pytest.mark.parametrize("chunks", [1, 2])
def test_a_missing_label_of_arrow_is_never_one_of_the_dictionary(chunks: int) -> None:
    part = pa.array(["a", "b", None, "a"]).dictionary_encode()
    y = pa.chunked_array([part] * chunks)
    _, codes = check_partial_classes(y, "Learner")
    assert codes.tolist() == [0, 1, -1, 0] * chunks
    with pytest.raises(MissingValuesError):
        GaussianNB().fit(np.zeros((4 * chunks, 1)), y)
