"""Plain data to text, HTML, SVG or a matplotlib figure. Knows no estimator.

A result is turned into a few values once, a `Table`, a `Chart`, a `Drawing`, or blocks of a page,
and these have the views:

- `as_text()`: for terminals and `repr`; control characters are shown by their codes;
- `as_html()`: for notebooks and reports; everything is escaped by `element`, in one place;
- `as_svg()`: charts and drawings, without scripts, style sheets or references;
- `plot(ax)`: charts and drawings into matplotlib axes, where it is installed.

So what the views say never differs, and there is one number format, one palette (told apart by
readers with any color vision, on light and on dark pages) and one set of ticks.
"""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
