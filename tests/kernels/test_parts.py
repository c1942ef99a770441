"""Kernels on parts: every container gives the same, direct sums, and parts that are not there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from novum.core.errors import InputError, UnseenLevelWarning
from novum.core.tables import check_sample
from novum.kernels.callables import FromCallable
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.parts import on, rows_of
from novum.kernels.protocol import Kernel
from novum.kernels.vectors.delta import Delta
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.mixed import Mixed
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.linear import LinearRegression
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import assert_prepared_rows_agree


def letters(a: str, b: str) -> float:
    return float(sum(x == y for x in a for y in b))


@dataclass
class Person:
    text: str
    age: float
    income: float


LETTERS = FromCallable(letters, form="pair", takes="objects", psd=True)
CELLS = [("ab", 1.0, 3.0), ("b", 2.0, 1.0), ("cab", 1.5, -2.0), ("", 0.0, 0.5)]
NAMES = ["text", "age", "income"]
FRAME = pd.DataFrame(CELLS, columns=NAMES)
BY_NAME = on("text", LETTERS) + 2.0 * on(["age", "income"], Gaussian(1.5)) * on("age", Linear())
BY_PLACE = on(0, LETTERS) + 2.0 * on([1, 2], Gaussian(1.5)) * on(1, Linear())


def expected() -> Any:
    """The same kernel, pair by pair."""
    gaussian = definitions.on((1, 2), definitions.gaussian(1.5))
    age = definitions.on((1,), definitions.linear)
    text = definitions.on(0, letters)
    kernel = definitions.added(text, definitions.scaled(2.0, definitions.multiplied(gaussian, age)))
    return definitions.cross(kernel, CELLS, CELLS)


@pytest.mark.parametrize(
    "objects",
    [
        FRAME,
        pl.DataFrame(FRAME),
        pa.Table.from_pandas(FRAME),
        rows_of(FRAME),
        [dict(zip(NAMES, cells, strict=True)) for cells in CELLS],
        [Person(*cells) for cells in CELLS],
    ],
)
def test_direct_sums_by_name(objects: Any) -> None:
    np.testing.assert_allclose(BY_NAME.gram(objects), expected(), rtol=1e-12)
    assert_prepared_rows_agree(BY_NAME, objects, objects[:2])


@pytest.mark.parametrize(
    "objects",
    [CELLS, list(map(list, CELLS)), FRAME, FRAME.to_numpy(), pl.DataFrame(FRAME)],
)
def test_direct_sums_by_position(objects: Any) -> None:
    np.testing.assert_allclose(BY_PLACE.gram(objects), expected(), rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.ndarray.tolist])
def test_columns_of_arrays(form: Any) -> None:
    X = np.random.default_rng(0).normal(size=(6, 4))
    kernel = on([2, 0], Polynomial(2, 1.0)) * on(-1, Linear())
    K = Polynomial(2, 1.0).gram(X[:, [2, 0]]) * Linear().gram(X[:, [3]])
    np.testing.assert_allclose(kernel.gram(form(X)), K, rtol=1e-12)


def test_positions_count_from_the_end_too() -> None:
    sample = check_sample(LinearRegression(), FRAME[["age", "income"]], target="none")
    for table in (FRAME, pl.DataFrame(FRAME), sample):
        np.testing.assert_allclose(on(-1, Linear()).diagonal(table), FRAME["income"] ** 2)


def test_a_vector_in_one_place_is_a_row() -> None:
    objects = [("a", np.array([1.0, 2.0])), ("b", np.array([0.0, 3.0]))]
    np.testing.assert_allclose(on(1, Linear()).gram(objects), [[5.0, 6.0], [6.0, 9.0]])


def test_several_parts_of_an_object_kernel_are_rows() -> None:
    pairs = FromCallable(lambda x, z: float(tuple(x) == tuple(z)), "pair", "objects")
    frames = (FRAME, rows_of(FRAME), [Person(*cells) for cells in CELLS])
    for objects in frames:
        np.testing.assert_array_equal(on(["text", "age"], pairs).gram(objects), np.eye(4))
    numbers = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 5.0]])
    np.testing.assert_array_equal(on([0, 1], pairs).gram(numbers), np.ones((2, 2)))


# --- Tables ---------------------------------------------------------------------------------------


TABLE = pd.DataFrame({"age": [1.0, 2.0, 1.0], "color": ["a", "b", "a"], "kind": ["u", "u", "v"]})


@pytest.mark.parametrize(
    "kernel",
    [
        on(["color", "kind"], Delta()),
        on("color", Delta()) * on("age", Gaussian()),
        on(["age", "color"], Mixed()),
        on([1], Delta()) + on([0], Linear()),
    ],
)
def test_a_checked_sample_tells_the_same_as_the_table(kernel: Kernel) -> None:
    assert kernel.takes == "table"
    sample = check_sample(LinearRegression(), TABLE, target="none")
    np.testing.assert_allclose(kernel.gram(sample), kernel.gram(TABLE), rtol=1e-14)
    rows, known = kernel.prepare(TABLE), kernel.prepare(sample)
    np.testing.assert_allclose(
        kernel.prepare(sample, rows).cross(rows), kernel.prepare(TABLE, known).cross(known)
    )


def test_nominal_columns_of_a_sample_are_coded_for_kernels_of_vectors() -> None:
    sample = check_sample(LinearRegression(), TABLE, target="none")
    K = on(["age", "color"], Linear()).gram(sample)
    np.testing.assert_array_equal(K, [[1, 2, 1], [2, 5, 2], [1, 2, 1]])


def test_cells_of_a_sample_serve_kernels_of_objects() -> None:
    sample = check_sample(LinearRegression(), TABLE, target="none")
    K = on("color", LETTERS).gram(sample)
    np.testing.assert_array_equal(K, [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    both = FromCallable(lambda x, z: float(x == z), "pair", "objects")
    np.testing.assert_array_equal(on(["age", "kind"], both).gram(sample), np.eye(3))


def test_texts_that_a_sample_has_lost_are_not_guessed() -> None:
    schema = check_sample(LinearRegression(), TABLE, target="none").schema
    new = TABLE.assign(color=["z", "a", "b"])
    sample = check_sample(LinearRegression(), new, target="none", schema=schema)
    with pytest.raises(InputError, match="'color' holds values that its schema does not list"):
        on("color", LETTERS).gram(sample)


def test_unseen_levels_are_said() -> None:
    kernel = on("color", Delta())
    rows = kernel.prepare(TABLE)
    with pytest.warns(UnseenLevelWarning, match="Column 'color' has 1 cells"):
        new = kernel.prepare(TABLE.assign(color=["z", "a", "b"]), rows)
    np.testing.assert_array_equal(new.cross(rows), [[0, 0, 0], [1, 0, 1], [0, 1, 0]])


# --- Promises -------------------------------------------------------------------------------------


def test_what_is_known_of_the_inner_kernel_is_known() -> None:
    assert on(0, Linear()).is_psd_by_construction
    assert not on(0, Sigmoid()).is_psd_by_construction
    assert on("text", LETTERS).takes == "objects"
    assert BY_NAME.takes == "objects"
    assert on(0, Gaussian()).feature_map is None
    assert on(["a", "b"], Linear()) == on(("a", "b"), Linear())
    assert on([0], Linear()) == on(np.array([0]), Linear())
    assert on(0, Linear()) != on([0], Linear())


def test_features_of_parts() -> None:
    kernel = on([0, 1], Polynomial(2)) + on("color", Delta()) * on(["age"], Linear())
    table = TABLE.assign(age=[1.0, 2.0, 4.0]).assign(height=[2.0, 1.0, 0.0])
    table = table[["age", "height", "color"]]
    assert kernel.feature_map is not None
    features = kernel.feature_map(table)
    np.testing.assert_allclose(features @ features.T, kernel.gram(table), rtol=1e-12)


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "objects", "message"),
    [
        ("hight", FRAME, r"on\('hight', ...\) finds no such column; the table has 'text', 'age'"),
        (7, FRAME, r"on\(7, ...\) finds no such column"),
        ("age", np.ones((2, 2)), r"X is an array with 2 columns, .* positions 0 to 1"),
        (2, np.ones((2, 2)), "finds no such column"),
        ("age", [{"age": 1.0}, {"old": 1}], "object 1 has the keys 'old'"),
        ("age", [(1.0,)], "object 0 is a tuple without such an attribute"),
        (3, [(1.0,)], "object 0 is a tuple without such a position"),
        (0, [Person("a", 1.0, 2.0)], "object 0 is a Person without such a position"),
        (0, [], "was given no objects"),
        (0, "text", "needs a table or a sequence of objects, got 'text'"),
        (0, {"a": 1}, "needs a table or a sequence of objects"),
    ],
)
def test_parts_that_are_not_there_are_named(part: Any, objects: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        on(part, Linear()).prepare(objects)


@pytest.mark.parametrize(
    ("part", "kernel", "message"),
    [
        ([], Linear(), "was given no part"),
        (["a", "a"], Linear(), "names a part twice: 'a', 'a'"),
        (1.5, Linear(), "was given the part 1.5"),
        ([True], Linear(), "was given the part True"),
        (0, "linear", "takes a kernel of novum.kernels, got 'linear'"),
    ],
)
def test_wrong_settings_are_refused(part: Any, kernel: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        on(part, kernel)


def test_new_objects_with_other_numbers_of_columns_are_refused() -> None:
    rows = on(1, Linear()).prepare([("a", [1.0, 2.0])])
    with pytest.raises(InputError, match="X has 1 features, but the training rows have 2 features"):
        on(1, Linear()).prepare([("a", [1.0])], rows)


def test_the_contract_is_kept() -> None:
    check_kernel_contract(BY_NAME, rows_of(FRAME))
    check_kernel_contract(BY_PLACE, CELLS * 2)
