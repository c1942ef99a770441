"""The model families of the main job: a static table, imported only when used.

A family is one row: its learners by import string, what they take, the settings to try in order of
preference, and a price. A family that comes later is one more row here.

The price is CPU seconds of one fit on a reference machine, to be used for forecasts only,

    fixed + (rows * (per_row + per_cell * columns) + rows^2 * per_pair) * classes^power,

and more by factors where cells are missing and where columns have levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Price:
    """Seconds of one fit; see the formula above."""

    fixed: float
    per_row: float
    per_cell: float
    class_power: float = 0.0
    per_pair: float = 0.0
    missing_factor: float = 1.0
    nominal_factor: float = 1.0


@dataclass(frozen=True)
class Part:
    """A learner or value inside a setting, by import string, such as the trees of boosting."""

    learner: str
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Role:
    """A family as a classifier or as a regressor.

    Attributes
    ----------
    learner : str
        Import string.
    price : Price
    candidates : tuple of mappings
        Settings to try, the preferred first.
    settings : mapping
        Of all candidates.
    if_missing : tuple of mappings
        Settings to try after the candidates where cells are missing.
    title : str
        Where it differs from the family's.
    for_text : Role or None
        The learner for tables with free text, whose sparse features it takes; None where the
        family has no use for text and sees the other columns.
    nonnegative : bool
        Whether it takes no negative numbers, as counts and weights of terms are.
    """

    learner: str
    price: Price
    candidates: tuple[Settings, ...] = ({},)
    settings: Settings = field(default_factory=dict)
    if_missing: tuple[Settings, ...] = ()
    title: str = ""
    for_text: Role | None = None
    nonnegative: bool = False

    def n_candidates(self, has_missing: bool, with_levels: bool = False) -> int:
        """How many settings there are to try."""
        more = len(self.if_missing) if has_missing else 0
        return len(self.candidates) + more + with_levels


@dataclass(frozen=True)
class Family:
    """One row of the table.

    Attributes
    ----------
    name, title : str
        As typed in `--models`, and as shown.
    classification, regression : Role or None
        None where the family has no such learner.
    ordinal : Role or None
        A learner for levels with an order, where it is another than that for classes.
    counts : Role or None
        A learner for counts and rates, whose answers are above zero.
    takes_missing : bool
        Whether missing cells are missing to it; otherwise `FillMissing` stands before it.
    takes_kinds : bool
        Whether nominal columns are taken as they are; otherwise it needs numbers alone.
    scales : bool
        Whether columns are brought to one scale before it.
    is_robust : bool
        Whether its settings matter little, so that half as many are tried.
    has_near_relative : bool
        Whether another family does nearly the same; given up early if time is short.
    most_columns : int or None
        Columns, with one for each level, beyond which it is not tried.
    fewest_columns : int
        Columns, counted so, below which it is not tried.
    takes_empty_rows : bool
        Whether rows without any known cell have an answer.
    levels_from : int or None
        Different whole numbers of a column from which the preferred setting is also tried with
        such columns as levels: two where a law of two levels is another than that of numbers,
        three where it is the same.
    """

    name: str
    title: str
    classification: Role | None
    regression: Role | None
    takes_missing: bool = True
    takes_kinds: bool = True
    scales: bool = False
    is_robust: bool = False
    has_near_relative: bool = False
    most_columns: int | None = None
    fewest_columns: int = 0
    takes_empty_rows: bool = True
    levels_from: int | None = None
    ordinal: Role | None = None
    counts: Role | None = None

    def role(self, kind: str, has_text: bool = False) -> Role | None:
        """The learner for a task of this kind, of a table with or without text."""
        if kind == "counts":
            return self.counts
        role = self.regression if kind == "regression" else self.classification
        if kind == "ordinal" and self.ordinal is not None:
            role = self.ordinal
        return role.for_text if has_text and role is not None and role.for_text else role

    @property
    def can_be_stacked(self) -> bool:
        """Whether it learns from classes alone; members of a stack are not told their order."""
        return self.name != "constant" and self.ordinal is None

    def tries_levels(self, most_whole: int) -> bool:
        """Whether columns of so many whole numbers at most are also tried as levels."""
        return self.levels_from is not None and most_whole >= self.levels_from

    def title_for(self, kind: str) -> str:
        """The name to show in a task of this kind."""
        role = self.role(kind)
        return self.title if role is None or not role.title else role.title


def family(name: str) -> Family:
    """The row of that name."""
    return next(row for row in FAMILIES if row.name == name)


# --- The table ------------------------------------------------------------------------------------

_TREE_CLASSIFIER = "novum.trees:DecisionTreeClassifier"
_TREE_REGRESSOR = "novum.trees:DecisionTreeRegressor"

_LEAVES: tuple[Settings, ...] = (
    {"min_samples_leaf": 5},
    {"min_samples_leaf": 2},
    {"min_samples_leaf": 10},
    {"min_samples_leaf": 25},
)
_FOREST_OF_CLASSES: tuple[Settings, ...] = (
    {"max_features": "sqrt"},
    {"max_features": 0.5},
    {"max_features": "sqrt", "min_samples_leaf": 3},
    {"max_features": 0.5, "min_samples_leaf": 3},
    {"max_features": 1.0},
)
_FOREST_OF_NUMBERS: tuple[Settings, ...] = (
    {"max_features": 0.5},
    {"max_features": 1.0},
    {"max_features": 0.5, "min_samples_leaf": 3},
    {"max_features": "sqrt"},
    {"max_features": 1.0, "min_samples_leaf": 3},
)


# Folds that a class of one or two rows does not break.
_THREE_FOLDS = Part("novum.evaluation:RepeatedFolds", {"n_folds": 3, "n_repeats": 1})


_GRADIENT_BOOSTED: tuple[Settings, ...] = (
    {"max_leaf_nodes": 7, "min_samples_leaf": 5, "max_features": 0.5, "subsample": 0.8},
    {"max_leaf_nodes": 15, "min_samples_leaf": 3, "max_features": 0.3},
    {"max_leaf_nodes": 31, "min_samples_leaf": 10, "max_features": 0.5, "n_estimators": 400},
    {"max_leaf_nodes": 4, "min_samples_leaf": 5, "subsample": 0.8},
)
_SHRUNK: Settings = {"learning_rate": 0.1, "n_estimators": 150, "l2_regularization": 1.0}


def _boosted(tree: str, depths: tuple[int, ...]) -> tuple[Settings, ...]:
    return tuple({"estimator": Part(tree, {"max_depth": depth})} for depth in depths)


FAMILIES: tuple[Family, ...] = (
    Family(
        "constant",
        "the same answer for every row",
        Role("novum.evaluation:DummyClassifier", Price(0.001, 0.0, 0.0)),
        Role("novum.evaluation:DummyRegressor", Price(0.001, 0.0, 0.0)),
        counts=Role("novum.evaluation:DummyRegressor", Price(0.001, 0.0, 0.0)),
    ),
    Family(
        "linear",
        "logistic or ridge regression",
        Role(
            "novum.linear:LogisticRegression",
            Price(0.005, 3e-8, 5e-8, class_power=0.45, missing_factor=3.4, nominal_factor=2.4),
            candidates=({"C": 1.0}, {"C": 0.1}, {"C": 10.0}, {"C": 0.01}, {"C": 100.0}),
            title="logistic regression",
            for_text=Role(
                "novum.linear:LogisticRegression",
                Price(0.05, 1e-4, 2e-7, class_power=0.7),
                candidates=({"C": 10.0}, {"C": 100.0}, {"C": 1.0}, {"C": 1000.0}),
            ),
        ),
        Role(
            "novum.linear:Ridge",
            Price(0.004, 0.0, 4.5e-8, missing_factor=4.7, nominal_factor=3.5),
            candidates=tuple({"alpha": alpha} for alpha in (1.0, 10.0, 0.1, 100.0, 0.01)),
            title="ridge regression",
            for_text=Role(
                "novum.linear:Ridge",
                Price(0.05, 1e-4, 1e-7),
                candidates=tuple({"alpha": alpha} for alpha in (1.0, 0.1, 10.0)),
            ),
        ),
        takes_missing=False,
        scales=True,
        most_columns=3000,
        levels_from=3,
        counts=Role(
            "novum.linear:PoissonRegressor",
            Price(0.01, 3e-7, 3e-7, missing_factor=2.0, nominal_factor=2.4),
            candidates=tuple({"alpha": alpha} for alpha in (0.01, 0.001, 0.1, 1e-6)),
            title="Poisson regression",
        ),
    ),
    Family(
        "lasso",
        "lasso",
        Role(
            "novum.linear:LogisticRegression",
            Price(0.008, 0.0, 8e-8, class_power=2.6, missing_factor=1.2, nominal_factor=2.0),
            candidates=tuple({"C": C} for C in (1.0, 0.1, 10.0)),
            settings={"penalty": "l1"},
            title="sparse logistic regression",
        ),
        Role(
            "novum.linear:LassoCV",
            Price(0.04, 0.0, 1.5e-7, missing_factor=1.2, nominal_factor=3.0),
            settings={"alphas": 30},
        ),
        takes_missing=False,
        scales=True,
        is_robust=True,
        has_near_relative=True,
        most_columns=3000,
        fewest_columns=10,
    ),
    Family(
        "ordinal",
        "ordinal regression",
        None,
        None,
        takes_missing=False,
        scales=True,
        most_columns=300,
        levels_from=3,
        ordinal=Role(
            "novum.linear:OrdinalRegression",
            Price(0.01, 5e-7, 4e-7, class_power=0.2, missing_factor=2.0, nominal_factor=2.0),
            candidates=tuple({"alpha": alpha} for alpha in (1.0, 0.1, 10.0, 100.0)),
        ),
    ),
    Family(
        "naive_bayes",
        "naive Bayes",
        Role(
            "novum.bayes:NaiveBayes",
            Price(0.0015, 1.3e-7, 4.3e-9, class_power=0.15, nominal_factor=4.4),
            if_missing=({"missing": "level"},),
            for_text=Role(
                "novum.bayes:MultinomialNB",
                Price(0.02, 5e-5, 1e-8),
                candidates=tuple({"alpha": alpha} for alpha in (0.1, 0.01, 1.0)),
                nonnegative=True,
            ),
        ),
        None,
        levels_from=2,
    ),
    Family(
        "network",
        "Bayesian network",
        Role(
            "novum.graphical:BayesianNetworkClassifier",
            Price(0.02, 1e-5, 4e-6, class_power=0.5, missing_factor=3.0),
            candidates=({"structure": "tree"}, {"structure": "general"}),
        ),
        None,
        has_near_relative=True,
        most_columns=150,
        fewest_columns=2,
    ),
    Family(
        "gaussian",
        "Gaussian classifier",
        Role(
            "novum.bayes:GaussianClassifier",
            Price(0.0013, 3.5e-8, 1e-8, class_power=0.1, missing_factor=1700.0),
            candidates=tuple({"covariance": form} for form in ("tied", "full", "diagonal")),
        ),
        None,
        takes_kinds=False,
        most_columns=1000,
    ),
    Family(
        "svm",
        "support vector machine",
        Role(
            "novum.svm:SVC",
            Price(0.005, 1.5e-5, 1e-7, class_power=0.85, per_pair=1.1e-8, missing_factor=1.2),
            candidates=tuple({"C": C} for C in (1.0, 10.0, 0.1, 100.0)),
            settings={"probability": True},
            # Thousands of sparse columns are nearly separable: a line is enough, and quick.
            for_text=Role(
                "novum.evaluation:CalibratedClassifierCV",
                Price(0.05, 2e-4, 1e-7, class_power=0.7),
                candidates=tuple(
                    {"estimator": Part("novum.svm:LinearSVC", {"C": C})} for C in (1.0, 0.1, 10.0)
                ),
                settings={"cv": _THREE_FOLDS, "ensemble": False},
            ),
        ),
        Role(
            "novum.svm:SVR",
            Price(0.004, 2.1e-5, 1.9e-7, per_pair=2.7e-9, missing_factor=1.2, nominal_factor=1.3),
            candidates=tuple({"C": C} for C in (1.0, 10.0, 0.1, 100.0)),
            settings={"units": "spread"},
            title="support vector regression",
            for_text=Role(
                "novum.svm:SVR",
                Price(0.05, 1e-4, 1e-6, per_pair=1e-7),
                candidates=tuple({"C": C} for C in (1.0, 10.0, 0.1)),
                settings={"units": "spread", "kernel": "linear"},
            ),
        ),
        takes_missing=False,
        scales=True,
        most_columns=3000,
    ),
    Family(
        "neighbors",
        "nearest neighbors",
        Role(
            "novum.neighbors:KNeighborsClassifier",
            Price(0.002, 1e-6, 1e-8, per_pair=4e-9, missing_factor=4.0, nominal_factor=6.0),
            candidates=({"weights": "distance"}, {"weights": "uniform"}),
            settings={"n_neighbors": "auto"},
        ),
        Role(
            "novum.neighbors:KNeighborsRegressor",
            Price(0.002, 1e-6, 1e-8, per_pair=4e-9, missing_factor=4.0, nominal_factor=6.0),
            candidates=({"weights": "distance"}, {"weights": "uniform"}),
            settings={"n_neighbors": "auto"},
        ),
        scales=True,
        most_columns=200,
        takes_empty_rows=False,
    ),
    Family(
        "tree",
        "decision tree",
        Role(
            _TREE_CLASSIFIER,
            Price(0.0013, 4.5e-8, 8.6e-8, class_power=0.3, missing_factor=2.0, nominal_factor=1.2),
            _LEAVES,
        ),
        Role(
            _TREE_REGRESSOR,
            Price(0.001, 0.0, 1.25e-7, missing_factor=1.5, nominal_factor=1.4),
            _LEAVES,
        ),
    ),
    Family(
        "model_tree",
        "model tree",
        None,
        Role("novum.trees:ModelTreeRegressor", Price(0.001, 4e-5, 1.1e-6, missing_factor=1.3)),
    ),
    Family(
        "forest",
        "random forest",
        Role(
            "novum.trees:RandomForestClassifier",
            Price(0.02, 1.4e-5, 1.9e-7, class_power=0.6, missing_factor=4.3, nominal_factor=2.0),
            _FOREST_OF_CLASSES,
        ),
        Role(
            "novum.trees:RandomForestRegressor",
            Price(0.023, 3.4e-5, 3.2e-6, missing_factor=3.1, nominal_factor=2.7),
            _FOREST_OF_NUMBERS,
        ),
        is_robust=True,
    ),
    Family(
        "extra_trees",
        "extremely randomized trees",
        Role(
            "novum.trees:ExtraTreesClassifier",
            Price(0.017, 3.4e-5, 3.4e-7, class_power=0.5, missing_factor=2.9, nominal_factor=1.8),
            _FOREST_OF_CLASSES,
        ),
        Role(
            "novum.trees:ExtraTreesRegressor",
            Price(0.017, 6e-5, 5.8e-6, missing_factor=2.9, nominal_factor=3.0),
            _FOREST_OF_NUMBERS,
        ),
        is_robust=True,
        has_near_relative=True,
    ),
    Family(
        "gradient_boosting",
        "gradient boosting",
        Role(
            "novum.ensemble:GradientBoostingClassifier",
            Price(0.03, 1e-5, 6e-7, class_power=1.0, missing_factor=1.2),
            _GRADIENT_BOOSTED,
            settings=_SHRUNK,
        ),
        Role(
            "novum.ensemble:GradientBoostingRegressor",
            Price(0.02, 3e-6, 7e-7, missing_factor=1.2, nominal_factor=1.3),
            _GRADIENT_BOOSTED,
            settings=_SHRUNK,
        ),
        is_robust=True,
        counts=Role(
            "novum.ensemble:GradientBoostingRegressor",
            Price(0.02, 4e-6, 9e-7, missing_factor=1.2, nominal_factor=1.3),
            _GRADIENT_BOOSTED,
            settings={**_SHRUNK, "loss": "poisson"},
        ),
    ),
    Family(
        "boosting",
        "AdaBoost of trees",
        Role(
            "novum.ensemble:AdaBoostClassifier",
            Price(0.035, 3.7e-6, 5.3e-7, class_power=0.3, missing_factor=1.2),
            _boosted(_TREE_CLASSIFIER, (3, 1, 6)),
            settings={"n_estimators": 100},
        ),
        Role(
            "novum.ensemble:AdaBoostRegressor",
            Price(0.047, 1.7e-5, 9.7e-7, missing_factor=1.3, nominal_factor=1.2),
            _boosted(_TREE_REGRESSOR, (6, 3, 10)),
            settings={"n_estimators": 100},
        ),
    ),
)
