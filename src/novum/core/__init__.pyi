from novum.core.decisions.ordered import OrderedClassifier
from novum.core.decisions.retargeting import DecisionMixin, RetargetedClassifier
from novum.core.decisions.working_point import WorkingPoint
from novum.core.errors import (
    FileFormatError,
    InputError,
    LostDigitsWarning,
    MemoryLimitError,
    MissingValuesError,
    MixedColumnWarning,
    ModelFileError,
    NotAdditiveError,
    SchemaError,
    UnseenLevelWarning,
)
from novum.core.files.persistence import describe, load, save
from novum.core.learners.certificate import (
    Certificate,
    ConvergenceWarning,
    Stopwatch,
    Verdict,
    warn_if_stopped,
)
from novum.core.learners.cross_fitting import (
    AbsentClassWarning,
    SharedFolds,
    align_classes,
    cross_fit_predictions,
)
from novum.core.learners.multiclass import fit_all_pairs, fit_one_vs_rest
from novum.core.learners.multiclass_members import ConstantTargetWarning
from novum.core.learners.pipeline import Pipeline
from novum.core.runtime.interrupts import (
    OutOfTime,
    announce_long_call,
    check_cancelled,
    deadline,
    time_sliced,
)
from novum.core.runtime.memory import available_bytes, check_memory, memory_limit
from novum.core.runtime.parallel import effective_jobs, run_tasks
from novum.core.runtime.progress import CallbackSupport, track
from novum.core.runtime.randomness import seed, seed_sequence, stream, streams
from novum.core.sums.engine import sum_blocks, sum_chunks, total
from novum.core.sums.exact_validation import exact_cross_val_predict
from novum.core.sums.expectation import Fitted, ObjectiveFallError, fit_sums
from novum.core.sums.statistics import Statistics, StatisticsMixin
from novum.core.sums.sum_problem import StopRule, SumProblem
from novum.core.sums.unlabelled import UnlabelledRows, UnlabelledWarning
from novum.core.tables.coding import Coding
from novum.core.tables.label_sets import read_labels
from novum.core.tables.missing import learners_for_missing, missing_mask, refuse_missing
from novum.core.tables.schema import MISSING, UNSEEN, Column, Kind, Schema
from novum.core.tables.targets import check_classes, check_numbers
from novum.core.tables.validation import Sample, check_features, check_sample

__all__ = [
    "MISSING",
    "UNSEEN",
    "AbsentClassWarning",
    "CallbackSupport",
    "Certificate",
    "Coding",
    "Column",
    "ConstantTargetWarning",
    "ConvergenceWarning",
    "DecisionMixin",
    "FileFormatError",
    "Fitted",
    "InputError",
    "Kind",
    "LostDigitsWarning",
    "MemoryLimitError",
    "MissingValuesError",
    "MixedColumnWarning",
    "ModelFileError",
    "NotAdditiveError",
    "ObjectiveFallError",
    "OrderedClassifier",
    "OutOfTime",
    "Pipeline",
    "RetargetedClassifier",
    "Sample",
    "Schema",
    "SchemaError",
    "SharedFolds",
    "Statistics",
    "StatisticsMixin",
    "StopRule",
    "Stopwatch",
    "SumProblem",
    "UnlabelledRows",
    "UnlabelledWarning",
    "UnseenLevelWarning",
    "Verdict",
    "WorkingPoint",
    "align_classes",
    "announce_long_call",
    "available_bytes",
    "check_cancelled",
    "check_classes",
    "check_features",
    "check_memory",
    "check_numbers",
    "check_sample",
    "cross_fit_predictions",
    "deadline",
    "describe",
    "effective_jobs",
    "exact_cross_val_predict",
    "fit_all_pairs",
    "fit_one_vs_rest",
    "fit_sums",
    "learners_for_missing",
    "load",
    "memory_limit",
    "missing_mask",
    "read_labels",
    "refuse_missing",
    "run_tasks",
    "save",
    "seed",
    "seed_sequence",
    "stream",
    "streams",
    "sum_blocks",
    "sum_chunks",
    "time_sliced",
    "total",
    "track",
    "warn_if_stopped",
]
