"""Keep pytest out: what is timed here is run by `make bench` alone."""

from __future__ import annotations

collect_ignore_glob = ["*.py", "subjects/*"]
