"""The dated table of models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from agentlab.errors import InputError
from agentlab.messages import Usage
from agentlab.tokens import encodings, models, ranks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo"),
        ("gpt-5-nano", "gpt-5-nano"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("anthropic/claude-opus-5", "claude-opus-5"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("claude-opus-5-5[1m]", "claude-opus-5-5"),
    ],
)
def test_a_dated_or_routed_name_finds_its_entry(name: str, entry: str) -> None:
    found = models.find(name)
    assert found is not None
    assert found.name == entry


@pytest.mark.parametrize(
    "name", ["", "gpt", "gpt-4o-audio-preview", "gpt-5-codex", "claude-opus-5-9", "ft:gpt-4o:me", "llama-3"]
)
def test_a_variant_that_is_not_in_the_table_is_not_its_neighbour(name: str) -> None:
    assert models.find(name) is None


def test_every_entry_is_dated_sourced_and_plausible() -> None:
    table = models.all()
    names = [name for model in table for name in (model.name, *model.aliases)]
    assert len(names) == len(set(names))
    for model in table:
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", model.as_of), model.name
        assert model.source, model.name
        assert model.provider in {"openai", "anthropic"}, model.name
        assert model.encoding is None or model.encoding in ranks.SPECS, model.name
        assert model.encoding is None or model.o200k_factor is None, model.name
        assert model.window is not None, model.name
        assert model.max_output is None or model.max_output <= model.window, model.name
        assert (model.o200k_factor is not None) == (model.provider == "anthropic"), model.name
        tiers = [model.prices, model.long_prompt.prices if model.long_prompt else None]
        for prices in filter(None, tiers):
            assert 0 < prices.input < prices.output, model.name
            assert prices.cache_read is None or prices.cache_read < prices.input, model.name
            assert prices.cache_write_5m is None or prices.cache_write_5m >= prices.input, model.name
        if model.provider == "anthropic":
            assert model.prices is not None, model.name
            assert None not in {model.prices.cache_read, model.prices.cache_write_5m, model.prices.cache_write_1h}


def test_the_encodings_are_those_that_tiktoken_names() -> None:
    from tiktoken.model import encoding_name_for_model

    for model in models.all():
        if model.encoding is not None:
            assert model.encoding == encoding_name_for_model(model.name), model.name
    for name in ("gpt-5-codex", "gpt-5.3-codex", "chatgpt-4o-latest", "gpt-4.1-2025-04-14", "o3-pro", "gpt-4-32k-0613"):
        assert models.tokenizer_of(name).encoding == encoding_name_for_model(name)
        assert models.tokenizer_of(name).exact
    assert models.tokenizer_of("ft:gpt-4o:me").exact
    assert models.tokenizer_of("ft:gpt-3.5-turbo:me").encoding == "cl100k_base"


def test_the_factors_of_both_claude_tokenizers() -> None:
    factors = {
        name: models.find(name).o200k_factor for name in ("claude-3-haiku", "claude-opus-4-6", "claude-opus-4-7")
    }
    assert factors == {"claude-3-haiku": 1.35, "claude-opus-4-6": 1.35, "claude-opus-4-7": 1.65}
    assert models.tokenizer_of("claude-sonnet-4-5-thinking").factor == 1.35
    assert models.tokenizer_of("bedrock/eu.anthropic.claude-opus-9").factor == 1.65


def test_what_sending_tools_adds_to_a_claude_prompt() -> None:
    overheads = {
        "claude-opus-5": (286, 406),
        "claude-opus-4-8": (290, 410),
        "claude-opus-4-7": (675, 804),
        "claude-opus-4-6": (497, 589),
        "claude-sonnet-4-5": (496, 588),
        "claude-sonnet-5": (354, 474),
        "claude-opus-4-1": (313, 315),
    }
    for name, (auto, forced) in overheads.items():
        model = models.find(name)
        assert model is not None
        assert model.tool_overhead == models.ToolOverhead(auto, forced)


# Expected dollars are worked out by hand from the prices per million tokens.
@pytest.mark.parametrize(
    ("usage", "name", "ttl", "dollars"),
    [
        (Usage(10_000, 1_000), "gpt-4o-2024-08-06", "5m", 0.025 + 0.010),
        (Usage(1_000, 1_000, cache_read_tokens=9_000), "gpt-4o", "5m", 0.0025 + 0.010 + 0.01125),
        (Usage(1_000, 500, 20_000, 2_000), "claude-sonnet-4-5", "5m", 0.003 + 0.0075 + 0.006 + 0.0075),
        (Usage(1_000, 500, 20_000, 2_000), "claude-sonnet-4-5", "1h", 0.003 + 0.0075 + 0.006 + 0.012),
        (Usage(100_000, 1_000), "claude-haiku-5-5", "5m", 0.010 + 0.0005),
        (Usage(40_001, 1_000, cache_read_tokens=60_000), "claude-haiku-5-5", "5m", 0.0200005 + 0.0025 + 0.003),
        (Usage(), "gpt-4o", "5m", 0.0),
    ],
)
def test_one_call_is_priced(usage: Usage, name: str, ttl: str, dollars: float) -> None:
    assert models.price(usage, name, cache_ttl=ttl) == pytest.approx(dollars)
    assert models.price(usage, models.find(name), cache_ttl=ttl) == pytest.approx(dollars)


def test_what_has_no_known_price_is_none_not_nothing() -> None:
    assert models.price(Usage(10, 10), "some-local-model") is None
    assert models.price(Usage(10, 10, cache_write_tokens=1), "gpt-4o") is None
    assert models.price(Usage(10, 10), models.Model("x", "openai", "2026-11", "a test")) is None


def test_an_unknown_cache_lifetime_is_refused() -> None:
    with pytest.raises(InputError, match="cache_ttl: expected '5m' or '1h', found '30m'"):
        models.price(Usage(1, 1), "gpt-4o", cache_ttl="30m")


def test_a_table_of_ones_own_takes_the_place_of_the_packages(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(
        '{"models": [{"name": "mine", "provider": "local", "as_of": "2026-11-30", "source": "me",'
        ' "window": 4096, "prices": {"input": 1, "output": 2}}]}'
    )
    assert [model.name for model in models.all(path)] == ["mine"]
    assert models.find("mine-2026-11-30", path).window == 4096
    assert models.find("gpt-4o", path) is None
    assert models.price(Usage(1_000_000, 1_000_000), "mine", path=path) == 3.0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not a table of models"),
        ('{"models": [{"name": "x"}]}', r"missing required field `provider` - at `\$.models\[0\]`"),
    ],
)
def test_a_table_that_is_none_is_named_with_the_field(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(InputError, match=says) as raised:
        models.all(path)
    assert str(path) in str(raised.value)
    with pytest.raises(InputError, match="cannot read"):
        models.all(tmp_path / "absent.json")


def test_the_default_encoding_is_that_of_the_default_model() -> None:
    assert models.find("gpt-4o").encoding == encodings.DEFAULT_ENCODING
