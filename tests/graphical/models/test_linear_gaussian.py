"""Linear-Gaussian networks against SciPy's normal distribution and least squares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from novum.core.errors import InputError
from novum.graphical import (
    Dag,
    LinearGaussian,
    LinearGaussianNetwork,
    fit_linear_gaussian,
    gaussian_bic,
)
from tests.oracles.network_learning_definitions import all_graphs

GRAPH = Dag(("a", "b", "c", "d"), ((2,), (0, 2), (), (1,)))
NETWORK = LinearGaussianNetwork(
    GRAPH,
    (
        LinearGaussian(1.0, (2.0,), 0.5),
        LinearGaussian(0.0, (-1.0, 0.5), 2.0),
        LinearGaussian(3.0, (), 1.0),
        LinearGaussian(-2.0, (1.5,), 0.1),
    ),
)


def precision() -> np.ndarray:
    """(I - W)' V^-1 (I - W)."""
    weights = np.zeros((4, 4))
    for i, (parents, node) in enumerate(zip(GRAPH.parents, NETWORK.nodes, strict=True)):
        weights[i, list(parents)] = node.coefficients
    rest = np.eye(4) - weights
    return rest.T @ np.diag([1 / node.variance for node in NETWORK.nodes]) @ rest


def test_the_covariance_is_the_inverse_of_the_precision() -> None:
    np.testing.assert_allclose(NETWORK.covariance, np.linalg.inv(precision()), rtol=1e-12)


def test_conditioning_equals_the_precision_form() -> None:
    laws = NETWORK.marginals({"d": 1.0, "c": 2.0})
    assert set(laws) == {"a", "b"}
    inner = precision()[np.ix_([0, 1], [0, 1])]
    cross = precision()[np.ix_([0, 1], [3, 2])]
    shift = np.array([1.0, 2.0]) - NETWORK.mean[[3, 2]]
    mean = NETWORK.mean[:2] - np.linalg.solve(inner, cross @ shift)
    variances = np.diagonal(np.linalg.inv(inner))
    assert [laws[n].mean for n in "ab"] == pytest.approx(mean.tolist())
    assert [laws[n].variance for n in "ab"] == pytest.approx(variances.tolist())


def test_densities_with_missing_cells() -> None:
    whole = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 0.5}
    law = multivariate_normal(NETWORK.mean, NETWORK.covariance)
    assert NETWORK.log_density(whole) == pytest.approx(law.logpdf([0.0, 1.0, 2.0, 0.5]))
    rows = {"a": [0.0, np.nan], "b": [1.0, 1.0], "c": [2.0, np.nan], "d": [0.5, 0.5]}
    part = multivariate_normal(NETWORK.mean[[1, 3]], NETWORK.covariance[np.ix_([1, 3], [1, 3])])
    assert NETWORK.log_density(rows)[1] == pytest.approx(part.logpdf([1.0, 0.5]))


def test_a_fit_recovers_the_network_and_its_score_is_the_definition() -> None:
    rows = NETWORK.sample(20_000, random_state=0)
    fitted = fit_linear_gaussian(GRAPH, rows)
    for one, other in zip(fitted.nodes, NETWORK.nodes, strict=True):
        assert one.coefficients == pytest.approx(other.coefficients, abs=0.05)
        assert one.variance == pytest.approx(other.variance, rel=0.05)
    parameters = sum(len(p) + 2 for p in GRAPH.parents)
    expected = fitted.log_density(rows).sum() - parameters * math.log(20_000) / 2
    assert gaussian_bic(GRAPH, rows) == pytest.approx(expected, rel=1e-9)
    twice = gaussian_bic(GRAPH, rows, sample_weight=np.full(20_000, 2.0))
    doubled = {name: np.concatenate([cells, cells]) for name, cells in rows.items()}
    assert twice == pytest.approx(gaussian_bic(GRAPH, doubled), rel=1e-12)


def test_equivalent_graphs_score_alike() -> None:
    rows = {name: cells for name, cells in NETWORK.sample(100, 1).items() if name != "d"}
    by_class: dict[object, list[float]] = {}
    for parents in all_graphs(3):
        graph = Dag(("a", "b", "c"), parents)
        by_class.setdefault(graph.pattern(), []).append(gaussian_bic(graph, rows))
    for values in by_class.values():
        assert values == pytest.approx([values[0]] * len(values), rel=1e-9)


def test_setting_is_not_seeing() -> None:
    seen = NETWORK.marginals({"a": 10.0})["c"].mean
    done = NETWORK.do({"a": 10.0}).marginals()["c"].mean
    assert done == pytest.approx(3.0)
    assert seen > 3.5
    assert "variance" in repr(NETWORK)
    assert list(NETWORK) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: NETWORK.marginals({"z": 1.0}), "no node 'z'"),
        (lambda: NETWORK.marginals({"a": "high"}), "give a number"),
        (lambda: LinearGaussianNetwork(GRAPH, ()), "needs as many distributions"),
        (
            lambda: LinearGaussianNetwork(Dag(("a",), ((),)), (LinearGaussian(0, (1.0,), 1),)),
            "0 parents and 1 coefficients",
        ),
        (
            lambda: LinearGaussianNetwork(Dag(("a",), ((),)), (LinearGaussian(0, (), 0.0),)),
            "the variance above 0",
        ),
        (
            lambda: fit_linear_gaussian(
                Dag.from_edges([("a", "b")]), {"a": [1, 2, 3], "b": [2, 4, 6]}
            ),
            "'b' has no variance left given its parents",
        ),
        (lambda: fit_linear_gaussian(Dag(("q",), ((),)), {"a": [1.0]}), "no column 'q'"),
        (
            lambda: fit_linear_gaussian(Dag(("a",), ((),)), {"a": [1.0, np.nan]}),
            "'a' has a missing cell in row 1",
        ),
    ],
)
def test_bad_input_is_one_sentence(call: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()  # type: ignore[operator]
