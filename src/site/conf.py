"""Sphinx's configuration; make.py prepares what it reads."""

import os
import re
from pathlib import Path

root = Path(os.environ["BLOCKSPAN_ROOT"])
project = "Blockspan"
author = copyright = "The Blockspan developers"
release = version = re.search(r"VERSION (\d+\.\d+\.\d+)", (root / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "breathe"]
myst_enable_extensions = ["colon_fence", "deflist", "html_image"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages that begin with a picture or have one level only

breathe_projects = {"blockspan": str(Path(os.environ["BLOCKSPAN_SITE"]) / "doxygen" / "xml")}
breathe_default_project = "blockspan"
breathe_default_members = ("members", "undoc-members")
primary_domain = "cpp"
smartquotes = False  # -- is part of the names of options

html_theme = "furo"
html_title = f"Blockspan {release}"
html_copy_source = False
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
