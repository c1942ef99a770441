"""Kernels from functions: both conventions, and whatever a function can do wrong."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.svm import SVC

from novum.core.errors import InputError
from novum.kernels import callables
from novum.kernels.callables import FromCallable, read_objects, taken
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.vectors.linear import Linear
from novum.numerics import Floats
from tests.strategies.vector_kernels import assert_prepared_rows_agree, matrices

X = np.random.default_rng(0).normal(size=(50, 3))


def letters(a: str, b: str) -> float:
    """How many pairs of equal letters two words have."""
    return float(sum(x == y for x in a for y in b))


# --- Values ---------------------------------------------------------------------------------------


@given(matrices(), matrices())
def test_both_conventions_agree(A: Floats, B: Floats) -> None:
    whole = FromCallable(laplacian_kernel)
    single = FromCallable(lambda x, z: laplacian_kernel([x], [z])[0, 0], form="pair")
    np.testing.assert_allclose(whole.cross(A, B), single.cross(A, B), rtol=1e-14)
    np.testing.assert_allclose(whole.cross(A, B), laplacian_kernel(A, B), rtol=1e-14)
    for kernel in (whole, single):
        assert_prepared_rows_agree(kernel, A, B)


def test_what_scikit_learn_computes_with_the_same_function() -> None:
    y = (X[:, 0] > 0).astype(int)
    theirs = SVC(kernel=laplacian_kernel).fit(X, y)
    K = FromCallable(laplacian_kernel).cross(X, X[theirs.support_])
    np.testing.assert_allclose(
        K @ theirs.dual_coef_[0] + theirs.intercept_, theirs.decision_function(X), rtol=1e-9
    )


def test_objects_of_any_kind() -> None:
    kernel = FromCallable(letters, form="pair", takes="objects")
    np.testing.assert_array_equal(kernel.cross(["ab", ""], ["ba", "aab"]), [[2, 3], [0, 0]])
    assert_prepared_rows_agree(kernel, ["ab", "", "bb"], ["ba"])
    whole = FromCallable(
        lambda a, b: np.array([[letters(x, z) for z in b] for x in a]), takes="objects"
    )
    np.testing.assert_array_equal(whole.gram(["ab", "c"]), [[2, 0], [0, 1]])


def test_the_diagonal_needs_no_whole_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def linear(A: Floats, B: Floats) -> Floats:
        sizes.append((len(A), len(B)))
        return A @ B.T

    monkeypatch.setattr(callables, "DIAGONAL_BLOCK", 16)
    diagonal = FromCallable(linear).diagonal(X)
    np.testing.assert_allclose(diagonal, Linear().diagonal(X))
    assert max(sizes) == (16, 16)


def test_results_may_be_overwritten() -> None:
    kept = np.eye(3)
    rows = FromCallable(lambda A, B: kept).prepare(X[:3])  # noqa: ARG005
    rows.cross(rows)[...] = 7.0
    np.testing.assert_array_equal(kept, np.eye(3))


def test_the_promise_is_the_users() -> None:
    assert not FromCallable(letters).is_psd_by_construction
    assert FromCallable(letters, psd=True).is_psd_by_construction
    assert FromCallable(letters).takes == "vectors"
    assert FromCallable(letters) == FromCallable(letters)
    assert hash(FromCallable(letters)) == hash(FromCallable(letters))
    text = "FromCallable(letters, form='pair', takes='vectors', psd=False)"
    assert repr(FromCallable(letters, "pair")) == text


# --- Objects --------------------------------------------------------------------------------------


def test_objects_are_read_and_taken() -> None:
    objects = read_objects(iter(["a", "b", "c"]), "K")
    assert taken(objects, slice(1, None)) == ("b", "c")
    assert taken(objects, [2, 0]) == ("c", "a")
    assert taken(objects, np.array([True, False, True])) == ("a", "c")
    assert read_objects(pd.Series(["x"]), "K") == ("x",)


@pytest.mark.parametrize("wrong", ["word", b"word", 7, None])
def test_a_single_object_is_no_sequence(wrong: Any) -> None:
    with pytest.raises(InputError, match="K compares the objects of a sequence, got"):
        read_objects(wrong, "K")


def test_no_objects_are_refused() -> None:
    with pytest.raises(InputError, match="K was given no objects"):
        read_objects([], "K")


# --- What functions do wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            np.zeros(2),
            r"'wrong' returned shape \(2,\) for 2 and 2 objects; it must return",
        ),
        (np.zeros((2, 3)), r"returned shape \(2, 3\).*say form='pair'"),
        (1.0, r"returned shape \(\)"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "returned nan for objects 0 and 1"),
        (np.array([[1.0, 0.0], [-np.inf, 1.0]]), "returned -inf for objects 1 and 0"),
        (np.array([["a", "b"], ["c", "d"]]), "similarities must be real numbers"),
        (np.eye(2) * 1j, "returned complex128 entries"),
        (np.array([[1.0, 0.0], [0.5, 1.0]]), r"'wrong' returned is not symmetric: entry \(0, 1\)"),
    ],
)
def test_wrong_matrices_are_refused(result: Any, message: str) -> None:
    def wrong(A: Any, B: Any) -> Any:  # noqa: ARG001
        return result

    with pytest.raises(InputError, match=message):
        FromCallable(wrong).gram(X[:2])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.zeros((2, 2)), r"must return one number .* returned ndarray of shape \(2, 2\)"),
        ("text", "but returned str"),
        (None, "but returned NoneType"),
        (np.nan, "returned nan for the pair 'a', 'a'"),
    ],
)
def test_wrong_numbers_are_refused(result: Any, message: str) -> None:
    def wrong(a: Any, b: Any) -> Any:  # noqa: ARG001
        return result

    with pytest.raises(InputError, match=message):
        FromCallable(wrong, form="pair", takes="objects").gram(["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rbf",), "needs a function of two arguments, got 'rbf'"),
        ((max, "rows"), "form='rows' is not one of 'matrix'"),
        ((max, "pair", "table"), "takes='table' is not one of 'vectors' and 'objects'"),
    ],
)
def test_wrong_settings_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FromCallable(*arguments)


def test_the_contract_is_kept() -> None:
    check_kernel_contract(FromCallable(laplacian_kernel, psd=True), X[:8])
    check_kernel_contract(
        FromCallable(letters, "pair", "objects", psd=True), ["ab", "", "ab", "bbc", "a" * 50]
    )
