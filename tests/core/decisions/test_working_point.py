"""Working point: Bayes decisions against the definition, densities and hand-made tables."""

import math
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from novum.core.decisions import WorkingPoint, label_array
from novum.core.errors import FileFormatError, InputError

probabilities = st.floats(0.01, 0.99)
costs = st.floats(0.01, 100)


@st.composite
def distributions(draw: st.DrawFn, n: int = 3) -> np.ndarray:
    weights = np.array(draw(st.lists(st.floats(0.01, 1), min_size=n, max_size=n)))
    return weights / weights.sum()


# --- Decisions ------------------------------------------------------------------------------------


@given(
    distributions(),
    st.lists(st.lists(st.floats(-10, 10), min_size=4, max_size=4), min_size=3, max_size=3),
    st.none() | st.floats(-10, 10),
)
def test_actions_have_the_least_expected_cost(
    posterior: np.ndarray, cost: list[list[float]], reject_cost: float | None
) -> None:
    point = WorkingPoint("abc", [0.2, 0.3, 0.5], cost, reject_cost, actions="wxyz")
    expected = [
        sum(Fraction(p) * Fraction(row[action]) for p, row in zip(posterior, cost, strict=True))
        for action in range(4)
    ]
    if reject_cost is not None:
        expected.append(Fraction(reject_cost) * sum(map(Fraction, posterior)))
    chosen = point.actions_for([posterior])[0]
    # Sums of three products below 10 are off by less than 1e-13.
    assert float(expected[chosen]) <= float(min(expected)) + 1e-13
    assert point.decide([posterior])[0] == point.action_names[chosen]
    np.testing.assert_allclose(
        point.expected_costs([posterior])[0], [float(e) for e in expected], rtol=0, atol=1e-13
    )


def test_ties_go_to_the_action_that_stands_first() -> None:
    point = WorkingPoint(["a", "b"], [0.5, 0.5], [[0, 1], [1, 0]], reject_cost=0.5)
    assert point.decide([[0.5, 0.5]]).tolist() == ["a"]
    assert point.classes_for([[0.5, 0.5]]).tolist() == [0]


def test_rejecting_is_one_more_action() -> None:
    point = WorkingPoint([0, 1], [0.5, 0.5], [[0, 1], [1, 0]], reject_cost=0.2)
    decisions = point.decide([[0.9, 0.1], [0.75, 0.25], [0.1, 0.9]])
    assert decisions.dtype == object
    assert decisions.tolist() == [0, "reject", 1]
    assert point.classes_for([[0.75, 0.25]]).tolist() == [0]


def test_classes_are_named_by_cost_where_they_are_actions_and_by_size_where_not() -> None:
    posterior = [[0.7, 0.3]]
    costly = WorkingPoint("ab", [0.5, 0.5], [[0, 1, 0], [9, 0, 0]], actions=["a", "b", "wait"])
    assert costly.decide(posterior).tolist() == ["wait"]
    assert costly.classes_for(posterior).tolist() == [1]
    other = WorkingPoint("ab", [0.5, 0.5], [[0], [9]], actions=["operate"])
    assert other.classes_for(posterior).tolist() == [0]


def test_negative_costs_are_gains_and_only_differences_count() -> None:
    posteriors = np.random.default_rng(0).dirichlet([1, 1, 1], 200)
    cost = np.array([[0, 2, 5], [1, 0, 4], [3, 3, 0.0]])
    plain = WorkingPoint("abc", [0.2, 0.3, 0.5], cost)
    shifted = WorkingPoint("abc", [0.2, 0.3, 0.5], cost - np.array([[7], [8], [16]]))
    np.testing.assert_array_equal(plain.actions_for(posteriors), shifted.actions_for(posteriors))


# --- Binary ---------------------------------------------------------------------------------------


@given(probabilities, costs, costs)
def test_effective_prior_and_threshold_are_their_formulas(
    prior: float, cost_fn: float, cost_fp: float
) -> None:
    point = WorkingPoint.binary(prior=prior, cost_fn=cost_fn, cost_fp=cost_fp)
    p = prior * cost_fn / (prior * cost_fn + (1 - prior) * cost_fp)
    assert point.effective_prior == pytest.approx(p, rel=1e-12)
    assert point.threshold == pytest.approx(-math.log(p / (1 - p)), rel=1e-9, abs=1e-9)


@given(probabilities, costs, costs, st.floats(-8, 8))
def test_the_threshold_on_ratios_is_the_bayes_decision(
    prior: float, cost_fn: float, cost_fp: float, x: float
) -> None:
    """Two unit Gaussians at 0 and 1: the log-likelihood ratio is x - 1/2."""
    point = WorkingPoint.binary(prior=prior, cost_fn=cost_fn, cost_fp=cost_fp)
    ratio = stats.norm.logpdf(x, 1) - stats.norm.logpdf(x, 0)
    assume(abs(ratio - point.threshold) > 1e-9)
    joint = np.array([(1 - prior) * stats.norm.pdf(x, 0), prior * stats.norm.pdf(x, 1)])
    decision = point.decide([joint / joint.sum()])[0]
    assert decision == int(ratio > point.threshold)


def test_certain_points_have_infinite_thresholds() -> None:
    assert WorkingPoint.binary(prior=0, cost_fn=1, cost_fp=1).threshold == math.inf
    assert WorkingPoint.binary(prior=1, cost_fn=1, cost_fp=1).threshold == -math.inf
    assert WorkingPoint.binary(prior=0.3, cost_fn=0, cost_fp=1).effective_prior == 0


def test_costs_of_right_decisions_are_taken_off() -> None:
    point = WorkingPoint([0, 1], [0.5, 0.5], [[1, 3], [8, 2]])
    assert point.effective_prior == pytest.approx(6 / 8)


def test_the_positive_class_is_the_last() -> None:
    point = WorkingPoint.binary(prior=0.1, cost_fn=5, cost_fp=2, classes=("well", "ill"))
    assert point.priors.tolist() == [0.9, 0.1]
    assert point.cost.tolist() == [[0, 2], [5, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": 1.1}, "prior is a probability between 0 and 1, got 1.1"),
        ({"prior": math.nan}, "prior is a probability"),
        ({"cost_fn": -1}, "cost_fn is a finite cost of at least 0, got -1"),
        ({"cost_fp": math.inf}, "cost_fp is a finite cost"),
        ({"classes": (0, 1, 2)}, "two classes"),
    ],
)
def test_impossible_binary_points_are_named(change: dict[str, object], message: str) -> None:
    good = {"prior": 0.5, "cost_fn": 1, "cost_fp": 1}
    with pytest.raises(InputError, match=message):
        WorkingPoint.binary(**{**good, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (WorkingPoint.uniform("abc"), "belong to two classes"),
        (WorkingPoint("ab", [0.5, 0.5], [[0, 1], [1, 0]], actions="xy"), "actions 'x', 'y'"),
        (WorkingPoint("ab", [0.5, 0.5], [[1, 0], [1, 0]]), "No threshold exists"),
        (WorkingPoint("ab", [0.5, 0.5], [[0, 0], [0, 0]]), "No threshold exists"),
    ],
)
def test_points_without_a_threshold_say_why(point: WorkingPoint, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _ = point.threshold
    with pytest.raises(InputError, match=message):
        _ = point.effective_prior


# --- Re-targeting ---------------------------------------------------------------------------------


@given(distributions(), distributions(), st.lists(st.floats(-50, 50), min_size=3, max_size=3))
def test_retargeting_is_bayes_rule_with_other_priors(
    old: np.ndarray, new: np.ndarray, logs: list[float]
) -> None:
    likelihood = np.exp(np.array(logs) - max(logs))
    assume((old * likelihood).sum() > 0)
    posterior = old * likelihood / (old * likelihood).sum()
    expected = new * likelihood / (new * likelihood).sum()
    point = WorkingPoint("abc", new, 1 - np.eye(3))
    np.testing.assert_allclose(point.retarget([posterior], old)[0], expected, rtol=1e-9, atol=0)


@given(distributions(), distributions(), distributions())
def test_there_and_back_again(posterior: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
    there = WorkingPoint("abc", new, 1 - np.eye(3)).retarget([posterior], old)
    back = WorkingPoint("abc", old, 1 - np.eye(3)).retarget(there, new)
    np.testing.assert_allclose(back[0], posterior, rtol=1e-10)


def test_extreme_posteriors_survive() -> None:
    point = WorkingPoint("ab", [1e-300, 1.0], [[0, 1], [1, 0]])
    moved = point.retarget([[1.0, 1e-300], [1.0, 0.0]], [0.5, 0.5])
    # Odds 1e300 times prior odds 1e-300 are even odds; a posterior of zero stays zero.
    np.testing.assert_allclose(moved, [[0.5, 0.5], [1.0, 0.0]], rtol=1e-12)


def test_a_class_ruled_out_by_the_point_gets_nothing() -> None:
    point = WorkingPoint("abc", [0.5, 0.5, 0], 1 - np.eye(3))
    moved = point.retarget([[0.2, 0.2, 0.6]], [1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(moved, [[0.5, 0.5, 0]], rtol=1e-12)


def test_a_class_the_model_never_saw_may_stay_ruled_out() -> None:
    point = WorkingPoint("abc", [0.75, 0.25, 0], 1 - np.eye(3))
    moved = point.retarget([[0.5, 0.5, 0]], [0.5, 0.5, 0])
    np.testing.assert_allclose(moved, [[0.75, 0.25, 0]], rtol=1e-12)


@pytest.mark.parametrize(
    ("priors", "training", "posterior", "message"),
    [
        ([0.5, 0.5], [1, 0], [1, 0], "'b' has training prior 0 but prior 0.5"),
        ([1, 0], [1, 0], [0.5, 0.5], "Row 0 has a positive posterior for class 'b'"),
        ([1, 0], [0.5, 0.5], [0, 1], r"Row 0 is impossible.* \[0\.0, 1\.0\]"),
        ([0.5, 0.5], [0.5, 0.4], [1, 0], "training_priors sum to 0.9, not to 1"),
        ([0.5, 0.5], [0.5], [1, 0], r"training_priors has one probability .* shape \(1,\)"),
    ],
)
def test_impossible_combinations_are_named(
    priors: list[float], training: list[float], posterior: list[float], message: str
) -> None:
    point = WorkingPoint("ab", priors, [[0, 1], [1, 0]])
    with pytest.raises(InputError, match=message):
        point.retarget([posterior], training)


# --- Making and checking --------------------------------------------------------------------------


def test_uniform_has_equal_priors_and_unit_costs() -> None:
    point = WorkingPoint.uniform([3, 1, 2])
    assert point.priors.tolist() == [1 / 3] * 3
    assert point.cost.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_a_point_is_immutable_and_does_not_share_the_callers_arrays() -> None:
    priors, cost = np.array([0.5, 0.5]), np.array([[0.0, 1], [1, 0]])
    point = WorkingPoint("ab", priors, cost)
    cost[0, 1] = priors[0] = 99
    assert point.cost[0, 1] == 1
    assert point.priors[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        point.cost[0, 1] = 2
    with pytest.raises(AttributeError):
        point.reject_cost = 1.0  # type: ignore[misc]


def test_equality_hash_and_pickle_go_by_content() -> None:
    a = WorkingPoint("ab", [0.5, 0.5], [[0, 1], [1, 0]], reject_cost=0.1)
    b = WorkingPoint(["a", "b"], (0.5, 0.5), [[-0.0, 1], [1, 0]], np.float64(0.1))
    assert a == b
    assert hash(a) == hash(b)
    assert pickle.loads(pickle.dumps(a)) == a
    for other in (
        WorkingPoint("ab", [0.4, 0.6], [[0, 1], [1, 0]], 0.1),
        WorkingPoint("ab", [0.5, 0.5], [[0, 2], [1, 0]], 0.1),
        WorkingPoint("ab", [0.5, 0.5], [[0, 1], [1, 0]]),
        WorkingPoint("ac", [0.5, 0.5], [[0, 1], [1, 0]], 0.1),
        "ab",
    ):
        assert a != other


def test_its_repr_makes_it_again() -> None:
    for point in (
        WorkingPoint.uniform("ab"),
        WorkingPoint([0, 1], [0.3, 0.7], [[0, 1, 2], [1, 0, 2]], 0.25, [0, 1, "wait"]),
    ):
        assert eval(repr(point)) == point


def test_numpy_labels_become_plain_ones() -> None:
    point = WorkingPoint(np.array([3, 4]), [0.5, 0.5], 1 - np.eye(2))
    assert [type(label) for label in point.classes] == [int, int]
    assert point.decide([[0.2, 0.8]]).dtype.kind == "i"


def test_ordering_moves_priors_costs_and_actions_together() -> None:
    point = WorkingPoint("abc", [0.2, 0.3, 0.5], np.arange(9.0).reshape(3, 3))
    turned = point.ordered("cab")
    posterior = np.random.default_rng(1).dirichlet([1, 1, 1], 50)
    assert turned.classes == tuple("cab")
    assert turned.priors.tolist() == [0.5, 0.2, 0.3]
    assert turned.decide(posterior[:, [2, 0, 1]]).tolist() == point.decide(posterior).tolist()
    assert turned.ordered("abc") == point
    named = WorkingPoint("ab", [0.4, 0.6], [[0, 1], [2, 3]], actions=["x", "y"])
    assert named.ordered("ba").cost.tolist() == [[2, 3], [0, 1]]
    with pytest.raises(InputError, match=r"for the classes 'a', 'b', 'c', the model for 'a', 'b'"):
        point.ordered("ab")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], [[]]), "at least one of classes"),
        (("aa", [0.5, 0.5], np.eye(2)), "'a' occurs 2 times"),
        (("ab", [0.5, 0.6], np.eye(2)), "priors sum to 1.1, not to 1; divide them"),
        (("ab", [0.5, 0.5 + 2e-9], np.eye(2)), "priors sum to 1.000000002"),
        (("ab", [-0.5, 1.5], np.eye(2)), "that of class 'a' is -0.5"),
        (("ab", [math.nan, 1], np.eye(2)), "that of class 'a' is nan"),
        (("ab", [1.0], np.eye(2)), r"for each of the 2 classes, got an array of shape \(1,\)"),
        (("ab", [0.5, 0.5], np.eye(3)), r"one row for each of the 2 classes.* \(3, 3\)"),
        (("ab", [0.5, 0.5], [1, 2]), r"shape \(2,\)"),
        (("ab", [0.5, 0.5], [[0, 1], [math.inf, 0]]), r"cost\[1, 0\] is inf"),
        (("ab", [0.5, 0.5], [[0, 1, 2], [1, 0, 2]]), "3 columns, but there are 2 names"),
        (("ab", [0.5, 0.5], np.eye(2), None, ["x", "x"]), "actions must differ; 'x' occurs 2"),
        (("ab", [0.5, 0.5], np.eye(2), 0.1, ["a", "reject"]), "exclude each other"),
        (("ab", [0.5, 0.5], np.eye(2), math.nan), "reject_cost is a finite number or None"),
        (("ab", [0.5, 0.5], np.eye(2), "dear"), "reject_cost must be numbers .*, got 'dear'"),
        (("ab", ["half", 0.5], np.eye(2)), "priors must be numbers in an even shape"),
        (("ab", [0.5, 0.5], [[0, 1], [1]]), r"cost must be numbers in an even shape, got \[\[0"),
    ],
)
def test_impossible_points_are_named(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        WorkingPoint(*arguments)  # type: ignore[arg-type]


def test_priors_may_be_off_by_rounding() -> None:
    assert WorkingPoint("ab", [0.5, 0.5 + 5e-10], np.eye(2)).priors[1] == 0.5 + 5e-10


@pytest.mark.parametrize(
    ("posteriors", "message"),
    [
        ([0.5, 0.5], r"got an array of shape \(2,\)"),
        ([[0.2, 0.3, 0.5]], r"each of the 2 classes, got an array of shape \(1, 3\)"),
        ([[0.5, 0.5], [0.6, 0.6]], r"1 of 2 rows do not, the first is row 1: \[0\.6, 0\.6\]"),
        ([[1.5, -0.5]], "the first is row 0"),
        ([[math.nan, 1]], "the first is row 0"),
        ([["a", "b"]], "posteriors must be numbers"),
    ],
)
def test_impossible_posteriors_are_named(posteriors: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        WorkingPoint.uniform("ab").decide(posteriors)  # type: ignore[arg-type]


def test_no_rows_no_decisions() -> None:
    assert WorkingPoint.uniform("ab").decide(np.empty((0, 2))).shape == (0,)


def test_labels_of_several_kinds_are_objects() -> None:
    assert label_array([1, 2]).dtype.kind == "i"
    assert label_array(["a", "bc"]).dtype.kind == "U"
    assert label_array([1, "a"]).dtype == object
    assert label_array([True, False]).dtype == bool


# --- Tables and texts -----------------------------------------------------------------------------

TABLE = "true;0;1;wait\n1;9;0;0.5\n0;0;1;0.5\n"


def test_a_table_with_the_models_classes_is_matched_by_text() -> None:
    point = WorkingPoint.from_csv(TABLE, classes=[0, 1], priors=[0.7, 0.3], reject_cost=2)
    assert point == WorkingPoint(
        [0, 1], [0.7, 0.3], [[0, 1, 0.5], [9, 0, 0.5]], 2, actions=[0, 1, "wait"]
    )


def test_a_table_alone_gives_text_labels_and_equal_priors(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text(TABLE)
    point = WorkingPoint.from_csv(path)
    assert point.classes == ("1", "0")
    assert point.actions == ("0", "1", "wait")
    assert point.priors.tolist() == [0.5, 0.5]


def test_a_table_for_other_classes_is_refused() -> None:
    with pytest.raises(InputError, match=r"rows for '1', '0', the classes are 0, 2"):
        WorkingPoint.from_csv(TABLE, classes=[0, 2])


def test_faults_in_a_table_have_a_line() -> None:
    with pytest.raises(FileFormatError, match="Line 3, column 2") as caught:
        WorkingPoint.from_csv("true,a,b\na,0,1\nb,x,0\n")
    assert (caught.value.line, caught.value.column) == (3, 2)


def test_text_shows_every_number() -> None:
    text = str(WorkingPoint(["ill", "well"], [0.1, 0.9], [[0, 20], [1, 0]], reject_cost=0.4))
    lines = text.splitlines()
    assert lines[1].split() == ["true", "class", "prior", "ill", "well", "reject"]
    assert lines[2].split() == ["ill", "0.1", "0", "20", "0.4"]


def test_html_escapes_labels() -> None:
    label = "<script>alert(1)</script>\"'&"
    shown = WorkingPoint([label, "b"], [0.5, 0.5], 1 - np.eye(2))._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert "&quot;&#x27;&amp;" in shown
