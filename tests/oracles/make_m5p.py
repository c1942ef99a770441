"""Make the frozen oracle of model trees: what Weka's M5P says about classic regression tables.

    python make_m5p.py --weka weka.jar --schema schema.json --tables FOLDER --out FOLDER

`schema.json` has for each table its file, target and columns with their kinds; `FOLDER` of the
tables has the CSV files it names, with `?` for missing cells. `weka.jar` is Weka 3.6.14, as in
Debian's package weka. Written are `m5p.json.gz` and, under `tables`, the tables themselves.

M5P runs with its defaults: pruned, smoothed, at least 4 rows in a node that is split. For each
table the oracle has its predictions of every row by the model of the other nine of ten folds, and
the number of linear models of the tree of all rows. Rows are dealt to folds in the order of their
target and then of the file: row r of that order is in fold `r mod 10`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

TABLES = ("abalone", "auto_mpg", "boston_housing", "cpu", "servo")
N_FOLDS = 10

_PREDICTION = re.compile(r"^\s*\d+\s+\S+\s+(\S+)\s+\S+\s*$")
_RULES = re.compile(r"^Number of Rules : (\d+)", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weka", type=Path, required=True, help="weka.jar, version 3.6.14")
    parser.add_argument("--schema", type=Path, required=True, help="schema.json of the tables")
    parser.add_argument("--tables", type=Path, required=True, help="folder of the CSV files")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    options = parser.parse_args()
    catalog = json.loads(options.schema.read_text())
    (options.out / "tables").mkdir(exist_ok=True)
    oracle = {}
    for name in TABLES:
        entry = catalog[name]
        text = (options.tables / Path(entry["file"]).name).read_text()
        _write(options.out / "tables" / f"{name}.csv.gz", text)
        oracle[name] = {"origin": entry["source"], "licence": entry["licence"]}
        oracle[name].update(_table_oracle(options.weka, text, entry))
        print(name, oracle[name]["models"], "linear models", flush=True)
    _write(options.out / "m5p.json.gz", json.dumps(oracle, separators=(",", ":")))


def _write(path: Path, text: str) -> None:
    """Compressed without a time stamp, so that a second run gives the same bytes."""
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def _table_oracle(weka: Path, text: str, entry: dict[str, Any]) -> dict[str, Any]:
    header, *rows = csv.reader(io.StringIO(text))
    kinds = {column["name"]: column["kind"] for column in entry["columns"]}
    target = header.index(entry["target"])
    used = [j for j in range(len(header)) if j != target and kinds[header[j]] != "string"]
    levels = [
        None if kinds[header[j]] == "numeric" else sorted({row[j] for row in rows} - {"?"})
        for j in used
    ]
    coded = [
        [_code(row[j], names) for j, names in zip(used, levels, strict=True)] + [row[target]]
        for row in rows
    ]
    order = sorted(range(len(rows)), key=lambda i: float(rows[i][target]))
    fold = {row: place % N_FOLDS for place, row in enumerate(order)}
    head = _arff_head([*levels, None])
    predicted = [0.0] * len(rows)
    with tempfile.TemporaryDirectory() as folder:
        whole = _arff(Path(folder) / "whole.arff", head, coded)
        printed = _weka(weka, "-t", whole, "-no-cv")
        for number in range(N_FOLDS):
            inside = [i for i in range(len(rows)) if fold[i] == number]
            outside = [i for i in range(len(rows)) if fold[i] != number]
            train = _arff(Path(folder) / "train.arff", head, [coded[i] for i in outside])
            test = _arff(Path(folder) / "test.arff", head, [coded[i] for i in inside])
            said = _predictions(_weka(weka, "-t", train, "-T", test, "-p", "0"))
            for i, value in zip(inside, said, strict=True):
                predicted[i] = value
    found = _RULES.search(printed)
    assert found is not None, printed
    return {
        "target": entry["target"],
        "columns": [header[j] for j in used],
        "levels": levels,
        "models": int(found[1]),
        "fold_predictions": predicted,
    }


def _code(cell: str, levels: list[str] | None) -> str:
    return cell if levels is None or cell == "?" else str(levels.index(cell))


def _arff_head(columns: list[list[str] | None]) -> list[str]:
    kinds = [
        "numeric" if names is None else "{" + ",".join(map(str, range(len(names)))) + "}"
        for names in columns
    ]
    return ["@relation r", *(f"@attribute a{j} {kind}" for j, kind in enumerate(kinds)), "@data"]


def _arff(path: Path, head: list[str], rows: list[list[str]]) -> Path:
    path.write_text("\n".join([*head, *(",".join(row) for row in rows)]) + "\n")
    return path


def _weka(weka: Path, *options: str | Path) -> str:
    command = ["java", "-cp", str(weka), "weka.classifiers.trees.M5P", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _predictions(printed: str) -> list[float]:
    """What was predicted for every row of the test file, to three digits after the point."""
    lines = printed.splitlines()
    return [float(found[1]) for line in lines if (found := _PREDICTION.match(line))]


if __name__ == "__main__":
    main()
