from novum.clustering import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    calinski_harabasz_score,
    davies_bouldin_score,
    fowlkes_mallows_score,
    pair_jaccard_score,
    purity_score,
    rand_score,
    silhouette_samples,
    silhouette_score,
    v_measure_score,
)
from novum.evaluation.agents.agent_comparison import AgentComparison, compare_agents
from novum.evaluation.baselines.dummy import DummyClassifier, DummyRegressor
from novum.evaluation.calibration.calibrated_classifier import CalibratedClassifierCV
from novum.evaluation.calibration.methods import (
    IsotonicCalibration,
    PriorWeightedLogistic,
    SeparatedScoresWarning,
    SigmoidCalibration,
    TemperatureCalibration,
)
from novum.evaluation.calibration.threshold_classifier import FixedThresholdClassifier
from novum.evaluation.calibration.tuned_threshold import TunedThresholdClassifierCV
from novum.evaluation.comparison.comparison import Comparison, compare_scores
from novum.evaluation.comparison.dataset_pairs import DatasetPair
from novum.evaluation.comparison.experiment import compare
from novum.evaluation.comparison.fold_pairs import Decision, FoldPair
from novum.evaluation.comparison.pairs.mcnemar import McNemar, mcnemar_from_counts, mcnemar_test
from novum.evaluation.comparison.pairs.outcome import CriticalRegion, Outcome
from novum.evaluation.comparison.pairs.power import (
    RepeatsNeeded,
    corrected_power,
    detectable_effect,
    repeats_needed,
)
from novum.evaluation.comparison.pairs.rope import RopePosterior, bayesian_correlated_t_test
from novum.evaluation.comparison.pairs.t_tests import (
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    one_sample_t_test,
    paired_t_test,
    unpaired_t_test,
)
from novum.evaluation.comparison.ranks.diagram import (
    CriticalDifferenceDiagram,
    critical_difference_diagram,
)
from novum.evaluation.comparison.ranks.friedman import (
    Friedman,
    baseline_p_values,
    critical_difference,
    friedman_test,
    nemenyi_p_values,
    score_ranks,
)
from novum.evaluation.comparison.ranks.multiplicity import adjusted_p_values, holm_adjusted
from novum.evaluation.comparison.ranks.signed_rank import WinTieLoss, signed_rank_test, win_tie_loss
from novum.evaluation.conformal.calibration_rows import ManyFitsWarning
from novum.evaluation.conformal.class_scores import (
    Adaptive,
    LeastAmbiguous,
    RegularizedAdaptive,
)
from novum.evaluation.conformal.classifier import ConformalClassifier
from novum.evaluation.conformal.coverage import CoverageReport, coverage_report
from novum.evaluation.conformal.quantiles import FewCalibrationRowsWarning
from novum.evaluation.conformal.quantiles import check_coverage as check_coverage
from novum.evaluation.conformal.quantiles import conformal_quantile as conformal_quantile
from novum.evaluation.conformal.regressor import ConformalRegressor
from novum.evaluation.decisions.continuous import PinballLoss, bayes_output, expected_loss
from novum.evaluation.decisions.detection_cost import (
    BayesErrorCurve,
    MinimumCost,
    ThresholdChoice,
    bayes_error_curve,
    choose_threshold,
    detection_cost,
    minimum_detection_cost,
)
from novum.evaluation.decisions.prior_shift import (
    PriorEstimate,
    estimate_priors,
    estimate_priors_from_labels,
    retarget_posteriors,
)
from novum.evaluation.decisions.ratios import (
    log_likelihood_ratios,
    optimal_log_likelihood_ratios,
    ratios_of_posteriors,
)
from novum.evaluation.decisions.risk import (
    bayes_actions,
    blind_risk,
    conditional_risk,
    empirical_bayes_risk,
    risk_of_actions,
)
from novum.evaluation.detector_bench import NETWORKS as NETWORKS
from novum.evaluation.detector_bench import default_detectors
from novum.evaluation.detectors import DetectorComparison, DetectorResult, compare_detectors
from novum.evaluation.inspection.complexity_curves import (
    ComplexityCurve,
    complexity_curve,
    validation_curve,
)
from novum.evaluation.inspection.label_curves import LabelCurve, label_curve
from novum.evaluation.inspection.learning_curves import LearningCurve, learning_curve
from novum.evaluation.inspection.partial_dependence import PartialDependence, partial_dependence
from novum.evaluation.inspection.permutation import PermutationImportance, permutation_importance

# What other packages use.
from novum.evaluation.measures.catalog import OF_LEVELS as OF_LEVELS
from novum.evaluation.measures.catalog import Measure, measure, measure_names
from novum.evaluation.measures.catalog import is_measure as is_measure
from novum.evaluation.measures.confusion import ConfusionMatrix, confusion_matrix
from novum.evaluation.measures.curves import (
    Curves,
    DetCurve,
    PrecisionRecallCurve,
    RocCurve,
    curves,
    det_curve,
    precision_recall_curve,
    roc_curve,
)
from novum.evaluation.measures.groups import agreement_measures, separation_measures
from novum.evaluation.measures.intervals import (
    Interval,
    bootstrap_interval,
    correlation_interval,
    mean_interval,
    proportion_interval,
)
from novum.evaluation.measures.label_sets import label_set_measures
from novum.evaluation.measures.probability_scores import (
    brier_score,
    calibration_error,
    cllr,
    log_loss,
)
from novum.evaluation.measures.ranking import ndcg, pair_error
from novum.evaluation.measures.rates import RATES as RATES
from novum.evaluation.measures.scorers import Scorer, resolve_scoring, scorer
from novum.evaluation.measures.separation import average_precision, equal_error_rate, roc_area
from novum.evaluation.measures.thresholds import ThresholdCurve, threshold_curve
from novum.evaluation.open_set.measures import (
    OpenSetCurve,
    known_unknown_auroc,
    normalized_accuracy,
    open_set_curve,
)
from novum.evaluation.open_set.open_set import OpenSet
from novum.evaluation.open_set.rules import Density, Distance, Margin
from novum.evaluation.reports.charts import Series as Series
from novum.evaluation.reports.charts import calibration_chart as calibration_chart
from novum.evaluation.reports.charts import confusion_chart as confusion_chart
from novum.evaluation.reports.charts import curve_marks as curve_marks
from novum.evaluation.reports.charts import det_chart as det_chart
from novum.evaluation.reports.charts import observed_chart as observed_chart
from novum.evaluation.reports.charts import precision_recall_chart as precision_recall_chart
from novum.evaluation.reports.charts import quantiles_chart as quantiles_chart
from novum.evaluation.reports.charts import residuals_chart as residuals_chart
from novum.evaluation.reports.charts import roc_chart as roc_chart
from novum.evaluation.reports.charts import threshold_chart as threshold_chart
from novum.evaluation.reports.classification import ClassificationReport
from novum.evaluation.reports.label_sets import LabelSetReport
from novum.evaluation.reports.regression import RegressionReport
from novum.evaluation.search.choice import OneStandardError
from novum.evaluation.search.grid import GridSearchCV
from novum.evaluation.search.halving import HalvingGridSearchCV
from novum.evaluation.search.nested import NestedCrossValidation, nested_cross_validate
from novum.evaluation.search.randomized import RandomizedSearchCV
from novum.evaluation.selection.column_scores import ConstantColumnsWarning
from novum.evaluation.selection.column_tests import (
    AnovaF,
    AssociationTest,
    ChiSquare,
    Correlation,
    KruskalWallis,
    chi2,
    f_classif,
    f_regression,
)
from novum.evaluation.selection.concentration import DistanceConcentration, distance_concentration
from novum.evaluation.selection.filters import (
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
)
from novum.evaluation.selection.mutual_information import (
    MutualInformation,
    mutual_info_classif,
    mutual_info_regression,
)
from novum.evaluation.selection.selector import NothingSelectedWarning
from novum.evaluation.selection.sequential import (
    CorrectedGain,
    MinimalGain,
    SelectionStep,
    SequentialFeatureSelector,
    StopRule,
    WithinStandardError,
)
from novum.evaluation.selection.stability import (
    SelectionStability,
    selection_stability,
    stability_index,
)
from novum.evaluation.selection.stability_selection import StabilitySelection
from novum.evaluation.validation.certainty import corrected_interval as corrected_interval
from novum.evaluation.validation.cross_validation import (
    CrossValidation,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    variance_of_mean,
)
from novum.evaluation.validation.fold_fits import UndefinedScoreError
from novum.evaluation.validation.fold_runs import FoldRun, UndefinedScoreWarning, run_folds
from novum.evaluation.validation.journal import Journal
from novum.evaluation.validation.labelled_folds import LabelledFolds
from novum.evaluation.validation.splits import (
    NestedFolds,
    RepeatedFolds,
    Splits,
    grouped,
    leave_one_out,
    nested,
    plan_splits,
    repeated,
    stratified,
    time_ordered,
)

__all__ = [
    "Adaptive",
    "AgentComparison",
    "AnovaF",
    "AssociationTest",
    "BayesErrorCurve",
    "CalibratedClassifierCV",
    "ChiSquare",
    "ClassificationReport",
    "Comparison",
    "ComplexityCurve",
    "ConformalClassifier",
    "ConformalRegressor",
    "ConfusionMatrix",
    "ConstantColumnsWarning",
    "CorrectedGain",
    "Correlation",
    "CoverageReport",
    "CriticalDifferenceDiagram",
    "CriticalRegion",
    "CrossValidation",
    "Curves",
    "DatasetPair",
    "Decision",
    "Density",
    "DetCurve",
    "DetectorComparison",
    "DetectorResult",
    "Distance",
    "DistanceConcentration",
    "DummyClassifier",
    "DummyRegressor",
    "FewCalibrationRowsWarning",
    "FixedThresholdClassifier",
    "FoldPair",
    "FoldRun",
    "Friedman",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "Interval",
    "IsotonicCalibration",
    "Journal",
    "KruskalWallis",
    "LabelCurve",
    "LabelSetReport",
    "LabelledFolds",
    "LearningCurve",
    "LeastAmbiguous",
    "ManyFitsWarning",
    "Margin",
    "McNemar",
    "Measure",
    "MinimalGain",
    "MinimumCost",
    "MutualInformation",
    "NestedCrossValidation",
    "NestedFolds",
    "NothingSelectedWarning",
    "OneStandardError",
    "OpenSet",
    "OpenSetCurve",
    "Outcome",
    "PartialDependence",
    "PermutationImportance",
    "PinballLoss",
    "PrecisionRecallCurve",
    "PriorEstimate",
    "PriorWeightedLogistic",
    "RandomizedSearchCV",
    "RegressionReport",
    "RegularizedAdaptive",
    "RepeatedFolds",
    "RepeatsNeeded",
    "RocCurve",
    "RopePosterior",
    "Scorer",
    "SelectFdr",
    "SelectFpr",
    "SelectFwe",
    "SelectKBest",
    "SelectPercentile",
    "SelectionStability",
    "SelectionStep",
    "SeparatedScoresWarning",
    "SequentialFeatureSelector",
    "SigmoidCalibration",
    "Splits",
    "StabilitySelection",
    "StopRule",
    "TemperatureCalibration",
    "ThresholdChoice",
    "ThresholdCurve",
    "TunedThresholdClassifierCV",
    "UndefinedScoreError",
    "UndefinedScoreWarning",
    "WinTieLoss",
    "WithinStandardError",
    "adjusted_mutual_info_score",
    "adjusted_p_values",
    "adjusted_rand_score",
    "agreement_measures",
    "average_precision",
    "baseline_p_values",
    "bayes_actions",
    "bayes_error_curve",
    "bayes_output",
    "bayesian_correlated_t_test",
    "blind_risk",
    "bootstrap_interval",
    "brier_score",
    "calibration_error",
    "calinski_harabasz_score",
    "chi2",
    "choose_threshold",
    "cllr",
    "compare",
    "compare_agents",
    "compare_detectors",
    "compare_scores",
    "complexity_curve",
    "conditional_risk",
    "confusion_matrix",
    "corrected_power",
    "corrected_t_test",
    "correlation_interval",
    "coverage_report",
    "critical_difference",
    "critical_difference_diagram",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "curves",
    "davies_bouldin_score",
    "default_detectors",
    "det_curve",
    "detectable_effect",
    "detection_cost",
    "distance_concentration",
    "empirical_bayes_risk",
    "equal_error_rate",
    "estimate_priors",
    "estimate_priors_from_labels",
    "expected_loss",
    "f_classif",
    "f_regression",
    "five_by_two_f_test",
    "five_by_two_t_test",
    "fowlkes_mallows_score",
    "friedman_test",
    "grouped",
    "holm_adjusted",
    "known_unknown_auroc",
    "label_curve",
    "label_set_measures",
    "learning_curve",
    "leave_one_out",
    "log_likelihood_ratios",
    "log_loss",
    "mcnemar_from_counts",
    "mcnemar_test",
    "mean_interval",
    "measure",
    "measure_names",
    "minimum_detection_cost",
    "mutual_info_classif",
    "mutual_info_regression",
    "ndcg",
    "nemenyi_p_values",
    "nested",
    "nested_cross_validate",
    "normalized_accuracy",
    "one_sample_t_test",
    "open_set_curve",
    "optimal_log_likelihood_ratios",
    "pair_error",
    "pair_jaccard_score",
    "paired_t_test",
    "partial_dependence",
    "permutation_importance",
    "plan_splits",
    "precision_recall_curve",
    "proportion_interval",
    "purity_score",
    "rand_score",
    "ratios_of_posteriors",
    "repeated",
    "repeats_needed",
    "resolve_scoring",
    "retarget_posteriors",
    "risk_of_actions",
    "roc_area",
    "roc_curve",
    "run_folds",
    "score_ranks",
    "scorer",
    "selection_stability",
    "separation_measures",
    "signed_rank_test",
    "silhouette_samples",
    "silhouette_score",
    "stability_index",
    "stratified",
    "threshold_curve",
    "time_ordered",
    "unpaired_t_test",
    "v_measure_score",
    "validation_curve",
    "variance_of_mean",
    "win_tie_loss",
]
