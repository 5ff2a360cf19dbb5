"""Keys of hosted providers: asked for once, kept in this process, and kept out of every text.

A key comes from an argument, from `use_key`, or from the environment. `redact` takes keys out of a text before
anybody reads it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from agentlab.errors import InputError, MissingKeyError
from agentlab.providers import masking

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
PLACEHOLDER = "no-key-needed"

_LOOKS_LIKE_A_KEY = re.compile(
    # Anthropic's and OpenAI's, whole or as servers echo them: with stars or dots in the middle.
    r"(?<![A-Za-z0-9])sk-(?=[a-z.\-]*[0-9A-Z_*])[A-Za-z0-9_\-*.]{7,}[A-Za-z0-9_\-*]"
    # What follows in a header; a plain word does not.
    r"|(?<=[Bb]earer )(?=[A-Za-z]*(?:[0-9]|[._~+/=\-][A-Za-z0-9]))[A-Za-z0-9._~+/=\-]{5,}"
    r"|(?<=[Xx]-[Aa][Pp][Ii]-[Kk][Ee][Yy]: )[^\s\"',;]+"
)


def use_key(provider: str = "anthropic", *, ask: Callable[[str], str] | None = None) -> None:
    """Ask for a key without showing it, and keep it in this process only: not in the environment, not on disk.

    Args:
        provider: `"anthropic"` or `"openai"`.
        ask: Asks the question and returns the answer; `getpass.getpass` where it is not given.

    Raises:
        InputError: The provider has no keys, or the answer was empty.

    >>> use_key("openai", ask=lambda question: "sk-for-the-example")
    >>> find_key("openai"), redact("sent sk-for-the-example")
    ('sk-for-the-example', 'sent [key]')
    >>> forget_key("openai")
    """
    _variable(provider)
    if ask is None:
        from getpass import getpass

        ask = getpass
    key = ask(f"Key for {provider} (not shown, kept in this process only): ").strip()
    if not key:
        raise InputError(f"no key was entered for {provider}; call use_key({provider!r}) again to enter one")
    masking.keep(provider, key)


def forget_key(provider: str = "anthropic") -> None:
    """Forget a key that `use_key` keeps; one in the environment stays."""
    masking.drop(provider)


def find_key(provider: str) -> str | None:
    """The key for a provider: what `use_key` was given, else the environment's, else None.

    Raises:
        InputError: The provider has no keys.
    """
    masking.refresh()
    return masking.kept(provider) or os.environ.get(_variable(provider), "").strip() or None


def require_key(provider: str) -> str:
    """Like `find_key`, for a provider that answers nobody without one.

    Raises:
        MissingKeyError: There is none.
    """
    key = find_key(provider)
    if key is None:
        raise MissingKeyError(
            f"no key for {provider}: set {_variable(provider)}, or call agentlab.use_key({provider!r}), "
            "or work without a key with the provider offline"
        )
    return key


def redact(text: str) -> str:
    """Take known keys, and what looks like one, out of a text.

    >>> redact("Incorrect API key provided: sk-proj-abc*****xyz.")
    'Incorrect API key provided: [key].'
    >>> redact("Authorization: Bearer abc.def")
    'Authorization: Bearer [key]'
    """
    masking.refresh()
    return _LOOKS_LIKE_A_KEY.sub(masking.MASK, masking.mask(text))


def _variable(provider: str) -> str:
    """Name of the environment variable that holds a provider's key."""
    try:
        return VARIABLES[provider]
    except KeyError:
        raise InputError(f"no key is known for {provider!r}; expected one of {', '.join(VARIABLES)}") from None
