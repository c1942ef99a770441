"""First parameters of Gaussian mixtures, and moves out of poor optima.

EM climbs from where it starts. Groups of k-means, of Ward's tree or of rows drawn far from each
other give first means and covariances. Where the maximum they lead to is poor, two components
usually share one group while another covers two: a split-and-merge move joins the pair whose
memberships overlap most, splits the component that fits its rows worst, and climbs again; it is
kept if the likelihood is larger.

Reference: Ueda, Nakano, Ghahramani and Hinton (2000). SMEM algorithm for mixture models.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from novum.clustering import AgglomerativeClustering, KeptRows, KMeans, Starts
from novum.core.sums import Fitted, StopRule, fit_sums
from novum.mixture.covariance_families import Family
from novum.mixture.gaussian_em import GaussianEM, GaussianParameters, GaussianSums, log_joint
from novum.mixture.mixture_model import Total
from novum.numerics import Floats, Integers, as_argument, log_sum_exp

# Rows that a hierarchy of starts is made of, whose distances must be kept.
_HIERARCHY_ROWS = 2000


# --- Starts ---------------------------------------------------------------------------------------


def first_parameters(
    family: Family,
    kept: KeptRows,
    K: int,
    method: str,
    given: dict[str, Floats],
    rng: np.random.Generator,
) -> GaussianParameters:
    """Parameters of first groups, in standard units.

    Scatters of groups are joined by that of all, as if d + 1 further rows had it: groups of few
    rows have no covariance of their own yet.
    """
    if len(given) == 3:
        return GaussianParameters(given["weights"], given["means"], given["covariances"])
    rows = np.nan_to_num(kept.rows)
    d = rows.shape[1]
    if method == "random":
        R = rng.dirichlet(np.ones(K), len(rows))
    else:
        R = np.eye(K)[first_groups(rows, kept, K, method, rng)]
    R = R * kept.weights[:, None]
    weight = R.sum(axis=0)
    counts = np.where(weight > 0, weight, 1.0)
    means = given.get("means", (R.T @ rows) / counts[:, None])
    squares = R.T @ rows**2 - 2 * means * (R.T @ rows) + weight[:, None] * means**2
    if family.is_by_column:
        scatter = squares
        pooled = squares.sum(axis=0) / weight.sum()
    else:
        scatter = np.empty((K, d, d))
        for k in range(K):
            away = rows - means[k]
            scatter[k] = (away * R[:, [k]]).T @ away
        pooled = scatter.sum(axis=0) / weight.sum()
    # Cells that are missing stand at the mean: the variance that they lack is that of the columns.
    eye = np.full(d, 1e-3) if family.is_by_column else 1e-3 * np.eye(d)
    more = (d + 1.0) * (pooled + eye)
    shapes = [1] * (scatter.ndim - 1)
    spread = (scatter + more) * (counts / (counts + d + 1.0)).reshape(-1, *shapes)
    form = (1, d, d) if family.name == "tied" else spread.shape
    like = np.ones(form) if family.is_by_column else np.broadcast_to(np.eye(d), form)
    covariances = given.get("covariances")
    if covariances is None:
        covariances = Family(family.name, max(family.floor, 1e-12)).likeliest(counts, spread, like)
    weights = given.get("weights", np.maximum(weight, 1e-3 * weight.sum() / K))
    return GaussianParameters(weights / weights.sum(), means, covariances)


def first_groups(
    rows: Floats, kept: KeptRows, K: int, method: str, rng: np.random.Generator
) -> Integers:
    """The first group of every row."""
    if K == 1:
        return np.zeros(len(rows), np.int64)
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "kmeans":
            # Few rows have many poor groupings, and cost little.
            model = KMeans(K, n_init=4 if len(rows) < 5000 else 1, max_iter=30, random_state=seed)
            return np.asarray(model.fit(rows, sample_weight=kept.weights).labels_)
        if method == "hierarchical":
            few = np.sort(np.argsort(kept.keys, kind="stable")[:_HIERARCHY_ROWS])
            labels = AgglomerativeClustering(K).fit(rows[few]).labels_
            centers = np.array([rows[few][labels == k].mean(axis=0) for k in range(K)])
        else:
            starts = Starts.of(rows, kept.weights, np.zeros(rows.shape[1]))
            draw = starts.spread if method == "k-means++" else starts.at_random
            centers = draw(K, rng)
    apart = [((rows - center) ** 2).sum(axis=1) for center in centers]
    return np.asarray(np.argmin(apart, axis=0))


def always(params: GaussianParameters, _rng: np.random.Generator) -> GaussianParameters:
    return params


# --- Split and merge ------------------------------------------------------------------------------


def moved_out(
    problem: GaussianEM,
    over: Total,
    best: Fitted[GaussianParameters, GaussianSums],
    moves: int,
    options: dict[str, Any],
) -> Fitted[GaussianParameters, GaussianSums]:
    """The best of fits from split-and-merge moves, until `moves` of them in a row gain nothing."""
    begin = problem.begin
    kept: KeptRows | None = begin.args[1] if isinstance(begin, partial) and begin.args[1:] else None
    if kept is None or len(best.params.weights) < 3 or _is_cut(best):
        return best
    tried = improved = 0
    evaluations = best.certificate.details.get("evaluations", 0)
    quick = {**options, "n_init": 1}
    failures = 0
    trace = tuple(best.certificate.trace or ())
    while failures < moves:
        candidates = _moves(best.params, kept, moves)
        gained = False
        for triple in candidates:
            failures += 1
            tried += 1
            start = _split_and_merged(problem.family, best.params, *triple)
            problem.begin = partial(always, start)
            # A short climb tells whether the move is worth a long one.
            short = {**quick, "stop": StopRule(tol=100 * options["stop"].tol, max_iter=20)}
            new = fit_sums(problem, over, **short)
            evaluations += new.certificate.details.get("evaluations", 0)
            gap = options["stop"].tol * problem.scale(new.params, new.statistics)
            # A component that collapses onto a few rows gains likelihood that means nothing.
            fewer = problem.n_collapsed(new.params) <= problem.n_collapsed(best.params)
            if new.value > best.value + gap and fewer:
                problem.begin = partial(always, new.params)
                best = fit_sums(problem, over, **quick)
                evaluations += best.certificate.details.get("evaluations", 0)
                # The steps of the fit before the move come first; the trace still only rises.
                trace = (*trace, *(v for v in best.certificate.trace or () if v >= trace[-1]))
                improved, failures, gained = improved + 1, 0, True
                break
            if failures >= moves or _is_cut(new):
                break
        if not gained or _is_cut(best):
            break
    problem.begin = begin
    if tried == 0:
        return best
    details = dict(best.certificate.details) | {
        "moves_tried": tried,
        "moves_kept": improved,
        "evaluations": evaluations,
    }
    certificate = replace(best.certificate, details=details, trace=trace)
    return replace(best, certificate=certificate)


def _is_cut(fit: Fitted[Any, Any]) -> bool:
    """Whether Ctrl-C has ended a climb whose best parameters are kept."""
    return bool(fit.certificate.details.get("stopped_by") == "interrupt")


def _moves(params: GaussianParameters, kept: KeptRows, count: int) -> list[tuple[int, int, int]]:
    """Pairs to merge, by overlap of memberships, with components to split, by local misfit."""
    joint = log_joint(params, as_argument(kept.rows))
    R = np.exp(joint - log_sum_exp(joint, axis=1, keepdims=True)) * kept.weights[:, None]
    overlap = R.T @ R
    size = np.sqrt(np.maximum(np.diagonal(overlap), 1e-300))
    overlap = overlap / size / size[:, None]
    K = len(params.weights)
    # Divergence of a component's rows from its law (Ueda et al., eq. 17); dead ones fit no row.
    shares = R / np.maximum(R.sum(axis=0), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(shares) - (joint - np.log(params.weights))
        misfit = np.where(shares > 0, shares * logs, 0.0).sum(axis=0)
    misfit = np.where(params.weights > 0, misfit, -np.inf)
    i, j = np.triu_indices(K, 1)
    pairs = np.argsort(-overlap[i, j], kind="stable")
    triples = []
    for pair in pairs[: count + 1]:
        for split in np.argsort(-misfit, kind="stable"):
            if split not in (i[pair], j[pair]) and np.isfinite(misfit[split]):
                triples.append((int(i[pair]), int(j[pair]), int(split)))
    order = sorted(range(len(triples)), key=lambda t: t // max(K - 2, 1) + t % max(K - 2, 1))
    return [triples[t] for t in order][:count]


def _split_and_merged(
    family: Family, params: GaussianParameters, i: int, j: int, split: int
) -> GaussianParameters:
    """Components i and j become one, in the place of i; `split` becomes two, also in that of j."""
    weights, means = params.weights.copy(), params.means.copy()
    spread = params.covariances.copy()
    share = np.array([weights[i], weights[j]])
    share = share / share.sum() if share.sum() > 0 else np.array([0.5, 0.5])
    is_shared = len(spread) != len(weights)
    means[i] = share @ params.means[[i, j]]
    weights[i] = params.weights[[i, j]].sum()
    weights[j] = weights[split] = params.weights[split] / 2
    matrix = spread[0 if is_shared else split]
    values, axes = np.linalg.eigh(np.diag(matrix) if matrix.ndim == 1 else matrix)
    step = np.sqrt(values[-1]) * axes[:, -1]
    means[j], means[split] = params.means[split] - step, params.means[split] + step
    if not is_shared and family.name != "fixed":
        away = params.means[[i, j]] - means[i]
        square = away**2 if spread.ndim == 2 else away[:, :, None] * away[:, None, :]
        if family.has_one_unit:
            square = np.repeat(square.mean(axis=1)[:, None], square.shape[1], axis=1)
        spread[i] = np.tensordot(share, params.covariances[[i, j]] + square, 1)
        spread[j] = spread[split]
        if family.name not in ("diag", "full", "spherical"):
            # Families that share shape or volume take those of the components before.
            spread = params.covariances.copy()
            spread[j] = params.covariances[split]
    weights = np.maximum(weights, 1e-6)
    return GaussianParameters(weights / weights.sum(), means, family.raised(spread))
