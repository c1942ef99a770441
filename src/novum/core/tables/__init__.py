"""Tables as they come: schema, checked samples, targets, missing cells, coding of levels."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
