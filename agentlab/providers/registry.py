"""Providers by name, as the command line and a notebook ask for them.

Nothing is imported until a provider is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentlab.providers.base import Provider
    from agentlab.tokens.models import Model


class Entry(msgspec.Struct, frozen=True):
    """A provider that can be opened by name.

    Attributes:
        description: What it is, in a few words.
        module: Module that holds it.
        class_name: Its class there.
        default_model: Model where none is named; None where one must be.
        hosted: True where the model is looked up in the table of models.
        from_terminal: False where it needs Python objects as options.
    """

    description: str
    module: str
    class_name: str
    default_model: str | None = None
    hosted: bool = False
    from_terminal: bool = True

    def load(self) -> Any:
        """The class, imported now."""
        from importlib import import_module

        return getattr(import_module(self.module), self.class_name)


PROVIDERS: dict[str, Entry] = {
    "offline": Entry(
        "rule-based stand-in, not an LLM; needs no key and no network", "agentlab.providers.offline", "OfflineModel"
    ),
    "scripted": Entry(
        "replies from a list or a function, for tests and lessons",
        "agentlab.providers.scripted",
        "ScriptedModel",
        from_terminal=False,
    ),
    "anthropic": Entry(
        "Claude models of Anthropic",
        "agentlab.providers.anthropic",
        "AnthropicProvider",
        default_model="claude-haiku-4-5",
        hosted=True,
    ),
    "openai": Entry(
        "models of OpenAI, or of a compatible server by its base URL",
        "agentlab.providers.openai",
        "OpenAIProvider",
        hosted=True,
    ),
    "local": Entry("a model file (GGUF) on this computer's CPU", "agentlab.providers.local", "LocalProvider"),
}


def open_provider(
    name: str, *, model: str | None = None, base_url: str | None = None, any_model: bool = False, **options: Any
) -> Provider:
    """Open a provider by its name.

    Args:
        name: One of `PROVIDERS`.
        model: The model; a hosted provider takes those in the table of models.
        base_url: Address of another server, for `anthropic` and `openai`; any model name goes with it.
        any_model: Take a model that is not in the table: its window and price are then unknown.
        options: What else the provider takes, such as `cache` or `window`; None stands for its own default.

    Raises:
        InputError: An unknown provider, model or option: one line that names the nearest known one.
        MissingKeyError: A hosted provider was asked for and no key is set.

    >>> open_provider("antropic")
    Traceback (most recent call last):
    agentlab.errors.InputError: unknown provider 'antropic', did you mean 'anthropic'? Known: offline, scripted, \
anthropic, openai, local
    """
    entry = PROVIDERS.get(name)
    if entry is None:
        raise InputError(_unknown("provider", name, PROVIDERS))
    if entry.hosted:
        model = _known_model(name, model or (entry.default_model if base_url is None else None), base_url, any_model)
    given = {
        key: value for key, value in {"model": model, "base_url": base_url, **options}.items() if value is not None
    }
    make = entry.load()
    _check_options(name, make, given)
    opened: Provider = make(**given)
    return opened


def is_hosted(provider: Any) -> bool:
    """Whether calls leave one's own machines and may cost money; looks through wrappers such as `retry`.

    >>> is_hosted(object())
    False
    """
    return bool(getattr(_innermost(provider), "hosted", False))


def announcement(provider: Any, *, max_cost: float | None = None) -> str:
    """One line to show before the first call to a hosted model: model, dated price, caching, cap.

    Args:
        provider: A provider, wrapped or not.
        max_cost: US dollars after which the run ends, or None for no cap.
    """
    from agentlab.tokens import models

    inner = _innermost(provider)
    model = getattr(inner, "model", None) or "an unnamed model"
    name = getattr(inner, "name", type(inner).__name__)
    base_url = getattr(inner, "base_url", None)
    known = models.find(model) if base_url is None else None
    price = _price(known)
    parts = [f"{model} at {base_url or name}", price or "price not known"]
    parts.append(f"prompt caching: {getattr(inner, 'caching', 'not known')}")
    if max_cost is not None:
        cap = f"${max_cost:.2f}"
        parts.append(f"the run ends at {cap}" if price else f"the cap of {cap} cannot hold without a price")
    return "; ".join(parts)


def _price(model: Model | None) -> str | None:
    """Prices with their date, or None where they are not known."""
    if model is None or model.prices is None:
        return None
    prices = model.prices
    cached = "" if prices.cache_read is None else f", ${prices.cache_read:g} cached"
    return f"${prices.input:g} in{cached}, ${prices.output:g} out per million tokens (prices of {model.as_of})"


def _innermost(provider: Any) -> Any:
    """The provider that wrappers, which keep theirs as `provider`, are wrapped around."""
    while (inner := getattr(provider, "provider", None)) is not None and hasattr(inner, "call"):
        provider = inner
    return provider


def _known_model(provider: str, model: str | None, base_url: str | None, any_model: bool) -> str:  # noqa: FBT001
    """The model to ask for, if the table knows it or nobody minds."""
    from agentlab.tokens import models

    names = [entry.name for entry in models.all() if entry.provider == provider]
    if model is None:
        choose = f"one of {', '.join(names)}" if base_url is None else "one that the server has"
        raise InputError(f"the provider {provider} needs a model: name {choose}")
    found = models.find(model)
    if base_url is None and not any_model and (found is None or found.provider != provider):
        hint = f"; if {provider} has it all the same, say any_model=True (--any-model)"
        raise InputError(_unknown(f"model of {provider}", model, names) + hint)
    return model


def _check_options(name: str, make: Any, given: dict[str, Any]) -> None:
    """Refuse what the provider does not take, before it is made."""
    from inspect import signature

    accepted = list(signature(make).parameters)
    for option in given:
        if option not in accepted:
            raise InputError(_unknown(f"option of the provider {name}", option, accepted))


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    """What is not known, the nearest that is, and all of them."""
    from difflib import get_close_matches

    known = list(known)
    near = get_close_matches(name, known, n=1)
    guess = f", did you mean {near[0]!r}?" if near else "."
    return f"unknown {what} {name!r}{guess} Known: {', '.join(known)}"
