"""What a conversation in a notebook begins with: a provider, the cap of what it spends, and a folder of its own."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentlab.budgets import Budget
from agentlab.errors import InputError
from agentlab.providers.registry import PROVIDERS, announcement, is_hosted, open_provider
from agentlab.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentlab.policy import Policy

GIVEN: Final = "given"
"""In the list of providers: the one that the caller made."""

MAX_COST: Final = 1.0
"""US dollars that a conversation with a hosted model may spend where nobody says otherwise."""


class Providers:
    """The providers that can be picked, and the one that is open.

    Args:
        first: A name, or a provider of the caller's own.
        model: For `first`, and for the others but the offline one.

    Attributes:
        names: Those to pick from.
        name: The one that is open.
        opened: It.

    Raises:
        InputError: An unknown provider, or one that cannot be opened.

    >>> Providers("offline").said(1.0)
    'offline: rule-based stand-in, not an LLM; needs no key and no network.'
    """

    def __init__(self, first: Any, model: str | None = None) -> None:
        self._given = None if isinstance(first, str) else first
        self._first = first if isinstance(first, str) else GIVEN
        self._model = model
        listed = [name for name, entry in PROVIDERS.items() if entry.from_terminal]
        if isinstance(first, str) and first in PROVIDERS and first not in listed:
            raise InputError(f"make the provider {first!r} yourself, and give it instead of its name", field="provider")
        self.names = listed if self._given is None else [GIVEN, *listed]
        self.open(self._first)

    def open(self, name: str) -> None:
        """Open another one; the one before stays where that fails.

        Raises:
            InputError: As above.
            MissingKeyError: A hosted one without a key.
        """
        if name == GIVEN:
            self.opened = self._given
        else:
            takes = name != "offline" or name == self._first
            self.opened = open_provider(name, model=self._model if takes else None)
        self.name = name

    def said(self, max_cost: float) -> str:
        """What somebody should know before the first call: model, price and cap, or that it is no model at all."""
        if is_hosted(self.opened):
            return f"{announcement(self.opened, max_cost=max_cost)}."
        name = getattr(self.opened, "name", "")
        return f"{name}: {PROVIDERS[name].description}." if name in PROVIDERS else ""


def runner_of(
    provider: Any, folder: Path | None, policy: Policy, *, max_cost: float, settings: Mapping[str, Any]
) -> Runner:
    """The session of a new conversation.

    Args:
        provider: Open. A hosted one is asked again where that helps.
        folder: Of the session; None keeps it in memory.
        policy: How observations are cut.
        max_cost: US dollars that a hosted model may spend, where its price is known and `settings` has no budget.
        settings: What else `Runner` takes.

    Raises:
        InputError: As `Runner`.
    """
    from agentlab.providers.retry import Retry

    budget = settings.get("budget")
    if is_hosted(provider):
        budget = budget or _capped(provider, max_cost)
        provider = Retry(provider)
    return Runner(provider, folder=folder, **{**settings, "budget": budget, "policy": policy})


def _capped(provider: Any, max_cost: float) -> Budget | None:
    from agentlab.tokens import models

    known = models.find(getattr(provider, "model", None) or "")
    return None if known is None else Budget(max_cost=max_cost, price=partial(models.price, model=known))


def new_folder(owner: object, parent: str | Path | None) -> Path:
    """A folder for a conversation: in `parent`, or a temporary one that goes when `owner` does.

    Raises:
        InputError: The system refuses.
    """
    if parent is not None:
        return dated_folder(Path(parent))
    from shutil import rmtree
    from tempfile import mkdtemp
    from weakref import finalize

    folder = mkdtemp(prefix="chat-")
    finalize(owner, rmtree, folder, ignore_errors=True)
    return Path(folder)


def dated_folder(parent: Path, now: Callable[[], str] = lambda: time.strftime("chat-%Y%m%d-%H%M%S")) -> Path:
    """Make a folder that is not there yet, named by the time.

    Args:
        parent: Made where it is missing.
        now: The name to try first; -2, -3 ... are tried after it.

    Raises:
        InputError: The system refuses.
    """
    stamp, number = now(), 1
    path = parent / stamp
    while True:
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            number += 1
            path = parent / f"{stamp}-{number}"
        except OSError as error:
            raise InputError(f"cannot be made ({error.strerror}): name another folder", path=path) from None
        else:
            return path
