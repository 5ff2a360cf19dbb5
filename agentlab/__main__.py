"""Let `python -m agentlab` be the command `agentlab`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command; Ctrl-C ends it without a stack trace while it is still being loaded, too."""
    try:
        from agentlab.cli import main as command

        return command()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
