"""Linear models of nodes: normal equations, the greedy definition, and hard designs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.linear import LinearRegression
from novum.numerics import Floats
from novum.trees.model_trees.model_tree_lines import (
    MOST_LEVELS,
    DesignColumns,
    columns_below,
    fitted_models,
)
from novum.trees.model_trees.model_tree_lines_kernels import simplified, sweep
from novum.trees.model_trees.model_tree_models import NodeModels
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.training import CellRows
from novum.trees.tree import Tree, single_leaf
from tests.strategies.tree_tables import training_tables
from tests.trees.model_tree_definition import Rows, design, node_rows


def rows_of(
    cells: Floats, targets: Floats, weight: Floats | None = None, schema: Schema | None = None
) -> CellRows:
    schema = Schema.of_array(cells.shape[1]) if schema is None else schema
    weight = np.ones(len(cells)) if weight is None else weight
    return CellRows(schema, cells, targets.reshape(len(cells), -1), weight, None)


def root_model(rows: CellRows) -> NodeModels:
    """The model of all rows, with every column."""
    tree = single_leaf(rows.schema, None, np.zeros(rows.targets.shape[1]), rows.weight.sum())
    return fitted_models(tree, np.ones((1, rows.schema.n_columns), bool), rows)


def grown(rows: CellRows, **parameters: object) -> Tree:
    return DecisionTreeRegressor(**parameters)._grown(rows, np.random.SeedSequence(0))


# --- Sweeping -------------------------------------------------------------------------------------


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_sweeping_gives_inverse_coefficients_and_error_and_takes_them_back(
    d: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(d + 9, d)), rng.normal(size=(d + 9, 2))
    c, cross = x.T @ x, x.T @ y
    g, b = c.copy(), cross.copy()
    fall = sum(sweep(g, b, k, 1.0) for k in rng.permutation(d))
    np.testing.assert_allclose(-g, np.linalg.inv(c), rtol=1e-7, atol=1e-9)
    exact, left = np.linalg.lstsq(x, y, rcond=None)[:2]
    np.testing.assert_allclose(b, exact, rtol=1e-7, atol=1e-9)
    assert (y**2).sum() - fall == pytest.approx(left.sum(), rel=1e-9)
    rise = sum(sweep(g, b, k, -1.0) for k in rng.permutation(d))
    np.testing.assert_allclose(g, c, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(b, cross, rtol=1e-6, atol=1e-8)
    assert rise == pytest.approx(-fall, rel=1e-6)


@given(st.integers(1, 5), st.integers(12, 30), st.integers(0, 2**32 - 1))
def test_the_columns_that_stay_are_those_of_the_greedy_definition(
    d: int, n: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = (x @ rng.choice([0.0, 0.3, 2.0], (d, 1)) + rng.normal(size=(n, 1))).reshape(n, 1)
    rows = Rows.of(x, y, np.ones(n))
    size = np.sqrt((rows.x**2).sum(axis=0))
    unit = rows.x / size
    inside = np.ones(d, bool)
    g, b = np.empty((d, d)), np.empty((d, 1))
    total = float((rows.y**2).sum())
    count = simplified(unit.T @ unit, unit.T @ rows.y, total, float(n), inside, g, b)
    expected = rows.simplified(list(range(d)))
    assert np.flatnonzero(inside).tolist() == sorted(expected)
    assert count == len(expected)


# --- Models of nodes ------------------------------------------------------------------------------


@given(training_tables(target="numbers", max_targets=2, min_rows=6), st.booleans())
def test_every_model_solves_the_normal_equations_of_its_node(table, everywhere: bool) -> None:
    rows = CellRows(table.schema, table.cells, table.targets, table.weight, None)
    tree = grown(rows, min_samples_leaf=2, max_bins=None)
    usable = columns_below(tree) | everywhere
    models = fitted_models(tree, usable, rows)
    full, keys = design(rows.schema, rows.cells)
    for node in range(tree.n_nodes):
        chosen, weight = node_rows(tree, rows, node)
        here = Rows.of(full[chosen], rows.targets[chosen], weight)
        terms = slice(int(models.start[node]), int(models.start[node + 1]))
        pairs = zip(models.column[terms].tolist(), models.level[terms].tolist(), strict=True)
        kept = [keys.index(pair) for pair in pairs]
        assert all(usable[node, keys[k][0]] for k in kept)
        left = here.y - here.x[:, kept] @ models.coefficient[terms]
        scale = np.abs(rows.targets).max() * weight.sum() + 1.0
        assert np.abs((weight[:, np.newaxis] * here.x[:, kept]).T @ left).max(initial=0) < (
            1e-11 * scale * 5
        )
        mean = weight @ rows.targets[chosen] / weight.sum()
        np.testing.assert_allclose(models.base[node], mean, rtol=1e-12, atol=1e-13)
        found = float(np.sqrt((weight[:, np.newaxis] * left**2).sum() / weight.sum()))
        assert models.error[node] == pytest.approx(found, rel=1e-9, abs=1e-12)
        spread = float(np.sqrt(here.squares([]) / weight.sum()))
        assert models.deviation[node] == pytest.approx(spread, rel=1e-9, abs=1e-12)
        assert not kept or weight.sum() * (1 + 1e-9) >= 2 * (len(kept) + 1)


def test_models_use_only_columns_asked_below() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(200, 3))
    rows = rows_of(x, np.where(x[:, 0] > 0.5, 10 * x[:, 1], -10 * x[:, 2]))
    tree = grown(rows, max_depth=2)
    below = columns_below(tree)
    for node in range(tree.n_nodes):
        asked = {int(tree.column[k]) for k in tree.walk(node) if not tree.is_leaf(k)}
        assert set(np.flatnonzero(below[node]).tolist()) == asked
    models = fitted_models(tree, below, rows)
    assert (models.n_terms[tree.question == 0] == 0).all()


def test_the_model_of_all_rows_is_linear_regression() -> None:
    rng = np.random.default_rng(1)
    x, weight = rng.normal(size=(60, 4)), rng.uniform(0.5, 3, 60)
    y = x @ [3.0, -2.0, 1.0, 5.0] + 7 + 0.1 * rng.normal(size=60)
    model = root_model(rows_of(x, y, weight)).of(0)
    exact = LinearRegression().fit(x, y, weight)
    assert model.intercept == pytest.approx(exact.intercept_, rel=1e-12)
    np.testing.assert_allclose(list(model.coefficients.values()), exact.coef_, rtol=1e-12)


def test_levels_are_coded_against_the_first() -> None:
    rng = np.random.default_rng(2)
    schema = Schema((Column("size"), Column("color", Kind.NOMINAL, ("blue", "green", "red"))))
    cells = np.column_stack([rng.normal(size=90), np.arange(90) % 3])
    y = 2 * cells[:, 0] + np.array([1.0, 4.0, -5.0])[cells[:, 1].astype(int)]
    model = root_model(rows_of(cells, y, schema=schema)).of(0)
    assert model.intercept == pytest.approx(1.0)
    expected = {"size": 2.0, "color=green": 3.0, "color=red": -6.0}
    assert model.coefficients == pytest.approx(expected)
    assert DesignColumns.of(schema).level.tolist() == [-1, 1, 2]


def test_columns_of_very_many_levels_are_left_to_the_tree() -> None:
    levels = tuple(f"{k:03}" for k in range(MOST_LEVELS + 1))
    schema = Schema((Column("id", Kind.NOMINAL, levels), Column("id2", Kind.NOMINAL, levels[:-1])))
    assert set(DesignColumns.of(schema).owner.tolist()) == {1}


# --- Hard designs ---------------------------------------------------------------------------------


def test_columns_that_others_explain_are_left_out_the_later_first() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 2))
    cells = np.column_stack([x, x[:, 0] + x[:, 1], x[:, 0] * 3 - 1, np.full(50, 4.1)])
    y = x @ [2.0, -1.0] + 0.01 * rng.normal(size=50)
    models = root_model(rows_of(cells, y))
    assert models.n_terms[0] == 2
    fit = LinearRegression().fit(x, y).predict(x)
    found = models.of(0)
    said = found.intercept + sum(
        value * cells[:, int(name[1:])] for name, value in found.coefficients.items()
    )
    np.testing.assert_allclose(said, fit, rtol=1e-9, atol=1e-9)
    assert root_model(rows_of(cells[:, [0, 0, 1]], y)).names == ("x0", "x2")


@pytest.mark.parametrize("near", [1e-1, 1e-2, 1e-3, 3e-5])
def test_nearly_collinear_columns_keep_their_digits(near: float) -> None:
    # Rounding of the cells alone moves a coefficient by 1e-16 / near; products alone, without the
    # correction by residuals, would by 1e-16 / near^2.
    rng = np.random.default_rng(4)
    u, v = rng.normal(size=(2, 80))
    cells = np.column_stack([u, u + near * v])
    y = 3 * u - 2 * cells[:, 1]
    found = root_model(rows_of(cells, y)).of(0).coefficients
    np.testing.assert_allclose([found["x0"], found["x1"]], [3.0, -2.0], rtol=1e-14 / near)


def test_offsets_and_units_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(100, 3))
    y = x @ [1.0, 2.0, 3.0] + rng.normal(size=100)
    plain = root_model(rows_of(x, y)).of(0)
    units = np.array([2.0**400, 2.0**-400, 2.0**27])
    scaled = root_model(rows_of(x * units, y * 2.0**300)).of(0)
    for k, unit in enumerate(units):
        name = f"x{k}"
        assert scaled.coefficients[name] * unit / 2.0**300 == pytest.approx(
            plain.coefficients[name], rel=1e-12
        )
    moved = root_model(rows_of(x + 1e8, y)).of(0)
    assert list(moved.coefficients.values()) == pytest.approx(
        list(plain.coefficients.values()), rel=1e-6
    )


def test_a_coefficient_beyond_double_precision_names_its_column() -> None:
    x = np.arange(20.0)[:, np.newaxis]
    with pytest.raises(InputError, match="column 'x0' leaves the range"):
        root_model(rows_of(x * 1e-250, x * 1e100))


def test_a_line_that_does_not_pay_is_a_constant() -> None:
    rng = np.random.default_rng(6)
    pure = 0
    for _ in range(40):
        x, y = rng.normal(size=(2, 50))
        pure += int(root_model(rows_of(x[:, np.newaxis], y)).n_terms[0] == 0)
    # A line of noise pays where t^2 is about 4 or more, which one in twenty reaches: of 40 two are
    # expected, and more than six are as rare as one in 200.
    assert pure >= 34


def test_with_more_columns_than_rows_a_parameter_needs_two_rows() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(6, 20))
    y = 5 * x[:, 3] + 0.01 * rng.normal(size=6)
    for n, most in ((6, 2), (4, 1), (3, 0), (1, 0)):
        names = root_model(rows_of(x[:n], y[:n])).names
        assert len(names) <= most
        assert ("x3" in names) == (most > 0)


def test_missing_cells_are_the_mean_of_the_node() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(40, 2)) + 5
    y = x @ [2.0, 1.0] + 0.1 * rng.normal(size=40)
    holes = x.copy()
    holes[::5, 0] = np.nan
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    by_hand, found = root_model(rows_of(filled, y)), root_model(rows_of(holes, y))
    np.testing.assert_allclose(found.coefficient, by_hand.coefficient, rtol=1e-10)
    np.testing.assert_allclose(found.center, np.nanmean(holes, axis=0), rtol=1e-14)


def test_a_column_without_any_cell_has_no_term() -> None:
    rng = np.random.default_rng(9)
    x = np.column_stack([rng.normal(size=20), np.full(20, np.nan)])
    assert root_model(rows_of(x, 2 * x[:, 0])).names == ("x0",)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_weight_two_is_the_row_twice_and_rows_have_no_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, times = rng.normal(size=(25, 3)), rng.integers(1, 4, 25)
    y = x @ [1.0, 0.0, 3.0] + rng.normal(size=25)
    weighted = root_model(rows_of(x, y, times.astype(float)))
    order = rng.permutation(np.repeat(np.arange(25), times))
    repeated = root_model(rows_of(x[order], y[order]))
    assert weighted.names == repeated.names
    for name in ("coefficient", "center", "base", "error"):
        found, expected = getattr(weighted, name), getattr(repeated, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_models_of_many_nodes_do_not_depend_on_the_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(10)
    x = rng.normal(size=(300, 4))
    rows = rows_of(x, x[:, 0] * x[:, 1] + rng.normal(size=300))
    tree = grown(rows, min_samples_leaf=4)
    whole = fitted_models(tree, columns_below(tree), rows)
    monkeypatch.setattr("novum.trees.model_trees.model_tree_lines._SLICE", 100.0)
    parts = fitted_models(tree, columns_below(tree), rows)
    for name in ("start", "column", "coefficient", "center", "base", "error"):
        assert getattr(whole, name).tobytes() == getattr(parts, name).tobytes()
