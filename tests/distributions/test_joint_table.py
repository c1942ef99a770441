"""Joint tables: the dentist and the burglary of the notes, exact fractions, properties."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator

from novum.core.errors import InputError, MemoryLimitError
from novum.core.files import load, save
from novum.core.files.registry import registered
from novum.distributions.conditional_table import ConditionalTable
from novum.distributions.joint_table import ImpossibleEvidence, JointTable
from novum.distributions.propositions import Proposition, variable

YES = (True, False)
cavity, toothache, catch = variable("cavity"), variable("toothache"), variable("catch")


@pytest.fixture
def dentist() -> JointTable:
    """The textbook table of cavity, toothache and catch (Russell and Norvig, fig. 12.3)."""
    cells = [[[0.108, 0.012], [0.072, 0.008]], [[0.016, 0.064], [0.144, 0.576]]]
    return JointTable(cells, ["cavity", "toothache", "catch"], [YES] * 3)


@st.composite
def tables(draw: st.DrawFn) -> JointTable:
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=4))
    counts = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 50)))
    counts.flat[0] += 1
    names = ["a", "b", "c"][: len(shape)]
    return JointTable.from_counts(counts, names, [range(k) for k in shape])


# --- The notes ------------------------------------------------------------------------------------


def test_cavity_given_toothache(dentist: JointTable) -> None:
    assert dentist.probability(toothache) == pytest.approx(0.2, abs=1e-15)
    assert dentist.probability(cavity | toothache) == pytest.approx(0.28, abs=1e-15)
    assert dentist.probability(cavity, given=toothache) == pytest.approx(0.6, abs=1e-15)
    assert dentist.probability(~cavity, given=toothache) == pytest.approx(0.4, abs=1e-15)


def test_normalization_gives_the_conditional_distribution(dentist: JointTable) -> None:
    given_pain = dentist.condition({"toothache": True}).marginal("cavity")
    np.testing.assert_allclose(given_pain.probabilities, [0.6, 0.4], rtol=1e-15)


def test_total_probability_and_sum_rule(dentist: JointTable) -> None:
    total = sum(
        dentist.probability(cavity, given={"catch": state}) * dentist.probability({"catch": state})
        for state in YES
    )
    assert dentist.probability(cavity) == pytest.approx(total, abs=1e-15)
    union = (
        dentist.probability(cavity)
        + dentist.probability(catch)
        - dentist.probability(cavity & catch)
    )
    assert dentist.probability(cavity | catch) == pytest.approx(union, abs=1e-15)


def burglary() -> JointTable:
    """The alarm network multiplied out by the product rule."""
    alarm = ConditionalTable(
        [[[0.95, 0.05], [0.94, 0.06]], [[0.29, 0.71], [0.001, 0.999]]],
        of={"alarm": YES},
        given={"burglary": YES, "earthquake": YES},
    )
    john = ConditionalTable([[0.9, 0.1], [0.05, 0.95]], of={"john": YES}, given={"alarm": YES})
    mary = ConditionalTable([[0.7, 0.3], [0.01, 0.99]], of={"mary": YES}, given={"alarm": YES})
    causes = JointTable([0.001, 0.999], ["burglary"], [YES]) * JointTable(
        [0.002, 0.998], ["earthquake"], [YES]
    )
    return mary * (john * (alarm * causes))


def test_burglary_when_both_call() -> None:
    table = burglary()
    both = variable("john") & variable("mary")
    # Exact: fractions of the conditional probabilities, summed over alarm and earthquake.
    p = {True: Fraction(1, 1000), False: Fraction(999, 1000)}
    e = {True: Fraction(2, 1000), False: Fraction(998, 1000)}
    alarm = {
        (True, True): Fraction(95, 100),
        (True, False): Fraction(94, 100),
        (False, True): Fraction(29, 100),
        (False, False): Fraction(1, 1000),
    }
    calls = {True: Fraction(63, 100), False: Fraction(5, 10000)}
    joint = {
        b: sum(
            p[b] * e[q] * (alarm[b, q] if a else 1 - alarm[b, q]) * calls[a]
            for q, a in itertools.product(YES, YES)
        )
        for b in YES
    }
    exact = joint[True] / (joint[True] + joint[False])
    assert table.probability(variable("burglary"), given=both) == pytest.approx(
        float(exact), rel=1e-13
    )
    assert round(float(exact), 3) == 0.284
    quiet = {"john": True, "mary": True, "alarm": True, "burglary": False, "earthquake": False}
    assert table.probability(quiet) == pytest.approx(0.9 * 0.7 * 0.001 * 0.999 * 0.998, rel=1e-13)


# --- Definitions ----------------------------------------------------------------------------------


def enumerate_probability(table: JointTable, event: Proposition) -> Fraction:
    """The definition: sum the cells in which the event holds, in exact arithmetic."""
    held = np.broadcast_to(event.holds(table.space), table.shape)
    cells = table.probabilities[held]
    return sum((Fraction(float(cell)) for cell in cells), Fraction(0))


@given(tables())
def test_probability_is_the_sum_of_the_states_where_it_holds(table: JointTable) -> None:
    event = (variable("a") == 0) | ~(variable("b") == 0)
    given_event = variable("b") <= 1
    whole = enumerate_probability(table, event)
    assert table.probability(event) == pytest.approx(float(whole), abs=1e-14)
    known = enumerate_probability(table, given_event)
    if known > 0:
        both = enumerate_probability(table, event & given_event)
        assert table.probability(event, given=given_event) == pytest.approx(
            float(both / known), abs=1e-13
        )


@given(tables())
def test_product_rule_gives_the_table_back(table: JointTable) -> None:
    first, *others = table.names
    back = table.conditional(*others, given=first) * table.marginal(first)
    assert back.isclose(table, tolerance=1e-14)


@given(tables())
def test_bayes_rule_turns_a_conditional_around(table: JointTable) -> None:
    forward = table.conditional("b", given="a")
    backward = forward.reverse(table.marginal("a"))
    wanted = table.conditional("a", given="b")
    np.testing.assert_allclose(backward.probabilities, wanted.probabilities, atol=1e-14)


@given(tables())
def test_moments_are_those_of_the_definition(table: JointTable) -> None:
    cells = table.marginal("a", "b").probabilities
    a, b = np.arange(cells.shape[0]), np.arange(cells.shape[1])
    mean_a, mean_b = cells.sum(axis=1) @ a, cells.sum(axis=0) @ b
    product = sum(cells[i, j] * (i - mean_a) * (j - mean_b) for i, j in np.ndindex(*cells.shape))
    assert table.expectation("a") == pytest.approx(mean_a, abs=1e-13)
    assert table.covariance("a", "b") == pytest.approx(product, abs=1e-12)
    assert table.expectation(lambda x, y: x * y, "a", "b") == pytest.approx(
        product + mean_a * mean_b, abs=1e-12
    )


def test_correlation_of_a_line_is_one() -> None:
    line = JointTable(np.diag([0.25, 0.25, 0.5]), ["x", "y"], [(1, 2, 3), (10.0, 20.0, 30.0)])
    assert line.correlation("x", "y") == 1.0
    assert line.variance("x") == pytest.approx(0.6875)
    assert line.covariance("x", "x") == line.variance("x")


def test_variance_far_from_zero_keeps_its_digits() -> None:
    coin = JointTable([0.5, 0.5], ["x"], [(10**9, 10**9 + 1)])
    assert coin.variance("x") == 0.25


def test_expectation_skips_impossible_states() -> None:
    table = JointTable([0.0, 1.0], ["x"], [(0, 2)])
    assert table.expectation(lambda x: 1 / x if x else float("inf"), "x") == 0.5


# --- Marginals, conditions, order -----------------------------------------------------------------


def test_marginal_follows_the_order_of_the_names(dentist: JointTable) -> None:
    turned = dentist.marginal("catch", "cavity")
    assert turned.names == ("catch", "cavity")
    assert turned.probability(catch & ~cavity) == dentist.probability(catch & ~cavity)


def test_condition_on_a_proposition_keeps_all_variables(dentist: JointTable) -> None:
    either = dentist.condition(toothache | catch)
    assert either.names == dentist.names
    assert either.probability(~toothache & ~catch) == 0.0
    assert either.probability(cavity) == pytest.approx(
        dentist.probability(cavity, given=toothache | catch), rel=1e-15
    )


def test_condition_on_everything_leaves_a_table_of_no_variables(dentist: JointTable) -> None:
    point = dentist.condition({"cavity": True, "toothache": True, "catch": True})
    assert point.names == ()
    assert float(point.probabilities) == 1.0
    assert dentist.marginal().isclose(point)


def test_mode_is_the_most_probable_joint_state(dentist: JointTable) -> None:
    assert dentist.mode == {"cavity": False, "toothache": False, "catch": False}


def test_sure_and_impossible_events_are_exact(dentist: JointTable) -> None:
    assert dentist.probability(cavity | ~cavity) == 1.0
    assert dentist.probability(cavity & ~cavity) == 0.0


def test_ordinal_states_are_compared_by_their_declared_order() -> None:
    table = JointTable([0.2, 0.3, 0.5], ["size"], [("s", "m", "l")], ordered=["size"])
    assert table.probability(variable("size") < "l") == 0.5
    assert table.marginal("size").probability(variable("size") >= "m") == 0.8


# --- Making tables --------------------------------------------------------------------------------


def test_from_dict_leaves_the_rest_at_zero() -> None:
    table = JointTable.from_dict({("a", 1): 0.5, ("b", 2): 0.5}, ["x", "y"])
    assert table.probabilities.tolist() == [[0.5, 0.0], [0.0, 0.5]]
    single = JointTable.from_dict({"head": 0.5, "tail": 0.5}, "coin")
    assert single.states == (("head", "tail"),)


def test_from_function_sees_states_by_name() -> None:
    table = JointTable.from_function(lambda y, x: (x + 3 * y) / 15, {"x": (0, 1, 2), "y": (0, 1)})
    assert table.probability({"x": 2, "y": 1}) == pytest.approx(5 / 15, rel=1e-15)


def test_samples_follow_the_table(dentist: JointTable) -> None:
    drawn = dentist.sample(20_000, random_state=0)
    again = JointTable.from_frame(drawn)
    assert again.sample_size == 20_000
    # Five standard errors of the largest cell.
    assert again.isclose(dentist, tolerance=5 * (0.576 * 0.424 / 20_000) ** 0.5)
    assert drawn.equals(dentist.sample(20_000, random_state=0))
    assert not drawn.equals(dentist.sample(20_000, random_state=1))


def test_impossible_states_are_never_drawn() -> None:
    table = JointTable([0.0, 1.0, 0.0], ["x"], [("a", "b", "c")])
    assert set(table.sample(1000, random_state=3)["x"].to_pylist()) == {"b"}


def test_tables_are_immutable_values(dentist: JointTable) -> None:
    with pytest.raises(ValueError, match="read-only"):
        dentist.probabilities[0, 0, 0] = 1.0
    source = np.array([0.5, 0.5])
    table = JointTable(source, ["x"], [(0, 1)])
    source[0] = 0.0
    assert table.probabilities[0] == 0.5
    same = JointTable([0.5, 0.5], ["x"], [(0, 1)])
    assert table == same
    assert hash(table) == hash(same)
    assert table != JointTable([0.5, 0.5], ["x"], [(False, True)])
    assert table != "table"


def test_isclose_matches_states_by_name() -> None:
    a = JointTable([[0.1, 0.2], [0.3, 0.4]], ["x", "y"], [("p", "q"), (0, 1)])
    b = JointTable([[0.4, 0.2], [0.3, 0.1]], ["y", "x"], [(1, 0), ("q", "p")])
    assert a.isclose(b)
    assert not a.isclose(JointTable([0.5, 0.5], ["x"], [("p", "q")]))
    assert not a.isclose(JointTable(np.full((2, 2), 0.25), ["x", "y"], [("p", "z"), (0, 1)]))


def test_sample_size_follows_the_rows() -> None:
    counts = JointTable.from_counts([[30, 10], [20, 40]], ["x", "y"], [(0, 1), (0, 1)])
    assert counts.sample_size == 100
    assert counts.marginal("y").sample_size == 100
    assert counts.condition({"x": 0}).sample_size == pytest.approx(40)


def test_a_table_survives_its_file(tmp_path: Any, dentist: JointTable) -> None:
    class Holder(BaseEstimator):
        """An estimator is what files hold; a table travels as its parameter."""

        def __init__(self, table: JointTable | None = None) -> None:
            self.table = table

    with registered(estimators={"Holder": Holder}):
        save(Holder(dentist), tmp_path / "table.novum")
        back = load(tmp_path / "table.novum")
    assert back.table == dentist


# --- Nasty input ----------------------------------------------------------------------------------


def test_impossible_evidence_has_a_name(dentist: JointTable) -> None:
    with pytest.raises(ImpossibleEvidence, match=r"cavity & ~\(cavity\)\) has probability 0"):
        dentist.probability(toothache, given=cavity & ~cavity)
    sure = JointTable([1.0, 0.0], ["x"], [(0, 1)])
    with pytest.raises(ImpossibleEvidence, match="x = 1 has probability 0"):
        sure.condition({"x": 1})


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([0.5, 0.6], "sum to 1.1, not to 1"),
        ([-0.5, 1.5], r"at x = 0 there is -0\.5"),
        ([float("nan"), 1.0], "at x = 0 there is nan"),
        ([0.0, 0.0], "sum to 0"),
        ([[0.5, 0.5]], r"has shape \(2,\).*got \(1, 2\)"),
    ],
)
def test_what_is_no_distribution_is_refused(cells: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        JointTable(cells, ["x"], [(0, 1)])


def test_sums_near_one_are_normalized_and_said() -> None:
    with pytest.warns(UserWarning, match="summed to 1.0004"):
        table = JointTable([0.5, 0.5004], ["x"], [(0, 1)])
    assert table.probabilities.sum() == pytest.approx(1.0, abs=4e-16)
    quiet = JointTable([0.5, 0.5 + 1e-8], ["x"], [(0, 1)])
    assert quiet.probabilities.sum() == pytest.approx(1.0, abs=4e-16)


def test_sizes_are_refused_before_anything_is_made() -> None:
    with pytest.raises(MemoryLimitError, match=f"{2**60} cells"):
        JointTable.from_function(lambda **_: 0.0, {f"x{i}": (0, 1) for i in range(60)})
    half = JointTable(np.full((2,) * 14, 2.0**-14), [f"a{i}" for i in range(14)], [(0, 1)] * 14)
    other = JointTable(np.full((2,) * 14, 2.0**-14), [f"b{i}" for i in range(14)], [(0, 1)] * 14)
    with pytest.raises(MemoryLimitError, match=f"{2**28} cells"):
        half * other


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t * t, "'cavity' occurs twice"),
        (lambda t: t.marginal("caries"), "no variable 'caries'"),
        (lambda t: t.conditional("cavity", given="cavity"), "named twice"),
        (lambda t: t.probability({"cavity": "yes"}), "no state yes"),
        (lambda t: t.condition({"cavity": 1}), "no state 1"),
        (lambda t: t.condition("cavity"), "An event is a proposition"),
        (lambda _: JointTable([1.0], ["a", "b"], [(0,)]), "2 names need as many"),
        (lambda _: JointTable.from_counts([0, 0], ["a"], [(0, 1)]), "not all 0"),
        (lambda _: JointTable.from_counts([1, -1], ["a"], [(0, 1)]), "smallest is -1"),
        (lambda _: JointTable.from_dict({}, ["a"]), "empty mapping"),
        (lambda _: JointTable.from_dict({("x", "y"): 1.0}, ["a"]), "2 parts for 1 variables"),
        (lambda _: JointTable([1.0], ["a"], [(0,)], sample_size=-1), "positive weight"),
        (lambda _: JointTable([1.0], ["a"], [(0,)], ordered=["b"]), "no variable 'b'"),
        (lambda _: JointTable([1.0], ["a"], [("x",)]).expectation("a"), "is no number"),
        (lambda _: JointTable([1.0, 0], ["a"], [(0, 1)]).correlation("a", "a"), "is constant"),
        (lambda _: JointTable([1.0, 0], ["a"], [("x", 1)]).sample(3), "mix number and str"),
    ],
)
def test_wrong_questions_are_answered_by_what_to_do(
    dentist: JointTable, make: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make(dentist)


def test_product_with_something_else_is_not_defined(dentist: JointTable) -> None:
    with pytest.raises(TypeError):
        dentist * 2  # type: ignore[operator]
