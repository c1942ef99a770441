"""Autoencoders as detectors of novelty, against PyOD's: ten splits of digits and of three tables.

Seven tenths of the ordinary rows are trained on, the others and all novel rows are scored. Of the
digits, another one is novel in every split; of the tables, the rarer class is.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, Quality, workload

SPLITS = 10
FOLDER = Path(__file__).resolve().parents[1] / "data"


def novelty(name: str) -> Data:
    """Rows and which of them are novel, one list for each split."""
    X, y = _rows(name)
    splits = []
    for split in range(SPLITS):
        novel = y == split if name == "digits" else y == 1
        order = np.random.default_rng(split).permutation(np.flatnonzero(~novel))
        n = int(0.7 * len(order))
        splits.append((order[:n], np.r_[order[n:], np.flatnonzero(novel)], novel))
    return Data(X=X, splits=splits, seed=0)


def _rows(name: str) -> tuple[Any, Any]:
    if name in ("digits", "wdbc"):
        from sklearn.datasets import load_breast_cancer, load_digits

        X, y = (load_digits if name == "digits" else load_breast_cancer)(return_X_y=True)
        return X, y if name == "digits" else 1 - y
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt") as file:
        _, *rows = csv.reader(file)
    labels = np.array([row[-1] for row in rows])
    X = np.array([row[:-1] for row in rows], float)
    return X, (labels == {"pima": "tested_positive", "ionosphere": "b"}[name]).astype(int)


def detect(make: Make, data: Data, clock: Clock) -> Figures:
    """The mean area over the splits."""
    from sklearn.metrics import roc_auc_score

    areas = []
    for split, (trained, scored, novel) in enumerate(data.splits):
        # A seed of its own for every split, so that none is lucky for all of them.
        data.seed = split
        model = make(data)
        with clock("fit"):
            model.fit(data.X[trained])
        with clock("score"):
            # PyOD's scores are larger for novel rows.
            theirs = type(model).__module__.startswith("pyod")
            scores = (
                model.decision_function(data.X[scored])
                if theirs
                else -model.score_samples(data.X[scored])
            )
        areas.append(roc_auc_score(novel[scored], scores))
    return {"area": float(np.mean(areas))}


# Two standard errors of the difference of two autoencoders' means over the splits, relative.
TOLERANCES = {"digits": 0.09, "pima": 0.019, "wdbc": 0.011, "ionosphere": 0.008}

for TABLE, TOLERANCE in TOLERANCES.items():
    for KIND, OURS, THEIRS in (
        ("autoencoder", "AutoencoderDetector", "pyod.models.auto_encoder:AutoEncoder"),
        ("variational", "VariationalAutoencoder", "pyod.models.vae:VAE"),
    ):
        workload(
            f"neural.detector.{KIND}_{TABLE}",
            Recipe(novelty, TABLE),
            detect,
            [Peer("pyod", build(THEIRS, random_state="@seed", verbose=0))],
            novum=novum(f"novum.neural:{OURS}", random_state="@seed"),
            target=1.0,
            quality=Quality("area", tolerance=TOLERANCE),
            note=f"{SPLITS} splits of {TABLE}, one class novel",
        )
