"""Model files: `save(model, path)` and `load(path)`, safe for files of strangers.

A file is one zip with a JSON manifest and plain arrays. It names classes of a closed registry and
nothing else: opening it runs no code from it, imports no module it names and allocates nothing it
has not got the bytes for. Damage, lies and unknown names end in one `ModelFileError`.

A file is written beside its place and moved there in one step, so a crash leaves the old file or
the new one. Saving the same model again gives the same bytes.

| file | concern |
|---|---|
| `state_coding.py`, `state_decoding.py` | values <-> JSON and arrays |
| `model_manifest.py` | JSON text, format version, checksum |
| `model_archive.py` | the zip and its arrays |
| `atomic_write.py` | replacing a file in one step |
| `links.py` | where a file is written when there are links on the way |
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from novum.core.errors import ModelFileError
from novum.core.files import registry
from novum.core.files.atomic_write import replacing
from novum.core.files.model_archive import MAX_EXPANSION, open_archive, write_archive
from novum.core.files.state_coding import StateEncoder
from novum.core.files.state_decoding import StateDecoder
from novum.core.runtime import memory_limit as stated_limit

SUFFIX = ".novum"
_STATEMENTS = {
    "estimator",
    "format_version",
    "holds_training_rows",
    "library_version",
    "model",
    "needs",
}
# Text arrays of any model may take this much, however small the file is.
_TEXT_FLOOR = 64 * 10**6


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator, fitted or not, to a model file.

    Parameters
    ----------
    model : estimator
        Of a class in Novum's registry, with parameters and attributes a model file can hold:
        numbers, text, arrays, lists, tuples, dicts, Novum's values and estimators, nested as they
        like. Arrays keep their dtype, except that the order of bytes becomes little-endian.
    path : path
        Ends in `.novum`. An existing file is replaced in one step.

    Raises
    ------
    ModelFileError
        If the suffix is another one or some part cannot be written; the message names its path
        and type.

    Notes
    -----
    Rows of the training data are in the file only if the model needs them to predict (neighbors,
    kernels); `describe(path)["holds_training_rows"]` tells.

    Examples
    --------
    >>> import tempfile
    >>> from novum.core.decisions import WorkingPoint
    >>> path = Path(tempfile.mkdtemp()) / "screening.novum"
    >>> save(WorkingPoint.binary(prior=0.01, cost_fn=50, cost_fp=1), path)
    >>> load(path) == WorkingPoint.binary(prior=0.01, cost_fn=50, cost_fp=1)
    True
    """
    place = Path(path)
    if place.suffix != SUFFIX:
        raise ModelFileError(
            f"Model files end in {SUFFIX!r}: write to {str(place.with_suffix(SUFFIX))!r} instead "
            f"of {str(place)!r}."
        )
    name = registry.name_of(type(model))
    encoder = StateEncoder()
    node = encoder.encode(model, type(model).__name__)
    if name is None or not isinstance(node, dict) or node["kind"] not in ("estimator", "value"):
        raise ModelFileError(
            f"{type(model).__name__} is no estimator; model files hold Novum's estimators. Give a "
            "model, fitted or not."
        )
    content = {
        "estimator": name,
        "holds_training_rows": encoder.holds_training_rows,
        "model": node,
    }
    with replacing(place) as file:
        write_archive(file, content, encoder.arrays)


def load(path: str | os.PathLike[str], *, memory_limit: int | str | None = None) -> Any:
    """Read an estimator from a model file; safe for files of unknown origin.

    Parameters
    ----------
    path : path
        Written by `save`.
    memory_limit : int or str, optional
        Most memory the model may take, in bytes or as `"400MB"`. Default: the environment variable
        `NOVUM_MEMORY_LIMIT`, else 80 % of what is available.

    Returns
    -------
    estimator
        As it was saved, with its state checked.

    Raises
    ------
    ModelFileError
        If the file is damaged, hostile, too large or of an unknown format version.
    """
    with _naming(path), open_archive(path, memory_limit) as archive:
        _check_statements(archive.manifest)
        text_bytes = max(_TEXT_FLOOR, MAX_EXPANSION * archive.file_bytes)
        decoder = StateDecoder(
            archive.array, len(archive.entries), min(text_bytes, stated_limit(memory_limit))
        )
        return decoder.decode_model(archive.manifest["model"])


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says about itself, without building the model.

    Returns
    -------
    dict
        `estimator` (its registered name), `library_version`, `format_version`,
        `holds_training_rows`, `n_arrays`, `array_bytes`, `params` (of plain type only).
    """
    with _naming(path), open_archive(path) as archive:
        manifest, entries = archive.manifest, archive.entries
        _check_statements(manifest)
        params = manifest["model"].get("params", {})
        plain = params.items() if isinstance(params, dict) else ()
        stated = ("estimator", "library_version", "format_version", "holds_training_rows")
        return {
            **{name: manifest[name] for name in stated},
            "n_arrays": len(entries),
            "array_bytes": sum(entry.n_bytes for entry in entries),
            "params": {name: v for name, v in plain if not isinstance(v, (dict, list))},
        }


def _check_statements(manifest: dict[str, Any]) -> None:
    """What the manifest says in front is complete and fits the model behind."""
    if set(manifest) != _STATEMENTS or type(manifest["holds_training_rows"]) is not bool:
        raise ModelFileError(f"The manifest is not made of {', '.join(sorted(_STATEMENTS))}.")
    node = manifest["model"]
    if not isinstance(node, dict) or manifest["estimator"] != node.get("name"):
        raise ModelFileError("The manifest names another estimator than it describes.")


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the file's name in front of what is wrong with it."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{ascii(Path(path).name)[1:-1]}: {error}") from error.__cause__
