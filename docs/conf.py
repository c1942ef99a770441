"""How `make docs` turns this folder into a site. Nothing in it asks another host for anything."""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

import matplotlib  # noqa: E402
from gallery_order import GROUPS, WrittenOrder  # noqa: E402

import novum  # noqa: E402

matplotlib.use("agg")

project = "Novum"
author = "the Novum developers"
copyright = "the Novum developers"
version = release = novum.__version__

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "reference_pages",
    "reference_text",
    "code_links",
    "math_as_markup",
    "shell_output",
    "scope_rows",
]
exclude_patterns = ["weight.md", "_build", "gallery", "course", "_extensions", "reference/uses"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
default_role = "code"
# Names of signatures are Python's types, shown but not linked.
nitpick_ignore_regex = [(r"py:.*", r".*")]
suppress_warnings = ["config.cache"]

# The lists of pages end in `*`, for pages that are not in their order yet: often there are none.
logging.getLogger("sphinx.sphinx.directives.other").addFilter(
    lambda record: "glob pattern" not in str(record.msg)
)

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_attributes_as_param_list = True

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
sphinx_gallery_conf = {
    "examples_dirs": ["gallery", "course"],
    "gallery_dirs": ["examples", "lessons"],
    "subsection_order": GROUPS,
    "within_subsection_order": WrittenOrder,
    "filename_pattern": r"/(plot_|\d\d_)",
    "ignore_pattern": r"__init__\.py",
    "doc_module": ("novum",),
    "backreferences_dir": "reference/uses",
    "reference_url": {"novum": None},
    "plot_gallery": True,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": True,
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "first_notebook_cell": '# pip install ".[plot]" in a copy of the sources\n%matplotlib inline',
    "default_thumb_file": str(HERE / "_static" / "no_picture.png"),
}

html_theme = "pydata_sphinx_theme"
html_title = "Novum"
html_static_path = ["_static"]
html_css_files = ["novum.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # texts of results cannot be fetched from the disk
html_favicon = "_static/icon.svg"
html_sidebars = {
    "index": [],
    "reference/**": ["reference_sidebar.html"],
}
templates_path = ["_templates"]
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo_dark.svg"},
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "search_bar_text": "Search",
    "back_to_top_button": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
