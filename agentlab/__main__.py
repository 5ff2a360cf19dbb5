"""Let `python -m agentlab` be the command `agentlab`."""

from __future__ import annotations

import sys

from agentlab.cli import main

sys.exit(main())
