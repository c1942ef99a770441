"""Reading objects of every kind: what counts, what is equal, what is kept, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables import Sample
from novum.kernels.precomputed import Precomputed
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.mixed import Mixed
from novum.svm.classifier import SVC
from novum.svm.objects import (
    SparseVectors,
    as_prepared_input,
    is_pairwise,
    kept_objects,
    read_new,
    read_training,
    takes_of,
)

X = np.array([[1.0, 2.0], [3.0, 5.0], [1.0, 2.0], [0.0, 7.0]])
Y = np.array([0, 1, 0, 1])


def read(model: Any, X: Any, y: Any, weight: Any = None) -> Any:
    return read_training(model, X, y, weight, "classes")


def test_equal_rows_are_one_object_of_their_weight() -> None:
    sample = read(SVC(), X, Y, [1.0, 2.0, 3.0, 0.0])
    assert sorted(sample.weight.tolist()) == [2.0, 4.0]
    assert sample.rows.tolist() == [0, 1, 2]
    assert sample.n_rows == 4
    np.testing.assert_array_equal(sample.objects[sample.group], X[:3])


def test_shares_fall_to_rows_by_their_weight() -> None:
    sample = read(SVC(), X, Y, [1.0, 2.0, 3.0, 0.0])
    values = np.zeros(2)
    values[sample.group[0]] = 8.0
    assert sample.to_rows(values).tolist() == [2.0, 0.0, 6.0]


def test_equal_rows_of_other_classes_stay_apart() -> None:
    assert len(read(SVC(), X, [0, 1, 1, 1]).weight) == 4


def test_a_scalar_weight_is_every_rows() -> None:
    sample = read(SVC(), X, Y, 2.0)
    assert sample.n_rows == 4
    assert sample.row_weight.tolist() == [2.0] * 4


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_gamma_counts_rows_as_often_as_they_weigh(form: Any) -> None:
    weight = [1, 2, 3, 0]
    weighted = read(SVC(), form(X), Y, weight).kernel
    repeated = read(SVC(), form(np.repeat(X, weight, axis=0)), np.repeat(Y, weight)).kernel
    assert isinstance(weighted, Gaussian)
    cells = np.repeat(X, weight, axis=0)
    assert weighted.gamma == pytest.approx(1 / (2 * cells.var()))
    assert repeated.gamma == weighted.gamma


def test_rows_without_spread_have_gamma_one() -> None:
    sample = read(SVC(), np.ones((4, 2)), Y, [1, 2, 1, 2])
    assert sample.kernel.gamma == pytest.approx(1.0)


def test_nominal_columns_are_coded_for_kernels_of_vectors() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "color": ["red", "blue", "red"]})
    model = SVC()
    sample = read(model, frame, [0, 1, 1])
    assert sample.objects.shape == (3, 2)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["size", "color"]


def test_tables_stay_tables_for_kernels_of_tables() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "color": ["red", "blue", "red"]})
    sample = read(SVC(kernel=Mixed()), frame, [0, 1, 1])
    assert isinstance(sample.objects, Sample)
    kept = sample.objects_of_rows(np.array([0]))
    assert kept.n_rows == 1
    assert kept.target is None


def test_rows_of_a_table_are_equal_in_numbers_and_levels() -> None:
    frame = pd.DataFrame({"size": [1.0, 1.0, 1.0], "color": ["red", "blue", "red"]})
    sample = read(SVC(kernel=Mixed()), frame, [0, 0, 0])
    assert sample.group[0] == sample.group[2]
    assert len(sample.weight) == 2
    assert len(set(sample.kinds.tolist())) == 2


@pytest.mark.parametrize(
    "words",
    [
        ["ab", "bc", "ab"],
        pd.Series(["ab", "bc", "ab"]),
        pl.Series(["ab", "bc", "ab"]),
        np.array(["ab", "bc", "ab"]),
    ],
)
def test_objects_come_as_any_sequence_and_keep_their_order(words: Any) -> None:
    sample = read(SVC(kernel=Spectrum(1)), words, ["u", "v", "u"], [1.0, 1.0, 0.0])
    assert sample.objects == ("ab", "bc")
    assert sample.rows.tolist() == [0, 1]
    assert sample.objects_of_rows(np.array([1])) == ("bc",)


def test_frames_are_rows_for_kernels_of_objects() -> None:
    frame = pd.DataFrame({"word": ["ab", "bc"], "size": [1, 2]})
    sample = read(SVC(kernel=Spectrum(1)), frame, [0, 1])
    assert sample.objects[0] == {"word": "ab", "size": 1}


@pytest.mark.parametrize(
    ("objects", "y", "message"),
    [
        ("word", [0], "needs a sequence of them, got X of type str"),
        (3, [0], "got X of type int"),
        ([], [], "0 sample"),
        (["a", "b"], [0], "X has 2 objects, but y has 1"),
        (["a", "b"], None, "requires y to be passed"),
    ],
)
def test_no_sequence_of_objects(objects: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(SVC(kernel=Spectrum(1)), objects, y)


def test_similarities_of_training_are_square() -> None:
    with pytest.raises(InputError, match=r"must be a square matrix.* 2x3 matrix"):
        read(SVC(kernel="precomputed"), np.ones((2, 3)), [0, 1])


def test_similarities_without_rows_of_weight_zero() -> None:
    K = X @ X.T
    sample = read(SVC(kernel="precomputed"), K, Y, [1.0, 0.0, 1.0, 1.0])
    np.testing.assert_array_equal(sample.prepared.gram(), K[np.ix_([0, 2, 3], [0, 2, 3])])
    assert sample.objects_of_rows(np.array([0])) is None


def test_a_class_that_only_rows_of_weight_zero_have_is_gone() -> None:
    sample = read(SVC(kernel="precomputed"), X @ X.T, [0, 1, 2, 2], [1.0, 0.0, 1.0, 1.0])
    assert sample.classes.tolist() == [0, 2]
    assert sample.target.tolist() == [0, 1, 1]


def test_new_similarities_have_a_column_for_each_training_object() -> None:
    model = SVC(kernel="precomputed").fit(X @ X.T, Y)
    with pytest.raises(InputError, match="X has 3 features, but SVC is expecting 4 features"):
        read_new(model, np.ones((2, 3)))


def test_sparse_rows_are_kept_as_a_value() -> None:
    matrix = sparse.csr_matrix(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]))
    kept = kept_objects(matrix, np.array([2, 0]))
    assert isinstance(kept, SparseVectors)
    np.testing.assert_array_equal(as_prepared_input(kept).toarray(), [[0.0, 3.0], [0.0, 1.0]])


def test_sparse_rows_of_a_file_must_be_rows() -> None:
    with pytest.raises(ValueError, match="ind"):
        SparseVectors(np.ones(1), np.array([5]), np.array([0, 1]), 2)


def test_what_a_kernel_takes() -> None:
    assert [is_pairwise(kernel) for kernel in ("precomputed", Precomputed(), "rbf")] == [
        True,
        True,
        False,
    ]
    assert [takes_of(kernel) for kernel in ("rbf", Spectrum(2), Mixed())] == [
        "vectors",
        "objects",
        "table",
    ]
