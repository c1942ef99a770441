"""Mixtures fitted by expectation and maximization.

The names of this door and where they live are listed in `__init__.pyi`; each is imported when it
is first used.
"""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
