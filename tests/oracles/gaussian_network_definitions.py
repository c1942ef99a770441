"""Networks with numbers by their definitions: enumeration, least squares, whole determinants."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.special import logsumexp, multigammaln, softmax
from scipy.stats import multivariate_normal

from novum.graphical import ConditionalGaussianNetwork
from novum.graphical.models.conditional import Conditional


def joint_cases(network: ConditionalGaussianNetwork):
    """Probability, states, mean and covariance of the numbers, for every discrete configuration."""
    d = len(network.names)
    discrete = [i for i in range(d) if not network.is_numeric[i]]
    numeric = [i for i in range(d) if network.is_numeric[i]]
    for states in itertools.product(*(range(network.card(i)) for i in discrete)):
        full = dict(zip(discrete, states, strict=True))
        chance = 1.0
        for i in discrete:
            node = network.nodes[i]
            assert isinstance(node, Conditional)
            chance *= node.table[(*(full[p] for p in network.graph.parents[i]), full[i])]
        weights, offsets, variances = np.zeros((d, d)), np.zeros(d), np.ones(d)
        for i in numeric:
            node = network.nodes[i]
            case = tuple(full[p] for p in network.discrete_parents[i])
            offsets[i] = np.asarray(node.intercept)[case]
            variances[i] = np.asarray(node.variance)[case]
            weights[i, list(network.numeric_parents[i])] = np.asarray(node.coefficients)[case]
        rest = np.linalg.inv(np.eye(len(numeric)) - weights[np.ix_(numeric, numeric)])
        mean = rest @ offsets[numeric]
        yield full, chance, numeric, mean, rest @ np.diag(variances[numeric]) @ rest.T


def log_density(network: ConditionalGaussianNetwork, given: dict) -> float:
    """Of what is given, by summing over all configurations."""
    return float(logsumexp([_log_density(network, given, *case) for case in joint_cases(network)]))


def _log_density(network, given, full, chance, numeric, mean, sigma) -> float:
    """Of what is given, in one case, with the probability of the case."""
    for i, state in full.items():
        name = network.names[i]
        if name in given and network.axis(i).states[state] != given[name]:
            return -math.inf
    log = math.log(chance) if chance > 0 else -math.inf
    known = [k for k, i in enumerate(numeric) if network.names[i] in given]
    if not known:
        return log
    values = [given[network.names[numeric[k]]] for k in known]
    law = multivariate_normal(mean[known], sigma[np.ix_(known, known)], allow_singular=True)
    return log + float(law.logpdf(values))


def moments_given(network: ConditionalGaussianNetwork, name: str, given: dict):
    """Mean and variance of a number, or the shares of a state, given what is known."""
    place = network.graph.places[name]
    parts, logs = [], []
    for full, chance, numeric, mean, sigma in joint_cases(network):
        logs.append(_log_density(network, given, full, chance, numeric, mean, sigma))
        if not network.is_numeric[place]:
            parts.append(np.eye(network.card(place))[full[place]])
            continue
        known = [k for k, i in enumerate(numeric) if network.names[i] in given]
        own = numeric.index(place)
        shift = np.array([given[network.names[numeric[k]]] for k in known]) - mean[known]
        gain = np.linalg.solve(sigma[np.ix_(known, known)], sigma[known, own])
        centre = mean[own] + gain @ shift
        parts.append((centre, sigma[own, own] - gain @ sigma[known, own] + centre**2))
    shares = softmax(logs)
    answer = shares @ np.array(parts)
    if not network.is_numeric[place]:
        return answer
    return answer[0], answer[1] - answer[0] ** 2


def family_bic(child, numbers, cases, weights) -> float:
    """BIC of a number given numeric parents (columns) in each case, by least squares.

    Cases with too few rows, or without spread, share the regression over all rows.
    """
    n, z = weights.sum(), numbers.shape[1]

    def fit(rows):
        design = np.column_stack([np.ones(rows.sum()), numbers[rows]])
        root = np.sqrt(weights[rows])
        solution = np.linalg.lstsq(design * root[:, None], child[rows] * root, rcond=None)[0]
        residual = child[rows] - design @ solution
        return solution, float(weights[rows] @ residual**2 / weights[rows].sum())

    everything = np.ones(len(child), bool)
    shared, shared_variance = fit(everything)
    unit = float(np.cov(child, aweights=weights, ddof=0))
    total = 0.0
    for case in np.unique(cases):
        rows = cases == case
        solution, variance = fit(rows)
        if weights[rows].sum() <= z + 1 or variance <= 1e-10 * unit:
            solution, variance = shared, shared_variance
        residual = child[rows] - np.column_stack([np.ones(rows.sum()), numbers[rows]]) @ solution
        logs = -0.5 * (np.log(2 * np.pi * variance) + residual**2 / variance)
        total += float(weights[rows] @ logs)
    return total, z + 2, n


def log_marginal(columns: np.ndarray, d: int, mean_rows: float, degrees: float, variances, centers):
    """Marginal likelihood of some columns under a normal-Wishart prior of all d of them.

    Kuipers, Moffa and Heckerman (2014), equation 4.
    """
    n, size = columns.shape
    if not size:
        return 0.0
    t = mean_rows * (degrees - d - 1) / (mean_rows + 1)
    prior = t * np.diag(variances)
    mean = columns.mean(axis=0)
    scatter = (columns - mean).T @ (columns - mean)
    shift = mean - centers
    posterior = prior + scatter + n * mean_rows / (n + mean_rows) * np.outer(shift, shift)
    before, after = degrees - d + size, n + degrees - d + size
    return (
        size / 2 * math.log(mean_rows / (n + mean_rows))
        - size * n / 2 * math.log(math.pi)
        + multigammaln(after / 2, size)
        - multigammaln(before / 2, size)
        + before / 2 * np.linalg.slogdet(prior)[1]
        - after / 2 * np.linalg.slogdet(posterior)[1]
    )
