"""Networks from tables: tables of probabilities, structures, and how sure they are.

    cells -> codes -> counts of families -> scores of families -> a graph -> its tables

Everything rests on the counts of a node together with its parents (`counts`): probabilities are
their shares (`parameters`), a score is a sum over families (`scores`), and searches only ask which
family changes (`search`).
"""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
