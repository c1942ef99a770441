"""Bundled tables: the catalog is true, every frame works, damage is noticed."""

import gzip
import hashlib
import json
from collections import Counter
from importlib.resources import files

import polars as pl
import pytest

from novum.core.errors import FileFormatError, InputError
from novum.core.sources import open_source
from novum.core.tables import Kind
from novum.data import bundled
from novum.data.bundled import available, load

FOLDER = files("novum.data") / "tables"
CATALOG = json.loads((FOLDER / "catalog.json").read_text())


@pytest.mark.parametrize("name", available())
def test_the_catalog_is_true(name: str) -> None:
    entry = CATALOG[name]
    data = (FOLDER / entry["file"]).read_bytes()
    text = gzip.decompress(data) if entry["file"].endswith(".gz") else data
    assert hashlib.sha256(text).hexdigest() == entry["sha256"]
    loaded = load(name)
    table, target = loaded
    assert table.num_rows == entry["rows"]
    assert sum(column.null_count for column in table.columns) == entry["missing_cells"]
    assert target in table.column_names
    assert table.column(target).null_count == 0
    assert loaded.schema.names == tuple(table.column_names)
    kind = loaded.schema.columns[loaded.schema.names.index(target)].kind
    assert (kind is Kind.NUMERIC) == (loaded.task == "regression")
    for text_field in (loaded.description, loaded.origin, loaded.licence):
        assert text_field
        assert "GPL" not in text_field


@pytest.mark.parametrize("name", available())
def test_the_general_reader_reads_the_same(name: str) -> None:
    entry = CATALOG[name]
    expected = load(name)
    kinds = {
        column["name"]: column["levels"] if column["kind"] == "ordinal" else column["kind"]
        for column in entry["columns"]
        # Truth values are what the reader finds by itself; to declare them nominal keeps words.
        if True not in column.get("levels", ())
    }
    source = open_source(str(FOLDER / entry["file"]), kinds=kinds)
    table = next(source.chunks())
    assert table.to_pydict() == expected.table.to_pydict()


def test_known_facts() -> None:
    iris, target = load("iris")
    assert Counter(iris.column(target).to_pylist()) == dict.fromkeys(
        ("setosa", "versicolor", "virginica"), 50
    )
    # Fisher's means of sepal length and petal width.
    assert sum(iris.column("sepal_length").to_pylist()) / 150 == pytest.approx(5.8433, abs=1e-4)
    assert sum(iris.column("petal_width").to_pylist()) / 150 == pytest.approx(1.1993, abs=1e-4)
    play = load("weather_nominal").table.column("play").to_pylist()
    assert Counter(play) == {"yes": 9, "no": 5}
    windy = load("weather_nominal").table.column("windy")
    assert Counter(windy.to_pylist()) == {False: 8, True: 6}


def test_ordinal_columns_in_every_library() -> None:
    order = ["low", "med", "high", "vhigh"]
    arrow = load("car").table
    assert arrow.schema.field("buying").type.ordered
    assert arrow.column("buying").chunk(0).dictionary.to_pylist() == order
    pandas = load("car", frame="pandas").table
    assert pandas["buying"].cat.ordered
    assert pandas["buying"].cat.categories.tolist() == order
    assert load("car", frame="polars").table["buying"].dtype == pl.Enum(order)


def test_all_of_it_is_small() -> None:
    assert sum(len(file.read_bytes()) for file in FOLDER.iterdir() if file.is_file()) < 1_000_000
    assert 8 <= len(available()) <= 15


def test_unknown_names_and_damage() -> None:
    with pytest.raises(InputError, match=r"no bundled table 'irsi'.*iris"):
        load("irsi")
    with pytest.raises(FileFormatError, match=r"iris\.csv is damaged"):
        bundled._text({"file": "iris.csv", "sha256": "0" * 64})


def test_repr_names_origin_and_licence() -> None:
    text = repr(load("hepatitis"))
    assert "155 rows, 20 columns (6 numeric, 14 nominal); classification of 'Class'" in text
    assert "CC BY 4.0" in text
