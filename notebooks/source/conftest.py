"""The sources here are notebooks: nbval runs what is made of them, and no doctest collector imports them."""

from __future__ import annotations

collect_ignore_glob = ["*.py"]
