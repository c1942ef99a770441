from novum.core.sources.amounts import is_amount_text
from novum.core.sources.arff import ArffSource
from novum.core.sources.blocks import LineBlock, line_blocks
from novum.core.sources.cells import (
    DATE,
    DEFAULT_MISSING,
    CellReader,
    TableBuilder,
    all_match,
    arrow_cells,
    is_number_text,
)
from novum.core.sources.delimited import DelimitedSource
from novum.core.sources.dialect import Dialect
from novum.core.sources.opening import open_source
from novum.core.sources.parquet import ParquetSource
from novum.core.sources.report import ColumnReport, ReadReport, counted
from novum.core.sources.source import CHUNK_ROWS, KindLike, Partition, Source
from novum.core.sources.streams import (
    LIMITS,
    Limits,
    TextStream,
    checked_path,
    sniffed_encoding,
    to_utf8,
)

__all__ = [
    "CHUNK_ROWS",
    "DATE",
    "DEFAULT_MISSING",
    "LIMITS",
    "ArffSource",
    "CellReader",
    "ColumnReport",
    "DelimitedSource",
    "Dialect",
    "KindLike",
    "Limits",
    "LineBlock",
    "ParquetSource",
    "Partition",
    "ReadReport",
    "Source",
    "TableBuilder",
    "TextStream",
    "all_match",
    "arrow_cells",
    "checked_path",
    "counted",
    "is_amount_text",
    "is_number_text",
    "line_blocks",
    "open_source",
    "sniffed_encoding",
    "to_utf8",
]
