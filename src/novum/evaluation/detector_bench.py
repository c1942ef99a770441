"""The detectors that a table is compared by when nobody names others: one of every kind.

    cuts         isolation forest
    distances    neighbor distance, local outlier factor
    densities    Gaussian, mixture, kernel density, Bayesian network
    regions      one-class support vectors, support vector sphere
    networks     autoencoder, variational autoencoder, adversarial network, where torch is installed

Each stands behind what it needs: those that depend on units behind a scaling, distances of mixed
tables by Gower. What cannot take the table (levels, missing cells, too many columns) is left out,
and the reason is told beside its name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from novum.core.learners import Pipeline
from novum.core.runtime import RandomSource, seed, seed_sequence, stream
from novum.core.tables import Sample, as_table, check_sample, rows_of
from novum.data import StandardScaler
from novum.display import counted
from novum.distances import Gower
from novum.graphical import BayesianNetworkDensity
from novum.mixture import DensityDetector, GaussianMixture, MixedMixture, choose_components
from novum.neighbors import KernelDensity, LocalOutlierFactor, NeighborDistance
from novum.neural import (
    AutoencoderDetector,
    GenerativeAdversarialNetwork,
    VariationalAutoencoder,
    has_torch,
)
from novum.svm import SVDD, OneClassSVM
from novum.trees import IsolationForest

# Share of the training rows that regions leave outside.
_OUTSIDE = 0.1
_NEIGHBORS, _LOCAL_NEIGHBORS = 5, 20
# Rows that tell how many components a mixture has, and the most that are tried.
_CHOOSING_ROWS, _MOST_COMPONENTS = 1000, 5
# Columns of which a Bayesian network is learned in seconds, without and with missing cells.
_MOST_NODES, _MOST_NODES_WITH_GAPS = 60, 30
_EPOCHS = 1000
NETWORKS = {
    "autoencoder": AutoencoderDetector,
    "variational autoencoder": VariationalAutoencoder,
    "adversarial network": GenerativeAdversarialNetwork,
}


def default_detectors(
    X: Any, *, n_trees: int = 100, network_cells: int = 10**6, random_state: RandomSource = 0
) -> tuple[dict[str, Any], dict[str, str]]:
    """Detectors of every kind that can take a table, by name, and why the others cannot.

    Parameters
    ----------
    X : table
        Ordinary rows, as far as they are known: their columns say what can take them, and some of
        them how many components the mixture has.
    n_trees : int, default=100
        Of the isolation forest.
    network_cells : int, default=10**6
        Neural networks are there if torch is installed and the table has no more cells than this.
    random_state : None, int, Generator, RandomState or SeedSequence

    Returns
    -------
    detectors : dict from names to estimators that are not fitted
    left_out : dict from names to reasons

    Examples
    --------
    >>> rows = [[1.0, "red"], [2.0, "blue"], [1.5, None], [9.0, "red"]] * 5
    >>> detectors, left_out = default_detectors(rows, network_cells=0)
    >>> sorted(detectors)
    ['Bayesian network', 'isolation forest', 'local outlier factor', 'mixture', 'neighbor distance']
    >>> left_out["kernel density"]
    '5 cells are missing, and it needs all of them'
    """
    table, root = as_table(X), seed_sequence(random_state)
    own_seed = seed(root, "detectors")
    sample = check_sample(
        IsolationForest(), table, None, target="none", allow_missing=True, accept_sparse=True
    )
    numeric, n_missing = sample.schema.is_numeric, _missing_cells(sample)
    # Rows that are learned from are nearly half of all at least, however they are divided.
    most = max(1, sample.n_rows // 3 - 1)
    metric: dict[str, Any] = {} if numeric else {"metric": Gower()}

    def scaled(detector: Any) -> Any:
        if not numeric:
            return detector
        return Pipeline([("scale", StandardScaler()), ("detector", detector)])

    detectors: dict[str, Any] = {
        "isolation forest": IsolationForest(n_estimators=n_trees, random_state=own_seed),
        "neighbor distance": scaled(NeighborDistance(min(_NEIGHBORS, most), **metric)),
        "local outlier factor": scaled(
            LocalOutlierFactor(min(_LOCAL_NEIGHBORS, most), novelty=True, **metric)
        ),
    }
    wanted = {
        "one-class support vectors": scaled(OneClassSVM(nu=_OUTSIDE)),
        "support vector sphere": scaled(SVDD(nu=_OUTSIDE)),
        "kernel density": scaled(KernelDensity(bandwidth="scott")),
        "Gaussian": DensityDetector(GaussianMixture(1), cv=2, random_state=own_seed),
        "mixture": DensityDetector(
            _mixture(table, sample, root, own_seed), cv=2, random_state=own_seed
        ),
        "Bayesian network": BayesianNetworkDensity(),
    }
    left_out = {}
    gaps = f"{counted(n_missing, 'cell')} {'is' if n_missing == 1 else 'are'} missing"
    if n_missing:
        for name in ("one-class support vectors", "support vector sphere", "kernel density"):
            left_out[name] = f"{gaps}, and it needs all of them"
    if not numeric:
        levels = f"{counted(len(sample.schema.categorical), 'column')} with levels"
        for name in ("kernel density", "Gaussian"):
            left_out.setdefault(name, f"it takes numbers, and there are {levels}")
    nodes = _MOST_NODES_WITH_GAPS if n_missing else _MOST_NODES
    if sample.schema.n_columns > nodes:
        left_out["Bayesian network"] = (
            f"it is learned in seconds of {nodes} columns at most, and there are "
            f"{sample.schema.n_columns}"
        )
    settings: dict[str, Any] = {"random_state": own_seed, "max_iter": _EPOCHS}
    networks = {name: network(**settings) for name, network in NETWORKS.items()}
    n_cells = sample.n_rows * sample.schema.n_columns
    if not has_torch():
        reason = "torch is not installed (pip install '.[neural]' in a copy of the sources)"
        left_out |= dict.fromkeys(networks, reason)
    elif n_cells > network_cells:
        left_out |= dict.fromkeys(networks, f"{n_cells:,} cells take long to train on")
    wanted |= networks
    detectors |= {name: one for name, one in wanted.items() if name not in left_out}
    return detectors, left_out


def _missing_cells(sample: Sample) -> int:
    numbers = sample.numeric.data if sparse.issparse(sample.numeric) else sample.numeric
    return int(np.isnan(numbers).sum()) + int((sample.codes < 0).sum())


def _mixture(table: Any, sample: Sample, root: np.random.SeedSequence, own_seed: int) -> Any:
    """A mixture with as many components as some of the rows support."""
    law = GaussianMixture if sample.schema.is_numeric else MixedMixture
    mixture = law(random_state=own_seed)
    some = stream(root, "components").permutation(sample.n_rows)[:_CHOOSING_ROWS]
    most = min(_MOST_COMPONENTS, max(1, len(some) // 20))
    try:
        choice = choose_components(mixture, rows_of(table, np.sort(some)), range(1, most + 1))
    except ValueError:
        # What is wrong with the table is told by the comparison, beside the name.
        return mixture
    return mixture.set_params(n_components=choice.n_components)
