"""Fits of densities to some of the rows of a table, all read in one way.

A density that learns its levels from the rows it is given would take a level that other rows have
for one never met, which says nothing. Where its `fit` takes a `schema`, that of the whole table is
handed to it, so that such a level is what it is: rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

from sklearn.base import clone
from sklearn.utils import get_tags

from novum.core.errors import InputError
from novum.core.learners.certificate import Certificate, Verdict
from novum.core.learners.cross_fitting import takes_weights
from novum.core.tables import Schema


def with_inputs_of(tags: Any, density: Any) -> Any:
    """Tags of a learner that takes what a density takes."""
    own = get_tags(density).input_tags
    tags.input_tags.allow_nan = own.allow_nan
    tags.input_tags.categorical, tags.input_tags.string = own.categorical, own.string
    return tags


def schema_for(density: Any, table: Any) -> Schema | None:
    """How a density reads a whole table; None where its fits take no schema."""
    if "schema" not in signature(density.fit).parameters:
        return None
    schema: Schema = clone(density)._read(table, None, None, None).schema
    return schema


def fitted_density(density: Any, rows: Any, weight: Any, schema: Schema | None) -> Any:
    """A fresh copy of a density, fitted to rows."""
    if not hasattr(density, "score_samples"):
        raise InputError(
            f"A density is an estimator with `score_samples`, such as GaussianMixture or "
            f"KernelDensity, got {type(density).__name__}."
        )
    options: dict[str, Any] = {} if schema is None else {"schema": schema}
    if weight is not None:
        if not takes_weights(density):
            raise InputError(
                f"{type(density).__name__} takes no sample_weight. Leave the weights out, or "
                "choose a density that counts them."
            )
        options["sample_weight"] = weight
    return clone(density).fit(rows, **options)


def certified_together(densities: Sequence[Any]) -> Certificate:
    """What is known of several fits: the sum of their values, and the weakest verdict."""
    own = [d.certificate_ for d in densities if hasattr(d, "certificate_")]
    verdicts = {certificate.verdict for certificate in own}
    weakest = next(
        (v for v in (Verdict.STOPPED_EARLY, Verdict.LOCAL) if v in verdicts),
        Verdict.PROVED if verdicts == {Verdict.PROVED} else Verdict.LOCAL,
    )
    values = [certificate.value for certificate in own]
    return Certificate(
        objective="log-likelihood of the densities together",
        verdict=weakest,
        value=None if None in values or not values else float(sum(values)),
        iterations=sum(certificate.iterations or 0 for certificate in own),
        details={"densities": len(densities)},
    )
