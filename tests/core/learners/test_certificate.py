"""Certificate: derived fields, consistency, text that cannot lie or carry script, round trips."""

import copy
import dataclasses
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.learners import Certificate, ConvergenceWarning, Stopwatch, Verdict, warn_if_stopped
from novum.core.learners.certificate import Details

numbers = st.floats(-1e12, 1e12)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


def full() -> Certificate:
    return Certificate(
        objective="hinge loss",
        verdict=Verdict.WITHIN_TOLERANCE,
        value=2.5,
        primal=2.5,
        dual=2.0,
        distance_bound=0.1,
        residual=1e-9,
        iterations=7,
        trace=[4.0, 3.0, 2.5],
        details={"tol": 0.5, "finals": [1, 2]},
        seconds=0.25,
    )


# --- Derived fields -------------------------------------------------------------------------------


@given(numbers, st.floats(0, 1e6))
def test_gap_is_the_difference_of_primal_and_dual(dual: float, gap: float) -> None:
    certificate = Certificate(
        objective="f", verdict=Verdict.STOPPED_EARLY, primal=dual + gap, dual=dual
    )
    assert certificate.gap == (dual + gap) - dual
    # A gap is at most twice the larger magnitude, so its share of it is at most 2.
    assert certificate.relative_gap is not None
    assert 0 <= certificate.relative_gap <= 2


def test_gap_to_a_lower_bound_and_none_without_one() -> None:
    bounded = Certificate(objective="f", verdict=Verdict.LOCAL, value=3.0, lower_bound=1.0)
    assert (bounded.gap, bounded.relative_gap) == (2.0, 2.0 / 3.0)
    free = Certificate(objective="f", verdict=Verdict.LOCAL, value=3.0)
    assert free.gap is None
    assert free.relative_gap is None


def test_gap_of_an_infinite_primal_is_infinite_not_nan() -> None:
    certificate = Certificate(
        objective="f", verdict=Verdict.STOPPED_EARLY, primal=math.inf, dual=1.0
    )
    assert (certificate.gap, certificate.relative_gap) == (math.inf, math.inf)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_converged_follows_from_the_verdict(verdict: Verdict) -> None:
    done = verdict in (Verdict.PROVED, Verdict.WITHIN_TOLERANCE, Verdict.LOCAL)
    assert Certificate(objective="f", verdict=verdict).converged is done
    with pytest.raises(ValueError, match="follows from the verdict"):
        Certificate(objective="f", verdict=verdict, converged=not done)


def test_verdicts_are_the_agreed_words() -> None:
    words = "proved, within tolerance, local, stopped early, unbounded, infeasible"
    assert ", ".join(Verdict) == words
    assert Certificate(objective="f", verdict="local").verdict is Verdict.LOCAL


# --- Consistency ----------------------------------------------------------------------------------


def test_a_negative_gap_within_rounding_is_zero() -> None:
    certificate = Certificate(objective="f", verdict=Verdict.PROVED, primal=1e6, dual=1e6 + 1e-6)
    assert certificate.gap == 0.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"primal": 1.0, "dual": 1.1}, "negative beyond rounding"),
        ({"gap": -0.5}, "negative beyond rounding"),
        ({"primal": 2.0, "dual": 1.0, "gap": 0.5}, "not the difference 1.0 of 2.0 and 1.0"),
        ({"value": math.nan}, "value of a certificate must be not NaN"),
        ({"residual": -1.0}, "residual of a certificate must be at least 0"),
        ({"iterations": 1.5}, "a count"),
        ({"trace": [1.0, math.nan]}, "NaN at step 1"),
        ({"details": {"model": object()}}, "'model' is a object"),
        ({"details": {1: 2}}, "strings, got 1"),
        ({"verdict": "fine"}, "'fine' is not a verdict; choose one of: proved"),
    ],
)
def test_impossible_statements_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Certificate(**{"objective": "f", "verdict": Verdict.LOCAL, **fields})


# --- Value semantics ------------------------------------------------------------------------------


def test_seconds_take_no_part_in_equality() -> None:
    slow = dataclasses.replace(full(), seconds=99.0)
    assert slow == full()
    assert hash(slow) == hash(full())
    assert dataclasses.replace(full(), iterations=8) != full()


def test_survives_pickle_copy_and_rebuilding_from_its_fields() -> None:
    original = full()
    fields = {field.name: getattr(original, field.name) for field in dataclasses.fields(original)}
    as_json = json.loads(json.dumps({**fields, "details": dict(original.details)}))
    for again in (
        pickle.loads(pickle.dumps(original)),
        copy.copy(original),
        copy.deepcopy(original),
        Certificate(**fields),
        Certificate(**as_json),
    ):
        assert again == original
        assert again.seconds == original.seconds
        assert type(again.details) is Details


def test_nothing_can_be_changed() -> None:
    trace = np.array([2.0, 1.0])
    certificate = Certificate(objective="f", verdict=Verdict.LOCAL, trace=trace)
    trace[0] = 99.0
    assert certificate.trace == (2.0, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.value = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        certificate.details["new"] = 1  # type: ignore[index]
    with pytest.raises(AttributeError, match="read-only"):
        certificate.details.other = 1  # type: ignore[attr-defined]


@given(st.dictionaries(st.text(max_size=5), plain, max_size=4))
def test_details_equal_their_own_copies(items: dict[str, object]) -> None:
    details = Details(items)
    assert Details(details) == details
    assert pickle.loads(pickle.dumps(details)) == details
    assert hash(Details(dict(reversed(list(details.items()))))) == hash(details)


def test_details_turn_numpy_into_plain_values() -> None:
    details = Details({"a": np.float64(1.5), "b": np.arange(3), "c": np.bool_(True), "d": np.nan})
    assert dict(details) == {"a": 1.5, "b": (0, 1, 2), "c": True, "d": None}
    assert [type(value) for value in details.values()] == [float, tuple, bool, type(None)]


# --- Text -----------------------------------------------------------------------------------------


def test_text_shows_only_what_applies() -> None:
    lines = repr(full()).splitlines()
    assert lines[:2] == [
        "Certificate of hinge loss",
        "optimal: the gap of 0.5 is within the tolerance 0.5",
    ]
    assert [line.split()[0] for line in lines[2:]] == [
        "value",
        "primal",
        "dual",
        "gap",
        "distance",
        "residual",
        "iterations",
        "trace",
        "verdict",
        "tol",
        "finals",
        "seconds",
    ]
    # The longest name, "distance bound", sets the column at which all values begin.
    assert all(line[16:18] == "  " and line[18] != " " for line in lines[2:])
    bare = repr(Certificate(objective="f", verdict=Verdict.PROVED))
    assert bare == "Certificate of f\nexact: nothing is left to optimize\n  verdict       proved"
    assert (
        Certificate(objective="f", verdict=Verdict.PROVED, value=2.0).sentence == "optimal: proved"
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"verdict": "proved", "gap": 1e-15}, "optimal: the gap of 1e-15 is rounding"),
        (
            {"verdict": "within tolerance", "gap": 3.1e-12, "details": {"tol": 1e-8}},
            "optimal: the gap of 3.1e-12 is within the tolerance 1e-08",
        ),
        (
            {
                "verdict": "within tolerance",
                "primal": 4.0,
                "dual": 3.0,
                "details": {"relative_tol": 0.3},
            },
            "optimal: the relative gap of 0.25 is within the tolerance 0.3",
        ),
        ({"verdict": "local", "residual": 0.5}, "a local optimum: the residual is 0.5"),
        ({"verdict": "local"}, "a local optimum; no bound is known"),
        (
            {"verdict": "stopped early", "iterations": 3, "gap": 2.0},
            "stopped early after 3 iterations: the gap is 2",
        ),
        ({"verdict": "unbounded"}, "unbounded: the objective has no minimum"),
        ({"verdict": "infeasible"}, "infeasible: no point satisfies the constraints"),
    ],
)
def test_the_sentence_names_the_number_it_rests_on(
    fields: dict[str, object], sentence: str
) -> None:
    assert Certificate(objective="f", **fields).sentence == sentence


def test_html_is_escaped_everywhere() -> None:
    attack = "<script>alert('x')</script>\"&"
    page = Certificate(
        objective=attack, verdict=Verdict.LOCAL, details={attack: attack}
    )._repr_html_()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 3


# --- Warning and clock ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stopped_by", "advice"),
    [
        ("max_iter", "Raise max_iter or loosen tol"),
        ("max_seconds", "Raise max_seconds"),
        ("interrupt", "fit again"),
    ],
)
def test_a_fit_that_stopped_early_warns_with_its_gap(stopped_by: str, advice: str) -> None:
    certificate = Certificate(
        objective="f",
        verdict=Verdict.STOPPED_EARLY,
        gap=0.125,
        iterations=10,
        details={"stopped_by": stopped_by},
    )
    with pytest.warns(ConvergenceWarning, match=f"SVC: .*10 iterations.*0.125.*{advice}"):
        warn_if_stopped(certificate, "SVC")


def test_no_solution_warns_differently_and_success_is_silent() -> None:
    with pytest.warns(ConvergenceWarning, match="no minimum. Check the data"):
        warn_if_stopped(Certificate(objective="f", verdict=Verdict.UNBOUNDED), "SVC")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_stopped(full(), "SVC")
    assert not caught


def test_the_stopwatch_never_goes_back() -> None:
    clock = Stopwatch()
    first = clock.seconds
    assert 0 <= first <= clock.seconds
