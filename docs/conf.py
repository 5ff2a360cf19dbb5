"""Settings of Sphinx; `docs/build.py` runs it."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "agentlab"
author = "the authors of agentlab"
project_copyright = "the authors of agentlab, MIT"
release = version = version_of("agentlab-observe")

extensions = ["markdown_docstrings", "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["**/.ipynb_checkpoints"]
default_role = "py:obj"  # a name in backticks links to what it names, where that is documented

# Notebooks show the outputs that they are committed with; nothing runs here.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
mathjax_path = "no-page-has-a-formula.js"  # loaded by none; Sphinx wants a value

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
maximum_signature_line_length = 88
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "agentlab"
html_copy_source = False
html_show_sourcelink = False
html_permalinks_icon = "#"
html_theme_options = {"navigation_with_keys": True, "footer_icons": []}
html_static_path = ["_static"]
html_css_files = ["agentlab.css"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
