"""The main job beside tuned rivals: `python -m benchmarks.main_job TABLE.csv:target ...`.

Each table is run with the default and the quick preset. LightGBM, scikit-learn's histogram boosting
and random forest, and logistic or ridge regression, each tuned over four settings by three inner
folds as Novum's families are, are judged on the same outer folds of the same training rows. Nominal
columns are coded and missing cells filled for those that need it.

A run shows the best of a dozen families, which is too good by what a best of twelve is. So here a
fold is judged with the family that the other folds of its repeat would have chosen, and that is
what the rivals are compared with, by the corrected resampled t test.

Results are kept in `benchmarks/results/main_job.json`; tables that are in it are not run again.
`python -m benchmarks.main_job` alone prints the page, `docs/guides/main_job_results.md`, of all.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

RESULTS = Path(__file__).with_name("results") / "main_job.json"
RIVALS = ("LightGBM", "histogram boosting", "random forest", "linear")


def rivals(kind: str, nominal: list[str]) -> dict[str, Any]:
    """Searches over four settings, each learner behind what it needs."""
    import lightgbm
    from sklearn import ensemble, linear_model
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    is_numbers = kind == "regression"
    suffix = "Regressor" if is_numbers else "Classifier"
    coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (coded, nominal)
    )
    light = getattr(lightgbm, f"LGBM{suffix}")(verbose=-1, n_jobs=1, random_state=0)
    hist = getattr(ensemble, f"HistGradientBoosting{suffix}")(random_state=0)
    forest = getattr(ensemble, f"RandomForest{suffix}")(random_state=0)
    line = linear_model.Ridge() if is_numbers else linear_model.LogisticRegression(max_iter=2000)
    strength = {"alpha": [0.1, 1.0, 10.0, 100.0]} if is_numbers else {"C": [0.01, 0.1, 1.0, 10.0]}
    grids = {
        "LightGBM": (light, {"num_leaves": [7, 31], "min_child_samples": [5, 20]}),
        "histogram boosting": (
            hist,
            {"max_leaf_nodes": [7, 31], "l2_regularization": [0.0, 1.0]},
        ),
        "random forest": (
            Pipeline([("columns", columns), ("learner", forest)]),
            {"learner__max_features": ["sqrt", 0.5], "learner__min_samples_leaf": [1, 3]},
        ),
        "linear": (
            Pipeline([("columns", columns), ("learner", line)]),
            {f"learner__{name}": values for name, values in strength.items()},
        ),
    }
    scoring = "neg_root_mean_squared_error" if is_numbers else "accuracy"
    return {
        name: GridSearchCV(model, grid, cv=3, scoring=scoring)
        for name, (model, grid) in grids.items()
    }


def chosen_elsewhere(scores: Any, n_folds: int, greater: bool) -> list[float]:
    """Of every fold the score of the family that the other folds of its repeat prefer.

    Examples
    --------
    >>> chosen_elsewhere([[1.0, 0.0, 0.0], [0.5, 0.5, 0.5]], 3, True)
    [0.5, 0.0, 0.0]
    """
    table = np.asarray(scores, float).reshape(len(scores), -1, n_folds)
    others = table.sum(axis=2, keepdims=True) - table
    best = (others if greater else -others).argmax(axis=0)
    return [float(x) for x in np.take_along_axis(table, best[np.newaxis], axis=0)[0].ravel()]


def compared(path: str, target: str) -> dict[str, Any]:
    """What one table gives."""
    from novum.apps.job.job import run_one as run
    from novum.apps.job.job import trial_rows
    from novum.apps.job.request import Request
    from novum.apps.job.table.formalizing import formalize
    from novum.apps.job.table.partition import set_aside
    from novum.apps.job.table.reading import read
    from novum.apps.job.trials import outer_splits

    found: dict[str, Any] = {}
    for preset in ("quick", "standard"):
        request = Request(path, target, preset=preset)
        with TemporaryDirectory() as folder:
            began = time.process_time()
            record = run(request, Path(folder) / "run")
            found[f"{preset} seconds"] = time.process_time() - began
        chosen = next(row for row in record.leaderboard if row.is_chosen)
        found[preset] = [chosen.title, chosen.score.value]
    plan, greater = record.plan, record.task.greater_is_better
    board = [row.fold_scores for row in record.leaderboard if row.family != "constant"]
    loaded = read(request)
    task = formalize(loaded, request)
    rows = trial_rows(task, set_aside(task, request, loaded), plan)
    splits = outer_splits(plan, rows)
    frame = rows.X.to_pandas().set_axis([f"x{j}" for j in range(rows.X.num_columns)], axis=1)
    nominal = [name for name in frame if frame[name].dtype.kind not in "iuf"]
    frame = frame.astype(dict.fromkeys(nominal, "category"))
    found |= {
        "table": Path(path).name.split(".")[0],
        "rows": loaded.n_rows,
        "columns": loaded.n_columns - 1,
        "measure": task.metric,
        "greater": greater,
        "ratio": splits.test_train_ratio,
        "ours": chosen_elsewhere(board, plan.folds, greater),
        "theirs": {},
    }
    for name, model in rivals(task.kind, nominal).items():
        scores = []
        for fold in splits.parts:
            train = fold.train
            if train is None:
                train = np.setdiff1d(np.arange(len(rows.y)), fold.test)
            model.fit(frame.iloc[train], rows.y[train])
            answers, truth = model.predict(frame.iloc[fold.test]), rows.y[fold.test]
            error = (answers - truth) ** 2 if task.kind == "regression" else answers == truth
            scores.append(float(np.mean(error)))
        found["theirs"][name] = np.sqrt(scores).tolist() if task.kind == "regression" else scores
    return found


def page(results: list[dict[str, Any]]) -> str:
    """All tables, and what they come to."""
    from novum.evaluation import corrected_interval

    head = ["table", "size", "measure", "chosen", "shown", "s", "quick", "shown", "s", "fair"]
    lines = ["| " + " | ".join([*head, *RIVALS, "against the best"]) + " |", "|" + "---|" * 15]
    ranks, verdicts = [], []
    for one in results:
        sign = 1.0 if one["greater"] else -1.0
        scores = np.array([one["ours"], *(one["theirs"][name] for name in RIVALS)]) * sign
        means = scores.mean(axis=1)
        ranks.append([(means > mean).sum() + ((means == mean).sum() + 1) / 2 for mean in means])
        differences = scores[0] - scores[1 + int(means[1:].argmax())]
        found = corrected_interval(differences, one["ratio"])
        verdict = "ahead" if found.low > 0 else "behind" if found.high < 0 else "not told apart"
        verdicts.append("not told apart" if np.isnan(found.low) else verdict)
        cells = [
            one["table"],
            f"{one['rows']:,} x {one['columns']}",
            one["measure"],
            one["standard"][0],
            f"{one['standard'][1]:.4g}",
            f"{one['standard seconds']:.0f}",
            one["quick"][0],
            f"{one['quick'][1]:.4g}",
            f"{one['quick seconds']:.0f}",
            *(f"{abs(mean):.4g}" for mean in means),
            verdicts[-1],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    mean_ranks = np.mean(ranks, axis=0)
    shown = ", ".join(
        f"{name} {rank:.2f}" for name, rank in zip(("Novum", *RIVALS), mean_ranks, strict=True)
    )
    counts = {word: verdicts.count(word) for word in ("ahead", "not told apart", "behind")}
    told = ", ".join(f"{count} {word}" for word, count in counts.items())
    return "\n".join([*lines, "", f"Average ranks: {shown}.", "", f"Against the best: {told}."])


def main(arguments: list[str]) -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    for argument in arguments:
        path, _, target = argument.rpartition(":")
        if Path(path).name.split(".")[0] in {one["table"] for one in known}:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known.append(compared(path, target))
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(known))
        print(known[-1]["table"], known[-1]["standard"], flush=True)
    print(page(known))


if __name__ == "__main__":
    main(sys.argv[1:])
