"""From the parameters of a tree or forest to the rules of the engine.

Limits on samples are limits on weight: a row of weight 2 counts as two rows. The defaults, one row
in a leaf and two in a node that is split, mean whole rows also where weights are below 1: they ask
for no more than the lightest row weighs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2, sqrt
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions

from novum.core.errors import InputError
from novum.core.schema import Kind, Schema
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.rules import GeneralRules
from novum.trees.growth.growing import GrowthRules
from novum.trees.training import TrainingRows

Floats = NDArray[np.float64]

MISSING_RULES = {"fractional", "direction", "auto", "most_common", "most_common_of_class"}

# Parameters that trees and forests share, as scikit-learn checks them.
GROWTH_CONSTRAINTS: dict[str, list[Any]] = {
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "random_state": ["random_state", HasMethods("integers"), None],
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
    "monotonic_cst": ["array-like", dict, None],
    "missing": [StrOptions(MISSING_RULES)],
    "max_thresholds": [Interval(Integral, 1, None, closed="left"), None],
    "max_bins": [Interval(Integral, 2, 255, closed="both"), None],
    "categorical_features": ["array-like", str, None],
}


def growth_rules(model: Any, rows: TrainingRows, criterion: str) -> GrowthRules:
    """The rules of the binary engine for a model's parameters."""
    total = float(rows.weight.sum())
    split, leaf = least_weights(model, rows.weight)
    return GrowthRules(
        criterion=criterion,
        max_depth=model.max_depth,
        max_features=n_features(model.max_features, rows.schema.n_columns),
        max_leaf_nodes=model.max_leaf_nodes,
        max_thresholds=model.max_thresholds,
        min_split=split,
        min_leaf=max(leaf, model.min_weight_fraction_leaf * total),
        min_gain=model.min_impurity_decrease * total,
        random_cuts=getattr(model, "splitter", "best") == "random",
        # Without nominal columns their splits may be called anything.
        nominal="subset" if model.nominal == "multiway" else model.nominal,
        missing=rule_for_missing(model),
        signs=monotone_signs(model.monotonic_cst, rows),
    )


def general_rules(model: Any, rows: TrainingRows, criterion: str | GainRatio) -> GeneralRules:
    """The rules of the general engine for a model's parameters."""
    if any(monotone_signs(model.monotonic_cst, rows)):
        raise InputError(
            "monotonic_cst is for splits in two by gini, entropy, log_loss or squared_error. "
            "Choose one of these criteria and leave out nominal='multiway'."
        )
    split, leaf = least_weights(model, rows.weight)
    return GeneralRules(
        criterion=criterion,
        # Sets are not chosen by the number of rows here.
        nominal="subset" if model.nominal == "auto" else model.nominal,
        missing=rule_for_missing(model),
        max_depth=model.max_depth,
        min_samples_split=split,
        min_samples_leaf=leaf,
        min_weight_leaf=model.min_weight_fraction_leaf * float(rows.weight.sum()),
        max_leaf_nodes=model.max_leaf_nodes,
        min_impurity_decrease=model.min_impurity_decrease,
        max_features=n_features(model.max_features, rows.schema.n_columns),
        max_thresholds=model.max_thresholds,
        splitter=model.splitter,
    )


def rule_for_missing(model: Any) -> str:
    """What nodes do with missing cells; those that were replaced are not missing any more."""
    return "fractional" if model.missing.startswith("most_common") else str(model.missing)


def least_weights(model: Any, weight: Floats) -> tuple[float, float]:
    """Least weight of a node that is split, and of a leaf."""
    split, leaf = model.min_samples_split, model.min_samples_leaf
    total, lightest = float(weight.sum()), min(1.0, float(weight.min()))
    if not isinstance(split, Integral):
        least_split = split * total
    else:
        least_split = 2.0 * lightest if split == 2 else float(split)
    if not isinstance(leaf, Integral):
        least_leaf = leaf * total
    else:
        least_leaf = lightest if leaf == 1 else float(leaf)
    # Sums of many weights may fall short of their true value in the last digits.
    return least_split * (1 - 1e-10), least_leaf * (1 - 1e-10)


def n_features(max_features: Any, n_columns: int) -> int | None:
    """How many columns a node tries; None for all."""
    if max_features is None:
        return None
    if max_features == "sqrt":
        found = int(sqrt(n_columns))
    elif max_features == "log2":
        found = int(log2(n_columns))
    elif isinstance(max_features, Integral):
        found = int(max_features)
    else:
        found = int(max_features * n_columns)
    found = max(found, 1)
    return None if found >= n_columns else found


def monotone_signs(constraints: Any, rows: TrainingRows) -> tuple[int, ...]:
    """Per column 1 if predictions must not fall along it, -1 if they must not rise, else 0."""
    if constraints is None:
        return ()
    signs = _listed_signs(constraints, rows.schema)
    if not any(signs):
        return ()
    if len(signs) != rows.schema.n_columns:
        raise InputError(
            f"monotonic_cst has shape {len(signs)} but the input data X has "
            f"{rows.schema.n_columns} features. Give one entry for each column."
        )
    for sign, column in zip(signs, rows.schema.columns, strict=True):
        if sign and column.kind is Kind.NOMINAL:
            raise InputError(
                f"monotonic_cst asks for an order in the nominal column {column.name!r}, whose "
                "levels have none. Set its entry to 0, or make the column ordinal."
            )
    if rows.targets.shape[1] > 1:
        raise InputError(
            "Monotonicity constraints are not supported with multiple outputs. Fit one model for "
            "each target."
        )
    if rows.n_classes is not None and rows.n_classes[0] > 2:
        raise InputError(
            "Monotonicity constraints are not supported with multiclass classification. Use "
            "OneVsRestClassifier, or two classes."
        )
    return signs


def _listed_signs(constraints: Any, schema: Schema) -> tuple[int, ...]:
    if isinstance(constraints, Mapping):
        unknown = [name for name in constraints if name not in schema.names]
        if unknown:
            raise InputError(f"monotonic_cst names {unknown[0]!r}, which is no column of X.")
        return _whole([constraints.get(name, 0) for name in schema.names])
    return _whole(np.asarray(constraints).ravel().tolist())


def _whole(signs: Sequence[Any]) -> tuple[int, ...]:
    if not all(isinstance(sign, Real) and sign in (-1, 0, 1) for sign in signs):
        raise InputError(
            "monotonic_cst must be None or an array-like of -1, 0 or 1, but got "
            f"{sorted(set(map(str, signs)))}."
        )
    return tuple(int(sign) for sign in signs)
