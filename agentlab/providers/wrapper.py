"""A provider around another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.providers.base import adapt

if TYPE_CHECKING:
    from agentlab.providers.base import Provider


class Wrapper:
    """Base of providers that wrap another: it shows the name, model, window and caching of what it wraps.

    Args:
        provider: Any provider; a reader's own is adapted.
    """

    native = True

    def __init__(self, provider: Any) -> None:
        self.provider: Provider = adapt(provider)

    @property
    def name(self) -> str:
        """Name of the wrapped provider."""
        return getattr(self.provider, "name", None) or type(self.provider).__name__

    @property
    def model(self) -> str | None:
        """Model of the wrapped provider."""
        return getattr(self.provider, "model", None)

    @property
    def window(self) -> int | None:
        """Window of the wrapped provider, in tokens."""
        return getattr(self.provider, "window", None)

    @property
    def caching(self) -> str:
        """Whether the wrapped provider's prompt caching is switched on, in words."""
        return getattr(self.provider, "caching", "none")
