"""Files as sources: a schema plus chunks that can be read again and again."""

from novum.core.sources.arff import ArffSource
from novum.core.sources.cells import DEFAULT_MISSING
from novum.core.sources.delimited import DelimitedSource
from novum.core.sources.dialect import Dialect
from novum.core.sources.limits import LIMITS, Limits
from novum.core.sources.opening import open_source
from novum.core.sources.parquet import ParquetSource
from novum.core.sources.protocol import CHUNK_ROWS, Partition, Source
from novum.core.sources.report import ColumnReport, ReadReport
from novum.core.sources.wishes import KindWish

__all__ = [
    "CHUNK_ROWS",
    "DEFAULT_MISSING",
    "LIMITS",
    "ArffSource",
    "ColumnReport",
    "DelimitedSource",
    "Dialect",
    "KindWish",
    "Limits",
    "ParquetSource",
    "Partition",
    "ReadReport",
    "Source",
    "open_source",
]
