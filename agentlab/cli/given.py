"""What a run is given: its prompts and its policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentlab.cli.terminal import decoded
from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.policy import Policy


def prompts_of(given: Sequence[str] | None, script: str | None) -> list[str]:
    """The prompts of a run, from arguments and script.

    Raises:
        InputError: There are none, or the script cannot be read.
    """
    prompts = [decoded(prompt) for prompt in given or ()]
    if script is not None:
        try:
            text = Path(script).read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror}): name a text file", path=script) from None
        except UnicodeDecodeError:
            raise InputError("is not a text file in UTF-8: one prompt per line is expected", path=script) from None
        prompts += [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not prompts:
        raise InputError("there is nothing to ask: give --prompt TEXT or --script FILE")
    return prompts


def policy_of(name: str | None) -> Policy:
    """The chapter's policy, another by its name, or one from a file."""
    from agentlab.policy import CHAPTER, load_policy

    return CHAPTER if name is None else load_policy(name)
