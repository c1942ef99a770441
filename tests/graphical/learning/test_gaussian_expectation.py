"""EM with numbers: expectations by enumeration and integration, closed forms, and no bias."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.core.sums import StopRule
from novum.graphical import (
    BDeu,
    BGe,
    Dag,
    family_moments,
    fit_expectation,
    fit_parameters,
    number_axis,
)
from novum.graphical.learning import gaussian_expectation, read_numbers
from tests.graphical.models.test_conditional_gaussian import random_network
from tests.oracles.gaussian_network_definitions import joint_cases


def gappy(network, n: int, seed: int, share: float = 0.3) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    rows = network.sample(n, seed)
    return {
        name: [None if rng.random() < share else c for c in cells.tolist()]
        for name, cells in rows.items()
    }


def read(network, table):
    axes = [
        number_axis(name) if network.is_numeric[i] else network.axis(i)
        for i, name in enumerate(network.names)
    ]
    return read_numbers(table, axes)


def explained(network, table, row: int) -> list[tuple]:
    """Share, states, and mean and covariance of all numbers in each case of a row's states."""
    given = {name: cells[row] for name, cells in table.items() if cells[row] is not None}
    cases = []
    for full, chance, numeric, mean, sigma in joint_cases(network):
        if any(
            network.names[i] in given and network.axis(i).states[s] != given[network.names[i]]
            for i, s in full.items()
        ):
            continue
        known = [k for k, i in enumerate(numeric) if network.names[i] in given]
        values = np.array([given[network.names[numeric[k]]] for k in known])
        inner = sigma[np.ix_(known, known)]
        gain = np.linalg.solve(inner, sigma[known]).T if known else np.zeros((len(mean), 0))
        shift = values - mean[known]
        _, size = np.linalg.slogdet(2 * np.pi * inner) if known else (1, 0.0)
        log = -0.5 * (shift @ np.linalg.solve(inner, shift) + size) if known else 0.0
        centre = mean + gain @ shift
        cases.append((chance * np.exp(log), full, centre, sigma - gain @ sigma[known]))
    total = sum(c[0] for c in cases)
    return [(weight / total, *rest) for weight, *rest in cases]


def by_enumeration(network, table) -> dict[int, dict[tuple, list]]:
    """Expected weight, sum and squares of every numeric family in every configuration."""
    answer: dict[int, dict[tuple, list]] = {}
    numeric = [i for i, x in enumerate(network.is_numeric) if x]
    for row in range(len(next(iter(table.values())))):
        for share, full, centre, spread in explained(network, table, row):
            for place in numeric:
                members = [numeric.index(m) for m in (*network.numeric_parents[place], place)]
                case = tuple(full[s] for s in network.discrete_parents[place])
                x = centre[members]
                square = spread[np.ix_(members, members)] + np.outer(x, x)
                sums = answer.setdefault(place, {}).setdefault(case, [0.0, 0.0, 0.0])
                for number, term in enumerate((1.0, x, square)):
                    sums[number] = sums[number] + share * term
    return answer


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_expected_moments_equal_enumeration(seed: int) -> None:
    network = random_network(seed, 2, 3)
    table = gappy(network, 15, seed)
    expected = gaussian_expectation.expected_moments(network, read(network, table))
    assert expected.log_likelihood == pytest.approx(network.log_density(table).sum(), rel=1e-10)
    sums, wanted = expected.sums, by_enumeration(network, table)
    begin = 0
    for place in range(2, 5):
        shape = tuple(network.card(s) for s in network.discrete_parents[place])
        for number, case in enumerate(itertools.product(*map(range, shape))):
            moments = sums.moments[begin + number]
            weight, first, second = wanted[place].get(case, (0.0, 0.0, 0.0))
            assert moments.weight == pytest.approx(weight, abs=1e-10)
            if weight > 1e-9:
                np.testing.assert_allclose(moments.mean, first / weight, rtol=1e-8)
                scatter = second - np.outer(first, first) / weight
                np.testing.assert_allclose(moments.scatter, scatter, rtol=1e-7, atol=1e-9)
        begin += int(np.prod(shape))


@pytest.mark.parametrize("seed", [0, 3])
def test_completed_rows_have_the_expected_sums_of_every_graph(seed: int) -> None:
    """Weight, sums and squares of all numbers in every configuration of all states."""
    network = random_network(seed, 2, 3)
    table = gappy(network, 25, seed, 0.4)
    rows = gaussian_expectation.completed_rows(network, read(network, table))
    assert rows.total == pytest.approx(25)
    numbers = np.stack([x for x in rows.numbers if x is not None])
    # A family of all numbers given all states: what it sums, every family sums a part of.
    wanted: dict[tuple, list] = {}
    for row in range(25):
        for share, full, centre, spread in explained(network, table, row):
            sums = wanted.setdefault(tuple(full.values()), [0.0, 0.0, 0.0])
            terms = (1.0, centre, spread + np.outer(centre, centre))
            for number, term in enumerate(terms):
                sums[number] = sums[number] + share * term
    for case, (weight, first, second) in wanted.items():
        chosen = (rows.codes[:2] == np.array(case)[:, None]).all(axis=0)
        w, x = rows.weights[chosen], numbers[:, chosen]
        assert w.sum() == pytest.approx(weight, rel=1e-9)
        np.testing.assert_allclose(x @ w, first, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose((x * w) @ x.T, second, rtol=1e-8, atol=1e-8)


def test_the_likelihood_never_falls_and_whole_rows_need_no_rounds() -> None:
    network = random_network(5, 2, 3)
    fitted = fit_expectation(network, gappy(network, 400, 1))
    trace = np.array(fitted.certificate.trace)
    assert (np.diff(trace) > -1e-7).all()
    assert fitted.certificate.verdict.value == "local"
    rows = network.sample(200, 2)
    plain = fit_parameters(network, rows)
    same = fit_expectation(network, rows, stop=StopRule(tol=1e-12, max_iter=3)).network
    np.testing.assert_allclose(same.log_density(rows), plain.log_density(rows), rtol=1e-8)


def test_one_missing_number_given_another_has_a_closed_form() -> None:
    # Anderson (1957): x is whole, y is missing in some rows; the regression is that of whole rows.
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = 2 * x + rng.normal(size=200)
    gone = x > 0.3
    rows = {"x": x, "y": np.where(gone, np.nan, y)}
    graph = Dag.from_edges([("x", "y")])
    fitted = fit_expectation(graph, rows, numbers="normal", stop=StopRule(tol=1e-14, max_iter=5000))
    whole = family_moments(graph, {"x": x[~gone], "y": y[~gone]}).network()
    node = fitted.network["y"]
    assert node.coefficients[0] == pytest.approx(whole["y"].coefficients[0], rel=1e-4)
    assert node.variance == pytest.approx(whole["y"].variance, rel=1e-4)
    # The mean of the known cells is far off, since large ones are missing.
    assert abs(fitted.network.query("y").mean - 2 * x.mean()) < 0.3
    assert np.nanmean(rows["y"]) < 2 * x.mean() - 0.7
    (found,) = (d for d in fitted.missing_dependence if d.b == "x")
    assert found.a == "y is missing"


def test_states_and_numbers_come_back_from_gaps() -> None:
    network = random_network(5, 2, 3)
    table = gappy(network, 3000, 4, 0.2)
    fitted = fit_parameters(network, table, BDeu(1.0))
    fresh = network.sample(3000, 9)
    lost = network.log_density(fresh).mean() - fitted.log_density(fresh).mean()
    assert lost < 0.03


def test_bad_input_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(5, 2, 3)
    table = gappy(network, 30, 0)
    with pytest.raises(InputError, match=r"BGe.. is a prior for whole rows"):
        fit_parameters(network, table, BGe())
    with pytest.raises(InputError, match="Hidden variables are learned beside"):
        fit_expectation(network, table, hidden={"h": 2})
    with pytest.raises(InputError, match="has a missing cell in row"):
        family_moments(network, table)
    monkeypatch.setattr(gaussian_expectation, "MOST_CASES", 1)
    with pytest.raises(MemoryLimitError, match=r"lacks the states of .* configurations together"):
        fit_parameters(network, table)
