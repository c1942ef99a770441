"""Records of runs as reports see them: rich, large, tiny, hostile, and empty ones."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import stats

from novum.apps.job.record import (
    ColumnRecord,
    DataRecord,
    Finding,
    PlannedTrial,
    PlanRecord,
    ProfileRecord,
    RunRecord,
    TaskRecord,
)
from novum.apps.job.record_model import (
    ChosenRecord,
    Curve,
    Estimate,
    ExplanationRecord,
    HoldoutRecord,
)
from tests.apps.report.sample_parts import (
    MODELS,
    TREE,
    classification_curves,
    comparison,
    contributions,
    cost_curves,
    curve,
    dependences,
    mistakes,
    near,
    nominal_column,
    numeric_column,
    residual_curves,
    saving,
    standings,
)

# --- Records --------------------------------------------------------------------------------------


def binary_record() -> RunRecord:
    """A rich run: two classes, costs, seven models, a tree to draw, findings of every severity."""
    return RunRecord(
        verdict=(
            "Random forest predicts claim best: it is right for 86.1 % of rows it has not seen.",
            "On 276 rows set aside its accuracy is 0.855 [0.813, 0.897]; a decision costs 0.29.",
            "Boosted trees may be as good (probability 0.76); the five other models are not.",
        ),
        settings={
            "table": "insurance.csv",
            "target": "claim",
            "preset": "standard",
            "metric": None,
            "models": (),
            "budget_seconds": 120.0,
            "refit": True,
            "cost_fn": 5.0,
            "seed": 7,
        },
        versions={"novum": "0.1.0", "python": "3.11.2", "numpy": "2.1.0"},
        data=_data(),
        task=_task(),
        findings=_findings(),
        profile=_profile(),
        plan=_plan(),
        leaderboard=standings(),
        comparison=comparison(),
        chosen=_chosen(),
        holdout=_holdout(),
        learning_curve=Curve(
            (110.0, 360.0, 610.0, 860.0, 1106.0),
            (0.792, 0.831, 0.848, 0.856, 0.861),
            (0.762, 0.811, 0.832, 0.841, 0.847),
            (0.822, 0.851, 0.864, 0.871, 0.875),
        ),
        not_done=("Support vectors were not tried: their forecast of 95 s exceeds what is left.",),
        stage_seconds=(("read", 0.2), ("profile", 0.4), ("compare", 71.5), ("judge", 1.1)),
        date="2026-11-08",
    )


def multiclass_record(n_classes: int = 26) -> RunRecord:
    """Letters, or more classes than anyone can look at."""
    base = binary_record()
    classes = tuple(chr(65 + k) if n_classes <= 26 else f"class {k}" for k in range(n_classes))
    draws = np.random.default_rng(11)
    counts = draws.poisson(0.35, (n_classes, n_classes)) + np.diag(draws.poisson(34, n_classes))
    holdout = dataclasses.replace(
        base.holdout or _holdout(),
        confusion=tuple(tuple(map(float, row)) for row in counts.tolist()),
        confusion_columns=classes,
        class_measures=tuple(
            (c, (("precision", near(0.9, 0.05)), ("recall", near(0.88, 0.06)))) for c in classes
        ),
        curves=classification_curves(classes[:26]),
        saving=saving("accuracy", 0.861, 0.041, classes[0], less=False),
        mistakes=mistakes("wrong", classes[0], classes[1]),
    )
    chosen = dataclasses.replace(
        base.chosen,
        dependences=dependences(classes[:5]),
        contributions=contributions(classes[0], classes[0], classes[1]),
    )
    task = dataclasses.replace(
        base.task, kind="multiclass", classes=classes, positive=None, priors=(), cost=(), actions=()
    )
    target = nominal_column("letter", dict.fromkeys(classes, 50), None)
    profile = dataclasses.replace(base.profile, target=target)
    return dataclasses.replace(base, task=task, holdout=holdout, profile=profile, chosen=chosen)


def regression_record() -> RunRecord:
    """A number to predict, a linear model with coefficients."""
    base = binary_record()
    task = TaskRecord(
        *("regression", "progression", (), None, (), (), (), "root_mean_squared_error", False),
        ("The target progression is a number with 214 values, so this is a regression.",),
    )
    names = ("bmi", "bp", "s5", "sex", "s1", "s2", "s3", "s4", "s6", "age")
    values = (520.2, 324.4, 751.3, -239.8, -792.2, 476.7, 101.0, 177.1, 67.6, -10.0)
    terms = tuple((name, near(v, 60 + abs(v) / 3)) for name, v in zip(names, values, strict=True))
    explanation = ExplanationRecord(
        *("coefficients", "One unit of a column changes the prediction by its coefficient."),
        *(None, (), terms, "coefficient"),
    )
    chosen = dataclasses.replace(
        base.chosen,
        family="ridge",
        title="Ridge regression",
        explanation=explanation,
        dependences=dependences(("",)),
        contributions=contributions("", "233", "171.4"),
    )
    holdout = HoldoutRecord(
        *(89, (("root_mean_squared_error", near(54.1, 5.2)), ("r2", near(0.48, 0.11))), (), (), ()),
        residual_curves(),
        ("Half of the predictions are off by less than 37.",),
        saving("rmse", 67_412.3, 132_671.0, "151,200", less=True),
        mistakes("distance", "233", "171.4"),
    )
    target = numeric_column("progression", stats.gamma(3.8, scale=40), told=None)
    return dataclasses.replace(
        base,
        task=task,
        chosen=chosen,
        holdout=holdout,
        leaderboard=standings(60.0),
        learning_curve=curve([70, 210, 353], [60.2, 56.1, 54.3], [55, 53, 52], [66, 59, 57]),
        profile=dataclasses.replace(base.profile, target=target),
        verdict=(
            "Ridge regression predicts progression best, with errors of 54.1 on average.",
            "It explains 48 % of the variance on 89 rows set aside.",
            "No other model is significantly better.",
        ),
    )


def tiny_record() -> RunRecord:
    """Twelve rows, one model, no hold-out, nothing that needs many rows."""
    base = binary_record()
    data = dataclasses.replace(base.data, n_rows=12, n_train=12, n_holdout=0, n_without_target=0)
    one = dataclasses.replace(base.leaderboard[0], score=Estimate(0.75, None, None), fold_scores=())
    return dataclasses.replace(
        base,
        data=data,
        leaderboard=(one,),
        comparison=None,
        holdout=None,
        learning_curve=None,
        not_done=("No rows were set aside: twelve are too few to spare any.",),
    )


def minimal_record() -> RunRecord:
    """Nothing where nothing is allowed."""
    return RunRecord(
        *((), {}, {}, DataRecord("", "", 0, 0, 0, 0, 0, (), (), "")),
        TaskRecord("binary", "", (), None, (), (), (), "accuracy", True, ()),
        (),
        ProfileRecord(0, (), None, 0, 0, (), 0),
        PlanRecord("quick", 0.0, 1.0, 1, 2, 2, 0, ()),
        *((), None),
        ChosenRecord(
            *("", "", (), "", ()), ExplanationRecord("none", "", None, (), (), ""), (), False
        ),
        *(None, None, (), ()),
    )


def hostile_record(payload: str) -> RunRecord:
    """The binary record with `payload` in every place that holds text, keys included."""
    return _poisoned(binary_record(), payload)  # type: ignore[no-any-return]


def _poisoned(value: Any, payload: str, field: str = "") -> Any:
    # Kinds are the library's own words; without them nothing would be drawn.
    if field in ("kind", "severity"):
        return value
    if isinstance(value, str):
        if field == "svg":
            return value
        # One long text is shared by all places; copies of it would fill the memory.
        return payload if len(payload) > 10_000 else payload + value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value)]
        parts = {name: _poisoned(getattr(value, name), payload, name) for name in names}
        return dataclasses.replace(value, **parts)
    if isinstance(value, dict):
        is_curves = field == "curves"
        extra = {payload[:100]: next(iter(value.values()))} if is_curves else {}
        return {
            (key if is_curves else payload[:100] + key): _poisoned(item, payload)
            for key, item in {**value, **extra}.items()
        }
    if isinstance(value, tuple):
        return tuple(_poisoned(item, payload) for item in value)
    return value


# --- Parts of the rich run ------------------------------------------------------------------------


def _columns() -> tuple[ColumnRecord, ...]:
    return (
        numeric_column("age of the car", stats.gamma(3, scale=3), told=0.214),
        numeric_column("premium", stats.lognorm(0.6, scale=400), told=0.131),
        numeric_column("kilometers a year", stats.norm(14_000, 4_000), told=0.02),
        nominal_column("region", {"north": 520, "south": 410, "east": 240, "west": 160}),
        nominal_column("fuel", {"petrol": 800, "diesel": 482, "electric": 100}, 0.003),
    )


def _data() -> DataRecord:
    return DataRecord(
        *("insurance.csv", "9f2c" * 16, 1400, 7, 1106, 276, 18),
        tuple(column.name for column in _columns()),
        (("policy number", "an identifier: every row has its own value"),),
        "20 % of the rows, in the proportions of the classes, drawn with seed 7.",
    )


def _task() -> TaskRecord:
    return TaskRecord(
        *("binary", "claim", ("no", "yes"), "yes", (0.8, 0.2), ((0.0, 1.0), (5.0, 0.0))),
        *(("no", "yes"), "accuracy", True),
        (
            "The target claim has two values, so this is a choice between two classes.",
            "The positive class is “yes”, the last in order; --positive changes it.",
        ),
    )


def _findings() -> tuple[Finding, ...]:
    return (
        Finding(
            *("imbalance", "note", ("claim",), "75.4 % of the rows are “no”."),
            "Accuracy flatters here; look at precision and recall too.",
        ),
        Finding(
            *("leak", "danger", ("payout",), "payout alone predicts claim without error."),
            "It was left out. Pass --keep payout if it is known before the decision.",
        ),
        Finding(
            *("duplicate rows", "warning", (), "12 rows repeat an earlier row exactly."),
            "They were kept. Remove them if they are one event counted twice.",
        ),
    )


def _profile() -> ProfileRecord:
    target = nominal_column("claim", {"no": 1042, "yes": 340}, None)
    return ProfileRecord(
        *(1382, _columns(), target, 12, 1330, ((("region",), 52), (("region", "fuel"), 3))),
        1382,
    )


def _plan() -> PlanRecord:
    return PlanRecord(
        *("standard", 120.0, 1.0, 2, 5, 3, 7),
        (
            *(PlannedTrial(f, t, 12, 1106, 360, 14.5, "planned") for f, t, _ in MODELS),
            PlannedTrial("svc", "Support vectors", 9, 1106, 270, 95.0, "over the budget"),
        ),
    )


def _chosen() -> ChosenRecord:
    terms = tuple(
        (name, near(value, 0.03 + value / 6))
        for name, value in (("age of the car", 0.31), ("premium", 0.18), ("region", 0.06))
    )
    return ChosenRecord(
        *("forest", "Random forest", (("n_estimators", "300"), ("max_depth", "12"))),
        "It has the best score, and no simpler model is as good.",
        (
            "out-of-bag error 0.1412 (stopped early: no)",
            "objective  misclassification on rows left out of each tree",
            "verdict    local",
        ),
        ExplanationRecord(
            *("tree", "The first tree of 300; the forest averages all of them.", TREE),
            ("no if age of the car <= 41.5", "yes if age of the car > 41.5"),
            *((), ""),
        ),
        terms,
        True,
        dependences(("yes",)),
        contributions("yes", "no", "yes"),
    )


def _holdout() -> HoldoutRecord:
    return HoldoutRecord(
        276,
        (
            ("accuracy", near(0.855, 0.042)),
            ("roc_auc", near(0.912, 0.031)),
            ("log_loss", near(0.3421, 0.0513)),
            ("expected_cost", near(0.29, 0.07)),
        ),
        ((188.0, 20.0), (20.0, 48.0)),
        ("no", "yes"),
        tuple(
            (name, (("precision", near(p, 0.05)), ("recall", near(r, 0.06))))
            for name, p, r in (("no", 0.904, 0.904), ("yes", 0.706, 0.706))
        ),
        {**classification_curves(), **cost_curves()},
        ("The interval holds the cross-validated score: no sign of overfitting.",),
        saving("bayes_risk", 0.29, 0.75, "yes", less=True),
        mistakes("cost", "yes", "no"),
    )
