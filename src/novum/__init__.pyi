from collections.abc import Callable
from typing import Any

from novum.apps import run

__version__: str

def lazy_door(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]: ...

__all__ = ["__version__", "lazy_door", "run"]
