"""Make the frozen oracle of C4.5 trees: what Weka's J48 says about classic tables.

    python make_j48.py --weka weka.jar --tables FOLDER --out FOLDER

`FOLDER` of the tables has `schema.json` (for each table its file, target and columns with their
kinds) and the CSV files it names, with `?` for missing cells. `weka.jar` is Weka 3.6.14, as in
Debian's package weka. Written are `j48.json.gz` and, under `tables`, the tables themselves.

J48 reads the columns and levels by number, in the order that Novum gives them (text by code point),
so that a tie between classes or branches falls the same way in both. Only levels that occur are
declared, and columns of names (one value for each row) are left out.

For each table the oracle has the tree of `-C 0.25 -M 2` and of `-U -M 2` with the predictions of
its own training rows, and the number of right answers of the first in each of ten folds. Rows are
dealt to folds in the order of their class and then of the file: row r of that order is in fold
`r mod 10`.
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

TABLES = (
    "balance_scale",
    "breast_cancer_ljubljana",
    "breast_w",
    "car",
    "contact_lenses",
    "credit_a",
    "credit_g",
    "ecoli",
    "glass",
    "hepatitis",
    "hypothyroid",
    "ionosphere",
    "iris",
    "labor",
    "lymph",
    "mushroom",
    "pima",
    "primary_tumor",
    "soybean",
    "titanic",
    "vehicle",
    "vote",
    "vowel",
    "weather_nominal",
    "weather_numeric",
    "wine",
    "zoo",
)
N_FOLDS = 10
PRUNED = ("-C", "0.25", "-M", "2")
UNPRUNED = ("-U", "-M", "2")

_NODE = re.compile(r'^N(\d+) \[label="(.*?)" ?(shape=box)?')
_EDGE = re.compile(r'^N(\d+)->N(\d+) \[label="(.*)"\]')
_LEAF = re.compile(r"^'?(\d+) \(([\d.E-]+)(?:/([\d.E-]+))?\)'?$")
_PREDICTION = re.compile(r"^\s*\d+\s+\d+:\S+\s+(\d+):\S+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weka", type=Path, required=True, help="weka.jar, version 3.6.14")
    parser.add_argument("--tables", type=Path, required=True, help="folder with schema.json")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    options = parser.parse_args()
    catalog = json.loads((options.tables / "schema.json").read_text())
    (options.out / "tables").mkdir(exist_ok=True)
    oracle = {}
    for name in TABLES:
        entry = catalog[name]
        text = (options.tables / entry["file"]).read_text()
        _write(options.out / "tables" / f"{name}.csv.gz", text)
        oracle[name] = {"origin": entry["source"], "licence": entry["licence"]}
        oracle[name].update(_table_oracle(options.weka, text, entry))
        print(name, sum(oracle[name]["fold_right"]), "of", oracle[name]["rows"], flush=True)
    _write(options.out / "j48.json.gz", json.dumps(oracle, separators=(",", ":")))


def _write(path: Path, text: str) -> None:
    """Compressed without a time stamp, so that a second run gives the same bytes."""
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


# --- One table ------------------------------------------------------------------------------------


def _table_oracle(weka: Path, text: str, entry: dict[str, Any]) -> dict[str, Any]:
    header, *rows = csv.reader(io.StringIO(text))
    kinds = {column["name"]: column["kind"] for column in entry["columns"]}
    target = header.index(entry["target"])
    used = [j for j, name in enumerate(header) if j != target and kinds[name] != "string"]
    levels = [
        None if kinds[header[j]] == "numeric" else sorted({row[j] for row in rows} - {"?"})
        for j in used
    ]
    classes = sorted({row[target] for row in rows})
    coded = [
        [_code(row[j], names) for j, names in zip(used, levels, strict=True)]
        + [str(classes.index(row[target]))]
        for row in rows
    ]
    head = _arff_head([*levels, classes])
    order = sorted(range(len(rows)), key=lambda i: int(coded[i][-1]))
    fold = {row: place % N_FOLDS for place, row in enumerate(order)}
    with tempfile.TemporaryDirectory() as folder:
        whole = _arff(Path(folder) / "whole.arff", head, coded)
        right = []
        for number in range(N_FOLDS):
            inside = [row for i, row in enumerate(coded) if fold[i] == number]
            outside = [row for i, row in enumerate(coded) if fold[i] != number]
            train = _arff(Path(folder) / "train.arff", head, outside)
            test = _arff(Path(folder) / "test.arff", head, inside)
            said = _predictions(weka, PRUNED, train, test)
            right.append(sum(a == int(row[-1]) for a, row in zip(said, inside, strict=True)))
        return {
            "target": entry["target"],
            "columns": [header[j] for j in used],
            "levels": levels,
            "classes": classes,
            "rows": len(rows),
            "pruned": _graph(weka, PRUNED, whole),
            "unpruned": _graph(weka, UNPRUNED, whole),
            "predicted": _predictions(weka, PRUNED, whole, whole),
            "fold_right": right,
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


# --- Weka -----------------------------------------------------------------------------------------


def _weka(weka: Path, *options: str | Path) -> str:
    command = ["java", "-cp", str(weka), "weka.classifiers.trees.J48", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _predictions(weka: Path, options: tuple[str, ...], train: Path, test: Path) -> list[int]:
    """The predicted class of every row of the test file."""
    lines = _weka(weka, *options, "-t", train, "-T", test, "-p", "0").splitlines()
    return [int(found[1]) - 1 for line in lines if (found := _PREDICTION.match(line))]


def _graph(weka: Path, options: tuple[str, ...], train: Path) -> Any:
    """The tree: a leaf is [class, weight, wrong weight], a node [column, [[answer, child], ...]].

    An answer is a level's number, or a threshold with its sign as text.
    """
    labels: dict[int, str] = {}
    edges: dict[int, list[tuple[str, int]]] = {}
    for line in _weka(weka, *options, "-t", train, "-g").splitlines():
        if found := _EDGE.match(line):
            edges.setdefault(int(found[1]), []).append((found[3].strip("'"), int(found[2])))
        elif found := _NODE.match(line):
            labels[int(found[1])] = found[2].strip("'")
    return _nested(labels, edges, 0)


def _nested(labels: dict[int, str], edges: dict[int, list[tuple[str, int]]], node: int) -> Any:
    if node not in edges:
        found = _LEAF.match(labels[node])
        assert found is not None, labels[node]
        return [int(found[1]), float(found[2]), float(found[3] or 0)]
    branches = []
    for answer, child in edges[node]:
        sign, _, number = answer.partition(" ")
        below = _nested(labels, edges, child)
        branches.append([int(number) if sign == "=" else f"{sign} {number}", below])
    return [int(labels[node].removeprefix("a")), branches]


if __name__ == "__main__":
    main()
