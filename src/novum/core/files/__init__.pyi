from novum.core.files.atomic_write import replacing
from novum.core.files.links import destination, open_descriptor, refuse_links_below
from novum.core.files.persistence import describe, load, save
from novum.core.files.registry import estimator, value
from novum.core.files.table_file import TableFile

__all__ = [
    "TableFile",
    "describe",
    "destination",
    "estimator",
    "load",
    "open_descriptor",
    "refuse_links_below",
    "replacing",
    "save",
    "value",
]
