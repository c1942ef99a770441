"""Factor: products, sums and states by name."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import Factor

PAIR = {"a": ("x", "y"), "b": (0, 1, 2)}
VALUES = [[3.0, 1.0, 0.0], [1.0, 3.0, 2.0]]


def random_factor(names: str, seed: int) -> Factor:
    sizes = {"a": 2, "b": 3, "c": 2, "d": 1}
    rng = np.random.default_rng(seed)
    return Factor(rng.random([sizes[n] for n in names]), {n: tuple(range(sizes[n])) for n in names})


def value(factor: Factor, row: dict[str, int]) -> float:
    return float(factor.values[tuple(row[name] for name in factor.names)])


@given(st.permutations("abcd"), st.permutations("abcd"), st.integers(0, 4), st.integers(0, 4))
def test_a_product_multiplies_cells_of_equal_states(
    left: list[str], right: list[str], n_left: int, n_right: int
) -> None:
    f, g = random_factor("".join(left[:n_left]), 1), random_factor("".join(right[:n_right]), 2)
    product = f * g
    assert set(product.names) == set(f.names) | set(g.names)
    for states in itertools.product(*(axis.states for axis in product.variables)):
        row = dict(zip(product.names, states, strict=True))
        assert value(product, row) == value(f, row) * value(g, row)
    assert product.isclose(g * f, 0.0)


def test_sum_max_keep_and_reduce_by_hand() -> None:
    f = Factor(VALUES, PAIR)
    assert f.sum("b").values.tolist() == [4.0, 6.0]
    assert f.max("a").values.tolist() == [3.0, 3.0, 2.0]
    assert f.sum("a", "b").values.tolist() == 10.0
    assert f.sum().isclose(f)
    assert f.keep("b", "a").values.tolist() == np.transpose(VALUES).tolist()
    assert f.keep("b").values.tolist() == [4.0, 4.0, 2.0]
    assert f.reduce(b=1).values.tolist() == [1.0, 3.0]
    assert f.reduce({"a": "y", "b": 2}).values.tolist() == 2.0
    assert f.reduce(b=1).normalize().probabilities.tolist() == [0.25, 0.75]


def test_a_factor_is_a_value_that_nothing_changes() -> None:
    cells = np.array(VALUES)
    f = Factor(cells, PAIR)
    cells[0, 0] = 99.0
    assert f.values[0, 0] == 3.0
    with pytest.raises(ValueError, match="read-only"):
        f.values[0, 0] = 1.0
    with pytest.raises(AttributeError):
        f.values = cells  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(f))
    assert again.isclose(f, 0.0)
    assert again.names == f.names


def test_numbers_multiply_and_huge_values_still_normalize() -> None:
    f = Factor(VALUES, PAIR)
    assert (2 * f).isclose(f * 2.0, 0.0)
    assert (f * np.float64(2)).values[0, 0] == 6.0
    # The sum of the two cells is beyond the largest floating-point number.
    assert Factor([1e308, 1e308], {"a": (0, 1)}).normalize().probabilities.tolist() == [0.5, 0.5]
    with pytest.raises(InputError, match="beyond the largest floating-point number"):
        Factor([1e300], {"a": (0,)}) * Factor([1e300], {"a": (0,)})


def test_isclose_compares_states_and_orders_of_axes() -> None:
    f = Factor(VALUES, PAIR)
    turned = Factor(np.transpose(VALUES), {"b": (0, 1, 2), "a": ("x", "y")})
    assert f.isclose(turned, 0.0)
    assert not f.isclose(f.sum("a"))
    assert not f.isclose(f * 1.001)
    assert not Factor([1, 2], {"a": (0, 1)}).isclose(Factor([1, 2], {"a": (1, 0)}))
    with pytest.raises(InputError, match="compares with another factor, got 3"):
        f.isclose(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "variables", "message"),
    [
        ([1, 2, 3], {"a": (0, 1)}, r"over 'a' has shape \(2,\).* got \(3,\)"),
        ([1, -2], {"a": (0, 1)}, "finite and at least 0; got -2"),
        ([1, np.inf], {"a": (0, 1)}, "got inf"),
        ("ab", {"a": (0, 1)}, "array of numbers of shape"),
        ([[1], [2, 3]], {"a": (0, 1)}, "array of numbers of shape"),
        ([1, 2], "a", "mapping from names to states"),
        ([1, 2], ["a"], "mapping from names to states"),
        ([1, 2], None, "mapping from names to states"),
        ([1, 2], {"a": 3}, "list such as .* got 3"),
        ([1, 2], {"a": "xy"}, "list such as .* got 'xy'"),
        ([1, 2], {"a": (0, 0)}, "twice"),
        ([[1, 2]], [StateAxis("a", (0,)), StateAxis("a", (0, 1))], "occurs twice"),
    ],
)
def test_bad_factors_are_refused_in_words(values: object, variables: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Factor(values, variables)  # type: ignore[arg-type]


def test_bad_questions_are_refused_in_words() -> None:
    f = Factor(VALUES, PAIR)
    with pytest.raises(InputError, match="no variable 'c'"):
        f.sum("c")
    with pytest.raises(InputError, match="named twice"):
        f.sum("a", "a")
    with pytest.raises(InputError, match="no state 7"):
        f.reduce(b=7)
    with pytest.raises(InputError, match="takes a mapping"):
        f.reduce(["a"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="0 everywhere"):
        f.reduce(a="x", b=2).normalize()
    with pytest.raises(InputError, match="same states in the same order"):
        f * Factor([1, 2], {"a": ("y", "x")})
    with pytest.raises(TypeError):
        f * "a"  # type: ignore[operator]
    wide = Factor(np.ones([2] * 20), {f"v{i}": (0, 1) for i in range(20)})
    other = Factor(np.ones([2] * 20), {f"w{i}": (0, 1) for i in range(20)})
    with pytest.raises(MemoryLimitError, match="40 variables"):
        wide * other


def test_text_and_html_are_safe_to_show() -> None:
    f = Factor([1, 2], {"a\n\x1b": ("\n", "<b>")})
    assert "\x1b" not in repr(f)
    assert "&lt;b&gt;" in f._repr_html_()
