"""Mixed tables: the formula column by column, scales, unseen levels, positive semi-definiteness."""

from math import exp
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MissingValuesError, UnseenLevelWarning
from novum.core.tables import check_sample
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.vectors.delta import Delta
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.mixed import Mixed
from novum.kernels.vectors.polynomial import Polynomial
from novum.linear import LinearRegression
from tests.strategies.vector_kernels import assert_prepared_rows_agree

SIZES = ["small", "medium", "large"]
cells = st.tuples(
    st.integers(-4, 4).map(float), st.sampled_from("ab"), st.sampled_from(SIZES), st.integers(0, 3)
)
tables = st.lists(cells, min_size=1, max_size=7)


def frame(rows: list[Any]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["age", "color", "size", "count"])
    table["color"] = pd.Categorical(table["color"], ["a", "b"])
    table["size"] = pd.Categorical(table["size"], SIZES, ordered=True)
    return table


def similarity(x: Any, z: Any, combine: str, width: float = 2.0, mismatch: float = 0.0) -> float:
    """The formula: Gaussians of numbers and of ranks, equality of the rest."""
    squares = [(x[0] - z[0]) ** 2, ((SIZES.index(x[2]) - SIZES.index(z[2])) / 2) ** 2]
    squares.append((x[3] - z[3]) ** 2)
    parts = [exp(-square / (2 * width**2)) for square in squares]
    parts.append(1.0 if x[1] == z[1] else mismatch)
    return float(np.prod(parts) if combine == "product" else np.mean(parts))


@given(tables, st.sampled_from(["mean", "product"]), st.sampled_from([0.0, 0.3]))
def test_similarities_are_the_formula(rows: list[Any], combine: Any, mismatch: float) -> None:
    kernel = Mixed(Gaussian(2.0), Delta(mismatch), combine)
    expected = [[similarity(x, z, combine, mismatch=mismatch) for z in rows] for x in rows]
    np.testing.assert_allclose(kernel.gram(frame(rows)), expected, atol=1e-13)
    assert kernel.is_psd_by_construction
    assert np.linalg.eigvalsh(kernel.gram(frame(rows)))[0] > -1e-13 * len(rows)


@given(tables, tables, st.sampled_from(["mean", "product"]))
def test_prepared_rows_agree(rows: list[Any], new: list[Any], combine: Any) -> None:
    assert_prepared_rows_agree(Mixed(combine=combine), frame(rows), frame(new))


def test_any_kernel_of_vectors_serves_the_numbers() -> None:
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    np.testing.assert_allclose(Mixed(Linear()).gram(table), [[5.0, 7.0], [7.0, 10.0]])
    product = Mixed(Linear(), combine="product").gram(table)
    np.testing.assert_allclose(product, [[9.0, 24.0], [24.0, 64.0]])
    assert not Mixed(Polynomial(2, -1.0)).is_psd_by_construction


def test_frames_of_all_makes_and_checked_samples_agree() -> None:
    table = pd.DataFrame({"age": [1.0, 2.0, 4.0], "color": ["a", "b", "a"]})
    K = Mixed().gram(table)
    np.testing.assert_array_equal(Mixed().gram(pl.DataFrame(table)), K)
    np.testing.assert_array_equal(Mixed().gram(table.to_numpy()), K)
    sample = check_sample(LinearRegression(), table, target="none")
    np.testing.assert_array_equal(Mixed().gram(sample), K)


# --- Scales ---------------------------------------------------------------------------------------


def test_scales_make_units_irrelevant() -> None:
    table = pd.DataFrame({"age": [1.0, 2.0, 4.0], "income": [3.0, 9.0, 1.0], "color": list("aba")})
    other = table.assign(age=table["age"] * 1000 + 7)
    np.testing.assert_allclose(
        Mixed().adapted(table).gram(table), Mixed().adapted(other).gram(other), rtol=1e-12
    )
    scales = Mixed().adapted(table).scales
    assert scales is not None
    np.testing.assert_allclose(scales, table[["age", "income"]].std(ddof=0))


def test_a_column_without_spread_keeps_its_unit() -> None:
    assert Mixed().adapted([[0.1, "a"], [0.1, "b"], [0.1, "b"]]).scales == (1.0,)


def test_one_scale_for_each_numeric_column() -> None:
    with pytest.raises(InputError, match="has 2 scales, but the table has 1 numeric columns"):
        Mixed(scales=(1.0, 2.0)).gram([[1.0, "a"]])


# --- Bad input ------------------------------------------------------------------------------------


def test_unseen_nominal_levels_match_nothing_and_it_is_said() -> None:
    table = pd.DataFrame({"age": [1.0, 2.0], "color": ["a", "b"]})
    rows = Mixed().prepare(table)
    with pytest.warns(UnseenLevelWarning, match="Column 'color' has 1 cells"):
        new = Mixed().prepare(pd.DataFrame({"age": [1.0], "color": ["z"]}), rows)
    np.testing.assert_allclose(new.cross(rows), [[0.5, exp(-0.5) / 2]])


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
def test_unseen_ordinal_levels_have_no_rank() -> None:
    table = pd.DataFrame({"size": pd.Categorical(SIZES, SIZES, ordered=True)})
    new = pd.DataFrame({"size": pd.Categorical(["huge"], ["huge"], ordered=True)})
    rows = Mixed().prepare(table)
    with pytest.raises(InputError, match=r"Ordinal column 'size' has a level at row 0.*no rank"):
        Mixed().prepare(new, rows)


def test_missing_cells_are_refused() -> None:
    with pytest.raises(MissingValuesError, match="Mixed needs every cell"):
        Mixed().gram([[np.nan, "a"]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"numeric": Delta()}, "numeric kernel must be a kernel of vectors"),
        ({"nominal": Gaussian()}, r"nominal kernel must be Delta\(...\)"),
        ({"combine": "max"}, "combine='max' is not 'mean' or 'product'"),
        ({"scales": (0.0,)}, "A scale of Mixed must be a finite number above 0, got 0.0"),
    ],
)
def test_wrong_settings_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Mixed(**arguments)


def test_it_is_a_value() -> None:
    assert Mixed() == Mixed(Gaussian(1.0))
    assert len({Mixed(), Mixed(scales=(1, 2)), Mixed(scales=(1.0, 2.0))}) == 2


@pytest.mark.parametrize("combine", ["mean", "product"])
def test_the_contract_is_kept(combine: Any) -> None:
    rows = [(1.0, "a", "small", 3), (-2.5, "b", "large", 0), (0.0, "a", "medium", 1)]
    check_kernel_contract(Mixed(combine=combine), frame(rows * 3))
