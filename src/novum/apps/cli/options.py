"""Arguments and options that several commands share, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(help="Model file, such as model.novum of a run.")]
Table = Annotated[str, typer.Argument(help="CSV, Parquet or ARFF file, or a bundled table.")]
Positive = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The positive one of two classes.")
]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="How much each row counts.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the result.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
