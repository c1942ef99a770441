"""What kernel learners share: sums against their definition, blocks, precision, files, tags."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.core.files import describe, load, save
from novum.kernels.callables import FromCallable
from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman
from novum.kernels.parts import on
from novum.kernels.precomputed import Precomputed
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.validity import IndefiniteKernelError
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.mixed import Mixed
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.svm import kernel_machine
from novum.svm.classifier import SVC, NuSVC
from novum.svm.kernel_machine import expand
from novum.svm.novelty import SVDD, OneClassSVM
from novum.svm.regression import SVR
from novum.svm.ridge.kernel_ridge import KernelRidge
from tests.svm.machine_tables import MEMBERS, as_files, blobs, strings, table_for


def mixed_frame() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    color = rng.choice(["blue", "green", "red"], 40)
    return pd.DataFrame({"size": rng.uniform(-1, 1, 40), "color": color}), (color == "red") * 1


# --- Sums -----------------------------------------------------------------------------------------


def test_expansions_are_sums_of_similarities(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    support, new = rng.normal(size=(7, 3)), rng.normal(size=(11, 3))
    kernel, coefficients = Gaussian(1.3), rng.normal(size=(2, 7))
    rows = kernel.prepare(support)
    expected = kernel.cross(new, support) @ coefficients.T
    for entries in (1, 20, 10**6):
        monkeypatch.setattr(kernel_machine, "BLOCK_ENTRIES", entries)
        found = expand(kernel.prepare(new, rows), rows, coefficients)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
        parts = expand(kernel.prepare(new, rows), rows, coefficients, np.float64, (0, 3, 3, 7))
        assert parts.shape == (11, 3, 2)
        np.testing.assert_allclose(parts.sum(axis=1), expected, rtol=1e-12, atol=1e-13)
        assert (parts[:, 1] == 0).all()


def test_nothing_is_the_sum_over_no_support() -> None:
    rows = Linear().prepare(np.ones((2, 1)))
    assert expand(rows, rows.take(slice(0, 0)), np.zeros((1, 0))).tolist() == [[0.0], [0.0]]


def test_large_supports_are_summed_in_single_precision_within_their_error() -> None:
    X, y = blobs(1400, spread=6.0)
    model = SVC().fit(X, y)
    assert len(model.support_) > kernel_machine.SINGLE_SUPPORT
    assert model._score_type is np.float32
    exact = expand(model._prepared_new(X), model._support, model.expansion_)
    found = model._scores(X)
    assert 0 < np.abs(found - exact).max() < kernel_machine.SINGLE_ERROR
    # So large coefficients would lose too many digits.
    model.expansion_ = 1e4 * model.expansion_
    assert model._score_type is np.float64


# --- Kernels --------------------------------------------------------------------------------------


def test_precomputed_similarities_give_the_model_of_their_kernel() -> None:
    X, y = blobs(40)
    kernel = Gaussian(1.5)
    direct = SVC(kernel=kernel, tol=1e-9).fit(X, y)
    given = SVC(kernel="precomputed", tol=1e-9).fit(kernel.gram(X), y)
    assert given.support_.tolist() == direct.support_.tolist()
    new = X[:7] + 0.3
    np.testing.assert_allclose(
        given.decision_function(kernel.cross(new, X)), direct.decision_function(new), atol=1e-4
    )
    assert given.support_vectors_.shape == (0, 0)


@pytest.mark.parametrize(
    "kernel", [lambda A, B: A @ B.T, FromCallable(lambda a, b: float(a @ b), "pair")]
)
def test_functions_are_kernels(kernel: Any) -> None:
    X, y = blobs(30)
    expected = SVC(kernel="linear", tol=1e-9).fit(X, y).decision_function(X)
    np.testing.assert_allclose(
        SVC(kernel=kernel, tol=1e-9).fit(X, y).decision_function(X), expected, atol=1e-4
    )


def test_sparse_rows_give_the_model_of_dense_ones() -> None:
    X, y = blobs(40)
    X[np.abs(X) < 0.5] = 0.0
    dense, compressed = (SVC(tol=1e-9).fit(form(X), y) for form in (np.asarray, sparse.csr_matrix))
    assert sparse.issparse(compressed.support_vectors_)
    np.testing.assert_array_equal(compressed.support_vectors_.toarray(), dense.support_vectors_)
    for form in (np.asarray, sparse.csr_matrix, sparse.csc_array):
        np.testing.assert_allclose(
            compressed.decision_function(form(X)), dense.decision_function(X), atol=1e-5
        )


@pytest.mark.parametrize("learner", [SVC, NuSVC, SVR, OneClassSVM, KernelRidge, SVDD])
def test_what_is_computed_from_a_model_cannot_be_written_into(learner: Any) -> None:
    X, y = blobs(60, 3)
    model = learner(kernel="linear").fit(X + 10.0, y)
    computed = [model.center_ if learner is SVDD else model.coef_]
    if learner in (SVC, NuSVC):
        computed += [model.dual_coef_, model.intercept_]
    for values in computed:
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0.0


def test_indefinite_kernels_are_refused_or_projected() -> None:
    K = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.9], [0.1, 0.9, 1.0]])
    y = [0, 1, 1]
    with pytest.raises(IndefiniteKernelError):
        SVC(kernel="precomputed").fit(K, y)
    with pytest.raises(IndefiniteKernelError):
        SVC(kernel="precomputed").fit(-np.eye(4), [0, 1, 0, 1])
    model = SVC(kernel="precomputed", indefinite="project", C=10.0, tol=1e-9).fit(K, y)
    values, vectors = np.linalg.eigh(K)
    nearest = (vectors * np.maximum(values, 0)) @ vectors.T
    same = SVC(kernel="precomputed", C=10.0, tol=1e-9).fit(nearest, y)
    np.testing.assert_allclose(
        model.decision_function(K), same.decision_function(nearest), atol=1e-4
    )


def test_projected_kernels_of_many_classes() -> None:
    X, y = blobs(45, 3)
    model = SVC(kernel=Sigmoid(0.5, 1.0), indefinite="project").fit(X, y)
    # Each of the three machines has a coefficient for every row.
    assert model.dual_coef_.shape == (3, 45)
    assert model.score(X, y) > 0.5
    assert model.decision_function(X).shape == (45, 3)


def test_a_sphere_of_an_indefinite_kernel_has_no_distances() -> None:
    with pytest.raises(ValueError, match="'indefinite' parameter of SVDD"):
        SVDD(kernel="sigmoid", indefinite="project").fit(blobs()[0])


# --- Objects --------------------------------------------------------------------------------------


def test_strings_with_unseen_symbols_and_empty_ones() -> None:
    words, y = strings()
    model = SVC(kernel=Spectrum(2)).fit([*words, ""], [*y, "late"])
    assert model.predict(words[:4]).tolist() == y[:4]
    # Nothing is shared with any support vector, so that the bias alone decides.
    values = model.decision_function(["", "zzzz", "§§"])
    np.testing.assert_allclose(values, model.intercept_[0])


def test_graphs_and_the_empty_one() -> None:
    paths = [Graph([(i, i + 1) for i in range(n)]) for n in range(2, 8)]
    cycles = [Graph([(i, (i + 1) % n) for i in range(n)]) for n in range(3, 9)]
    y = ["path"] * 6 + ["cycle"] * 6
    model = SVC(kernel=WeisfeilerLehman(iterations=3)).fit([*paths, *cycles], y)
    assert model.score([*paths, *cycles], y) == 1.0
    empty = model.decision_function([Graph([], labels=[])])
    np.testing.assert_allclose(empty, model.intercept_)


def test_sums_over_different_spaces_of_a_frame() -> None:
    words = ["abc", "abd", "xyz", "xyw"] * 3
    frame, y = pd.DataFrame({"name": words, "age": np.arange(12.0)}), [0, 0, 1, 1] * 3
    model = SVC(kernel=on("name", Spectrum(2)) + on(["age"], Gaussian(3.0))).fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert set(model.support_vectors_[0]) == {"name", "age"}


def test_tables_with_kinds() -> None:
    frame, y = mixed_frame()
    assert SVC(kernel=Mixed(), C=10.0).fit(frame, y).score(frame, y) == 1.0


def test_missing_cells_are_refused_with_learners_that_take_them() -> None:
    X, y = blobs(20)
    X[3, 1] = np.nan
    with pytest.raises(
        MissingValuesError, match=r"'x1' \(1, first at row 3\).*RandomForestClassifier"
    ):
        SVC().fit(X, y)


@pytest.mark.filterwarnings("ignore::novum.svm.solver.vanishing.VanishingMarginWarning")
@pytest.mark.parametrize("cls", MEMBERS)
def test_rows_that_are_all_equal(cls: Any) -> None:
    X = np.ones((10, 2))
    model = cls().fit(X, np.arange(10) % 2)
    assert model.certificate_.converged
    assert len(set(model.predict(X).tolist())) == 1


def test_duplicates_with_different_labels_have_no_margin_but_a_model() -> None:
    model = SVC().fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert np.abs(model.decision_function([[0.5]])).max() <= 1.0
    with pytest.raises(InputError, match="C=inf"):
        SVC(C=np.inf).fit([[0.0], [0.0]], [0, 1])


# --- Models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SVC(), SVR(), SVDD(C=0.2)])
def test_only_the_support_matters(model: Any) -> None:
    # Members with a share `nu` are left out: it counts the rows.
    X, y = table_for(type(model))
    model = model.set_params(tol=1e-10, kernel=Gaussian(1.0)).fit(X, y)
    again = clone(model).fit(X[model.support_], y[model.support_])
    assert len(model.support_) < len(X)
    scores = "decision_function" if hasattr(model, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(again, scores)(X), getattr(model, scores)(X), atol=1e-4)


@pytest.mark.parametrize(
    ("kernel", "table"),
    [
        ("rbf", blobs(40)),
        ("rbf", (sparse.csr_matrix(blobs(40)[0]), blobs(40)[1])),
        (Mixed(), mixed_frame()),
        (Spectrum(2), strings()),
        ("precomputed", (Gaussian(1.0).gram(blobs(40)[0]), blobs(40)[1])),
    ],
    ids=["vectors", "sparse", "table", "strings", "precomputed"],
)
def test_files_and_pickles_keep_every_bit(kernel: Any, table: Any, tmp_path: Path) -> None:
    X, y = table
    model = SVC(kernel=kernel, probability=True).fit(X, y)
    expected = model.decision_function(X)
    path = tmp_path / "model.novum"
    with as_files():
        save(model, path)
        restored = load(path)
        assert describe(path)["holds_training_rows"]
    for other in (restored, pickle.loads(pickle.dumps(model))):
        assert other.decision_function(X).tobytes() == expected.tobytes()
        assert other.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
        assert other.certificate_ == model.certificate_


def test_a_file_whose_parts_do_not_fit_is_refused() -> None:
    model = SVC().fit(*blobs(20))
    model.expansion_ = model.expansion_[:, :-1]
    with pytest.raises(ModelFileError, match="support objects do not fit"):
        model._check_state()
    other = SVR().fit(*table_for(SVR))
    other.support_ = other.support_[:-1]
    other.expansion_ = other.expansion_[:, :-1]
    with pytest.raises(ModelFileError, match="objects are kept"):
        other._check_state()


@pytest.mark.parametrize(
    ("learner", "name", "change"),
    [(KernelRidge, "expansion_", lambda c: c[:0]), (SVR, "expansion_", lambda c: c[:0]),
     (SVDD, "expansion_", lambda c: c[:0]), (OneClassSVM, "expansion_", np.isnan),
     (SVR, "expansion_", lambda c: c * np.inf), (SVR, "intercept_", lambda b: b[:0]),
     (OneClassSVM, "offset_", lambda b: b * np.nan), (SVDD, "center_norm_", lambda b: b + 1e200),
     (SVR, "support_", lambda s: s + 999), (SVR, "shape_fit_", lambda s: s[:1]),
     (SVC, "n_support_", lambda c: c[:1]), (SVC, "n_support_", lambda c: c + 1)],
)  # fmt: skip
def test_files_with_changed_machines_are_refused(
    learner: Any, name: str, change: Any, tmp_path: Path
) -> None:
    X, y = blobs(12)
    model = learner().fit(X, np.unique(y, return_inverse=True)[1].astype(float))
    setattr(model, name, change(getattr(model, name)))
    save(model, tmp_path / "m.novum")
    with pytest.raises(ModelFileError):
        load(tmp_path / "m.novum")


def test_functions_are_not_written_to_files(tmp_path: Path) -> None:
    X, y = blobs(20)
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with as_files(), pytest.raises(ModelFileError, match="cannot be written"):
        save(model, tmp_path / "model.novum")


def test_tags_follow_the_kernel() -> None:
    tags = {
        name: get_tags(SVC(kernel=kernel)).input_tags
        for name, kernel in {
            "rbf": "rbf",
            "given": "precomputed",
            "value": Precomputed(),
            "words": Spectrum(1),
        }.items()
    }
    assert [tags[name].pairwise for name in tags] == [False, True, True, False]
    assert [tags[name].sparse for name in tags] == [True, False, False, False]
    assert not tags["words"].two_d_array


def test_nothing_is_predicted_before_a_fit() -> None:
    with pytest.raises(NotFittedError):
        SVC().predict([[1.0]])


def test_a_second_fit_forgets_the_first() -> None:
    X, y = blobs(40)
    model = SVC().fit(10 * X, y)
    assert (
        model.fit(X, y).decision_function(X).tobytes()
        == clone(model).fit(X, y).decision_function(X).tobytes()
    )


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame])
def test_missing_similarities_are_named_as_such(form: Any) -> None:
    K = np.eye(4)
    model = SVC(kernel="precomputed").fit(form(K), [0, 0, 1, 1])
    K[1, 2] = np.nan
    for call in (
        lambda: SVC(kernel="precomputed").fit(form(K), [0, 0, 1, 1]),
        lambda: model.predict(form(K)),
    ):
        with pytest.raises(MissingValuesError, match="row 1, column 2") as raised:
            call()
        assert "trees" not in str(raised.value)
