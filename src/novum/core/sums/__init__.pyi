from novum.core.sums.additive import Additive, Sums
from novum.core.sums.chunk_passes import ChunkPasses, PassesMixin, check_restartable
from novum.core.sums.engine import added, refuse_nothing, sum_blocks, sum_chunks, total
from novum.core.sums.exact_validation import (
    SAFE_REMAINDER,
    Fold,
    check_partition,
    exact_cross_val_predict,
    fold_of,
    fold_statistics,
    left_out_predictions,
    whole_sample,
)
from novum.core.sums.expectation import Fitted, ObjectiveFallError, fit_sums
from novum.core.sums.statistics import (
    ChunkStep,
    Statistics,
    StatisticsMixin,
    is_empty_chunk,
    set_feature_names,
)
from novum.core.sums.sum_problem import StopRule, SumProblem
from novum.core.sums.unlabelled import (
    ClassLaws,
    LabelFit,
    LabelSums,
    PartlyLabelled,
    UnlabelledRows,
    UnlabelledWarning,
    fit_partly_labelled,
    label_folds,
    posterior,
)

__all__ = [
    "SAFE_REMAINDER",
    "Additive",
    "ChunkPasses",
    "ChunkStep",
    "ClassLaws",
    "Fitted",
    "Fold",
    "LabelFit",
    "LabelSums",
    "ObjectiveFallError",
    "PartlyLabelled",
    "PassesMixin",
    "Statistics",
    "StatisticsMixin",
    "StopRule",
    "SumProblem",
    "Sums",
    "UnlabelledRows",
    "UnlabelledWarning",
    "added",
    "check_partition",
    "check_restartable",
    "exact_cross_val_predict",
    "fit_partly_labelled",
    "fit_sums",
    "fold_of",
    "fold_statistics",
    "is_empty_chunk",
    "label_folds",
    "left_out_predictions",
    "posterior",
    "refuse_nothing",
    "set_feature_names",
    "sum_blocks",
    "sum_chunks",
    "total",
    "whole_sample",
]
