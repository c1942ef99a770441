"""Arguments and options that several commands share, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(help="Model file, such as model.novum of a run.")]
Table = Annotated[
    str,
    typer.Argument(
        help="CSV, Excel, JSON, Parquet, ARFF, DuckDB or SQLite file, or a bundled table."
    ),
]
MissingValues = Annotated[
    str,
    typer.Option(
        metavar="A,B", help="Cells that mean missing, besides the usual ones.", show_default=False
    ),
]
Sheet = Annotated[
    str | None, typer.Option(metavar="NAME", help="Sheet of an Excel file. Default: the first.")
]
Sql = Annotated[
    str | None, typer.Option(metavar="SELECT", help="Question to a DuckDB or SQLite file.")
]
Positive = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The positive one of two classes.")
]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="How much each row counts.")]
Exposure = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="What counts are counted in, such as years.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
