"""Networks with numbers: regressions of a given graph, and the search of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload


def numbers(n: int, d: int, kinds: int = 0, seed: int = 0) -> Data:
    """Columns in a row, each with up to three parents before it; with kinds, also on a state."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    total, edges = n + n // 4, []
    kind = rng.integers(0, max(kinds, 1), total)
    columns: dict[str, Any] = {"kind": np.array([f"k{i}" for i in range(max(kinds, 1))])[kind]}
    for j in range(d):
        shifts = rng.normal(size=max(kinds, 1))
        column = rng.normal(size=total) + shifts[kind]
        if kinds:
            edges.append(("kind", f"v{j}"))
        for parent in rng.choice(j, min(j, 3), replace=False).tolist() if j else []:
            slopes = rng.normal(size=max(kinds, 1))
            column += slopes[kind] * columns[f"v{parent}"]
            edges.append((f"v{parent}", f"v{j}"))
        columns[f"v{j}"] = column / column.std()
    if not kinds:
        del columns["kind"]
    frame = pd.DataFrame(columns)
    return Data(frame=frame[:n], test=frame[n:].reset_index(drop=True), edges=edges)


class Novum:
    def fitted(self, data: Data) -> Callable[[], float]:
        from novum.graphical import Dag, fit_parameters

        graph = Dag.from_edges(data.edges, list(data.frame.columns))
        network = fit_parameters(graph, data.frame, numbers="normal")
        return lambda: float(np.mean(network.log_density(data.test)))

    def searched(self, data: Data) -> list[tuple[str, str]]:
        from novum.graphical import BGe, learn_structure

        return list(learn_structure(data.frame, BGe()).dag.edges)


class Pgmpy:
    def fitted(self, data: Data) -> Callable[[], float]:
        from pgmpy.models import LinearGaussianBayesianNetwork

        model = LinearGaussianBayesianNetwork(data.edges)
        model.add_nodes_from(data.frame.columns)
        model.fit(data.frame)

        def held_out() -> float:
            import networkx
            from scipy.stats import multivariate_normal

            mean, covariance = model.to_joint_gaussian()
            order = list(networkx.topological_sort(model))
            law = multivariate_normal(mean, covariance)
            return float(law.logpdf(data.test[order].to_numpy()).mean())

        return held_out

    def searched(self, data: Data) -> list[tuple[str, str]]:
        from pgmpy.estimators import HillClimbSearch

        search = HillClimbSearch(data.frame)
        return list(search.estimate(scoring_method="bic-g", show_progress=False).edges())


class Regressions:
    """scikit-learn's least squares in each state, as one would do by hand."""

    def fitted(self, data: Data) -> Callable[[], float]:
        from sklearn.linear_model import LinearRegression

        models: dict[tuple[str, str], Any] = {}
        names = [name for name in data.frame.columns if name != "kind"]
        above = {v: [p for p, c in data.edges if c == v and p != "kind"] for v in names}
        shares = data.frame["kind"].value_counts(normalize=True)
        for kind, group in data.frame.groupby("kind"):
            for v in names:
                X = group[above[v]].to_numpy() if above[v] else np.zeros((len(group), 1))
                model = LinearRegression().fit(X, group[v])
                models[kind, v] = (model, float(np.var(group[v] - model.predict(X))))

        def held_out() -> float:
            total = 0.0
            for kind, group in data.test.groupby("kind"):
                total += len(group) * np.log(shares[kind])
                for v in names:
                    model, variance = models[kind, v]
                    X = group[above[v]].to_numpy() if above[v] else np.zeros((len(group), 1))
                    rest = group[v].to_numpy() - model.predict(X)
                    total -= 0.5 * (np.log(2 * np.pi * variance) + rest**2 / variance).sum()
            return float(total / len(data.test))

        return held_out


def fit(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    adapter = make(data)
    with clock("learn"):
        held_out = adapter.fitted(data)
    return lambda: {"test_log_likelihood": held_out()}


def search(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    adapter = make(data)
    with clock("search"):
        edges = adapter.searched(data)

    def judged() -> Figures:
        from novum.graphical import BGe, Dag, score

        return {"bge": score(Dag.from_edges(edges, list(data.frame.columns)), data.frame, BGe())}

    return judged


workload(
    "graphical.learning.gaussian_families.linear",
    Recipe(numbers, rows(20_000), 30),
    fit,
    [Peer("pgmpy", lambda _: Pgmpy())],
    novum=Peer("novum", lambda _: Novum(), ours=True),
    target=2.0,
    quality=Quality("test_log_likelihood", tolerance=1e-3),
    note="30 columns of numbers, 20k rows, up to 3 parents each",
)
workload(
    "graphical.learning.gaussian_families.conditional",
    Recipe(numbers, rows(20_000), 20, 4),
    fit,
    [Peer("sklearn by hand", lambda _: Regressions())],
    novum=Peer("novum", lambda _: Novum(), ours=True),
    target=1.0,
    quality=Quality("test_log_likelihood", tolerance=1e-3),
    note="20 numbers, each also on a state of 4, 20k rows; no library fits such a network whole",
)
workload(
    "graphical.learning.gaussian_families.search",
    Recipe(numbers, rows(2_000), 12),
    search,
    [Peer("pgmpy bic-g", lambda _: Pgmpy())],
    novum=Peer("novum BGe", lambda _: Novum(), ours=True),
    target=5.0,
    quality=Quality("bge", tolerance=1e-3),
    limit=300,
    note="12 columns of numbers, 2k rows; the default search, pgmpy's climbs the Gaussian BIC",
)
