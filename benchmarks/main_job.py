"""The main job beside scikit-learn: `python -m benchmarks.main_job TABLE.csv:target ...`.

Each table is run with the default and the quick preset, and scikit-learn's histogram boosting,
random forest and logistic (or ridge) regression, untuned, are judged on the same outer folds of the
same training rows. Nominal columns are coded and missing cells filled for those that need it. What
is printed has for each the mean score over the folds (accuracy, or root mean squared error), the
family that was chosen, and the seconds of the run; `docs/guides/main_job_results.md` is made by it.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np


def rivals(kind: str, nominal: list[str]) -> dict[str, Any]:
    """scikit-learn's learners, each behind what it needs."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_column_selector(dtype_include="number")
    coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers), (coded, nominal)
    )
    boosting = {"categorical_features": "from_dtype", "random_state": 0}
    if kind == "regression":
        return {
            "boosting": HistGradientBoostingRegressor(**boosting),
            "forest": make_pipeline(columns, RandomForestRegressor(random_state=0)),
            "linear": make_pipeline(columns, Ridge()),
        }
    return {
        "boosting": HistGradientBoostingClassifier(**boosting),
        "forest": make_pipeline(columns, RandomForestClassifier(random_state=0)),
        "linear": make_pipeline(columns, LogisticRegression(max_iter=2000)),
    }


def compared(path: str, target: str) -> list[str]:
    """One line of the table."""
    from novum.apps.job.job import run_one as run
    from novum.apps.job.job import trial_rows
    from novum.apps.job.request import Request
    from novum.apps.job.table.formalizing import formalize
    from novum.apps.job.table.partition import set_aside
    from novum.apps.job.table.reading import read
    from novum.apps.job.trials import outer_splits

    shown, seconds, record = [], [], None
    for preset in ("standard", "quick"):
        request = Request(path, target, preset=preset)
        with TemporaryDirectory() as folder:
            began = time.perf_counter()
            record = run(request, Path(folder) / "run")
            seconds.append(f"{time.perf_counter() - began:.0f}")
        chosen = next(row for row in record.leaderboard if row.is_chosen)
        shown += [chosen.title, f"{chosen.score.value:.4g}"]
        if preset == "standard":
            plan = record.plan
    loaded = read(request)
    task = formalize(loaded, request)
    rows = trial_rows(task, set_aside(task, request, loaded), plan)
    splits = outer_splits(plan, rows)
    frame = rows.X.to_pandas()
    nominal = [name for name in frame if frame[name].dtype.kind not in "iuf"]
    for name in nominal:
        frame[name] = frame[name].astype("category")
    theirs = []
    for model in rivals(task.kind, nominal).values():
        scores = []
        for fold in splits.parts:
            train = (
                np.setdiff1d(np.arange(len(rows.y)), fold.test)
                if fold.train is None
                else fold.train
            )
            model.fit(frame.iloc[train], rows.y[train])
            answers, truth = model.predict(frame.iloc[fold.test]), rows.y[fold.test]
            error = np.sqrt(np.mean((answers - truth) ** 2)) if task.kind == "regression" else 0.0
            scores.append(error if task.kind == "regression" else np.mean(answers == truth))
        theirs.append(f"{np.mean(scores):.4g}")
    size = f"{loaded.n_rows:,} x {loaded.n_columns - 1}"
    measure = "rmse" if task.kind == "regression" else "accuracy"
    ours = [*shown[:2], seconds[0], *shown[2:], seconds[1]]
    return [Path(path).name.split(".")[0], size, measure, *ours, *theirs]


def main(arguments: list[str]) -> None:
    head = ["table", "size", "measure", "chosen", "score", "s", "quick", "score", "s"]
    head += ["boosting", "forest", "linear"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for argument in arguments:
        path, _, target = argument.rpartition(":")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print("| " + " | ".join(compared(path, target)) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
