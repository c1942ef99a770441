"""The closed list of what a model file may contain.

A model file names classes; this table is the only way from such a name to a class. It is written
in the source, resolved by exact match and imported only when used, so that a file can neither
choose a module nor reach an attribute. A name that is not here does not exist:

    name  ->  "package.module:Class"  ->  class

Names are unique over both tables. Tests and private extensions add classes for the length of a
`with registered(...)` block; the tables themselves never change.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from novum.core.errors import InputError

# Names by the module that has them. A file may name these and nothing else.
_ESTIMATORS = {
    "novum.bayes": (
        "BernoulliNB",
        "CategoricalNB",
        "ComplementNB",
        "GaussianClassifier",
        "GaussianNB",
        "LinearDiscriminantAnalysis",
        "MultinomialNB",
        "NaiveBayes",
        "QuadraticDiscriminantAnalysis",
        "TextClassifier",
    ),
    "novum.clustering": (
        "AgglomerativeClustering",
        "DBSCAN",
        "DivisiveClustering",
        "HDBSCAN",
        "KMeans",
        "KMedians",
        "KMedoids",
    ),
    "novum.core.learners.multiclass_members": ("ConstantPredictor",),
    "novum.core.learners.pipeline": ("Pipeline",),
    "novum.data.date_features": ("DateFeatures",),
    "novum.data.filling": ("FillMissing",),
    "novum.data.scaling": (
        "CenterThenUnitLength",
        "Gaussianizer",
        "MinMaxScaler",
        "StandardScaler",
        "Whitener",
    ),
    "novum.data.text_features": ("TextFeatures",),
    "novum.decomposition": ("DiscriminantProjection", "PCA", "ProbabilisticPCA"),
    "novum.ensemble": (
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "ClassifierChain",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "MultiOutputClassifier",
        "MultiOutputRegressor",
        "OneVsOneClassifier",
        "OneVsRestClassifier",
        "RegressorChain",
        "StackingClassifier",
        "StackingRegressor",
        "VotingClassifier",
        "VotingRegressor",
    ),
    "novum.evaluation": (
        "CalibratedClassifierCV",
        "ConformalClassifier",
        "ConformalRegressor",
        "DummyClassifier",
        "DummyRegressor",
        "FixedThresholdClassifier",
        "GridSearchCV",
        "HalvingGridSearchCV",
        "OpenSet",
        "RandomizedSearchCV",
        "SelectFdr",
        "SelectFpr",
        "SelectFwe",
        "SelectKBest",
        "SelectPercentile",
        "SequentialFeatureSelector",
        "StabilitySelection",
        "TunedThresholdClassifierCV",
    ),
    "novum.graphical": ("BayesianNetworkClassifier",),
    "novum.kernels": ("Nystroem",),
    "novum.linear": (
        "ElasticNet",
        "ElasticNetCV",
        "GammaRegressor",
        "GeneralizedLinearModel",
        "IsotonicRegression",
        "Lasso",
        "LassoCV",
        "LinearRegression",
        "LogisticRegression",
        "OrdinalRegression",
        "PenalizedRegression",
        "Perceptron",
        "PoissonRegressor",
        "QuadraticFeatures",
        "Ridge",
        "RidgeCV",
        "TweedieRegressor",
    ),
    "novum.mixture": ("GaussianMixture", "MixedMixture"),
    "novum.neighbors": (
        "KNeighborsClassifier",
        "KNeighborsRegressor",
        "KernelDensity",
        "LocalOutlierFactor",
        "NearestNeighbors",
        "NeighborDistance",
        "RadiusNeighborsClassifier",
        "RadiusNeighborsRegressor",
    ),
    "novum.svm": (
        "KernelPegasos",
        "KernelPerceptron",
        "KernelRidge",
        "KernelRidgeCV",
        "LinearSVC",
        "LinearSVR",
        "NuSVC",
        "NuSVR",
        "OneClassSVM",
        "Pegasos",
        "RankingSVM",
        "SVC",
        "SVDD",
        "SVR",
    ),
    "novum.trees": (
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "ModelTreeRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    ),
}

_VALUES = {
    "novum.bayes.column_models": (
        "BernoulliColumn",
        "CategoricalColumn",
        "CountsBlock",
        "GaussianColumn",
        "LawColumn",
        "MEstimate",
        "StudentTColumn",
    ),
    "novum.bayes.gaussian_predictive": ("WeakPrior",),
    "novum.bayes.gaussian_statistics": ("GaussianStatistics",),
    "novum.bayes.naive_bayes_statistics": ("NaiveBayesStatistics", "Reading"),
    "novum.bayes.missing_cells": ("MissingBlock",),
    "novum.bayes.value_columns": (
        "BinnedColumn",
        "CellCounts",
        "HistogramLaw",
        "KernelColumn",
        "KernelLaw",
        "ValueBlock",
    ),
    "novum.clustering.stepwise": ("StepwiseOptimal",),
    "novum.core.learners.certificate": ("Certificate", "Details", "Verdict"),
    "novum.core.decisions.ordered": ("OrderedClassifier",),
    "novum.core.decisions.retargeting": ("RetargetedClassifier",),
    "novum.core.tables.schema": ("Column", "Kind", "Schema"),
    "novum.core.tables.validation": ("Sample",),
    "novum.core.decisions.working_point": ("WorkingPoint",),
    "novum.data.filling.filling_columns": ("FillingColumns", "LevelCounts"),
    "novum.data.scaling.class_scatter": ("ClassScatter",),
    "novum.data.scaling.counted_values": ("CountedValues",),
    "novum.data.scaling.min_max": ("Extremes", "Tail"),
    "novum.data.scaling.transformer": ("ScalingStatistics",),
    "novum.decomposition.component_choice": ("ByEvidence", "ByLikelihood", "ByVariance"),
    "novum.decomposition.component_statistics": ("ComponentStatistics",),
    "novum.decomposition.low_rank_normal": ("LowRankNormal",),
    "novum.distributions.classwise.any_law": ("LawBlock",),
    "novum.distributions.classwise.discrete": ("BernoulliBlock", "CategoricalBlock", "CountBlock"),
    "novum.distributions.classwise.gaussian_columns": ("ColumnDensities",),
    "novum.distributions.classwise.gaussian_matrices": ("MatrixDensities",),
    "novum.distributions.classwise.numeric": ("GaussianBlock", "StudentTBlock"),
    "novum.distributions.conjugacy_knowns": (
        "KnownCovariance",
        "KnownLevels",
        "KnownTrials",
        "KnownVariance",
    ),
    "novum.distributions.conjugacy_predictives": ("BetaBinomial", "DirichletMultinomial"),
    "novum.distributions.joint_table": ("JointTable",),
    "novum.distributions.joint_table_states": ("StateAxis",),
    "novum.distributions.multivariate.dirichlet": ("Dirichlet", "DirichletStatistics"),
    "novum.distributions.multivariate.multinomial": ("Multinomial", "MultinomialStatistics"),
    "novum.distributions.multivariate.multivariate_bernoulli": (
        "MultivariateBernoulli",
        "MultivariateBernoulliStatistics",
    ),
    "novum.distributions.multivariate.multivariate_normal": ("MultivariateNormal",),
    "novum.distributions.multivariate.multivariate_student_t": ("MultivariateStudentT",),
    "novum.distributions.multivariate.normal_gamma": ("NormalGamma", "NormalGammaStatistics"),
    "novum.distributions.multivariate.normal_wishart": ("NormalWishart", "NormalWishartStatistics"),
    "novum.distributions.multivariate.wishart": ("Wishart", "WishartStatistics"),
    "novum.distributions.univariate.bernoulli": ("Bernoulli", "BernoulliStatistics"),
    "novum.distributions.univariate.beta": ("Beta",),
    "novum.distributions.univariate.binomial": ("Binomial", "BinomialStatistics"),
    "novum.distributions.univariate.categorical": ("Categorical", "CategoricalStatistics"),
    "novum.distributions.univariate.gamma": ("Gamma",),
    "novum.distributions.univariate.normal": ("Normal",),
    "novum.distributions.univariate.student_t": ("StudentT",),
    "novum.ensemble.adaboost_rounds": ("EarlyStopping",),
    "novum.ensemble.gradient_boosting.class_losses": (
        "LogisticLoss",
        "OrdinalLoss",
        "SoftmaxLoss",
    ),
    "novum.ensemble.gradient_boosting.losses": (
        "AbsoluteLoss",
        "GammaLoss",
        "HuberLoss",
        "PoissonLoss",
        "QuantileLoss",
        "SquaredLoss",
        "TweedieLoss",
    ),
    "novum.ensemble.resampling": ("Resampling",),
    "novum.ensemble.target_models": ("LabelModels", "TargetModels"),
    "novum.evaluation.calibration.calibrated_classifier": ("CalibratedPair",),
    "novum.evaluation.calibration.methods": (
        "ColumnMaps",
        "IsotonicCalibration",
        "LogLikelihoodMap",
        "PriorWeightedLogistic",
        "SigmoidCalibration",
        "SoftmaxMap",
        "TemperatureCalibration",
    ),
    "novum.evaluation.conformal.class_scores": (
        "Adaptive",
        "LeastAmbiguous",
        "RegularizedAdaptive",
    ),
    "novum.evaluation.conformal.full_conformal": ("RidgeUpdates",),
    "novum.evaluation.conformal.references": (
        "LeftOutResiduals",
        "QuantileResiduals",
        "SplitResiduals",
    ),
    "novum.evaluation.open_set.rules": (
        "ClassNormals",
        "Density",
        "Distance",
        "FittedDensity",
        "Margin",
        "TrainingDistances",
    ),
    "novum.evaluation.search.choice": ("OneStandardError",),
    "novum.evaluation.selection.column_tests": (
        "AnovaF",
        "AssociationTest",
        "ChiSquare",
        "Correlation",
        "KruskalWallis",
    ),
    "novum.evaluation.selection.mutual_information": ("MutualInformation",),
    "novum.evaluation.selection.sequential": (
        "CorrectedGain",
        "MinimalGain",
        "SelectionStep",
        "WithinStandardError",
    ),
    "novum.evaluation.validation.splits": ("NestedFolds", "RepeatedFolds"),
    "novum.graphical.factor": ("Factor",),
    "novum.graphical.inference.belief_propagation": ("LoopyPropagation",),
    "novum.graphical.inference.enumeration": ("Enumeration",),
    "novum.graphical.inference.gibbs": ("Gibbs", "MetropolisHastings"),
    "novum.graphical.inference.importance": ("ImportanceSampling",),
    "novum.graphical.inference.junction": ("JunctionTree",),
    "novum.graphical.inference.mean_field": ("MeanField",),
    "novum.graphical.inference.plain_junction": (
        "LogJunctionTree",
        "PlainJunctionTree",
        "SumProduct",
        "VariableElimination",
    ),
    "novum.graphical.inference.sampling": (
        "ForwardSampling",
        "LikelihoodWeighting",
        "RejectionSampling",
    ),
    "novum.graphical.inference.within_limits": ("WithinLimits",),
    "novum.graphical.models.bayesian_network": ("BayesianNetwork",),
    "novum.graphical.models.compact": ("Deterministic", "NoisyOr"),
    "novum.graphical.models.conditional": ("Tabular",),
    "novum.graphical.models.factor_graph": ("FactorGraph",),
    "novum.graphical.models.emissions": ("Normals", "Symbols"),
    "novum.graphical.models.hidden_markov": ("HiddenMarkovModel",),
    "novum.graphical.models.markov_chain": ("MarkovChain",),
    "novum.graphical.models.model_record": ("ModelRecord",),
    "novum.graphical.naive_network": ("ColumnStates",),
    "novum.graphical.structure.dag": ("Dag",),
    "novum.distances.mixed": ("Gower", "Overlap", "ValueDifference"),
    "novum.distances.other": ("FromFunction", "FromKernel", "Precomputed"),
    "novum.distances.vectors": (
        "Chebyshev",
        "Cosine",
        "Euclidean",
        "Mahalanobis",
        "Manhattan",
        "Minkowski",
    ),
    "novum.kernels.algebra": ("Constant", "Power", "Product", "Scaled", "Sum"),
    "novum.kernels.composition": ("Composed", "GaussianOf"),
    "novum.kernels.graphs.graph": ("Graph",),
    "novum.kernels.graphs.histograms": ("EdgeHistogram", "VertexHistogram"),
    "novum.kernels.graphs.isomorphism": ("ColorDifference", "IsomorphismTest"),
    "novum.kernels.graphs.shortest_path": ("ShortestPath",),
    "novum.kernels.graphs.weisfeiler_lehman": ("WeisfeilerLehman",),
    "novum.kernels.landmarks.low_rank": ("LowRank",),
    "novum.kernels.normalization": ("Normalized",),
    "novum.kernels.parts": ("On",),
    "novum.kernels.precomputed": ("Precomputed",),
    "novum.kernels.strings.spectrum": ("Spectrum",),
    "novum.kernels.strings.substrings": ("Substrings",),
    "novum.kernels.trees.ordered_tree": ("OrderedTree",),
    "novum.kernels.trees.subset_tree": ("SubsetTreeKernel",),
    "novum.kernels.trees.subtree": ("SubtreeKernel",),
    "novum.kernels.vectors.delta": ("Delta",),
    "novum.kernels.vectors.gaussian": ("Gaussian",),
    "novum.kernels.vectors.linear": ("Linear",),
    "novum.kernels.vectors.mixed": ("Mixed",),
    "novum.kernels.vectors.polynomial": ("Polynomial",),
    "novum.kernels.vectors.sigmoid": ("Sigmoid",),
    "novum.linear.logistic.information": ("LogisticSummary",),
    "novum.linear.logistic.separation": ("Separation",),
    "novum.linear.least_squares.statistics": ("LeastSquaresStatistics",),
    "novum.linear.generalized.inference": ("GeneralizedSummary",),
    "novum.linear.generalized.laws": ("NegativeBinomial", "Tweedie"),
    "novum.linear.sparse.penalties": (
        "AdaptiveL1",
        "ElasticNetPenalty",
        "Groups",
        "L1",
        "L2",
    ),
    "novum.mixture.choosing": ("ComponentChoice", "ComponentRow"),
    "novum.numerics.calibration_maps": ("AffineSoftmax", "SigmoidMap", "TemperatureMap"),
    "novum.numerics.column_moments": ("ColumnMoments",),
    "novum.numerics.isotonic": ("IsotonicMap",),
    "novum.numerics.moments": ("Moments",),
    "novum.numerics.triangular": ("TriangularFactor",),
    "novum.svm.margins": ("MarginErrorBound",),
    "novum.svm.objects": ("SparseVectors",),
    "novum.trees.forests.forest_draws": ("ForestDraws",),
    "novum.trees.forests.forest_value": ("Forest",),
    "novum.trees.general.gain_ratio": ("GainRatio",),
    "novum.trees.growth.coding": ("TableCoding",),
    "novum.trees.model_trees.model_tree_models": ("NodeModels",),
    "novum.trees.model_trees.model_tree": ("ModelPruning",),
    "novum.trees.pruning.cost_complexity": ("CostComplexity",),
    "novum.trees.pruning.pessimistic": ("Pessimistic",),
    "novum.trees.pruning.reduced_error": ("ReducedError",),
    "novum.trees.scale.streams": ("StreamDraws",),
    "novum.trees.stumps.stumps": ("Stumps",),
    "novum.trees.tree": ("Tree",),
}


def _by_name(homes: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    return {name: f"{home}:{name}" for home, names in homes.items() for name in names}


ESTIMATORS: Mapping[str, str] = _by_name(_ESTIMATORS)
VALUES: Mapping[str, str] = _by_name(_VALUES)

_Classes = Mapping[str, type]
_NONE: tuple[_Classes, _Classes] = ({}, {})
_extra: ContextVar[tuple[_Classes, _Classes]] = ContextVar("novum_registry_extra", default=_NONE)


def estimator(name: str) -> type:
    """The estimator class of that registered name.

    Raises
    ------
    InputError
        If the name is not in the table.

    Examples
    --------
    >>> try:
    ...     estimator("os.system")
    ... except InputError as error:
    ...     print(str(error)[:51])
    'os.system' is not an estimator in Novum's registry
    """
    return _class_of(name, ESTIMATORS, _extra.get()[0], "an estimator")


def value(name: str) -> type:
    """The value class (frozen dataclass, named tuple or enum) of that registered name."""
    return _class_of(name, VALUES, _extra.get()[1], "a value")


def name_of(cls: type) -> str | None:
    """The registered name of a class, or `None` if it is in neither table.

    Examples
    --------
    >>> from novum.core.decisions import WorkingPoint
    >>> name_of(WorkingPoint)
    'WorkingPoint'
    >>> name_of(dict) is None
    True
    """
    for classes in _extra.get():
        for name, known in classes.items():
            if known is cls:
                return name
    if cls.__module__.partition(".")[0] != "novum":
        return None
    for table in (ESTIMATORS, VALUES):
        for name, target in table.items():
            # Only a class of the same name can be the target, so nothing else is imported.
            if target.partition(":")[2] == cls.__qualname__ and _imported(target) is cls:
                return name
    return None


@contextmanager
def registered(
    estimators: _Classes | None = None, values: _Classes | None = None
) -> Iterator[None]:
    """Add classes to the registry inside a `with` block, in this thread and context only.

    Parameters
    ----------
    estimators, values : mapping of name to class
        Names must be new; a built-in name cannot be redirected.

    Examples
    --------
    >>> class Mine: ...
    >>> with registered(estimators={"Mine": Mine}):
    ...     estimator("Mine") is Mine
    True
    """
    more_estimators, more_values = dict(estimators or {}), dict(values or {})
    old_estimators, old_values = _extra.get()
    taken = {*ESTIMATORS, *VALUES, *old_estimators, *old_values}
    repeated = sorted(
        (taken & {*more_estimators, *more_values}) | (set(more_estimators) & set(more_values))
    )
    if repeated:
        raise InputError(
            f"The registry already has {', '.join(repeated)}; register under another name."
        )
    token = _extra.set(({**old_estimators, **more_estimators}, {**old_values, **more_values}))
    try:
        yield
    finally:
        _extra.reset(token)


def _class_of(name: str, table: Mapping[str, str], extra: _Classes, what: str) -> type:
    if isinstance(name, str):
        if name in table:
            return _imported(table[name])
        if name in extra:
            return extra[name]
    known = ", ".join(sorted({*table, *extra}))
    # ascii() keeps look-alike letters and terminal escapes of a hostile name visible and inert.
    raise InputError(f"{ascii(name)[:80]} is not {what} in Novum's registry, which has {known}.")


def _imported(target: str) -> type:
    module, _, attribute = target.partition(":")
    cls: type = getattr(importlib.import_module(module), attribute)
    return cls
