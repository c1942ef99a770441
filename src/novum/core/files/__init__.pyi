from novum.core.files.atomic_write import replacing
from novum.core.files.persistence import describe, load, save
from novum.core.files.registry import estimator, value
from novum.core.files.table_file import TableFile

__all__ = ["TableFile", "describe", "estimator", "load", "replacing", "save", "value"]
