"""What is known of hosted models, as dated data: window, output limit, tokenizer, prices.

The table is `models.json` beside this module. Every entry names its source and the date of the copy that was read; what
could not be sourced is left out, and comes back as None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from agentlab.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from agentlab.messages import Usage

_UNDATED: Final = r"(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest))?(?:-v\d+(?::\d+)?)?(?:\[1m\])?$"


class Prices(msgspec.Struct, frozen=True):
    """US dollars per million tokens; None where the provider has no such price, or it is not known.

    `cache_write_5m` and `cache_write_1h` are whole prices, not surcharges. OpenAI's cache writes, which have a price
    from gpt-5.6 on, stand in `cache_write_5m`: the shortest that it keeps them, though that is 30 minutes.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None


class LongPrompt(msgspec.Struct, frozen=True):
    """Other prices that hold for the whole call when its prompt has more than `above` tokens, cached ones included."""

    above: int
    prices: Prices


class ToolOverhead(msgspec.Struct, frozen=True):
    """Tokens of the system prompt that Anthropic adds when at least one tool is sent.

    `auto` holds for the tool choices auto and none, `any` for any and tool.
    """

    auto: int
    any: int


class Model(msgspec.Struct, frozen=True):
    """A hosted model.

    Attributes:
        name: Its name without a date.
        provider: `"openai"` or `"anthropic"`.
        as_of: Date of the copy of the source that was read, as YYYY-MM-DD (or YYYY-MM).
        source: Where the figures are from.
        window: Context window in tokens.
        max_output: Most output tokens of one call.
        encoding: Its tokenizer, where that is public.
        o200k_factor: Where the tokenizer is not public: multiply o200k_base's count by this for an estimate.
        prices: Standard prices, without batch or priority tiers.
        long_prompt: Prices of long prompts, where they differ.
        tool_overhead: What sending tools adds to the prompt.
        tool_init: Tokens that OpenAI's cookbook adds per tool; set only for models for which it confirms its formulas.
        aliases: Other names of it.
    """

    name: str
    provider: str
    as_of: str
    source: str
    window: int | None = None
    max_output: int | None = None
    encoding: str | None = None
    o200k_factor: float | None = None
    prices: Prices | None = None
    long_prompt: LongPrompt | None = None
    tool_overhead: ToolOverhead | None = None
    tool_init: int | None = None
    aliases: tuple[str, ...] = ()


class Family(msgspec.Struct, frozen=True):
    """The tokenizer of models that are not in the table, by how their names begin; the first that fits counts."""

    prefix: str
    as_of: str
    source: str
    encoding: str | None = None
    o200k_factor: float | None = None


class Tokenizer(msgspec.Struct, frozen=True):
    """How to count for a model: encode with `encoding`, multiply by `factor`, round up."""

    encoding: str
    factor: float
    exact: bool
    method: str

    def scale(self, n: int) -> int:
        """Turn the encoding's count into the model's.

        >>> Tokenizer("o200k_base", 1.35, False, "o200k_base x 1.35").scale(100)
        135
        """
        from math import ceil

        # Rounded first: 100 * 1.35 is a little more than 135 in binary.
        return n if self.factor == 1 else ceil(round(n * self.factor, 6))


class _Table(msgspec.Struct, frozen=True):
    models: tuple[Model, ...]
    families: tuple[Family, ...] = ()


_tables: dict[Path | None, tuple[_Table, dict[str, Model]]] = {}


def all(path: Path | None = None) -> tuple[Model, ...]:  # noqa: A001 - read as models.all()
    """All models of the table, in its order.

    Args:
        path: Another table in the format of `models.json`; None for the package's own.

    Returns:
        The models.

    Raises:
        InputError: The file cannot be read or is not such a table.

    >>> any(model.name == "gpt-4o" for model in all())
    True
    """
    return _table(path)[0].models


def find(name: str, path: Path | None = None) -> Model | None:
    """Find a model by its name, with or without a date, version or vendor around it.

    Args:
        name: `"gpt-4o-2024-08-06"`, `"claude-haiku-4-5@20251001"`, `"anthropic/claude-opus-5"`, ...
        path: Another table, as in `all`.

    Returns:
        The entry, or None: a different version or variant of a known model is not that model.

    Raises:
        InputError: The file cannot be read or is not such a table.

    >>> find("gpt-4o-2024-08-06").name
    'gpt-4o'
    >>> find("gpt-4o-audio-preview") is None
    True
    """
    import re

    by_name = _table(path)[1]
    bare = _without_vendor(name)
    return by_name.get(bare) or by_name.get(re.sub(_UNDATED, "", bare))


def price(usage: Usage, model: str | Model, *, cache_ttl: str = "5m", path: Path | None = None) -> float | None:
    """Price one call.

    Args:
        usage: What that one call used. Sum prices, not usages: a long prompt has other prices.
        model: A model, or its name.
        cache_ttl: `"5m"` or `"1h"`: how long the written cache lives.
        path: Another table, as in `all`.

    Returns:
        US dollars, or None where the model, or the price of a kind of tokens that was used, is not known.

    Raises:
        InputError: `cache_ttl` is neither; or the table cannot be read.

    >>> from agentlab.messages import Usage
    >>> price(Usage(1_000_000, 100_000), "gpt-4o")
    3.5
    """
    if cache_ttl not in ("5m", "1h"):
        raise InputError(f"expected '5m' or '1h', found {cache_ttl!r}", field="cache_ttl")
    found = find(model, path) if isinstance(model, str) else model
    if found is None or found.prices is None:
        return None
    prices = found.prices
    if found.long_prompt is not None and usage.prompt_tokens > found.long_prompt.above:
        prices = found.long_prompt.prices
    parts = (
        (usage.input_tokens, prices.input),
        (usage.output_tokens, prices.output),
        (usage.cache_read_tokens, prices.cache_read),
        (usage.cache_write_tokens, prices.cache_write_5m if cache_ttl == "5m" else prices.cache_write_1h),
    )
    total = 0.0
    for tokens, dollars in parts:
        if tokens:
            if dollars is None:
                return None
            total += tokens * dollars
    return total / 1_000_000


def tokenizer_of(name: str) -> Tokenizer:
    """Say how to count for a model or an encoding, known or not.

    Args:
        name: A model's name, or an encoding's.

    Returns:
        Its own encoding, exact; else o200k_base with the factor of the model or of its family, not exact.

    >>> tokenizer_of("claude-opus-5").method
    'o200k_base x 1.65'
    >>> tokenizer_of("some-local-model").exact
    False
    """
    from agentlab.tokens.encodings import DEFAULT_ENCODING
    from agentlab.tokens.ranks import SPECS

    if name in SPECS:
        return Tokenizer(name, 1, True, name)
    known: Model | Family | None = find(name)
    if known is None:
        bare = _without_vendor(name)
        known = next((family for family in _table(None)[0].families if bare.startswith(family.prefix)), None)
    if known is not None and known.encoding is not None:
        return Tokenizer(known.encoding, 1, True, known.encoding)
    if known is not None and known.o200k_factor is not None:
        return Tokenizer(DEFAULT_ENCODING, known.o200k_factor, False, f"{DEFAULT_ENCODING} x {known.o200k_factor}")
    return Tokenizer(DEFAULT_ENCODING, 1, False, f"{DEFAULT_ENCODING} for an unknown tokenizer")


def _without_vendor(name: str) -> str:
    """The name as its maker writes it: `us.anthropic.claude-...` and `openai/gpt-...` are routes to it."""
    return name.rsplit("/", 1)[-1].rsplit("anthropic.", 1)[-1]


def _table(path: Path | None) -> tuple[_Table, dict[str, Model]]:
    found = _tables.get(path)
    if found is None:
        table = _read(path)
        by_name = {name: model for model in table.models for name in (model.name, *model.aliases)}
        found = _tables[path] = (table, by_name)
    return found


def _read(path: Path | None) -> _Table:
    from pathlib import Path

    where = Path(__file__).with_name("models.json") if path is None else path
    try:
        return msgspec.json.decode(where.read_bytes(), type=_Table)
    except OSError as error:
        raise InputError(f"cannot read this table of models: {error.strerror}", path=where) from error
    except msgspec.DecodeError as error:
        raise InputError(f"not a table of models: {error}", path=where) from error
