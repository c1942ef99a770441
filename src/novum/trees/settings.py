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

from novum.core.errors import InputError
from novum.core.learners import Learner, count, parameter, share
from novum.core.runtime import RandomSource
from novum.core.tables import Kind, Schema
from novum.numerics import Floats
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.rules import GeneralRules
from novum.trees.growth.growing import GrowthRules
from novum.trees.training import CellRows

MISSING_RULES = {"fractional", "direction", "auto", "most_common", "most_common_of_class"}


class GrowthParameters(Learner):
    """What trees and forests share: when a node is split, by what, and what missing cells do.

    Parameters
    ----------
    max_depth : int
    min_samples_split, min_samples_leaf : int or float
        Least weight of a node that is split, and of a leaf; a float is a share of all. In a
        forest a row weighs as often as it was drawn.
    min_weight_fraction_leaf : float
    max_features : int, float, "sqrt", "log2" or None
        Columns that a node tries, drawn at random.
    max_leaf_nodes : int
        With it, the node whose split gains most is split first.
    min_impurity_decrease : float
        Least gain of a split, over the weight of all rows of the tree.
    random_state : int, Generator, RandomState or None
    ccp_alpha : float
        Price of a leaf, by which a tree is pruned: `pruning=CostComplexity(ccp_alpha)`.
    monotonic_cst : array-like or dict
        Per column 1 (the second class must not get less likely, predictions must not fall), -1 or
        0; two classes or squared error only.
    nominal : {"auto", "subset", "single", "multiway"}
        "subset" divides the levels into two sets, "single" parts one level from the rest, "auto"
        divides into sets where a node has 50 rows for each level and parts single levels
        elsewhere; "multiway" makes a branch for each level.
    missing : {"fractional", "auto", "direction", "most_common", "most_common_of_class"}
        Missing cells go down all branches in parts (C4.5); or, node by node, in parts, all to one
        side or to a branch of their own, whichever gains most ("auto"); or all to the better
        side; or are replaced before the fit by the most common value of the column (of numbers
        in regression the median) or, in classification, of the column within the class.
    max_thresholds : int
        Cuts of a column that a node tries, drawn at random.
    max_bins : int up to 255, or None
        Columns of more distinct values are cut at as many quantiles; None keeps all values.
    categorical_features : "auto", "all", None, mask, names or indices
    """

    criterion: Any = parameter()
    max_depth: int | None = parameter(default=None, at_least=1)
    min_samples_split: float = parameter(count(2), share(), default=2)
    min_samples_leaf: float = parameter(count(), share("neither"), default=1)
    min_weight_fraction_leaf: float = parameter(default=0.0, at_least=0.0, at_most=0.5)
    max_features: Any = parameter(count(), share(), {"sqrt", "log2"}, None, default=None)
    max_leaf_nodes: int | None = parameter(default=None, at_least=2)
    min_impurity_decrease: float = parameter(default=0.0, at_least=0.0)
    random_state: RandomSource = parameter(default=None)
    ccp_alpha: float = parameter(default=0.0, at_least=0.0)
    monotonic_cst: Any = parameter("array-like", dict, None, default=None)
    nominal: str = parameter({"auto", "subset", "single", "multiway"}, default="auto")
    missing: str = parameter(MISSING_RULES, default="fractional")
    max_thresholds: int | None = parameter(default=None, at_least=1)
    max_bins: int | None = parameter(default=255, at_least=2, at_most=255)
    categorical_features: Any = parameter("array-like", str, None, default="auto")


def growth_rules(model: Any, rows: CellRows, criterion: str) -> GrowthRules:
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


def general_rules(model: Any, rows: CellRows, criterion: str | GainRatio) -> GeneralRules:
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
        count = int(sqrt(n_columns))
    elif max_features == "log2":
        count = int(log2(n_columns))
    elif isinstance(max_features, Integral):
        count = int(max_features)
    else:
        count = int(max_features * n_columns)
    count = max(count, 1)
    return None if count >= n_columns else count


def monotone_signs(
    constraints: Any, rows: CellRows, has_one_score: bool | None = None
) -> tuple[int, ...]:
    """Per column 1 if predictions must not fall along it, -1 if they must not rise, else 0.

    Of classes that is said of a score that orders them; unless it is known whether there is one,
    two classes have it.
    """
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
    if has_one_score is None:
        has_one_score = rows.n_classes is None or rows.n_classes[0] <= 2
    if not has_one_score:
        raise InputError(
            "Monotonicity constraints are not supported with multiclass classification, where "
            "every class has a score. Use OneVsRestClassifier, two classes, or for classes with an "
            "order GradientBoostingClassifier('ordinal')."
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
