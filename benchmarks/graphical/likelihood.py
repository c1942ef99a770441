"""Log-likelihood of rows under conditional tables, and marginals laid out as one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.recipes import Data

Tables = dict[str, tuple[list[str], np.ndarray]]


def log_likelihood(tables: Tables, data: Data, codes: dict[str, np.ndarray]) -> float:
    """Mean over the rows `{node: codes}`; impossible rows count as log 1e-300."""
    total = 0.0
    for v in data.nodes:
        parents, table = tables[v]
        cells = table[(*(codes[parent] for parent in parents), codes[v])]
        total = total + np.log(np.maximum(cells, 1e-300))
    return float(np.mean(total))


def held_out(adapter: Any, bn: Any, data: Data) -> dict[str, float]:
    """The figure of quality of learned parameters: log-likelihood of the test rows."""
    codes = {
        v: np.array([data.labels[v].index(label) for label in data.test[v]]) for v in data.nodes
    }
    return {"test_log_likelihood": log_likelihood(adapter.tables(bn), data, codes)}


def flat(marginals: list[dict[str, np.ndarray]], nodes: list[str]) -> np.ndarray:
    """All marginals of all cases one after the other."""
    parts = [np.asarray(case[v], float).ravel() for case in marginals for v in nodes]
    return np.concatenate(parts)
