"""Which model answers: the arguments of it, and opening it with every care that a hosted one asks for."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, Any

from agentlab.budgets import Budget
from agentlab.errors import InputError

if TYPE_CHECKING:
    import argparse

MAX_COST = 0.50


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose a model."""
    group = parser.add_argument_group("model")
    group.add_argument(
        "--provider", default="offline", metavar="P", help="offline (default), anthropic, openai or local"
    )
    group.add_argument(
        "--model",
        metavar="M",
        help="the model, for local its file (GGUF); hosted: one with a known price",
    )
    group.add_argument("--any-model", action="store_true", help="take a model whose price is not known")
    group.add_argument("--base-url", metavar="URL", help="another server that speaks the provider's protocol")
    group.add_argument("--cache", choices=("5m", "1h"), help="switch on Anthropic's prompt caching for so long")
    group.add_argument("--window", type=int, metavar="N", help="window of the offline or local model, in tokens")
    group.add_argument("--threads", type=int, metavar="N", help="threads of the local model (default 1)")
    group.add_argument("--record", metavar="FILE", help="write every model call to a cassette")
    group.add_argument("--cassette", metavar="FILE", help="answer from a cassette instead of a model")
    group.add_argument(
        "--max-cost",
        type=float,
        metavar="USD",
        help=f"end the run at this list price (default {MAX_COST}, where hosted)",
    )
    group.add_argument("--yes", action="store_true", help="do not ask before the first call to a hosted model")


def open_model(arguments: argparse.Namespace) -> tuple[Any, Budget | None]:
    """Open the model that the arguments name; returns it and the budget of the run.

    Raises:
        InputError: An unknown provider or model, a missing key, or no for an answer.
    """
    from agentlab.providers.registry import announcement, is_hosted
    from agentlab.providers.replay import Recorder, Replay
    from agentlab.providers.retry import Retry

    _check(arguments)
    if arguments.cassette:
        if arguments.record:
            raise InputError("--record and --cassette exclude each other: choose one")
        return Replay(arguments.cassette), None
    provider = _open_provider(arguments)
    cap = arguments.max_cost
    if is_hosted(provider):
        cap = MAX_COST if cap is None else cap
        _confirm(announcement(provider, max_cost=cap), yes=arguments.yes)
    budget = None
    if cap is not None:
        budget = Budget(max_cost=cap, price=_price_of(provider.model, cache=arguments.cache or "5m"))
    if arguments.record:
        provider = Recorder(provider, arguments.record)
    return (Retry(provider) if arguments.provider != "offline" else provider), budget


def close_model(provider: Any) -> None:
    """Close the connections of a model, whatever it is wrapped in; one that holds none is left alone."""
    while (inner := getattr(provider, "provider", None)) is not None:
        provider = inner
    close = getattr(provider, "close", None)
    if close is not None:
        close()


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what can be seen to be wrong before anything is opened."""
    cap = arguments.max_cost
    if cap is not None and not (cap > 0 and math.isfinite(cap)):
        raise InputError(f"--max-cost is a number of dollars above 0, and {cap:g} is not")
    if arguments.window is not None and arguments.window < 1:
        raise InputError(f"--window is at least 1 token, and {arguments.window} is not")
    if arguments.threads is not None and arguments.threads < 1:
        raise InputError(f"--threads is at least 1, and {arguments.threads} is not")
    for option, path in (("--record", arguments.record), ("--cassette", arguments.cassette)):
        if path and os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - these never raise
            raise InputError(f"is not a regular file: name another with {option}", path=path)


def _open_provider(arguments: argparse.Namespace) -> Any:
    from agentlab.providers.registry import PROVIDERS, open_provider

    entry = PROVIDERS.get(arguments.provider)
    if entry is not None and not entry.from_terminal:
        known = ", ".join(name for name, other in PROVIDERS.items() if other.from_terminal)
        raise InputError(f"the provider {arguments.provider} is made in Python only: choose one of {known}")
    return open_provider(
        arguments.provider,
        model=arguments.model,
        base_url=arguments.base_url,
        any_model=arguments.any_model,
        cache=arguments.cache,
        window=arguments.window,
        n_threads=arguments.threads,
    )


def _price_of(model: str, *, cache: str) -> Any:
    from agentlab.tokens import models

    return lambda usage: models.price(usage, model, cache_ttl=cache)


def _confirm(what: str, *, yes: bool) -> None:
    """Ask once before money is spent.

    Raises:
        InputError: The answer was not yes, or nobody is there to answer.
    """
    sys.stderr.write(f"{what}\n")
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("this calls a hosted model and nobody is there to confirm it: add --yes")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("not confirmed, nothing was sent")
