from novum.core.runtime.cluster import dask_library, is_dask, partitions_of, sum_on_cluster
from novum.core.runtime.fit_guard import fit_context, fitted_model, fitting
from novum.core.runtime.interrupts import (
    OutOfTime,
    Pacer,
    announce_long_call,
    long_call,
    time_limit,
    time_sliced,
)
from novum.core.runtime.memory import (
    UNCHECKED_BYTES,
    VARIABLE,
    available_bytes,
    check_memory,
    format_bytes,
    is_stated,
    memory_limit,
)
from novum.core.runtime.parallel import Cancelled, check_cancelled, effective_jobs, run_tasks
from novum.core.runtime.progress import SILENT, CallbackSupport, Progress, track, with_callbacks
from novum.core.runtime.randomness import (
    RandomSource,
    key_words,
    seed,
    seed_sequence,
    stream,
    streams,
)
from novum.core.runtime.single_precision import answered, kept_float, round_attributes

__all__ = [
    "SILENT",
    "UNCHECKED_BYTES",
    "VARIABLE",
    "CallbackSupport",
    "Cancelled",
    "OutOfTime",
    "Pacer",
    "Progress",
    "RandomSource",
    "announce_long_call",
    "answered",
    "available_bytes",
    "check_cancelled",
    "check_memory",
    "dask_library",
    "effective_jobs",
    "fit_context",
    "fitted_model",
    "fitting",
    "format_bytes",
    "is_dask",
    "is_stated",
    "kept_float",
    "key_words",
    "long_call",
    "memory_limit",
    "partitions_of",
    "round_attributes",
    "run_tasks",
    "seed",
    "seed_sequence",
    "stream",
    "streams",
    "sum_on_cluster",
    "time_limit",
    "time_sliced",
    "track",
    "with_callbacks",
]
