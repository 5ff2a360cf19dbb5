"""Whether this machine can box a kernel, and what becomes of the tests where it cannot."""

from __future__ import annotations

import os

import pytest

from agentlab.grading.box_trial import no_box

REQUIRED = os.environ.get("AGENTLAB_REQUIRE_BOX") == "1"
"""CI sets it: where no box can be made, tests that need one fail there and do not skip."""

needs_box = pytest.mark.skipif(no_box() is not None and not REQUIRED, reason=f"NOT TRIED WITHOUT A BOX: {no_box()}")
