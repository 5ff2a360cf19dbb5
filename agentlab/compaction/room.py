"""How large a prompt may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.errors import InputError

if TYPE_CHECKING:
    from agentlab.policy.specs import Room


def room_of(room: Room, provider: Any = None) -> int | None:
    """Tokens that a prompt may have: the window less the output's reserve and the margin.

    Args:
        room: Window, reserve and margin.
        provider: Whose window counts where `room` names none.

    Returns:
        None where no window is known.

    Raises:
        InputError: Nothing is left.

    >>> from agentlab.policy import Room
    >>> room_of(Room(window=65_536))
    56320
    """
    window = getattr(provider, "window", None) if room.window is None else room.window
    if window is None:
        return None
    left = window - room.reserve - room.margin
    if left < 1:
        raise InputError(
            f"the window of {window} tokens leaves no room for a prompt: reserve {room.reserve} and margin "
            f"{room.margin} need {room.reserve + room.margin}; lower them in the policy",
            field="compaction.room",
        )
    return int(left)
