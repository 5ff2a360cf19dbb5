"""What is known of hosted models, as dated data: window, output limit, tokenizer, prices.

The table is `models.json` beside this module. Every entry names its source and the date of the copy that was read; what
could not be sourced is left out, and comes back as None. A file of the same shape may be named with `path`: its entries
come before those of the table.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from agentlab.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from agentlab.messages import Usage

Dollars = Annotated[float, msgspec.Meta(ge=0)]

_SHAPE: Final = (
    'expected {"models": [{"name": "...", "provider": "...", "as_of": "YYYY-MM-DD", "source": "...", '
    '"prices": {"input": 1.0, "output": 4.0, "cache_read": 0.1}}]} in US dollars per million tokens'
)
_UNDATED: Final = r"(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest))?(?:-v\d+(?::\d+)?)?(?:\[1m\])?$"


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens; None where the provider has no such price, or it is not known.

    `cache_write_5m` and `cache_write_1h` are whole prices, not surcharges. OpenAI's cache writes, which have a price
    from gpt-5.6 on, stand in `cache_write_5m`: the shortest that it keeps them, though that is 30 minutes.
    """

    input: Annotated[float, msgspec.Meta(gt=0)]
    output: Dollars
    cache_read: Dollars | None = None
    cache_write_5m: Dollars | None = None
    cache_write_1h: Dollars | None = None


class LongPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other prices that hold for the whole call when its prompt has more than `above` tokens, cached ones included."""

    above: int
    prices: Prices


class Earlier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Prices that held before a day, which is written as YYYY-MM-DD and is the first of the next ones."""

    until: date
    prices: Prices
    long_prompt: LongPrompt | None = None


class ToolOverhead(msgspec.Struct, frozen=True):
    """Tokens of the system prompt that Anthropic adds when at least one tool is sent.

    `auto` holds for the tool choices auto and none, `any` for any and tool.
    """

    auto: int
    any: int


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hosted model.

    Attributes:
        name: Its name without a date.
        provider: `"openai"` or `"anthropic"`; in a file of one's own any, and its cache is taken to work as OpenAI's.
        as_of: Date of the copy of the source that was read, as YYYY-MM-DD (or YYYY-MM).
        source: Where the figures are from.
        window: Context window in tokens.
        max_output: Most output tokens of one call.
        encoding: Its tokenizer, where that is public.
        o200k_factor: Where the tokenizer is not public: multiply o200k_base's count by this for an estimate.
        prices: Standard prices, without batch or priority tiers.
        long_prompt: Prices of long prompts, where they differ.
        earlier: What held before, the oldest first.
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
    earlier: tuple[Earlier, ...] = ()
    tool_overhead: ToolOverhead | None = None
    tool_init: int | None = None
    aliases: tuple[str, ...] = ()

    def prices_of(self, prompt_tokens: int, time: float | None = None) -> Prices | None:
        """The prices of one call.

        Args:
            prompt_tokens: Of its whole prompt: a long one has other prices.
            time: When it was made, in seconds since 1970; None takes the newest prices.

        >>> o3 = find("o3")
        >>> o3.prices_of(1_000).input, o3.prices_of(1_000, time=1_746_000_000).input  # in April 2025
        (2.0, 10.0)
        """
        prices, long = self.prices, self.long_prompt
        if time is not None and self.earlier:
            day = datetime.fromtimestamp(time, UTC).date()
            held = next((each for each in self.earlier if day < each.until), None)
            if held is not None:
                prices, long = held.prices, held.long_prompt
        return prices if long is None or prompt_tokens <= long.above else long.prices


class Spent(msgspec.Struct, frozen=True):
    """What one call cost, in US dollars, by kind of token."""

    uncached: float
    cache_read: float
    cache_write: float
    output: float

    @property
    def input(self) -> float:
        """All of the prompt."""
        return self.uncached + self.cache_read + self.cache_write

    @property
    def total(self) -> float:
        """Prompt and output."""
        return self.input + self.output


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


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: tuple[Model, ...]
    families: tuple[Family, ...] = ()


def all(path: Path | None = None) -> tuple[Model, ...]:  # noqa: A001 - read as models.all()
    """All models of the table, in its order.

    Args:
        path: A file in the format of `models.json`, whose entries come first and take the place of those of their
            names; None for the package's own alone.

    Returns:
        The models.

    Raises:
        InputError: The file cannot be read or is not such a table.

    >>> any(model.name == "gpt-4o" for model in all())
    True
    """
    own = _own().models
    if path is None:
        return own
    given = _read(path).models
    named = {name for model in given for name in _names(model)}
    return (*given, *(model for model in own if named.isdisjoint(_names(model))))


def find(name: str, path: Path | None = None) -> Model | None:
    """Find a model by its name, with or without a date, version or vendor around it.

    Args:
        name: `"gpt-4o-2024-08-06"`, `"claude-haiku-4-5@20251001"`, `"anthropic/claude-opus-5"`, ...
        path: A file whose entries come before the table's, as in `all`.

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

    bare = _without_vendor(name)
    undated = re.sub(_UNDATED, "", bare)
    tables = [_by_own_name()] if path is None else [_by_name(_read(path)), _by_own_name()]
    return next((found for table in tables if (found := table.get(bare) or table.get(undated))), None)


def cost_of(usage: Usage, model: Model | None, *, hour: int = 0, time: float | None = None) -> Spent | None:
    """Say what one call cost at list price, by kind of token.

    Args:
        usage: What that one call used.
        model: Its model; None for one that is not known.
        hour: Of its `cache_write_tokens`, those that are kept for an hour; the others are for five minutes.
        time: When it was made, in seconds since 1970; None takes the newest prices.

    Returns:
        US dollars, or None where the model, or the price of a kind of tokens that was used, is not known.

    >>> from agentlab.messages import Usage
    >>> cost_of(Usage(100_000, 10_000, cache_read_tokens=1_000_000), find("gpt-4o"))
    Spent(uncached=0.25, cache_read=1.25, cache_write=0.0, output=0.1)
    """
    prices = None if model is None else model.prices_of(usage.prompt_tokens, time)
    if prices is None:
        return None
    hour = min(hour, usage.cache_write_tokens)
    dollars = []
    for tokens, each in (
        (usage.input_tokens, prices.input),
        (usage.cache_read_tokens, prices.cache_read),
        (usage.cache_write_tokens - hour, prices.cache_write_5m),
        (hour, prices.cache_write_1h),
        (usage.output_tokens, prices.output),
    ):
        if tokens and each is None:
            return None
        dollars.append(tokens * (each or 0.0) / 1_000_000)
    return Spent(dollars[0], dollars[1], dollars[2] + dollars[3], dollars[4])


def price(usage: Usage, model: str | Model, *, cache_ttl: str = "5m", path: Path | None = None) -> float | None:
    """Price one call; see `cost_of`.

    Args:
        usage: What that one call used. Sum prices, not usages: a long prompt has other prices.
        model: A model, or its name.
        cache_ttl: `"5m"` or `"1h"`: how long the written cache lives.
        path: A file whose entries come before the table's, as in `all`.

    Returns:
        US dollars at the newest prices, or None where one that is needed is not known.

    Raises:
        InputError: `cache_ttl` is neither; or the file cannot be read.

    >>> from agentlab.messages import Usage
    >>> price(Usage(1_000_000, 100_000), "gpt-4o")
    3.5
    """
    if cache_ttl not in ("5m", "1h"):
        raise InputError(f"expected '5m' or '1h', found {cache_ttl!r}", field="cache_ttl")
    found = find(model, path) if isinstance(model, str) else model
    spent = cost_of(usage, found, hour=usage.cache_write_tokens if cache_ttl == "1h" else 0)
    return None if spent is None else spent.total


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
        known = next((family for family in _own().families if bare.startswith(family.prefix)), None)
    if known is not None and known.encoding is not None:
        return Tokenizer(known.encoding, 1, True, known.encoding)
    if known is not None and known.o200k_factor is not None:
        return Tokenizer(DEFAULT_ENCODING, known.o200k_factor, False, f"{DEFAULT_ENCODING} x {known.o200k_factor}")
    return Tokenizer(DEFAULT_ENCODING, 1, False, f"{DEFAULT_ENCODING} for an unknown tokenizer")


def _without_vendor(name: str) -> str:
    """The name as its maker writes it: `us.anthropic.claude-...` and `openai/gpt-...` are routes to it."""
    return name.rsplit("/", 1)[-1].rsplit("anthropic.", 1)[-1]


def _names(model: Model) -> tuple[str, ...]:
    return (model.name, *model.aliases)


def _by_name(table: _Table) -> dict[str, Model]:
    return {name: model for model in table.models for name in _names(model)}


@cache
def _own() -> _Table:
    from pathlib import Path

    return _read(Path(__file__).with_name("models.json"))


@cache
def _by_own_name() -> dict[str, Model]:
    return _by_name(_own())


def _read(path: Path) -> _Table:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Table)
    except OSError as error:
        raise InputError(f"cannot read this table of models: {error.strerror}", path=path) from error
    except msgspec.DecodeError as error:
        raise InputError(f"not a table of models: {error}; {_SHAPE}", path=path) from error
