"""`novum learn`: a Bayesian network from a table, as a file that `novum query` asks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug, Json, MissingValues, Quiet, Sheet, Sql, Table

if TYPE_CHECKING:
    from novum.graphical import LearnedStructure

# Edges that are shown on a screen; --json has them all.
MOST_EDGES = 60
_FORMATS = (".bif", ".xmlbif", ".net", ".uai", ".network", ".gz", ".novum")


@guarded
def learn(
    table: Table,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="NET.bif", help="Where the network goes.")
    ],
    criterion: Annotated[
        str, typer.Option(help="bic, aic, bdeu, k2, bds, nml or bge: what the structure maximizes.")
    ] = "bic",
    search: Annotated[
        str,
        typer.Option(
            help="default, hill-climbing, tabu, equivalence, annealing, exact or tree; exact "
            "proves that no structure is better."
        ),
    ] = "default",
    numbers: Annotated[
        str,
        typer.Option(
            help="frequency, mdl, score or normal: numbers become intervals of equal frequency, "
            "cut where --target changes, or cut by the score of the structure; or they stay "
            "numbers, normal given others, in a file such as net.novum."
        ),
    ] = "frequency",
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="What --numbers mdl cuts for.")
    ] = None,
    required: Annotated[
        list[str] | None, typer.Option(metavar="A->B", help="An edge that must be; repeatable.")
    ] = None,
    forbidden: Annotated[
        list[str] | None, typer.Option(metavar="A->B", help="An edge that cannot be; repeatable.")
    ] = None,
    max_parents: Annotated[int | None, typer.Option(min=0, help="Parents of a node.")] = None,
    prior: Annotated[
        float, typer.Option(min=0, help="Rows that the uniform prior of the tables is worth.")
    ] = 1.0,
    ignore: Annotated[
        str, typer.Option(metavar="A,B", help="Columns to leave out.", show_default=False)
    ] = "",
    missing: MissingValues = "",
    sheet: Sheet = None,
    sql: Sql = None,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Learn a Bayesian network: novum learn patients.csv -o net.bif

    Every column becomes a node; numbers become intervals, or stay as they are (--numbers normal),
    and missing cells are expected under the network itself. Then ask it: novum query net.bif
    --given smoke=yes cancer
    """
    from novum.apps.cli.streams import write_json
    from novum.graphical import BDeu, BGe, Constraints, learn_structure, table_notes

    del debug
    _check_output(output)
    chosen, way = _criterion(criterion), _search(search)
    cuts = _numbers(numbers, target, criterion.lower(), output)
    rows = _read(table, ignore, missing, sheet, sql)
    if target is not None and target not in rows.column_names:
        raise _no_column("--target", target, rows.column_names)
    constraints = Constraints(
        required=_edges(required, "--required"),
        forbidden=_edges(forbidden, "--forbidden"),
        max_parents=max_parents,
    )
    learned = learn_structure(
        rows, chosen, way, constraints, numbers=cuts, on_interrupt="keep", verbose=not quiet
    )
    tables = BDeu(prior) if prior > 0 else None
    has_gaps = learned.table.has_missing
    network = learned.network(chosen if isinstance(chosen, BGe) and not has_gaps else tables)
    if output.suffix.lower() == ".novum":
        from novum.core import save

        save(network, output)
    else:
        network.write(output)
    notes = table_notes(learned.table)
    if as_json:
        write_json({**_answer(learned, network.n_parameters, output), "notes": list(notes)})
    else:
        _show(learned, network.n_parameters, output)
        for sentence in notes:
            typer.echo(f"note: {sentence}")


def _check_output(output: Path) -> None:
    from novum.core.errors import InputError

    if output.suffix.lower() not in _FORMATS:
        raise InputError(
            f"-o names the file of the network by its format, such as net.bif; got {output.name!r}."
        )
    if not output.parent.is_dir():
        raise InputError(f"There is no folder {str(output.parent)!r} for {output.name}. Create it.")


def _named(given: str, choices: dict[str, Any], option: str) -> Any:
    from novum.core.errors import InputError

    if given.lower() not in choices:
        raise InputError(f"{option} is one of {', '.join(choices)}; got {given!r}.")
    return choices[given.lower()]


def _criterion(name: str) -> Any:
    from novum.graphical import AIC, BIC, K2, NML, BDeu, BDs, BGe

    choices = {"bic": BIC, "aic": AIC, "bdeu": BDeu, "k2": K2, "bds": BDs, "nml": NML, "bge": BGe}
    return _named(name, choices, "--criterion")()


def _search(name: str) -> Any:
    from novum.graphical import Annealing, ChowLiu, Exact, GreedyEquivalence, HillClimbing, Tabu

    choices: dict[str, Any] = {
        "default": lambda: None,
        "hill-climbing": HillClimbing,
        "tabu": Tabu,
        "equivalence": GreedyEquivalence,
        "annealing": Annealing,
        "exact": Exact,
        "tree": ChowLiu,
    }
    return _named(name, choices, "--search")()


def _numbers(name: str, target: str | None, criterion: str, output: Path) -> Any:
    """What becomes of columns of numbers, refused where other options contradict it."""
    from novum.core.errors import InputError
    from novum.graphical import ByScore, EqualFrequency, MinimumDescription

    choices = {"frequency": 0, "mdl": 0, "score": ("bic", "aic"), "normal": ("bic", "aic", "bge")}
    criteria = _named(name, choices, "--numbers")
    name = name.lower()
    if (name == "mdl") != (target is not None):
        raise InputError(
            "--numbers mdl cuts where a column changes, which --target names: give both or none."
        )
    if criteria and criterion not in criteria:
        raise InputError(
            f"--numbers {name} takes --criterion {' or '.join(criteria)}; got {criterion!r}."
        )
    if criterion == "bge" and name != "normal":
        raise InputError("--criterion bge scores numbers as they are: add --numbers normal.")
    if name == "normal" and output.suffix.lower() != ".novum":
        raise InputError(
            "--numbers normal keeps numbers, which files of tables cannot hold: name a file such "
            f"as -o {output.stem}.novum."
        )
    if name == "mdl":
        return MinimumDescription(str(target))
    return {"frequency": EqualFrequency(), "score": ByScore(), "normal": "normal"}[name]


def _no_column(option: str, name: str, names: Any) -> Exception:
    from novum.core.errors import InputError

    return InputError(
        f"{option} names {name!r}, which is no column; the columns are {', '.join(names[:20])}."
    )


def _read(table: str, ignore: str, missing: str, sheet: str | None, sql: str | None) -> Any:
    from novum.data import available, load, read

    marks = [mark for mark in missing.split(",") if mark]
    if not Path(table).exists() and table in available():
        rows = load(table).table
    else:
        rows = read(table, missing=marks or None, sheet=sheet, sql=sql).table
    rows = with_truth_as_text(rows)
    left_out = [name.strip() for name in ignore.split(",") if name.strip()]
    strange = [name for name in left_out if name not in rows.column_names]
    if strange:
        raise _no_column("--ignore", strange[0], rows.column_names)
    return rows.drop_columns(left_out) if left_out else rows


def with_truth_as_text(rows: Any) -> Any:
    """Truth values as they are usually written in a table, and as `novum query` is asked."""
    for place, column in enumerate(rows.schema):
        if str(column.type) == "bool":
            rows = rows.set_column(place, column.name, rows.column(place).cast("string"))
    return rows


def _edges(given: list[str] | None, option: str) -> list[tuple[str, str]]:
    from novum.core.errors import InputError

    edges = []
    for text in given or ():
        ends = [end.strip() for end in text.split("->")]
        if len(ends) != 2 or not all(ends):
            raise InputError(f"{option} takes an edge such as 'smoke->cancer', got {text!r}.")
        edges.append((ends[0], ends[1]))
    return edges


def _answer(learned: LearnedStructure, parameters: int, output: Path) -> dict[str, Any]:
    return {
        "edges": [list(edge) for edge in learned.dag.edges],
        "nodes": list(learned.dag.names),
        "criterion": repr(learned.criterion),
        "score": learned.score,
        "verdict": str(learned.certificate.verdict),
        "sentence": learned.sentence,
        "parameters": parameters,
        "written": str(output),
    }


def _show(learned: LearnedStructure, parameters: int, output: Path) -> None:
    edges = learned.dag.edges
    pattern = learned.dag.pattern()
    for a, b in edges[:MOST_EDGES]:
        free = frozenset((a, b)) in pattern.undirected
        typer.echo(f"{a} -> {b}" + ("   (either way explains the table as well)" if free else ""))
    if len(edges) > MOST_EDGES:
        typer.echo(f"... {len(edges) - MOST_EDGES} more edges")
    typer.echo(
        f"{len(learned.dag.names)} nodes, {len(edges)} edges, {parameters} parameters; "
        f"{type(learned.criterion).__name__} {learned.score:.6g}: {learned.sentence}"
    )
    typer.echo(f"written: {output}")
