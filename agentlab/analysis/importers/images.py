"""Tokens of an image, by its provider's rule for sizes; never by the characters of its data.

Anthropic counts pixels, OpenAI tiles of 512 pixels (its small models since 2025 count patches instead, which is not
done here). The size is read from the header of the image; no pixel is decoded.

Source: Anthropic, "Vision"; OpenAI, "Images and vision".
"""

from __future__ import annotations

from base64 import b64decode
from io import BytesIO
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PIXELS_PER_TOKEN = 750
MOST_EDGE = 1568
"""Anthropic: the longest edge in pixels, beyond which an image is scaled down before it is counted."""

MOST_TOKENS = 1600
"""Anthropic: an image that would take more is scaled down to it."""

FINE = (2576, 4784)
"""Anthropic: the same two limits for models of high resolution."""

FINE_MODELS = ("claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5")

UNKNOWN = MOST_TOKENS
"""Taken for an image whose size is not known: what Anthropic's rule gives for a large one."""

TILES = {"gpt-4o-mini": (2833, 5667), "gpt-5": (70, 140), "o1": (75, 150), "o3": (75, 150)}
"""OpenAI: tokens of an image, and of each of its tiles, by the beginning of the model's name."""

OTHER_TILES = (85, 170)
UNKNOWN_OPENAI = OTHER_TILES[0] + 4 * OTHER_TILES[1]
"""Taken for an image to OpenAI whose size is not known: one of 1,024 by 1,024 pixels."""

_HEADER = 1 << 16  # characters of data that hold the header of nearly every image


class Images:
    """Counts the images of one log, and says once that there are some without a known size.

    >>> images = Images()
    >>> images.anthropic({"source": {"type": "url", "url": "https://example.com/a.png"}}, print)
    an image's size is not known (it is not in the log): such images count as 1,600 tokens
    1600
    """

    def __init__(self) -> None:
        self._reported = False

    def anthropic(self, block: dict[str, Any], report: Callable[[str], None], model: str = "") -> int:
        """Tokens of an image block: base64 data are measured, what the log only refers to is not."""
        source = block.get("source")
        data = source.get("data") if isinstance(source, dict) else None
        size = self._size(data, UNKNOWN, report)
        return UNKNOWN if size is None else anthropic_tokens(*size, model=model)

    def openai(self, part: dict[str, Any], report: Callable[[str], None], model: str = "") -> int:
        """Tokens of a part `image_url` or `input_image`: data URLs are measured, addresses are not."""
        image = part.get("image_url")
        url, detail = (image.get("url"), image.get("detail")) if isinstance(image, dict) else (image, None)
        detail = part.get("detail") if detail is None else detail
        if detail == "low":
            return openai_tokens(1, 1, model=model, detail="low")
        data = url.partition(",")[2] if isinstance(url, str) and url.startswith("data:") else None
        size = self._size(data, UNKNOWN_OPENAI, report)
        return UNKNOWN_OPENAI if size is None else openai_tokens(*size, model=model)

    def _size(self, data: Any, default: int, report: Callable[[str], None]) -> tuple[int, int] | None:
        size = image_size(data) if isinstance(data, str) and data else None
        if size is None and not self._reported:
            self._reported = True
            why = "its data are damaged" if data else "it is not in the log"
            report(f"an image's size is not known ({why}): such images count as {default:,} tokens")
        return size


def anthropic_tokens(width: int, height: int, *, model: str = "") -> int:
    """Tokens of an image to a Claude model.

    Args:
        width: In pixels.
        height: In pixels.
        model: One of high resolution has larger limits.

    >>> anthropic_tokens(1000, 1000), anthropic_tokens(200, 200), anthropic_tokens(4000, 3000)
    (1334, 54, 1600)
    >>> anthropic_tokens(4000, 3000, model="claude-opus-4-7")
    4784
    """
    edge, most = FINE if model.startswith(FINE_MODELS) else (MOST_EDGE, MOST_TOKENS)
    by_edge = min(1.0, edge / max(width, height, 1))
    by_area = min(1.0, sqrt(most * PIXELS_PER_TOKEN / max(width * height, 1)))
    scale = min(by_edge, by_area)
    return max(1, min(most, ceil(width * scale * height * scale / PIXELS_PER_TOKEN)))


def openai_tokens(width: int, height: int, *, model: str = "", detail: str = "high") -> int:
    """Tokens of an image to an OpenAI model that counts tiles.

    Args:
        width: In pixels.
        height: In pixels.
        model: Base and tile differ by model; one that is not known counts as gpt-4o.
        detail: "low" takes the base alone.

    >>> openai_tokens(1024, 1024), openai_tokens(2048, 4096), openai_tokens(300, 200)
    (765, 1105, 255)
    """
    base, tile = next((TILES[name] for name in TILES if model.startswith(name)), OTHER_TILES)
    if detail == "low":
        return base
    fit = min(1.0, 2048 / max(width, height, 1))
    fit *= min(1.0, 768 / max(min(width, height) * fit, 1.0))
    return base + tile * ceil(max(1, round(width * fit)) / 512) * ceil(max(1, round(height * fit)) / 512)


def image_size(data: str) -> tuple[int, int] | None:
    """Width and height in pixels of base64 data; None where it is no image that can be read.

    Only the header is looked at: its beginning first, the whole where that is not enough.

    >>> gif = "R0lGODlhAwACAIAAAP///wAAACH5BAAAAAAALAAAAAADAAIAAAICjF8AOw=="
    >>> image_size(gif)
    (3, 2)
    """
    return _opened(data[:_HEADER]) or (_opened(data) if len(data) > _HEADER else None)


def _opened(data: str) -> tuple[int, int] | None:
    import warnings

    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the header alone is read
            with Image.open(BytesIO(b64decode(data))) as image:
                return (int(image.width), int(image.height)) if min(image.size) > 0 else None
    except Image.DecompressionBombError:
        return None
    except (UnidentifiedImageError, ValueError, OSError, SyntaxError, EOFError, IndexError, OverflowError):
        return None
