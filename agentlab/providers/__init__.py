"""Who answers: a provider turns messages into a reply.

Each module is one provider; the SDKs are imported when one is made, not before.
"""

from __future__ import annotations

from agentlab.providers.base import Provider, adapt

__all__ = ["Provider", "adapt"]
