"""Independent samples: distributions of rows, stated errors, impossible and unlikely evidence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.inference.plain_junction import LogJunctionTree, PlainJunctionTree
from novum.graphical.inference.sampling import (
    ForwardSampling,
    LikelihoodWeighting,
    NothingAcceptedError,
    RejectionSampling,
    forward_codes,
)
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import NetworkWarning
from novum.graphical.models.factor_graph import FactorGraph
from tests.strategies.networks import random_network
from tests.strategies.stated_errors import check_stated_errors, sprinkler


def test_rows_have_the_joint_distribution() -> None:
    network = random_network(12, most=5, zeros=0.0)
    size = 40_000
    codes = forward_codes(network.arrays, size, 3)
    shape = tuple(len(axis.states) for axis in network.variables)
    counts = np.bincount(np.ravel_multi_index(tuple(codes.T), shape), minlength=np.prod(shape))
    wanted = network.query(*network.names).values.ravel()
    # False alarm with probability 1e-6.
    assert stats.chisquare(counts, wanted * size).pvalue > 1e-6


def test_rows_with_many_states_and_zeros() -> None:
    # More than the few states that are compared one by one; the last and some others impossible.
    chances = np.array([0.0, 0.2, 0.0, 0.3, 0.1, 0.4, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        network = BayesianNetwork().add("a", table=chances, states=list("abcdefg"))
    codes = forward_codes(network.arrays, 20_000, 0).ravel()
    counts = np.bincount(codes, minlength=7)
    assert not counts[chances == 0].any()
    possible = chances > 0
    assert stats.chisquare(counts[possible], 20_000 * chances[possible]).pvalue > 1e-6


def test_first_rows_do_not_depend_on_how_many_follow() -> None:
    model = random_network(5, most=7).arrays
    few, many = forward_codes(model, 1500, 7), forward_codes(model, 5000, 7)
    np.testing.assert_array_equal(few, many[:1500])
    assert forward_codes(model, 0, 7).shape == (0, model.n_variables)
    assert (forward_codes(model, 200, 8) != few[:200]).any()


def test_sample_is_a_table_of_states() -> None:
    table = sprinkler().sample(50, random_state=0)
    assert table.num_rows == 50
    assert set(table.column("rain").to_pylist()) <= {"true", "false"}


@pytest.mark.parametrize(
    ("engine", "given"),
    [
        (lambda seed: ForwardSampling(400, random_state=seed), {}),
        (lambda seed: LikelihoodWeighting(600, random_state=seed), {"wet": "true"}),
        (lambda seed: RejectionSampling(300, random_state=seed), {"wet": "true"}),
    ],
    ids=["forward", "weighting", "rejection"],
)
def test_errors_are_as_stated(engine, given) -> None:
    check_stated_errors(sprinkler(), engine, given, ("rain", "cloudy"), n_runs=300)


def test_errors_with_likelihoods() -> None:
    weights = {"cloudy": [0.9, 0.2], "wet": [0.5, 1.0]}
    for make in (
        lambda seed: LikelihoodWeighting(600, random_state=seed),
        lambda seed: RejectionSampling(300, random_state=seed),
    ):
        check_stated_errors(
            sprinkler(), make, {"sprinkler": "true"}, ("rain",), n_runs=300, likelihood=weights
        )


def test_marginals_and_log_evidence() -> None:
    network = sprinkler()
    exact = network.marginals({"wet": "true"})
    found = network.marginals({"wet": "true"}, engine=LikelihoodWeighting(50_000, random_state=1))
    for name in network.names:
        gap = np.abs(found[name].values - exact[name].values)
        # Five standard errors: false alarm below 1e-5 over all cells.
        assert (gap <= 5 * found[name].errors).all(), name
    assert found["wet"].values.tolist() == [1.0, 0.0]
    assert found["wet"].errors.tolist() == [0.0, 0.0]
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.02)
    assert found.diagnosis.trusted
    assert found.diagnosis.iterations == 50_000


def test_evidence_far_below_the_smallest_number() -> None:
    # Forty observed children, each with a probability near 1e-10.
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    for i in range(40):
        rare = 1e-10 * (1.5 if i < 21 else 1.0)
        network = network.add(f"b{i}", ["a"], [[rare, 1 - rare], [1e-10, 1 - 1e-10]])
    known = {f"b{i}": "true" for i in range(40)}
    found = network.query("a", given=known, engine=LikelihoodWeighting(2000, random_state=0))
    odds = 1.5**21
    # The weights differ by the factor of the odds, so only the number of rows of each state counts.
    assert found.values[0] == pytest.approx(odds / (1 + odds), abs=1e-3)
    log_evidence = np.log(0.5) + np.log(1e-10) * 40 + np.log1p(odds)
    assert found.log_evidence == pytest.approx(log_evidence, abs=0.2)


def test_cells_never_met_are_not_stated_as_certain() -> None:
    network = BayesianNetwork().add("a", table=[1e-9, 1 - 1e-9])
    found = network.query("a", engine=ForwardSampling(1000, random_state=0))
    assert found.values[0] == 0
    assert 1e-4 < found.errors[0] < 1e-2


def test_few_effective_rows_are_not_trusted() -> None:
    network = BayesianNetwork().add("a", table=[0.001, 0.999])
    network = network.add("b", ["a"], [[0.99, 0.01], [1e-6, 1 - 1e-6]])
    found = network.query(
        "a", given={"b": "true"}, engine=LikelihoodWeighting(2000, random_state=0)
    )
    assert not found.diagnosis.trusted
    assert "states too rare to be drawn may have 100% of the posterior" in found.diagnosis.sentence
    assert found.errors.max() <= 1
    found = network.query("b", engine=LikelihoodWeighting(300, random_state=0))
    assert not found.diagnosis.trusted
    assert "fewer than 400 independent rows" in found.diagnosis.sentence


def impossible_network() -> BayesianNetwork:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    return network.add("b", ["a"], lambda a: a, states=["true", "false"])


@pytest.mark.parametrize(
    "engine",
    [LikelihoodWeighting(100, random_state=0), RejectionSampling(10, 1000, random_state=0)],
)
def test_impossible_evidence(engine) -> None:
    with pytest.raises(ImpossibleEvidence, match="cannot hold together"):
        impossible_network().query("a", given={"a": "true", "b": "false"}, engine=engine)
    network = impossible_network().add("c", ["b"], [[0.5, 0.5], [0.1, 0.9]])
    with pytest.raises(ImpossibleEvidence):
        network.marginals({"a": "true", "b": "false"}, engine=engine)


def test_unlikely_evidence_says_what_to_do() -> None:
    network = BayesianNetwork().add("a", table=[1e-12, 1 - 1e-12])
    network = network.add("b", ["a"], lambda a: a, states=["true", "false"])
    with pytest.raises(NothingAcceptedError, match=r"None of 3000 rows .* below 0\.001"):
        network.query("a", given={"b": "true"}, engine=RejectionSampling(10, 3000, random_state=0))
    # What is known exactly is said: log(1e-12).
    said = r"All 3000 rows have weight 0. The evidence is possible \(log-probability -27.63\)"
    with pytest.raises(NothingAcceptedError, match=said):
        network.query("a", given={"b": "true"}, engine=LikelihoodWeighting(3000, random_state=0))


def half_grid(n: int) -> BayesianNetwork:
    """A square of variables that are tossed, and in each row whether two neighbors differ."""
    nodes: dict[str, dict[str, object]] = {}
    for at in range(n * n):
        parents = [f"x{at - n}"] * (at >= n) + [f"x{at - 1}"] * (at % n > 0)
        table = np.full((2,) * (len(parents) + 1), 0.5)
        # Nearly a toss, so that parents matter.
        table.reshape(-1, 2)[0] = 0.4, 0.6
        nodes[f"x{at}"] = {"parents": parents, "table": table}
    differ = [["false", "true"], ["true", "false"]]
    for last in range(n - 1, n * n, n):
        nodes[f"odd{last // n}"] = {"parents": [f"x{last - 1}", f"x{last}"], "function": differ}
    return BayesianNetwork.from_dict(nodes)


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        (LikelihoodWeighting(50, random_state=0), "impossible, or the states .* take long to find"),
        (RejectionSampling(5, 50, random_state=0), "None of 50 rows agreed"),
    ],
)
def test_nothing_exact_is_tried_where_it_is_too_dear(
    engine, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> float:
        raise AssertionError("an exact answer was computed")

    for exact in (JunctionTree, PlainJunctionTree, LogJunctionTree):
        monkeypatch.setattr(exact, "log_evidence", refuse)
    network = half_grid(30)
    known = {f"odd{at}": "true" for at in range(30)}
    assert network.forecast(known).seconds > 1e3
    with pytest.raises(NothingAcceptedError, match=message):
        network.query("x0", given=known, engine=engine)


def test_rejection_forecasts_what_it_needs() -> None:
    engine = RejectionSampling(1000, 2000, random_state=0)
    found = sprinkler().query("rain", given={"wet": "true"}, engine=engine)
    exact = sprinkler().probability({"wet": "true"})
    kept = int(found.diagnosis.sentence.split()[2])
    # Binomial with six standard deviations.
    assert abs(kept - min(1000, 2000 * exact)) <= 6 * np.sqrt(2000 * exact)
    engine = RejectionSampling(100_000, 2000, random_state=0)
    said = sprinkler().query("rain", given={"wet": "true"}, engine=engine).diagnosis.sentence
    assert "100000 would need about" in said
    assert "raise max_draws" in said


def test_forward_sampling_refuses_evidence() -> None:
    with pytest.raises(InputError, match=r"cannot use evidence\. Use LikelihoodWeighting"):
        sprinkler().query("rain", given={"wet": "true"}, engine=ForwardSampling(10))


def test_undirected_models_are_refused() -> None:
    graph = FactorGraph([Factor([[3.0, 1.0], [1.0, 3.0]], {"a": (0, 1), "b": (0, 1)})])
    for engine in (ForwardSampling(10), LikelihoodWeighting(10), RejectionSampling(10)):
        with pytest.raises(InputError, match=r"no conditional tables\. Use Gibbs"):
            graph.query("a", engine=engine)
    with pytest.raises(InputError, match="no conditional tables"):
        forward_codes(graph.arrays, 10, 0)
    with pytest.raises(InputError, match="size is a whole number of at least 0"):
        forward_codes(sprinkler().arrays, -1, 0)
